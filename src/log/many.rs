//! The records of many ids at once: each INDEX is gone through once, and what it names is read in the order of the file.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

use uuid::Uuid;

use super::error::LogError;
use super::frame::{Decoded, Frame};
use super::id_hash::IdHash;
use super::index::{Next, Tables, read_before, recent};
use super::load::{load_behind, load_header};
use super::locked;
use super::source::ReadAhead;
use super::table::{Row, Wanted};
use super::view::LogView;

/// Where a record is, or should be.
struct Spot {
    row: Row,
    index: usize,
    /// The INDEX that says so, which may be wrong; none where the record's own header was seen.
    said_by: Option<u64>,
}

/// Ids whose INDEX cannot be believed, each with the place of that INDEX: the records before it are to be read.
type Lost = Vec<(Wanted, u64)>;

/// What was seen, by the ids' places, and what was not where it should be.
type Visited<R> = (Vec<(usize, R)>, Lost);

/// From so many records on, the second half of them is worth a thread.
const SPOTS_MIN: usize = 512;

impl LogView {
    /// What `see` makes of the record of each of these ids that is there, with the id's place in the list: in the order of the
    /// file, mostly. Finds what [`LogView::find`] finds, reading less where they are many; then two threads look.
    ///
    /// # Errors
    /// As [`LogView::find`] and [`LogView::frame`], and what `see` gives.
    pub(crate) fn visit<R: Send, E: From<LogError> + Send>(
        &self,
        ids: impl Iterator<Item = Uuid>,
        see: impl Fn(usize, &Frame) -> Result<R, E> + Sync,
    ) -> Result<Vec<(usize, R)>, E> {
        let mut wanted: Vec<Wanted> = ids.enumerate().map(|(index, id)| Wanted { id, index }).collect();
        let mut seen = Vec::with_capacity(wanted.len());
        if wanted.is_empty() {
            return Ok(seen);
        }
        let mut spots = Vec::with_capacity(wanted.len());
        let (mut lost, records) = self.spots_of(&mut wanted, &mut spots)?;
        loop {
            // In runs, mostly: those of one INDEX come in the order of their ids.
            spots.sort_by_key(|spot| spot.row.offset);
            let (one, other) = spots.split_at(if spots.len() < SPOTS_MIN { spots.len() } else { spots.len() / 2 });
            let is_most = spots.len() as u64 >= records / 2;
            let later = || self.visit_spots(other, is_most, &see);
            let both = scope(|scope| {
                // Where there is no thread to be had, this one does the work of both.
                let thread = (!other.is_empty())
                    .then(|| Builder::new().name(String::from("seslog-read")).spawn_scoped(scope, later).ok())
                    .flatten();
                let first = self.visit_spots(one, is_most, &see);
                [first, thread.map_or_else(later, |thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))]
            });
            for visited in both {
                let (results, more) = visited?;
                seen.extend(results);
                lost.extend(more);
            }
            if lost.is_empty() {
                return Ok(seen);
            }
            spots = self.spots_before(std::mem::take(&mut lost))?;
        }
    }

    /// Looks ids up, and says how many records there are. The ids are used up.
    fn spots_of(&self, wanted: &mut Vec<Wanted>, spots: &mut Vec<Spot>) -> Result<(Lost, u64), LogError> {
        let mut lost = Lost::new();
        let state = {
            let mut edge = locked(&self.edge);
            let recent = recent(self, &mut edge)?;
            wanted.retain(|wanted| match recent.find(wanted.id) {
                Some(row) => {
                    spots.push(Spot { row, index: wanted.index, said_by: None });
                    false
                }
                None => true,
            });
            self.state(&mut edge)?
        };
        wanted.sort_by_key(|wanted| wanted.id.as_u128());
        let mut tables = Tables::new(state.last_index);
        while !wanted.is_empty() {
            let (offset, found) = match tables.next(self)? {
                Next::End => break,
                Next::Unreadable { offset } => (offset, None),
                Next::Table(table) => {
                    let before = spots.len();
                    let mut found = |row, index| spots.push(Spot { row, index, said_by: Some(table.offset) });
                    let readable = table.search_each(&self.source, wanted, &mut found)?;
                    if !readable {
                        spots.truncate(before);
                    }
                    (table.offset, readable.then_some(before))
                }
            };
            match found {
                Some(before) if before == spots.len() => {}
                // They come in the order in which they were asked for.
                Some(before) => {
                    let mut found = spots[before..].iter().map(|spot| spot.index).peekable();
                    wanted.retain(|wanted| found.next_if_eq(&wanted.index).is_none());
                }
                None => lost.extend(wanted.drain(..).map(|wanted| (wanted, offset))),
            }
        }
        Ok((lost, state.records))
    }

    /// Reads these places, which are most of the records or a few of them, in the order of the file. What is not where its INDEX
    /// has it is lost.
    fn visit_spots<R, E: From<LogError>>(
        &self,
        spots: &[Spot],
        is_most: bool,
        see: &impl Fn(usize, &Frame) -> Result<R, E>,
    ) -> Result<Visited<R>, E> {
        let (mut seen, mut lost) = (Vec::with_capacity(spots.len()), Lost::new());
        let rules = self.info.rules();
        let mut pages = match spots.first() {
            Some(first) if is_most => ReadAhead::run(&self.source, first.row.offset, self.end()),
            _ => ReadAhead::new(&self.source, self.end()),
        };
        for Spot { row, index, said_by } in spots {
            pages.go_on_to(row.offset)?;
            let head = match self.is_place(row.offset) {
                true => load_header(&mut pages, row.offset, rules)?,
                false => Decoded::Wrong(super::frame::Fault::Place),
            };
            let frame = match (head, *said_by) {
                (Decoded::Whole(head), None) => load_behind(&mut pages, head, rules)?,
                (Decoded::Whole(head), Some(_)) if head.id == row.id && head.frame_type.to_byte() == row.kind => {
                    load_behind(&mut pages, head, rules)?
                }
                (_, Some(table)) => {
                    lost.push((Wanted { id: row.id, index: *index }, table));
                    continue;
                }
                (Decoded::Short { missing }, None) => Decoded::Short { missing },
                (Decoded::Wrong(fault), None) => Decoded::Wrong(fault),
            };
            seen.push((*index, see(*index, &self.expect_whole(row.offset, frame)?)?));
        }
        Ok((seen, lost))
    }

    /// Finds the lost ones by reading every record before the INDEX that should have named them: one pass for all.
    fn spots_before(&self, lost: Lost) -> Result<Vec<Spot>, LogError> {
        let mut rows: HashMap<Uuid, (u64, Option<Row>), IdHash> = HashMap::default();
        for (wanted, table) in &lost {
            rows.entry(wanted.id).or_insert((*table, None));
        }
        let to = lost.iter().map(|(_, table)| *table).max().unwrap_or_default();
        read_before(self, to, |head, _| {
            if let Some((table, row @ None)) = rows.get_mut(&head.id)
                && head.offset < *table
            {
                *row = Some(Row { id: head.id, offset: head.offset, kind: head.frame_type.to_byte() });
            }
        })?;
        let spot = |(wanted, _): &(Wanted, u64)| {
            let row = rows.get(&wanted.id)?.1?;
            Some(Spot { row, index: wanted.index, said_by: None })
        };
        Ok(lost.iter().filter_map(spot).collect())
    }
}
