//! A frame of which only the head is kept: a large one is checked piece by piece, and held by nobody.

use super::checksum::Sum;
use super::error::LogError;
use super::format as f;
use super::frame::{Decoded, Fault, Frame, FrameHead, Rules, targets_fit};
use super::kind::HintClass;
use super::load::{load_behind, load_header, trailer_fits};
use super::source::ReadAhead;
use super::state::decode_open;

/// Larger frames are not read as a whole.
const WHOLE_MAX: u64 = 64 << 10;

/// What a walk asks of a frame.
pub(crate) trait Loaded: Sized {
    /// Reads and checks the frame at a place.
    fn load(pages: &mut ReadAhead<'_>, offset: u64, rules: Rules) -> Result<Decoded<Self>, LogError>;

    fn head(&self) -> &FrameHead;

    /// Of an OPEN that can be read, from where it steps over what lies before it.
    fn skip_from(&self) -> Option<u64>;
}

impl Loaded for Frame {
    fn load(pages: &mut ReadAhead<'_>, offset: u64, rules: Rules) -> Result<Decoded<Self>, LogError> {
        super::load::load(pages, offset, rules)
    }

    fn head(&self) -> &FrameHead {
        Frame::head(self)
    }

    fn skip_from(&self) -> Option<u64> {
        decode_open(self.stored_payload()).ok().map(|open| open.0)
    }
}

/// The head of a frame that is whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checked {
    head: FrameHead,
    skip_from: Option<u64>,
}

impl Loaded for Checked {
    fn load(pages: &mut ReadAhead<'_>, offset: u64, rules: Rules) -> Result<Decoded<Self>, LogError> {
        let head = match load_header(pages, offset, rules)? {
            Decoded::Whole(head) => head,
            Decoded::Short { missing } => return Ok(Decoded::Short { missing }),
            Decoded::Wrong(fault) => return Ok(Decoded::Wrong(fault)),
        };
        let total = head.total_len();
        if total > WHOLE_MAX && !head.frame_type.is_own() && !pages.holds(offset, total) {
            return Ok(match check_large(pages, &head)? {
                Decoded::Whole(()) => Decoded::Whole(Self { head, skip_from: None }),
                Decoded::Short { missing } => Decoded::Short { missing },
                Decoded::Wrong(fault) => Decoded::Wrong(fault),
            });
        }
        Ok(match load_behind(pages, head, rules)? {
            Decoded::Whole(frame) => {
                let opens = head.frame_type == super::kind::FrameType::Open;
                Decoded::Whole(Self { head, skip_from: if opens { frame.skip_from() } else { None } })
            }
            Decoded::Short { missing } => Decoded::Short { missing },
            Decoded::Wrong(fault) => Decoded::Wrong(fault),
        })
    }

    fn head(&self) -> &FrameHead {
        &self.head
    }

    fn skip_from(&self) -> Option<u64> {
        self.skip_from
    }
}

/// The same checks, in the same order, as a frame gets that is read as a whole.
fn check_large(pages: &mut ReadAhead<'_>, head: &FrameHead) -> Result<Decoded<()>, LogError> {
    if let Some(missing) = head.next_offset().checked_sub(pages.limit()).filter(|missing| *missing > 0) {
        return Ok(Decoded::Short { missing });
    }
    if !trailer_fits(pages, head)? {
        return Ok(Decoded::Wrong(Fault::Trailer));
    }
    let start = head.offset + head.header_len;
    let payload_end = start + u64::from(head.payload_len);
    let end = head.next_offset() - f::FRAME_TRAILER_LEN;
    let hint_fits = match head.hint {
        HintClass::Targets | HintClass::ResultOf => {
            targets_fit(pages.fetch(start, 4)?, head.payload_len as usize).is_some()
        }
        HintClass::Plain | HintClass::Meta => true,
    };
    let (mut at, mut sum, mut padding_fits) = (start, Sum::default(), true);
    while at < end {
        let bytes = pages.some(at, end - at)?;
        if bytes.is_empty() {
            return Ok(Decoded::Short { missing: end - at });
        }
        sum.update(bytes);
        let padding = usize::try_from(payload_end.saturating_sub(at)).unwrap_or(usize::MAX).min(bytes.len());
        padding_fits &= bytes[padding..].iter().all(|byte| *byte == 0);
        at += bytes.len() as u64;
    }
    if sum.value() != head.payload_crc {
        return Ok(Decoded::Wrong(Fault::PayloadCrc { expected: sum.value(), found: head.payload_crc }));
    }
    Ok(match (padding_fits, hint_fits) {
        (false, _) => Decoded::Wrong(Fault::Padding),
        (true, false) => Decoded::Wrong(Fault::Targets),
        (true, true) => Decoded::Whole(()),
    })
}
