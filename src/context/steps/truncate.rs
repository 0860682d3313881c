//! Cuts a history to its last groups.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::context::groups::{groups, is_head};
use crate::context::tokens::{Cost, Estimate, TokenCounter, message_costs};
use crate::context::{BoxError, Context, Entry, Processor, code};
use crate::event::{Kind, Role, Uuid};
use crate::projection::{Diagnostic, ProjectedMessage};

/// The step's name.
pub const NAME: &str = "truncate";

/// How much of a history is kept; with both, what both keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TruncateConfig {
    /// Most [groups](crate::context::groups()) that are kept; none: all. The last one is kept always, and beside these
    /// the one with the person's last message.
    pub keep_last_groups: Option<usize>,
    /// Most tokens that the messages which are kept cost together, those of the head too; none: any number. Groups are
    /// kept from the newest on, up to the first that does not fit. The last one is kept always, and so is the one with
    /// the person's last message, which is counted first.
    ///
    /// What other steps put in later, and tools, are not counted.
    pub token_budget: Option<u64>,
}

/// Keeps the last groups of the history and leaves out what stands before them. It never cuts a group, and keeps the
/// [head](is_head) and the group with the person's last message: in the middle of a run, that is what the model works on.
///
/// It runs before any other step, so that nothing is put into what is left out.
#[derive(Debug, Clone)]
pub struct Truncate {
    config: TruncateConfig,
    counter: Arc<dyn TokenCounter>,
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
    /// The tokens of what was kept, if there is a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_kept: Option<u64>,
}

impl Entry for Truncated {
    const NAME: &'static str = NAME;
}

impl Truncate {
    /// A step that keeps so much; tokens are [estimated](Estimate).
    #[must_use]
    pub fn new(config: TruncateConfig) -> Self {
        Self::counted_by(config, Arc::new(Estimate))
    }

    /// A step that keeps so much, with tokens as this counter counts them.
    #[must_use]
    pub fn counted_by(config: TruncateConfig, counter: Arc<dyn TokenCounter>) -> Self {
        Self { config, counter }
    }

    /// The first group that is kept for its place, and what is kept costs, if that was asked for. `question` is kept too.
    fn first_kept(
        &self,
        messages: &[ProjectedMessage],
        groups: &[Range<usize>],
        question: Option<usize>,
    ) -> (usize, Option<u64>) {
        let most = self.config.keep_last_groups.map_or(groups.len(), |most| most.max(1));
        let first = groups.len().saturating_sub(most);
        let Some(budget) = self.config.token_budget else { return (first, None) };
        let costs: Vec<u64> = message_costs(messages, &self.counter).iter().map(Cost::total).collect();
        let sum = |places: Range<usize>, heads: bool| {
            let counted = places.filter(|&at| is_head(&messages[at]) == heads);
            counted.fold(0_u64, |tokens, at| tokens.saturating_add(costs[at]))
        };
        let question_tokens = question.map_or(0, |place| sum(groups[place].clone(), false));
        let mut tokens = sum(0..messages.len(), true).saturating_add(question_tokens);
        let mut kept = groups.len();
        for place in (first..groups.len()).rev() {
            let more = if question == Some(place) { 0 } else { sum(groups[place].clone(), false) };
            let with = tokens.saturating_add(more);
            if with > budget && kept < groups.len() {
                break;
            }
            (kept, tokens) = (place, with);
        }
        (kept, Some(tokens))
    }

    /// Says that what is always kept is more than was asked for.
    fn say_if_over(&self, context: &mut Context<'_>, always: &[Range<usize>], tokens: Option<u64>) {
        let Some((tokens, budget)) = tokens.zip(self.config.token_budget).filter(|(tokens, budget)| tokens > budget)
        else {
            return;
        };
        let kept = always.iter().flat_map(|group| &context.messages[group.clone()]);
        let ids: Vec<Uuid> = kept.flat_map(|message| &message.source_message_ids).copied().collect();
        let reason = format!(
            "the last group, the person's last message and the head are always kept; they cost {tokens} tokens of {budget}"
        );
        context.say(Diagnostic::new(code::OVER_BUDGET, ids, reason));
    }
}

/// The group with the person's last message.
fn question(messages: &[ProjectedMessage], groups: &[Range<usize>]) -> Option<usize> {
    let at = messages.iter().rposition(is_typed)?;
    let group = groups.partition_point(|group| group.start <= at).checked_sub(1)?;
    groups[group].contains(&at).then_some(group)
}

/// Whether a person said it: to the session, or to a caller who put it among the view's messages.
fn is_typed(message: &ProjectedMessage) -> bool {
    let is_input = message.role == Role::User && matches!(*message.kind, Kind::UserInput);
    is_input && (!message.metadata.synthetic || !message.kind.is_recorded())
}

impl Processor for Truncate {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        if self.config == TruncateConfig::default() {
            return Ok(());
        }
        let groups = groups(&context.messages);
        let question = question(&context.messages, &groups);
        let (first, tokens_kept) = self.first_kept(&context.messages, &groups, question);
        let question = question.filter(|&place| place < first).map(|place| groups[place].clone());
        let always: Vec<Range<usize>> = question.iter().chain(groups.last()).cloned().collect();
        self.say_if_over(context, &always, tokens_kept);
        let Some(cut) = groups.get(first).map(|group| group.start) else { return Ok(()) };
        let left_out = leave_out(&mut context.messages, cut, question.clone().unwrap_or_default());
        if left_out.count == 0 {
            return Ok(());
        }
        let last = groups.len() - first;
        let groups_kept = last + usize::from(question.is_some());
        let beside = if question.is_some() { " and the person's last message" } else { "" };
        let left_out_groups = groups.len() - groups_kept;
        let reason = format!("{left_out_groups} of {} groups, all but the last {last}{beside}", groups.len());
        context.say(Diagnostic::new(code::TRUNCATED, left_out.ids, reason));
        let messages_left_out = left_out.count;
        context.metadata.insert(Truncated { groups: groups.len(), groups_kept, messages_left_out, tokens_kept });
        Ok(())
    }
}

struct LeftOut {
    ids: Vec<Uuid>,
    count: usize,
}

/// Takes out what stands before this place, but for the head and the question.
fn leave_out(messages: &mut Vec<ProjectedMessage>, cut: usize, question: Range<usize>) -> LeftOut {
    let mut left_out = LeftOut { ids: Vec::new(), count: 0 };
    let mut at = 0;
    messages.retain(|message| {
        let stays = at >= cut || question.contains(&at) || is_head(message);
        at += 1;
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
