//! The state of a session of which not everything is whole.

use std::collections::HashSet;
use std::path::Path;

use super::error::SessionError;
use super::replay::readable;
use super::state::State;
use crate::log::Survey;

impl State {
    /// What all that counts in a surveyed file tells, in the order of the file, whole or not: events whose parents are lost
    /// begin a chain of their own. What can't be read as an event is passed over.
    ///
    /// # Errors
    /// [`SessionError::Log`] if the disk fails to read, or the file has changed since the survey.
    pub fn of_survey(path: &Path, survey: &Survey) -> Result<Self, SessionError> {
        let mut state = Self::new();
        let mut seen = HashSet::new();
        for frame in survey.frames.iter().filter(|frame| frame.status.counts() && !frame.head.frame_type.is_own()) {
            let event = match readable(path, &survey.load(frame)?) {
                Ok(event) => event,
                Err(SessionError::Unreadable { .. } | SessionError::UnknownEvent { .. }) => None,
                Err(error) => return Err(error),
            };
            if let Some(event) = event.filter(|event| seen.insert(event.id)) {
                state.push(event, frame.at);
            }
        }
        Ok(state)
    }
}
