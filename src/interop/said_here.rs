//! What was said in a session first, and comes back with a file that was written of it: by the id that it was written with, or,
//! where the format has no such ids, by its time and by what it says.

use std::collections::HashMap;

use super::same::gives_back;
use crate::event::{Event, Message, Uuid, parse_id};
use crate::session::{Import, NewEvent};

/// Events that were made here, by their time in ms: formats know no less.
#[derive(Debug, Default)]
pub(super) struct SaidHere {
    by_time: Option<HashMap<i64, Vec<Uuid>>>,
}

/// Ids of version 7 are made by the session that says something; those of files and those derived from names are others.
pub(super) fn is_from_here(known: &Event) -> bool {
    known.id.get_version_num() == 7 && known.original_id.is_none()
}

impl SaidHere {
    /// The message that a record of no known id gives back: one that the file did not have before.
    pub(super) fn message(&mut self, import: &Import<'_>, event: &NewEvent) -> Option<Uuid> {
        let gives = |known: &Event| gives_back(event, known);
        self.at(import, event.at?).find(|id| import.as_it_stands(*id).is_some_and(gives))
    }

    /// The boundary that a compaction gives back: its summary says the same.
    pub(super) fn boundary(
        &mut self,
        import: &Import<'_>,
        key: &str,
        at: Option<i64>,
        summary: &Message,
    ) -> Option<Uuid> {
        let words = summary.joined_text();
        let gives = |id: &Uuid| {
            let known = import.summary_of(*id).filter(|known| is_from_here(known)).and_then(Event::message);
            known.is_some_and(|known| known.joined_text() == words)
        };
        parse_id(key).filter(gives).or_else(|| self.at(import, at?).find(gives))
    }

    fn at<'s>(&'s mut self, import: &'s Import<'_>, at: i64) -> impl Iterator<Item = Uuid> + 's {
        let by_time = self.by_time.get_or_insert_with(|| {
            let mut by_time: HashMap<i64, Vec<Uuid>> = HashMap::new();
            for event in import.known().filter(|event| event.message().is_some() && is_from_here(event)) {
                by_time.entry(event.at.div_euclid(1000)).or_default().push(event.id);
            }
            by_time
        });
        by_time.get(&at.div_euclid(1000)).into_iter().flatten().copied().filter(|id| !import.has_passed(*id))
    }
}
