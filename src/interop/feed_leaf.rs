//! Whether the leaf follows what an import brings.
//!
//! What a file says before the event that set the session's leaf was said before it: it fills gaps, and moves nothing. What it
//! says behind that event goes on from there, and the leaf follows. If the file does not have that event, the session has gone on by
//! itself, and the leaf stays; unless what the file brings goes on from the leaf itself.

use std::collections::HashMap;

use super::feed_report::LeafKept;
use crate::event::{Body, Head, Uuid};
use crate::session::{Import, LeafSet, NewEvent, Parent, SessionError};

/// The rule, and how far the file has been read.
#[derive(Debug)]
pub(super) struct LeafRule {
    /// How the leaf was set before the import; none: it was not, or its event was met in the file.
    held: Option<LeafSet>,
    /// Where the conversation of the file stands: its last event that takes part.
    end: Option<Uuid>,
    /// The file is at hand whole, so that its first record hangs on nothing if it names nothing.
    is_whole: bool,
    /// What the event hangs on that is going to be added.
    on: Option<Uuid>,
    /// Something that takes part was added while the leaf was held; whether any of it goes on from the leaf.
    has_brought: bool,
    goes_on: bool,
    /// Which events go on from the leaf, as far as was asked.
    below: HashMap<Uuid, bool>,
}

impl LeafRule {
    pub(super) fn new(import: &Import<'_>) -> Self {
        Self {
            held: import.leaf_set(),
            end: None,
            is_whole: false,
            on: None,
            has_brought: false,
            goes_on: false,
            below: HashMap::new(),
        }
    }

    /// The whole file is at hand: `has` says whether it has the event of this id, or of this id of its own.
    ///
    /// A reader may write a head for where a file ends, which it no longer says of one that has grown: then the last message before
    /// it stands for it.
    pub(super) fn knows_file(
        &mut self,
        import: &Import<'_>,
        has: impl Fn(Uuid, Option<&str>) -> bool,
    ) -> Result<(), SessionError> {
        self.is_whole = true;
        let Some(held) = &mut self.held else { return Ok(()) };
        let (Some(said), Some(by)) = (held.said, import.event(held.by)?) else { return Ok(()) };
        let is_of_a_file = matches!(by.body, Body::Head(_)) && by.original_id.is_some();
        if is_of_a_file && !has(by.id, by.original_id.as_deref()) {
            held.by = said;
        }
        Ok(())
    }

    /// The file has the event of this id.
    pub(super) fn meets(&mut self, id: Uuid) {
        self.held.take_if(|held| held.by == id);
    }

    /// An event of the file that is in the session.
    pub(super) fn passes(&mut self, import: &Import<'_>, id: Uuid) {
        if let Some(leaf) = import.leaf_behind(id) {
            self.end = leaf;
        }
    }

    /// An event is going to be added that names this parent: sets whether the leaf follows it.
    pub(super) fn leads(&mut self, import: &mut Import<'_>, parent: Parent) {
        let on = match parent {
            Parent::Of(id) => import.stands_for(id),
            // The first of lines that do not say where they belong.
            Parent::Leaf if self.end.is_none() && !self.is_whole => self.held.and_then(|held| held.leaf),
            Parent::Leaf | Parent::Root => None,
        };
        self.on = if parent == Parent::Leaf { on.or(self.end) } else { on };
        // A message comes before all that hangs on it.
        self.held.take_if(|held| on.is_some() && held.leaf == on && held.leaf == Some(held.by));
        match self.held {
            Some(_) => import.fills_in(self.end),
            None => import.goes_on(),
        }
    }

    /// An event was added.
    pub(super) fn brought(&mut self, import: &Import<'_>, id: Uuid) {
        let before = self.end;
        self.passes(import, id);
        let Some(leaf) = self.held.map(|held| held.leaf).filter(|_| self.end != before) else { return };
        self.has_brought = true;
        let known = self.on.and_then(|on| self.below.get(&on).copied());
        let hangs = |on: Uuid| leaf.is_some_and(|leaf| on == leaf || import.hangs_on(on, leaf));
        let is_below = known.unwrap_or_else(|| self.on.is_some_and(hangs));
        self.goes_on |= is_below;
        self.below.extend(self.on.into_iter().chain([id]).map(|event| (event, is_below)));
    }

    /// All was read. Moves the leaf on if it was held, and what came goes on from it. Says where it stays otherwise.
    pub(super) fn settle(&mut self, import: &mut Import<'_>) -> Result<Option<LeafKept>, SessionError> {
        let (Some(held), Some(end), true) = (self.held, self.end, self.has_brought) else { return Ok(None) };
        let ends_below = held.leaf.is_some_and(|leaf| import.hangs_on(end, leaf));
        if ends_below && self.goes_on {
            import.goes_on();
            let _ = import.add(NewEvent::new(Body::Head(Head { leaf: Some(end) })))?;
            return Ok(None);
        }
        // It may be that only gaps were filled in, above the leaf, and that the session had gone back from the file's end.
        let is_above = held.leaf.is_some_and(|leaf| leaf == end || import.hangs_on(leaf, end));
        Ok((!is_above && !ends_below).then_some(LeafKept { leaf: held.leaf, imported: end }))
    }
}
