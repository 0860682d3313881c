//! What a provider takes, as far as turns can be made ready for it before they are written.

use super::media::MediaRules;
use super::text::is_blank;
use crate::event::{Part, Reasoning, Role, ToolCall, Value};
use crate::projection::{Owner, ProjectedMessage, code, is_same_model};

/// What a provider takes. Each serializer says it of its own.
#[derive(Debug, Clone)]
pub(super) struct Target<'o> {
    /// Whose own data goes back; none: nobody's.
    pub(super) owner: Option<Owner>,
    /// The model that reads it.
    pub(super) model: Option<&'o str>,
    /// System messages may stand behind the beginning. Else those become text of the user's.
    pub(super) later_system: bool,
    /// The first message must be the user's.
    pub(super) user_begins: bool,
    /// The last message must be the user's.
    pub(super) user_ends: bool,
    /// Messages of one role in a row must be one.
    pub(super) merges: bool,
    /// A message may end in reasoning.
    pub(super) ends_in_reasoning: bool,
    /// Whether reasoning of its own has all that it wants back.
    pub(super) is_complete: fn(&Part, &Reasoning) -> bool,
    /// The text of reasoning goes out, unsigned, to a server that signs nothing: of the same model, and of no provider
    /// that is known to sign its own.
    pub(super) plain_reasoning: bool,
    /// Whether a part of its own, kept whole, can go back into a message of this role.
    pub(super) takes_opaque: fn(&Value, Role) -> Opaque<'_>,
    /// Whether a call of its own goes back with the raw text that it was recorded with.
    pub(super) takes_raw_input: fn(&Part, &ToolCall) -> bool,
    /// Pictures and files.
    pub(super) media: MediaRules,
}

/// Whether a provider's own part, kept whole, goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opaque<'v> {
    /// No, for this reason.
    No(&'static str),
    /// By itself.
    Alone,
    /// Only with an answer of the same pair behind it, in the same turn.
    Asks(Pair<'v>),
    /// Only behind what asks for it.
    Answers(Pair<'v>),
}

/// What the two parts of a pair have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair<'v> {
    /// Its own in the whole conversation.
    pub(super) id: &'v str,
    pub(super) kind: &'static str,
    /// The pair that it came about in, which must be there too.
    pub(super) within: Option<&'v str>,
}

/// The strictest: what takes nothing of its own back.
impl Default for Target<'_> {
    fn default() -> Self {
        Self {
            owner: None,
            model: None,
            later_system: false,
            user_begins: true,
            user_ends: false,
            merges: true,
            ends_in_reasoning: false,
            is_complete: |_, _| false,
            plain_reasoning: false,
            takes_opaque: |_, _| Opaque::No("it has no form here"),
            takes_raw_input: |_, _| false,
            media: MediaRules::default(),
        }
    }
}

/// Why something is left out: a code and words.
pub(super) type LeftOut = (&'static str, &'static str);

impl Target<'_> {
    /// Whether this reasoning goes back: only to the provider and the model that made it, and only complete.
    pub(super) fn takes_reasoning(
        &self,
        source: &ProjectedMessage,
        part: &Part,
        reasoning: &Reasoning,
    ) -> Result<(), LeftOut> {
        if self.plain_reasoning {
            return self.takes_plain_reasoning(source, part, reasoning);
        }
        let Some(owner) = self.owner else {
            return Err((code::REASONING_LEFT_OUT, "no provider is named that takes its reasoning back"));
        };
        if Owner::of(source, part) != Some(owner) {
            return Err((code::FOREIGN_REASONING_LEFT_OUT, "another provider made it, or none is recorded"));
        }
        if !is_same_model(source.model.as_deref(), self.model) {
            return Err((code::FOREIGN_REASONING_LEFT_OUT, "another model made it"));
        }
        if !(self.is_complete)(part, reasoning) {
            let reason = "its provider does not take it back without the signature, data or id that it made";
            return Err((code::UNSIGNED_REASONING_LEFT_OUT, reason));
        }
        Ok(())
    }

    fn takes_plain_reasoning(
        &self,
        source: &ProjectedMessage,
        part: &Part,
        reasoning: &Reasoning,
    ) -> Result<(), LeftOut> {
        if !matches!(Owner::of(source, part), None | Some(Owner::OpenAi)) {
            return Err((code::FOREIGN_REASONING_LEFT_OUT, "another provider made it"));
        }
        if !is_same_model(source.model.as_deref(), self.model) {
            return Err((code::FOREIGN_REASONING_LEFT_OUT, "another model made it"));
        }
        let is_sealed = reasoning.signature.is_some() || reasoning.redacted.is_some() || reasoning.encrypted.is_some();
        if is_sealed || reasoning.text.as_deref().is_none_or(is_blank) {
            return Err((code::REASONING_LEFT_OUT, "only reasoning that is plain text can go to this server"));
        }
        Ok(())
    }

    /// Whether the provider made this part, and the model that reads it now.
    pub(super) fn owns(&self, source: &ProjectedMessage, part: &Part) -> bool {
        self.owner.is_some()
            && Owner::of(source, part) == self.owner
            && is_same_model(source.model.as_deref(), self.model)
    }
}

/// Whether reasoning has the signature, or the redacted data, that its provider made of it.
pub(super) fn is_signed(reasoning: &Reasoning) -> bool {
    [&reasoning.signature, &reasoning.redacted].into_iter().flatten().any(|data| !data.is_empty())
}
