//! What a view, or a request body, has to say about itself.

use serde::Serialize;

use crate::event::Uuid;

/// One thing that was left out, changed or put in, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// What happened, in snake_case: one of the constants of [`code`].
    pub code: &'static str,
    /// The messages that it is about.
    pub ids: Vec<Uuid>,
    /// The call that it is about, by its id as recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Why, in words.
    pub reason: String,
}

/// All that a view has to say about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostics {
    /// Messages that the view does not show although they are on the chain.
    pub hidden_message_ids: Vec<Uuid>,
    /// Messages in which a text was cut.
    pub truncated_message_ids: Vec<Uuid>,
    /// Messages in which a result became a stub.
    pub compacted_message_ids: Vec<Uuid>,
    /// The boundary that the view begins at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied_compact_boundary_id: Option<Uuid>,
    /// Texts that stand in the view and that nobody wrote.
    pub injected_notes: Vec<String>,
    /// Each of these and all else, with its reason, in the order of the view.
    pub items: Vec<Diagnostic>,
}

/// How long each list of [`Diagnostics`] is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lens {
    hidden: usize,
    truncated: usize,
    compacted: usize,
    notes: usize,
    items: usize,
}

/// The codes of [`Diagnostic`]s.
pub mod code {
    /// The state holds nothing from before its latest compaction, so the view is not the whole story.
    pub const STORY_BEGINS_AT_BOUNDARY: &str = "story_begins_at_boundary";
    /// The view begins at this boundary.
    pub const BOUNDARY_APPLIED: &str = "boundary_applied";
    /// A message is not eligible for the model.
    pub const NOT_ELIGIBLE: &str = "not_eligible";
    /// A message is for the screen only.
    pub const VIRTUAL_LEFT_OUT: &str = "virtual_left_out";
    /// A message is for the model only.
    pub const META_LEFT_OUT: &str = "meta_left_out";
    /// A message is not to be shown in the transcript.
    pub const NOT_VISIBLE: &str = "not_visible";
    /// A sub-agent's message is no part of the session's own story.
    pub const SIDECHAIN_LEFT_OUT: &str = "sidechain_left_out";
    /// A message of this kind is not for this view.
    pub const KIND_LEFT_OUT: &str = "kind_left_out";
    /// The person excluded a command's output.
    pub const EXCLUDED_BASH_LEFT_OUT: &str = "excluded_bash_left_out";
    /// A text that tells of a failed request.
    pub const API_ERROR_LEFT_OUT: &str = "api_error_left_out";
    /// A text that was put in for something that never came, or a call whose only result is one.
    pub const PLACEHOLDER_LEFT_OUT: &str = "placeholder_left_out";
    /// The same, in an export that refuses them.
    pub const PLACEHOLDER_REFUSED: &str = "placeholder_refused";
    /// A call without any result, in an export that drops placeholders.
    pub const UNANSWERED_CALL_LEFT_OUT: &str = "unanswered_call_left_out";
    /// Signatures, redacted or encrypted reasoning, or a part of a provider's own form.
    pub const PROVIDER_DATA_LEFT_OUT: &str = "provider_data_left_out";
    /// A rule of the caller's took words out of a message.
    pub const REDACTED: &str = "redacted";
    /// The options leave out reminders.
    pub const REMINDER_LEFT_OUT: &str = "reminder_left_out";
    /// An older boundary or summary, inside what a later one kept.
    pub const OLDER_COMPACTION_LEFT_OUT: &str = "older_compaction_left_out";
    /// A tombstone took the message back.
    pub const TAKEN_BACK: &str = "taken_back";
    /// An event that is no message.
    pub const NO_MESSAGE: &str = "no_message";
    /// A message that is on another branch.
    pub const NOT_ON_CHAIN: &str = "not_on_chain";
    /// A message that lies before the boundary that counts and was not kept.
    pub const BEFORE_BOUNDARY: &str = "before_boundary";
    /// A message of which nothing is for this view.
    pub const NOTHING_TO_SHOW: &str = "nothing_to_show";
    /// A message or event of a kind that this version does not know.
    pub const UNKNOWN_KIND_LEFT_OUT: &str = "unknown_kind_left_out";
    /// The stream ended inside this call.
    pub const INCOMPLETE_CALL_LEFT_OUT: &str = "incomplete_call_left_out";
    /// A result whose call is not there.
    pub const ORPHAN_RESULT_LEFT_OUT: &str = "orphan_result_left_out";
    /// A second result of a call.
    pub const DUPLICATE_RESULT_LEFT_OUT: &str = "duplicate_result_left_out";
    /// A result became a stub.
    pub const RESULT_CLEARED: &str = "result_cleared";
    /// A result was cut.
    pub const RESULT_TRUNCATED: &str = "result_truncated";
    /// The options, or the lack of a named provider, leave out reasoning.
    pub const REASONING_LEFT_OUT: &str = "reasoning_left_out";
    /// A message named a parent that is not there and hangs on another.
    pub const MISSING_PARENT: &str = "missing_parent";
    /// A call without a result got one that says so.
    pub const MISSING_RESULT_FILLED: &str = "missing_result_filled";
    /// Reasoning that another provider made.
    pub const FOREIGN_REASONING_LEFT_OUT: &str = "foreign_reasoning_left_out";
    /// Reasoning that lacks what its provider wants back with it.
    pub const UNSIGNED_REASONING_LEFT_OUT: &str = "unsigned_reasoning_left_out";
    /// Reasoning at the end of a message, where providers refuse it.
    pub const TRAILING_REASONING_LEFT_OUT: &str = "trailing_reasoning_left_out";
    /// A text of white space only, or a message without content.
    pub const BLANK_TEXT_LEFT_OUT: &str = "blank_text_left_out";
    /// A call's id is empty, used before or not legal, and goes out as another.
    pub const CALL_ID_MAPPED: &str = "call_id_mapped";
    /// The name of a call's tool is not legal everywhere, and goes out as another.
    pub const TOOL_NAME_MAPPED: &str = "tool_name_mapped";
    /// Arguments that are no object were put into one.
    pub const CALL_INPUT_WRAPPED: &str = "call_input_wrapped";
    /// Control characters in a text became U+FFFD.
    pub const CONTROL_CHARACTERS_REPLACED: &str = "control_characters_replaced";
    /// A system message behind the beginning goes out as the user's text.
    pub const SYSTEM_NOTE_AS_USER_TEXT: &str = "system_note_as_user_text";
    /// The history begins with the model; a user's text was put in front.
    pub const FIRST_USER_PUT_IN: &str = "first_user_put_in";
    /// The history ends with the model; a user's text was put behind.
    pub const LAST_USER_PUT_IN: &str = "last_user_put_in";
    /// Messages of one role in a row became one.
    pub const MESSAGES_MERGED: &str = "messages_merged";
    /// A call of a tool that does not exist any more, and its result, became text.
    pub const GONE_TOOL_AS_TEXT: &str = "gone_tool_as_text";
    /// A picture or file became a note.
    pub const MEDIA_DEGRADED: &str = "media_degraded";
    /// A picture's or file's media type is another than the recorded one.
    pub const MEDIA_TYPE_CORRECTED: &str = "media_type_corrected";
    /// A tool's schema was changed into one that every provider takes.
    pub const TOOL_SCHEMA_MENDED: &str = "tool_schema_mended";
    /// A tool has the name of another one, or is one too many for the provider.
    pub const TOOL_LEFT_OUT: &str = "tool_left_out";
    /// A call lacks the signature that its provider wants with it; the documented value in its place goes out.
    pub const CALL_SIGNATURE_PUT_IN: &str = "call_signature_put_in";
    /// An item of this id stands in the request already.
    pub const DUPLICATE_ITEM_LEFT_OUT: &str = "duplicate_item_left_out";
    /// A picture or file of a tool's output stands behind it, since the output can hold text only.
    pub const MEDIA_MOVED: &str = "media_moved";
    /// A part that has no form in this request.
    pub const PART_LEFT_OUT: &str = "part_left_out";
    /// An item in which a provider summed up what was said before, encrypted: what it stands for is not in this request.
    pub const COMPACTION_ITEM_LEFT_OUT: &str = "compaction_item_left_out";
    /// A failed tool's output has no form that says so; a text says it.
    pub const ERROR_FLAG_AS_TEXT: &str = "error_flag_as_text";
    /// Neither the options nor a message of the provider's names the model.
    pub const MODEL_NOT_NAMED: &str = "model_not_named";
    /// White space at the end of the last text, which is the model's.
    pub const TRAILING_SPACE_TRIMMED: &str = "trailing_space_trimmed";
    /// A tool that the history calls and nobody declared is declared.
    pub const TOOL_PUT_IN: &str = "tool_put_in";
    /// A message that a view had before is not where or what it was.
    pub const EARLIER_MESSAGE_CHANGED: &str = "earlier_message_changed";
    /// There is no message to send.
    pub const NOTHING_TO_SEND: &str = "nothing_to_send";
}

impl Diagnostic {
    /// A diagnostic about these messages.
    #[must_use]
    pub fn new(code: &'static str, ids: impl IntoIterator<Item = Uuid>, reason: impl Into<String>) -> Self {
        Self { code, ids: ids.into_iter().collect(), call: None, reason: reason.into() }
    }

    /// The same, about a call.
    #[must_use]
    pub fn about_call(mut self, call: &str) -> Self {
        self.call = Some(call.to_owned());
        self
    }
}

impl Diagnostics {
    pub(super) fn say(&mut self, item: Diagnostic) {
        self.items.push(item);
    }

    /// Says that a whole message is not shown.
    pub(super) fn hide(&mut self, id: Uuid, code: &'static str, reason: impl Into<String>) {
        self.hidden_message_ids.push(id);
        self.say(Diagnostic::new(code, [id], reason));
    }

    /// How long each list is.
    pub(super) fn lens(&self) -> Lens {
        Lens {
            hidden: self.hidden_message_ids.len(),
            truncated: self.truncated_message_ids.len(),
            compacted: self.compacted_message_ids.len(),
            notes: self.injected_notes.len(),
            items: self.items.len(),
        }
    }

    /// Takes back what was said since the lists were so long.
    pub(super) fn truncate(&mut self, lens: Lens) {
        self.hidden_message_ids.truncate(lens.hidden);
        self.truncated_message_ids.truncate(lens.truncated);
        self.compacted_message_ids.truncate(lens.compacted);
        self.injected_notes.truncate(lens.notes);
        self.items.truncate(lens.items);
    }

    /// Adds what another list says, behind what this one says.
    pub(super) fn extend(&mut self, other: Self) {
        self.hidden_message_ids.extend(other.hidden_message_ids);
        self.truncated_message_ids.extend(other.truncated_message_ids);
        self.compacted_message_ids.extend(other.compacted_message_ids);
        self.applied_compact_boundary_id = other.applied_compact_boundary_id.or(self.applied_compact_boundary_id);
        self.injected_notes.extend(other.injected_notes);
        self.items.extend(other.items);
    }

    pub(super) fn note(&mut self, text: &str) {
        self.injected_notes.push(text.to_owned());
    }
}
