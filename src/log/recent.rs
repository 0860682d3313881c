//! The records behind the last INDEX, in memory: what the next INDEX will hold, and where a look-up begins.

use std::collections::HashMap;

use uuid::Uuid;

use super::id_hash::IdHash;
use super::kind::FrameType;
use super::table::Row;

/// Records behind the last INDEX, in memory and in file order.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// End of the range that has been read, in bytes.
    pub(crate) to: u64,
    pub(crate) rows: Vec<Row>,
    /// The first row of each id. It is filled when somebody looks an id up: an append adds rows only.
    by_id: HashMap<Uuid, usize, IdHash>,
    /// Rows that `by_id` knows.
    known: usize,
    /// In file order as well; the id is that of the target.
    pub(crate) targets: Vec<Row>,
}

impl Recent {
    pub(crate) fn starting_at(offset: u64) -> Self {
        Self { to: offset, ..Self::default() }
    }

    pub(crate) fn add(
        &mut self,
        id: Uuid,
        offset: u64,
        frame_type: FrameType,
        class: u8,
        targets: impl Iterator<Item = Uuid>,
    ) {
        self.rows.push(Row { id, offset, kind: frame_type.to_byte() });
        self.targets.extend(targets.map(|target| Row { id: target, offset, kind: class }));
    }

    pub(crate) fn find(&mut self, id: Uuid) -> Option<Row> {
        for (index, row) in self.rows.iter().enumerate().skip(self.known) {
            self.by_id.entry(row.id).or_insert(index);
        }
        self.known = self.rows.len();
        self.by_id.get(&id).and_then(|index| self.rows.get(*index)).copied()
    }

    /// Forgets the first records, which an INDEX now holds.
    pub(crate) fn forget(&mut self, covers_to: u64) {
        // The room is kept: the next records need as much.
        self.by_id.clear();
        self.known = 0;
        self.rows.retain(|row| row.offset >= covers_to);
        self.targets.retain(|row| row.offset >= covers_to);
    }
}
