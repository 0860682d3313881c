//! Fixed texts and limits that other floors and programs share.
//!
//! The texts are for ever: they stand in logs. A message that holds one of them was made by the runtime and never
//! counts as a person's words; the constructors of [`Message`](super::Message) flag it `synthetic`.

/// How deep lists and objects may stand inside one another in an event, the event itself being the first level.
pub const DEPTH_MAX: usize = 96;

/// The text that stands where a message has no content, so that no message is empty.
pub const NO_CONTENT: &str = "(no content)";

/// Stands in the place of what was taken out: by a rule of an export, or out of a session's file.
pub const REDACTED: &str = "[redacted]";

/// Stands in the place of what a vacuum has left out of a session's file, since it had been taken back or pruned.
pub const REMOVED: &str = "[removed by vacuum]";

/// The result of a call whose real result never came, in the store and in request bodies alike.
///
/// It only satisfies the pairing of calls and results. An export for training should refuse messages that hold it.
pub const MISSING_TOOL_RESULT: &str = "[No result was recorded for this tool call]";

/// The person stopped the model.
pub const INTERRUPTED: &str = "[Request interrupted by user]";

/// The person stopped the model while a tool was to run.
pub const INTERRUPTED_FOR_TOOL_USE: &str = "[Request interrupted by user for tool use]";

/// The person called a tool's run off.
pub const CANCELLED: &str = "The user called this action off for now. It was not carried out; wait for the user.";

/// The first text of a failed tool's output, where a form has no mark that says so.
pub(crate) const FAILED: &str = "The tool reported an error.";

/// The person refused a tool's run.
pub const REJECTED: &str =
    "The user refused this tool call. It was not carried out and changed nothing; wait for the user.";

/// A sub-agent's tool call was refused, with nobody there to ask.
pub const SUBAGENT_REJECTED: &str =
    "This tool call was refused for lack of permission. It was not carried out; try another way or report back.";

/// The model had nothing to answer.
pub const NO_RESPONSE_REQUESTED: &str = "No response requested.";

/// All fixed texts that are made by the runtime and are nobody's words.
pub const SYNTHETIC_TEXTS: [&str; 7] = [
    MISSING_TOOL_RESULT,
    INTERRUPTED,
    INTERRUPTED_FOR_TOOL_USE,
    CANCELLED,
    REJECTED,
    SUBAGENT_REJECTED,
    NO_RESPONSE_REQUESTED,
];

/// The subtype of a system event whose output the model reads as the user's.
pub(crate) const LOCAL_COMMAND: &str = "local_command";
