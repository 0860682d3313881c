//! Finding records by id, and changes by what they are about.

use std::collections::HashMap;

use uuid::Uuid;

use super::error::LogError;
use super::format as f;
use super::frame::{FrameHead, FrameType};
use super::locked;
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

/// Records behind the last INDEX, in memory.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// End of the range, in bytes.
    pub(crate) to: u64,
    pub(crate) records: HashMap<Uuid, (u64, u8)>,
    /// Target, offset, class of the hint.
    pub(crate) targets: Vec<(Uuid, u64, u8)>,
}

impl Recent {
    pub(crate) fn starting_at(offset: u64) -> Self {
        Self { to: offset, ..Self::default() }
    }

    pub(crate) fn add(&mut self, head: &FrameHead, targets: impl Iterator<Item = Uuid>) {
        self.records.entry(head.id).or_insert((head.offset, head.frame_type.to_byte()));
        self.targets.extend(targets.map(|target| (target, head.offset, head.hint.to_byte())));
    }
}

pub(crate) fn find(view: &LogView, id: Uuid) -> Result<Option<Found>, LogError> {
    let mut edge = locked(&view.edge);
    let recent = recent(view, &mut edge)?;
    Ok(recent.records.get(&id).and_then(|(offset, frame_type)| {
        Some(Found { offset: *offset, frame_type: FrameType::from_byte(*frame_type)? })
    }))
}

pub(crate) fn targets_of(view: &LogView, id: Uuid) -> Result<Vec<u64>, LogError> {
    let mut edge = locked(&view.edge);
    let recent = recent(view, &mut edge)?;
    Ok(recent.targets.iter().filter(|row| row.0 == id).map(|row| row.1).collect())
}

/// The records behind the last INDEX, up to the end.
pub(crate) fn recent<'e>(view: &LogView, edge: &'e mut Edge) -> Result<&'e mut Recent, LogError> {
    let end = view.end();
    let recent = edge.recent.get_or_insert_with(|| Recent::starting_at(f::HEADER_PAGE_LEN));
    if recent.to < end {
        for frame in view.frames(recent.to) {
            let frame = frame?;
            if !frame.frame_type().is_own() {
                recent.add(frame.head(), frame.targets());
            }
            recent.to = frame.next_offset();
        }
    }
    Ok(recent)
}
