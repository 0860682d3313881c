//! Whose words a message holds.

use crate::projection::ProjectedMessage;

/// The name of the agent that a message belongs to: the one that really acted, else the one that it was for. None for
/// messages of a person, of a session with one agent, and those that no event records.
#[must_use]
pub fn agent_of(message: &ProjectedMessage) -> Option<&str> {
    let metadata = &message.recorded()?.metadata;
    let names = [&metadata.effective_agent_name, &metadata.agent_name];
    names.into_iter().flatten().map(String::as_str).find(|name| !name.trim().is_empty())
}
