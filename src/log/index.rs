//! Finding records by id, and changes by what they are about: in memory behind the last INDEX, in the INDEX frames before it.
//!
//! An INDEX that cannot be read, or that names a record which is not there, costs time only: the records themselves are read.

use uuid::Uuid;

use super::error::LogError;
use super::format as f;
use super::frame::FrameHead;
use super::kind::FrameType;
use super::locked;
use super::recent::Recent;
use super::state::State;
use super::table::{Kind, Lists, Row, Table, TableHead, encode, payload_len};
use super::view::{Edge, LogView};

/// Where a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// The frame's type.
    pub frame_type: FrameType,
}

impl LogView {
    /// Where the record with this id stands. Payloads are not read.
    ///
    /// # Errors
    /// `Io`; `Damaged` or `NoFrame` where the headers behind the last INDEX cannot be read.
    pub fn find(&self, id: Uuid) -> Result<Option<Found>, LogError> {
        find(self, id)
    }

    /// Changes aimed at a record and results of its calls, as offsets in ascending order.
    ///
    /// # Errors
    /// As [`LogView::find`].
    pub fn targets_of(&self, id: Uuid) -> Result<Vec<u64>, LogError> {
        targets_of(self, id)
    }
}

/// The records behind the last INDEX, up to the end.
pub(crate) fn recent<'e>(view: &LogView, edge: &'e mut Edge) -> Result<&'e mut Recent, LogError> {
    let end = view.end();
    if edge.recent.is_none() {
        let start = match view.state(edge)?.last_index {
            0 => f::HEADER_PAGE_LEN,
            last => match view.table(last)? {
                Some(table) => table.head.covers_to,
                None => match view.header(last) {
                    Ok(head) => head.next_offset(),
                    // Not even a frame stands there: all records are read.
                    Err(LogError::NoFrame { .. }) => f::HEADER_PAGE_LEN,
                    Err(error) => return Err(error),
                },
            },
        };
        edge.recent = Some(Recent::starting_at(start));
    }
    let recent = edge.recent.get_or_insert_default();
    if recent.to < end {
        for frame in view.frames(recent.to) {
            let frame = frame?;
            if !frame.frame_type().is_own() {
                let head: &FrameHead = frame.head();
                recent.add(head.id, head.offset, head.frame_type, head.hint.to_byte(), frame.targets());
            }
            recent.to = frame.next_offset();
        }
        recent.to = end;
    }
    Ok(recent)
}

fn find(view: &LogView, id: Uuid) -> Result<Option<Found>, LogError> {
    let last = {
        let mut edge = locked(&view.edge);
        if let Some(row) = recent(view, &mut edge)?.find(id) {
            return Ok(found(row));
        }
        view.state(&mut edge)?.last_index
    };
    let mut tables = Tables::new(last);
    loop {
        let (offset, rows) = match tables.next(view)? {
            Next::End => return Ok(None),
            Next::Table(table) => (table.offset, table.search(&view.source, Kind::Records, id)?),
            Next::Unreadable { offset } => (offset, None),
        };
        match rows.as_deref() {
            Some([]) => {}
            Some([row, ..]) if is_there(view, row)? => return Ok(found(*row)),
            _ => {
                // Everything before the INDEX is older than all that its lists name: one pass settles it.
                let mut answer = None;
                read_before(view, offset, |head, _| {
                    if head.id == id && answer.is_none() {
                        answer = Some(Found { offset: head.offset, frame_type: head.frame_type });
                    }
                })?;
                return Ok(answer);
            }
        }
    }
}

fn targets_of(view: &LogView, id: Uuid) -> Result<Vec<u64>, LogError> {
    let (last, mut offsets) = {
        let mut edge = locked(&view.edge);
        let offsets: Vec<u64> =
            recent(view, &mut edge)?.targets.iter().filter(|row| row.id == id).map(|row| row.offset).collect();
        (view.state(&mut edge)?.last_index, offsets)
    };
    let mut tables = Tables::new(last);
    loop {
        let (offset, rows) = match tables.next(view)? {
            Next::End => break,
            Next::Table(table) => (table.offset, table.search(&view.source, Kind::Targets, id)?),
            Next::Unreadable { offset } => (offset, None),
        };
        match rows {
            Some(rows) => offsets.extend(rows.iter().map(|row| row.offset)),
            None => {
                read_before(view, offset, |head, targets| {
                    if targets.contains(&id) {
                        offsets.push(head.offset);
                    }
                })?;
                break;
            }
        }
    }
    offsets.sort_unstable();
    offsets.dedup();
    Ok(offsets)
}

fn found(row: Row) -> Option<Found> {
    Some(Found { offset: row.offset, frame_type: FrameType::from_byte(row.kind)? })
}

/// A row is believed only if the frame that it names is there.
fn is_there(view: &LogView, row: &Row) -> Result<bool, LogError> {
    match view.header(row.offset) {
        Ok(head) => Ok(head.id == row.id && head.frame_type.to_byte() == row.kind),
        Err(LogError::NoFrame { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Reads every record before a place.
pub(crate) fn read_before(
    view: &LogView,
    offset: u64,
    mut see: impl FnMut(&FrameHead, &[Uuid]),
) -> Result<(), LogError> {
    for frame in view.frames(0) {
        let frame = frame?;
        if frame.offset() >= offset {
            break;
        }
        if !frame.frame_type().is_own() {
            let targets: Vec<Uuid> = frame.targets().collect();
            see(frame.head(), &targets);
        }
    }
    Ok(())
}

/// All INDEX frames from the last one back: its own level's, then the higher levels', so from later to earlier ones.
pub(crate) struct Tables {
    /// The next one of the level that is being walked.
    next: u64,
    level: Option<usize>,
    lists: Lists,
}

pub(crate) enum Next {
    Table(Table),
    /// What it covers must be read instead, and everything before it.
    Unreadable {
        offset: u64,
    },
    End,
}

impl Tables {
    pub(crate) fn new(last: u64) -> Self {
        Self { next: last, level: None, lists: Lists::default() }
    }

    pub(crate) fn next(&mut self, view: &LogView) -> Result<Next, LogError> {
        while self.next == 0 {
            let level = match self.level {
                None => return Ok(Next::End), // there is no INDEX at all
                Some(level) if level + 1 < f::INDEX_LEVELS => level + 1,
                Some(_) => return Ok(Next::End),
            };
            self.level = Some(level);
            self.next = self.lists.latest.get(level).copied().unwrap_or_default();
        }
        let offset = self.next;
        let Some(table) = view.table(offset)? else { return Ok(Next::Unreadable { offset }) };
        match self.level {
            None => {
                self.lists = table.head.lists;
                self.level = Some(0);
                self.next = self.lists.latest[0];
            }
            Some(level) => self.next = table.head.lists.latest.get(level).copied().unwrap_or_default(),
        }
        Ok(Next::Table(table))
    }
}

/// An INDEX that is about to be written.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) payload: Vec<u8>,
    pub(crate) covers_to: u64,
}

/// Builds the INDEX for the records behind the last one, or, when sixteen of a level are there, one for all of them.
/// `frame_offset` is where its frame will start. None if there is nothing to index.
pub(crate) fn build(view: &LogView, edge: &mut Edge, frame_offset: u64) -> Result<Option<Built>, LogError> {
    let state = view.state(edge)?;
    let max = u64::from(view.info.max_record);
    let recent = recent(view, edge)?;
    if recent.rows.is_empty() {
        return Ok(None);
    }
    let (mut records, mut targets, covers_to) = fitting(recent, max, frame_offset);
    let lists = match state.last_index {
        0 => Lists::default(),
        // One that cannot be read stays in the list: who looks something up sees it and reads the records before it.
        last => {
            view.table(last)?.map_or(Lists { latest: [last, 0, 0], counts: [1, 0, 0] }, |table| table.lists_after())
        }
    };
    let mut level =
        lists.counts.iter().take_while(|count| **count + 1 >= f::INDEX_FANOUT).count().min(f::INDEX_LEVELS - 1);
    while level > 0 {
        match merged(view, &lists, level, &records, &targets)? {
            Some((all, all_targets)) if payload_len(all.len() as u64, all_targets.len() as u64) <= max => {
                (records, targets) = (all, all_targets);
                break;
            }
            _ => level -= 1, // too large, or damaged: they stay as they are, and only look-ups take longer
        }
    }
    records.sort_unstable();
    targets.sort_unstable();
    let mut kept = lists;
    kept.latest.iter_mut().zip(&mut kept.counts).take(level).for_each(|(latest, count)| (*latest, *count) = (0, 0));
    let head = TableHead {
        state: State { last_index: state.last_index, ..state },
        level: level as u8,
        lists: kept,
        covers_to,
        record_rows: 0,
        target_rows: 0,
        blocks: 0,
        first: Uuid::nil(),
        last: Uuid::nil(),
    };
    let payload = encode(&head, &records, &targets, frame_offset + f::FRAME_HEADER_LEN);
    Ok(Some(Built { payload, covers_to }))
}

/// As many of the records, from the first on, as an INDEX within the record limit can hold.
fn fitting(recent: &Recent, max: u64, frame_offset: u64) -> (Vec<Row>, Vec<Row>, u64) {
    let mut count = recent.rows.len();
    let mut target_count = recent.targets.len();
    let mut covers_to = frame_offset;
    while count > 1 && payload_len(count as u64, target_count as u64) > max {
        count = count.div_ceil(2);
        covers_to = recent.rows.get(count).map_or(frame_offset, |row| row.offset);
        target_count = recent.targets.partition_point(|row| row.offset < covers_to);
    }
    (recent.rows[..count].to_vec(), recent.targets[..target_count].to_vec(), covers_to)
}

/// Rows of records and of targets.
type BothTables = (Vec<Row>, Vec<Row>);

/// Rows of all INDEX frames below a level, and those given.
fn merged(
    view: &LogView,
    lists: &Lists,
    level: usize,
    records: &[Row],
    targets: &[Row],
) -> Result<Option<BothTables>, LogError> {
    let (mut all, mut all_targets) = (records.to_vec(), targets.to_vec());
    for below in 0..level {
        let mut next = lists.latest[below];
        while next != 0 {
            let Some(table) = view.table(next)? else { return Ok(None) };
            let (Some(rows), Some(target_rows)) =
                (table.rows(&view.source, Kind::Records)?, table.rows(&view.source, Kind::Targets)?)
            else {
                return Ok(None);
            };
            all.extend(rows);
            all_targets.extend(target_rows);
            if payload_len(all.len() as u64, all_targets.len() as u64) > u64::from(view.info.max_record) {
                return Ok(None);
            }
            next = table.head.lists.latest[below];
        }
    }
    Ok(Some((all, all_targets)))
}
