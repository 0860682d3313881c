//! Out of the history: calls of tools that are off, so that the model does not copy them.

use std::collections::BTreeSet;

use super::answers::Answers;
use crate::context::tools::{SEPARATOR, prefixes};
use crate::context::{BoxError, Context, Processor, code};
use crate::event::{Kind, Part, PartBody};
use crate::projection::{Diagnostic, ProjectedMessage, Shared, code as seen, is_blank};

/// The step's name.
pub const NAME: &str = "disabled_tool_filter";

/// Leaves out the calls of tools that are off, what answers them, the reasoning that led to them, and messages that held
/// nothing else: a model calls what it sees called, declared or not.
///
/// Ids of calls are no names, so a result belongs to the latest earlier message that holds a call of its id, there to the
/// first that has none: as in [`tool_pairing`](super::tool_pairing), which mends what else is left over. If the result of
/// a call that goes stayed, it could be taken for that of another call of the same id.
#[derive(Debug, Clone, Default)]
pub struct DisabledToolFilter {
    names: BTreeSet<String>,
    prefixes: BTreeSet<String>,
}

impl DisabledToolFilter {
    /// Tools by their name, or by the identifier of their manifest, which means all of its tools.
    #[must_use]
    pub fn new<I: AsRef<str>>(disabled: impl IntoIterator<Item = I>) -> Self {
        let mut filter = Self::default();
        for name in disabled {
            let name = name.as_ref();
            // As it stands too: old logs hold names that others made.
            filter.prefixes.extend(prefixes(name));
            filter.prefixes.insert(format!("{name}{SEPARATOR}"));
            filter.names.insert(name.to_owned());
        }
        filter
    }

    /// Whether a call of this name goes.
    #[must_use]
    pub fn is_disabled(&self, name: &str) -> bool {
        let mut rest = name;
        let mut passed = 0;
        while let Some(at) = rest.find(SEPARATOR) {
            let end = passed + at + SEPARATOR.len();
            if self.prefixes.contains(&name[..end]) {
                return true;
            }
            // A longer run of `_` holds one separator, at its beginning.
            let behind = name[end..].trim_start_matches('_');
            passed = name.len() - behind.len();
            rest = behind;
        }
        self.names.contains(name)
    }

    fn is_disabled_call(&self, part: &Part) -> bool {
        part.as_tool_call().is_some_and(|call| self.is_disabled(&call.name))
    }
}

impl Processor for DisabledToolFilter {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let has_disabled = |message: &ProjectedMessage| message.content.iter().any(|part| self.is_disabled_call(part));
        let concerned: BTreeSet<Turn> =
            context.messages.iter().filter(|m| has_disabled(m)).filter_map(Turn::of).collect();
        if !context.messages.iter().any(has_disabled) {
            return Ok(());
        }
        let (mut answers, say) = (Answers::default(), &mut context.diagnostics);
        context.messages.retain_mut(|message| {
            if let Kind::Attachment(attachment) = &*message.kind
                && attachment.tool_use_id.as_deref().is_some_and(|call| answers.all_go(call))
            {
                let reason = "it hangs on a call of a tool that is off";
                say.push(Diagnostic::new(seen::PART_LEFT_OUT, message.source_message_ids.iter().copied(), reason));
                return false;
            }
            answers.note_calls(message, |call| self.is_disabled(&call.name));
            let is_concerned = || Turn::of(message).is_some_and(|turn| concerned.contains(&turn));
            let has_lost_call = has_disabled(message) || !concerned.is_empty() && is_concerned();
            let found = message.content.len();
            let ProjectedMessage { content, source_message_ids: ids, .. } = message;
            content.retain(|part| match self.why_not(part, has_lost_call, &mut answers) {
                Some((code, reason, call)) => {
                    let item = Diagnostic::new(code, ids.iter().copied(), reason);
                    say.push(call.map_or(item.clone(), |call| item.about_call(call)));
                    false
                }
                None => true,
            });
            let is_left = |part: &Shared<Part>| !part.as_text().is_some_and(is_blank);
            content.len() == found || content.iter().any(is_left)
        });
        Ok(())
    }
}

/// Messages of one provider and id are one message to it, so that its reasoning and its calls may stand in several.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn(Option<String>, String);

impl Turn {
    fn of(message: &ProjectedMessage) -> Option<Self> {
        Some(Self(message.provider.clone(), message.message_id.clone()?))
    }
}

impl DisabledToolFilter {
    /// Why this part goes, as a code, in words, and with the call that it is about; none if it stays.
    fn why_not<'p>(
        &self,
        part: &'p Part,
        has_lost_call: bool,
        answers: &mut Answers,
    ) -> Option<(&'static str, &'static str, Option<&'p str>)> {
        const ANSWER: &str = "it answers a call of a tool that is off";
        match &part.body {
            PartBody::ToolCall(call) if self.is_disabled(&call.name) => {
                Some((code::DISABLED_CALL_LEFT_OUT, "its tool is off", Some(&call.id)))
            }
            PartBody::Reasoning(_) if has_lost_call => {
                Some((seen::REASONING_LEFT_OUT, "a call that it led to was left out", None))
            }
            PartBody::ToolResult(result) if answers.result_goes(&result.call_id) => {
                Some((seen::ORPHAN_RESULT_LEFT_OUT, ANSWER, Some(&result.call_id)))
            }
            PartBody::ToolApprovalRequest(request) if answers.next_goes(&request.call_id) => {
                Some((seen::PART_LEFT_OUT, "it is about a call of a tool that is off", Some(&request.call_id)))
            }
            PartBody::ToolApprovalResponse(response) if answers.next_goes(&response.call_id) => {
                Some((seen::PART_LEFT_OUT, ANSWER, Some(&response.call_id)))
            }
            _ => None,
        }
    }
}
