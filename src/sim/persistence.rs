//! What a file system may leave of writes that were not synced, as a table.

/// One row: what may be found after the power has failed.
///
/// Everywhere a sector that was written and not synced holds what it held before or what one of the writes since then put
/// there, sector by sector, in any order; and a file may have any size that it had since its last sync. The fields say
/// what more may happen, or what may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Persistence {
    /// The file system's name.
    pub name: &'static str,
    /// The size may reach the disk before the data: a new sector below it that was not written reads as zeros.
    pub zeros: bool,
    /// Such a sector may instead show what a deleted file had left in it.
    pub stale: bool,
    /// The last sector below a new size holds its data; sectors before it may still be missing.
    pub tail_is_written: bool,
    /// A new size reaches the disk only after all data below it.
    pub growth_in_order: bool,
    /// The file may also end a few bytes before the end of a write, in the middle of a word.
    pub torn_size: bool,
    /// Changes of names reach the disk in the order in which they were made; if not, each one by itself or not at all.
    pub names_in_order: bool,
}

/// ext4 with `data=ordered`, its default: delayed allocation leaves zero tails.
pub const EXT4_ORDERED: Persistence = Persistence {
    name: "ext4 ordered",
    zeros: true,
    stale: false,
    tail_is_written: false,
    growth_in_order: false,
    torn_size: false,
    names_in_order: true,
};

/// ext4 with `data=writeback`: new blocks may show old content.
pub const EXT4_WRITEBACK: Persistence = Persistence { name: "ext4 writeback", stale: true, ..EXT4_ORDERED };

/// XFS: the size follows the end of what was written, with holes before it that read as zeros.
pub const XFS: Persistence = Persistence { name: "xfs", tail_is_written: true, ..EXT4_ORDERED };

/// Btrfs: the size follows the data in order.
pub const BTRFS: Persistence = Persistence { name: "btrfs", zeros: false, growth_in_order: true, ..EXT4_ORDERED };

/// Everything that POSIX does not forbid. Each state that another row allows is among its states.
pub const ANYTHING: Persistence =
    Persistence { name: "anything POSIX allows", stale: true, torn_size: true, names_in_order: false, ..EXT4_ORDERED };

/// All rows.
pub const ALL: [Persistence; 5] = [EXT4_ORDERED, EXT4_WRITEBACK, XFS, BTRFS, ANYTHING];
