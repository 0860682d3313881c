//! The state of a session of which not everything is whole.

use std::collections::HashSet;
use std::path::Path;

use super::error::SessionError;
use super::read_event::readable;
use super::state::State;
use crate::event::{Body, Event, Uuid};
use crate::log::{FrameHead, Survey};

/// A state in the making, of events that come one by one in the order of their file, as a survey shows their frames.
#[derive(Debug, Default)]
pub struct Gathering {
    state: State,
    seen: HashSet<Uuid>,
}

impl Gathering {
    /// Takes in the event of the frame that has this header and stands at this place. One that was taken in already (a block
    /// that stands twice) is passed over, and so is one that this version does not know and must not skip.
    pub fn add(&mut self, event: Event, head: &FrameHead, at: u64) {
        let is_known = head.is_skippable() || !matches!(event.body, Body::Unknown(_));
        if is_known && self.seen.insert(event.id) {
            self.state.push(event, at);
        }
    }

    /// The state of what was taken in. Events whose parents are lost begin a chain of their own.
    #[must_use]
    pub fn into_state(self) -> State {
        self.state
    }
}

impl State {
    /// What all that counts in a surveyed file tells, in the order of the file, whole or not: events whose parents are lost
    /// begin a chain of their own. What can't be read as an event is passed over.
    ///
    /// # Errors
    /// [`SessionError::Log`] if the disk fails to read, or the file has changed since the survey.
    pub fn of_survey(path: &Path, survey: &Survey) -> Result<Self, SessionError> {
        let mut gathering = Gathering::default();
        for frame in survey.frames.iter().filter(|frame| frame.status.counts() && !frame.head.frame_type.is_own()) {
            let event = match readable(path, &survey.load(frame)?) {
                Ok(event) => event,
                Err(SessionError::Unreadable { .. } | SessionError::UnknownEvent { .. }) => None,
                Err(error) => return Err(error),
            };
            if let Some(event) = event {
                gathering.add(event, &frame.head, frame.at);
            }
        }
        Ok(gathering.into_state())
    }
}
