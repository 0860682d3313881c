//! Which messages of a session that came from a transcript are records of the file again.

use std::sync::Arc;

use super::{Writer, foreign_fields, is_written};
use crate::event::{Body, Event, Kind, Message};
use crate::interop::leaving_told::{Told, lost};

impl Writer<'_, '_> {
    /// Finds which ones are, before what hangs on them is written: those that are not taken back, that a record can hold,
    /// and that answer no call that is left out.
    pub(super) fn find_written(&mut self, told: &mut Told) {
        let source = self.source;
        self.written = vec![false; source.len()];
        for index in 0..source.len() {
            let Some(message) = source.message(index) else { continue };
            let is_there = |holder: usize, call: &str| {
                let holds = |message: &Message| message.calls().any(|held| held.id == call && !held.incomplete);
                self.written[holder] && source.message(holder).is_some_and(holds)
            };
            let event = match source.without_lost(index, is_there) {
                None => Arc::clone(&source.entry(index).event),
                Some(left) => {
                    told.note(lost::ORPHANS, source.event(index).id);
                    Arc::new(Event { body: Body::Message(Box::new(left)), ..source.event(index).clone() })
                }
            };
            let is_cut = !Arc::ptr_eq(&event, &source.entry(index).event);
            let message = event.message().unwrap_or(message);
            self.written[index] = match &message.kind {
                Kind::CompactBoundary(_) => source.summary(index).is_some(),
                Kind::CompactSummary(_) => true,
                _ if is_cut && message.content.is_empty() => false,
                _ if self.is_native(index, message) => self.holds(&event, message),
                _ => true,
            };
            if is_cut {
                self.cut.insert(index, event);
            }
        }
    }

    fn holds(&self, event: &Arc<Event>, message: &Message) -> bool {
        let told = &mut Told::default();
        is_written(event, message, told) && foreign_fields(event, message, &self.source.tools, told).is_some()
    }

    /// Whether a message of this id was in the file and is in it no more.
    pub(super) fn is_left_out(&self, name: &str) -> bool {
        let index = self.source.of_file(name).filter(|&index| self.source.event(index).message().is_some());
        index.is_some_and(|index| !self.written[index])
    }
}
