//! The records of many ids at once: each INDEX is gone through once, and what it names is read in the order of the file.

use std::collections::HashMap;

use uuid::Uuid;

use super::error::LogError;
use super::frame::{Decoded, Frame};
use super::id_hash::IdHash;
use super::index::{Next, Tables, read_before, recent};
use super::locked;
use super::scan::{load_behind, load_header};
use super::source::ReadAhead;
use super::table::Row;
use super::view::LogView;

/// An id that is looked for, and its place in the caller's list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) id: Uuid,
    pub(crate) index: usize,
}

/// Where a record is, or should be.
struct Spot {
    row: Row,
    index: usize,
    /// The INDEX that says so, which may be wrong; none where the record's own header was seen.
    said_by: Option<u64>,
}

/// Ids whose INDEX cannot be believed, each with the place of that INDEX: the records before it are to be read.
type Lost = Vec<(Wanted, u64)>;

impl LogView {
    /// Shows the record of each of these ids that is there, with the id's place in the list: in the order of the file, mostly.
    /// Finds what [`LogView::find`] finds, reading less where they are many.
    ///
    /// # Errors
    /// As [`LogView::find`] and [`LogView::frame`], and what `see` gives; nothing more is shown then.
    pub(crate) fn visit<E: From<LogError>>(
        &self,
        ids: impl Iterator<Item = Uuid>,
        mut see: impl FnMut(usize, &Frame) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut wanted: Vec<Wanted> = ids.enumerate().map(|(index, id)| Wanted { id, index }).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let mut spots = Vec::with_capacity(wanted.len());
        let (mut lost, records) = self.spots_of(&mut wanted, &mut spots)?;
        loop {
            // In runs, mostly: those of one INDEX come in the order of their ids.
            spots.sort_by_key(|spot| spot.row.offset);
            self.visit_spots(&spots, records, &mut lost, &mut see)?;
            if lost.is_empty() {
                return Ok(());
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

    /// Reads what these places say, those that an INDEX was wrong about aside.
    fn visit_spots<E: From<LogError>>(
        &self,
        spots: &[Spot],
        records: u64,
        lost: &mut Lost,
        see: &mut impl FnMut(usize, &Frame) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(first) = spots.first() else { return Ok(()) };
        let rules = self.info.rules();
        // Of nearly all that there is, a second thread reads the next while these are looked at.
        let mut pages = match spots.len() as u64 >= records / 2 {
            true => ReadAhead::long_run(&self.source, first.row.offset, self.end()),
            false => ReadAhead::new(&self.source, self.end()),
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
            see(*index, &self.expect_whole(row.offset, frame)?)?;
        }
        Ok(())
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
