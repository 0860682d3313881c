//! Whether the leaf follows what an import brings.
//!
//! What a file says before the event that set the session's leaf was said before it: it fills gaps, and moves nothing. What it
//! says behind that event goes on from there, and the leaf follows. If the file does not have that event, the session has gone on by
//! itself, and the leaf stays; unless what the file brings goes on from the leaf itself.

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
    /// Something was written while the leaf was held.
    has_brought: bool,
}

impl LeafRule {
    pub(super) fn new(import: &Import<'_>) -> Self {
        Self { held: import.leaf_set(), end: None, has_brought: false }
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
            // The first of a file that does not say where it belongs.
            Parent::Leaf if self.end.is_none() => self.held.and_then(|held| held.leaf),
            Parent::Leaf | Parent::Root => None,
        };
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
        self.has_brought |= self.held.is_some() && self.end != before;
    }

    /// All was read. Moves the leaf on if it was held, and what came goes on from it. Says where it stays otherwise.
    pub(super) fn settle(&mut self, import: &mut Import<'_>) -> Result<Option<LeafKept>, SessionError> {
        let (Some(held), Some(end), true) = (self.held, self.end, self.has_brought) else { return Ok(None) };
        let goes_on = held.leaf.is_some_and(|leaf| import.hangs_on(end, leaf));
        if goes_on {
            import.goes_on();
            let _ = import.add(NewEvent::new(Body::Head(Head { leaf: Some(end) })))?;
            return Ok(None);
        }
        // It may be that only gaps were filled in, above the leaf.
        let is_above = held.leaf.is_some_and(|leaf| leaf == end || import.hangs_on(leaf, end));
        Ok((!is_above).then_some(LeafKept { leaf: held.leaf, imported: end }))
    }
}
