//! What both views know of the order of a session: places in the file and what hangs beside the chain.

use std::collections::{HashMap, HashSet};

use super::diagnostics::{Diagnostic, Diagnostics, code};
use crate::event::{Body, Event, HungOn, Message, Unknown, Uuid};
use crate::session::{Entry, State};

/// Participants in the order of a view, and where each entry of the state lies.
#[derive(Debug)]
pub(super) struct Spine<'a> {
    state: &'a State,
    pub(super) entries: Vec<&'a Entry>,
    /// The first place in the file that counts: what lies before it and is not on the spine is as if it weren't there.
    from: usize,
    on_it: HashSet<Uuid>,
    places: HashMap<Uuid, usize>,
}

impl<'a> Spine<'a> {
    /// The spine of these participants. Of what a compaction left out nothing shows, as a resume would not read it.
    pub(super) fn new(state: &'a State, entries: Vec<&'a Entry>, boundary: Option<&Entry>) -> Self {
        let on_it = entries.iter().map(|entry| entry.event.id).collect();
        let places: HashMap<Uuid, usize> =
            state.entries().iter().enumerate().map(|(place, entry)| (entry.event.id, place)).collect();
        let from = boundary.and_then(|entry| places.get(&entry.event.id)).map_or(0, |place| place + 1);
        Self { state, entries, from, on_it, places }
    }

    /// Whether this participant is on the spine.
    pub(super) fn holds(&self, id: Uuid) -> bool {
        self.on_it.contains(&id)
    }

    /// The how-manyeth entry of the state this is: the order of the file.
    pub(super) fn place(&self, entry: &Entry) -> usize {
        self.places.get(&entry.event.id).copied().unwrap_or(usize::MAX)
    }

    /// Whether an entry that takes no part in the chain is to be shown beside the spine: its nearest living ancestor
    /// that takes part is on it, or it hangs on nothing at all.
    pub(super) fn is_beside(&self, entry: &'a Entry) -> bool {
        if self.from > 0 && self.hangs_on_what_was_left_out(entry) {
            return false;
        }
        let mut at = entry;
        while let Some(anchor) = self.state.anchor(at) {
            if self.holds(anchor.event.id) {
                return true;
            }
            if anchor.is_living() || self.was_left_out(anchor) {
                return false;
            }
            at = anchor;
        }
        self.state.is_root(at)
    }

    /// Whether it hangs, by way of others that take no part, on what lies before the boundary and was not kept.
    fn hangs_on_what_was_left_out(&self, entry: &Entry) -> bool {
        let mut at = entry;
        while let Some(parent) = at.event.parent {
            match self.state.entry(parent) {
                Some(parent) if parent.event.takes_part() => return self.was_left_out(parent),
                // An event that names itself, or a later one, was hung elsewhere when it came.
                Some(parent) if self.place(parent) >= self.place(at) => return false,
                Some(parent) if !self.was_left_out(parent) => at = parent,
                _ => return true,
            }
        }
        false
    }

    fn was_left_out(&self, entry: &Entry) -> bool {
        self.place(entry) < self.from && !self.holds(entry.event.id)
    }

    /// The living messages that take no part in the chain and hang beside the spine, in file order.
    pub(super) fn side_messages(&self) -> impl Iterator<Item = (&'a Entry, &'a Message)> {
        let entries = self.state.entries().iter().skip(self.from);
        entries.filter_map(|entry| entry.event.message().map(|message| (entry, message))).filter(|(entry, message)| {
            !message.kind.takes_part() && !message.metadata.sidechain && entry.is_living() && self.is_beside(entry)
        })
    }

    /// Says which messages hang on another parent than the one they named, and which are of an unknown kind.
    pub(super) fn report(&self, diagnostics: &mut Diagnostics) {
        self.entries.iter().filter_map(|entry| rehung(&entry.event)).for_each(|item| diagnostics.say(item));
        for entry in self.state.entries().iter().skip(self.from) {
            if matches!(&entry.event.body, Body::Unknown(unknown) if unknown.kind.is_some())
                && entry.is_living()
                && self.is_beside(entry)
            {
                hide_unknown(&entry.event, diagnostics);
            }
        }
    }
}

/// Says that a message hangs on another parent than the one it named.
pub(super) fn rehung(event: &Event) -> Option<Diagnostic> {
    let named = event.original_parent.as_ref().filter(|_| event.hung_on != HungOn::Named)?;
    let hung_on = event.effective_parent();
    let place = hung_on.map_or_else(|| "nothing".to_owned(), |id| id.to_string());
    let reason = format!("its parent {named} is not in the session; it hangs on {place}");
    Some(Diagnostic::new(code::MISSING_PARENT, [Some(event.id), hung_on].into_iter().flatten(), reason))
}

/// Says that a message is not shown, since its kind is unknown.
pub(super) fn hide_unknown(event: &Event, diagnostics: &mut Diagnostics) {
    if let Body::Unknown(Unknown { kind: Some(kind), .. }) = &event.body {
        let reason = format!("this version does not know messages of kind {kind}");
        diagnostics.hide(event.id, code::UNKNOWN_KIND_LEFT_OUT, reason);
    }
}
