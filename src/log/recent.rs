//! The records behind the last INDEX, in memory: what the next INDEX will hold, and where a look-up begins.

use std::collections::HashMap;

use uuid::Uuid;

use super::kind::FrameType;
use super::table::Row;

/// Records behind the last INDEX, in memory and in file order.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// End of the range that has been read, in bytes.
    pub(crate) to: u64,
    pub(crate) rows: Vec<Row>,
    by_id: HashMap<Uuid, usize>,
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
        self.by_id.entry(id).or_insert(self.rows.len());
        self.rows.push(Row { id, offset, kind: frame_type.to_byte() });
        self.targets.extend(targets.map(|target| Row { id: target, offset, kind: class }));
    }

    pub(crate) fn find(&self, id: Uuid) -> Option<Row> {
        self.by_id.get(&id).and_then(|index| self.rows.get(*index)).copied()
    }

    /// Forgets the first records, which an INDEX now holds.
    pub(crate) fn forget(&mut self, covers_to: u64) {
        let rest = std::mem::replace(self, Self::starting_at(self.to));
        for row in rest.rows.into_iter().filter(|row| row.offset >= covers_to) {
            self.by_id.entry(row.id).or_insert(self.rows.len());
            self.rows.push(row);
        }
        self.targets = rest.targets.into_iter().filter(|row| row.offset >= covers_to).collect();
    }
}
