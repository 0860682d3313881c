//! Which event of the session a record is: one that says the same, or a new one.

use super::{Feed, was_erased};
use crate::event::{Body, Event, Head, Uuid, foreign_id, parse_id};
use crate::interop::same::{gives_back, hangs_elsewhere, is_same_head, says_the_same};
use crate::session::{NewEvent, SessionError};

/// The format of our own lines.
pub(super) const NEUTRAL: &str = "events";
/// With so many records of one id before it, a record is no longer compared with all of them.
pub(super) const SAME_ID_COMPARED: u32 = 8;

/// Where a record's id led.
pub(super) enum Found {
    /// To an event that says the same.
    Known { id: Uuid, nth: u32 },
    /// To an id that nothing has yet.
    Free { id: Uuid, nth: u32 },
}

impl Feed<'_> {
    /// Gives the record its id: that of the event that says the same, or the first that nothing has.
    pub(super) fn find(
        &mut self,
        key: &str,
        (event, parent): (&mut NewEvent, Option<&str>),
        named: Option<&str>,
        original_id: Option<String>,
        same: impl Fn(&NewEvent, &Event) -> bool,
    ) -> Result<Found, SessionError> {
        let own = parse_id(key);
        let mut nth = 1;
        let from = self.nth.get(key).copied().unwrap_or(0);
        loop {
            let id = match own {
                Some(id) if nth == 1 => id,
                _ => foreign_id(&self.format, &self.session_key, key, nth),
            };
            event.id = Some(id);
            event.original_id = match own {
                Some(_) if nth == 1 => original_id.clone(),
                _ => named.map(str::to_owned),
            };
            let known = self.import.event(id)?;
            if known.is_some() {
                self.leaf.meets(id);
            }
            match known {
                None => {
                    let back = if self.is_neutral() { None } else { self.said_here.message(&self.import, event) };
                    return Ok(back.map_or(Found::Free { id, nth }, |id| Found::Known { id, nth }));
                }
                Some(known)
                    if same(event, &known)
                        || self.comes_back(event, &known)
                        || hangs_elsewhere(&self.import, (event, parent), &known, &same)
                        || self.was_aimed_elsewhere(event, &known) =>
                {
                    return Ok(Found::Known { id, nth });
                }
                // What was erased here on purpose must not come back because the file still has it.
                Some(known) if was_erased(&known)? => {
                    self.report.erased += 1;
                    return Ok(Found::Known { id, nth });
                }
                // Of an id that very many records have, those before this one are not all looked at again.
                Some(_) if nth == SAME_ID_COMPARED => nth = from.max(nth) + 1,
                Some(_) => nth += 1,
            }
        }
    }

    /// An id for an event whose own is taken.
    pub(super) fn another_id(&self, key: &str) -> Uuid {
        let mut nth = 2;
        loop {
            let id = foreign_id(&self.format, &self.session_key, &format!("{key}, again"), nth);
            if !self.import.contains(id) {
                return id;
            }
            nth += 1;
        }
    }

    /// Where this known head has set the leaf and a salvage had aimed it elsewhere, the leaf goes to where the file has it: that is
    /// there again.
    pub(super) fn aim_again(&mut self, id: Uuid, event: &NewEvent) -> Result<(), SessionError> {
        let Body::Head(head) = &event.body else { return Ok(()) };
        let holds = self.import.leaf_set().is_some_and(|set| set.by == id);
        if holds && head.leaf.is_some_and(|leaf| self.import.stands_behind(leaf, id)) {
            self.import.goes_on();
            let _ = self.import.add(NewEvent::new(Body::Head(*head)))?;
            self.report.changed_again += 1;
        }
        Ok(())
    }

    /// Whether a file of another agent gives back a message that was said here first, or was amended here.
    fn comes_back(&self, event: &NewEvent, known: &Event) -> bool {
        let Some(now) = self.import.as_it_stands(known.id).filter(|_| !self.is_neutral()) else { return false };
        let is_amended = now.body != known.body;
        let says_it = || match (&event.body, &now.body) {
            (Body::Message(given), Body::Message(now)) => says_the_same(given, now),
            _ => false,
        };
        gives_back(event, now) || (is_amended && says_it())
    }

    /// Whether the records are lines of our own, which say all there is: what differs in one is something else.
    pub(super) fn is_neutral(&self) -> bool {
        self.format == NEUTRAL
    }

    /// Whether it is a head that a salvage has aimed elsewhere, since what it led to was lost: that came behind it.
    fn was_aimed_elsewhere(&self, new: &NewEvent, known: &Event) -> bool {
        let Body::Head(Head { leaf: Some(leaf) }) = new.body else { return false };
        is_same_head(new, known) && self.import.stands_behind(leaf, known.id)
    }
}
