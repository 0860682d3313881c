//! Headers from the end of a log backwards, for who wants its end and not all of it.

use super::error::LogError;
use super::format as f;
use super::frame::{Fault, Frame, FrameHead};
use super::kind::FrameType;
use super::load::header_ending_at;
use super::source::ReadAhead;
use super::state::decode_open;
use super::view::LogView;

/// The headers of a log's frames from the last one back. See [`LogView::heads_back`].
#[derive(Debug)]
pub struct HeadsBack<'a> {
    view: &'a LogView,
    pages: ReadAhead<'a>,
    last: Option<FrameHead>,
    done: bool,
}

impl LogView {
    /// The headers of the frames from the last one back to the first, OPEN, MARK and INDEX among them. What an OPEN has set aside
    /// is left out. Payloads are not read, and nothing that lies before the last header that is asked for. An error ends it.
    ///
    /// # Errors
    /// Each item: `Io`; `NoFrame` if no whole frame ends where the next one begins.
    #[must_use]
    pub fn heads_back(&self) -> HeadsBack<'_> {
        HeadsBack { view: self, pages: ReadAhead::new(&self.source, self.end()), last: None, done: false }
    }

    /// The last record; none in a log without one. Walks back over the log's own frames.
    ///
    /// # Errors
    /// `Io`; `NoFrame` if a frame between it and the end is damaged.
    pub fn last_record(&self) -> Result<Option<Frame>, LogError> {
        for head in self.heads_back() {
            let head = head?;
            if !head.frame_type.is_own() {
                return self.frame(head.offset).map(Some);
            }
        }
        Ok(None)
    }
}

impl HeadsBack<'_> {
    fn before(&mut self, head: &FrameHead) -> Result<Option<FrameHead>, LogError> {
        let (view, offset) = (self.view, head.offset);
        // In front of an OPEN lies what it has set aside; the frame before that ends where the OPEN says.
        let end = match head.frame_type {
            FrameType::Open => {
                decode_open(view.frame(offset)?.stored_payload()).map_or(offset, |(skip_from, _)| skip_from)
            }
            _ => offset,
        };
        if end <= f::HEADER_PAGE_LEN {
            return Ok(None);
        }
        let rules = view.info.rules();
        // One that steps over what lies behind it would send the walk in a circle.
        let found = if end > offset { Err(Fault::Place) } else { Ok(header_ending_at(&mut self.pages, end, rules)?) };
        match found {
            Ok(Some(before)) => Ok(Some(before)),
            Ok(None) => view.expect_whole(offset, super::frame::Decoded::Wrong(Fault::Trailer)),
            Err(fault) => view.expect_whole(offset, super::frame::Decoded::Wrong(fault)),
        }
    }
}

impl Iterator for HeadsBack<'_> {
    type Item = Result<FrameHead, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let found = match self.last {
            None => self.view.tip_head(),
            Some(last) => self.before(&last),
        };
        self.last = found.as_ref().ok().copied().flatten();
        self.done = self.last.is_none();
        found.transpose()
    }
}
