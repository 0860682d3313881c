//! Cuts a history to its last groups.

use serde::{Deserialize, Serialize};

use crate::context::groups::{groups, is_head};
use crate::context::{BoxError, Context, Entry, Processor, code};
use crate::event::Uuid;
use crate::projection::{Diagnostic, ProjectedMessage};

/// The step's name.
pub const NAME: &str = "truncate";

/// How much of a history is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TruncateConfig {
    /// Most [groups](crate::context::groups()) that are kept; none: all. The last one is kept always.
    pub keep_last_groups: Option<usize>,
}

/// Keeps the last groups of the history and leaves out what stands before them. It never cuts a group, and keeps the
/// [head](is_head).
///
/// It runs before any other step, so that nothing is put into what is left out.
#[derive(Debug, Clone)]
pub struct Truncate {
    config: TruncateConfig,
}

/// What [`Truncate`] left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncated {
    /// The groups that there were.
    pub groups: usize,
    /// The groups that were kept.
    pub groups_kept: usize,
    /// The messages that were left out.
    pub messages_left_out: usize,
}

impl Entry for Truncated {
    const NAME: &'static str = NAME;
}

impl Truncate {
    /// A step that keeps so much.
    #[must_use]
    pub fn new(config: TruncateConfig) -> Self {
        Self { config }
    }
}

impl Processor for Truncate {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let Some(most) = self.config.keep_last_groups else { return Ok(()) };
        let groups = groups(&context.messages);
        let first = groups.len().saturating_sub(most.max(1));
        let Some(cut) = groups.get(first).map(|group| group.start).filter(|_| first > 0) else { return Ok(()) };
        let left_out = leave_out(&mut context.messages, cut);
        let reason = format!("{first} of {} groups before the last {most}", groups.len());
        context.say(Diagnostic::new(code::TRUNCATED, left_out.ids, reason));
        let (groups, groups_kept) = (groups.len(), groups.len() - first);
        context.metadata.insert(Truncated { groups, groups_kept, messages_left_out: left_out.count });
        Ok(())
    }
}

struct LeftOut {
    ids: Vec<Uuid>,
    count: usize,
}

/// Takes out what stands before this place, but for the head.
fn leave_out(messages: &mut Vec<ProjectedMessage>, cut: usize) -> LeftOut {
    let mut left_out = LeftOut { ids: Vec::new(), count: 0 };
    let mut at = 0;
    messages.retain(|message| {
        at += 1;
        let stays = at > cut || is_head(message);
        if !stays {
            left_out.count += 1;
            // One event may be several messages, one behind the other.
            for &id in &message.source_message_ids {
                if left_out.ids.last() != Some(&id) {
                    left_out.ids.push(id);
                }
            }
        }
        stays
    });
    left_out
}
