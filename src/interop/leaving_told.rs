//! What the writers of files share: for which agent, what they give, and what their file says otherwise than the session.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::event::{Uuid, Value};

/// The agents whose files a session can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Agent {
    /// Claude Code's transcript.
    ClaudeCode,
    /// A rollout of Codex.
    Codex,
    /// A session file of the pi coding agent.
    Pi,
}

/// Events of one kind that the file does not hold, or says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// What, as one word that stays the same from version to version.
    pub what: &'static str,
    /// In words.
    pub text: &'static str,
    /// How many times.
    pub count: usize,
    /// The first event of that kind.
    pub first: Uuid,
}

/// What a writer gives.
pub(super) struct Written {
    pub(super) records: Vec<Value>,
    pub(super) session: String,
    pub(super) place: String,
    pub(super) resume: Option<String>,
}

/// What differs, so far.
#[derive(Debug, Default)]
pub(super) struct Told(BTreeMap<&'static str, Difference>);

impl Told {
    /// Takes note of one thing that the file does not say as the session does.
    pub(super) fn note(&mut self, (what, text): (&'static str, &'static str), event: Uuid) {
        self.0.entry(what).or_insert(Difference { what, text, count: 0, first: event }).count += 1;
    }

    /// Takes over all that another list says.
    pub(super) fn differences(self) -> Vec<Difference> {
        self.0.into_values().collect()
    }

    pub(super) fn add(&mut self, other: Self) {
        for (what, more) in other.0 {
            match self.0.get_mut(what) {
                Some(known) => known.count += more.count,
                None => drop(self.0.insert(what, more)),
            }
        }
    }
}

/// What a target can't take, each by its name and in words.
pub(super) mod lost {
    pub(crate) type Lost = (&'static str, &'static str);

    pub(crate) const TOMBSTONED: Lost = ("tombstones", "messages that were taken back are left out");
    pub(crate) const REASONING: Lost = ("reasoning", "reasoning that only its own provider takes back is left out");
    pub(crate) const OPAQUE: Lost = ("opaqueParts", "parts of another provider's are left out");
    pub(crate) const MEDIA: Lost = ("media", "pictures and files that the format has no place for are notes");
    pub(crate) const LINKS: Lost =
        ("mediaLinks", "pictures are links, which newer versions of the program do not follow and leave out");
    pub(crate) const TIMES: Lost = ("times", "times that go back are those of the record before");
    pub(crate) const TITLE: Lost =
        ("title", "the title is in the file, but the program lists the session by what was said first");
    pub(crate) const OUTPUT_FORMS: Lost =
        ("outputForms", "outputs in a form that the program no longer reads are texts");
    pub(crate) const SYSTEM_NOTES: Lost = ("systemNotes", "notes of the system's are the user's text");
    pub(crate) const AS_TEXT: Lost = ("asText", "messages of kinds that the format lacks are the user's text");
    pub(crate) const KINDS: Lost = ("kinds", "messages are of the nearest kind that the format has");
    pub(crate) const SIDE_RECORDS: Lost = ("sideRecords", "progress and what the runtime told are left out");
    pub(crate) const SIDECHAINS: Lost = ("sidechains", "messages of sub-agents inside the session are left out");
    pub(crate) const APPROVALS: Lost = ("approvals", "questions whether a call may run, and answers, are left out");
    pub(crate) const OPEN_CALLS: Lost = (
        "openCalls",
        "calls without a result have one that says so, as the program drops such calls; to an import they are open",
    );
    pub(crate) const REFUSALS: Lost =
        ("refusals", "a person's refusals of calls are failed results that say why, as the model is told them");
    pub(crate) const HIDDEN: Lost = ("hiddenMessages", "messages that no model sees are left out");
    pub(crate) const BRANCHES: Lost = ("branches", "messages of other branches are left out");
    pub(crate) const CALL_IDS: Lost = ("callIds", "ids of calls that the provider would refuse are made anew");
    pub(crate) const TOOL_NAMES: Lost = ("toolNames", "names of tools that the provider would refuse are changed");
    pub(crate) const TOOL_NAMES_APART: Lost =
        ("toolNamesApart", "names of tools that would have become the same end with a number of their own");
    pub(crate) const CALL_INPUTS: Lost = ("callInputs", "arguments that are no object stand in one");
    pub(crate) const INCOMPLETE: Lost = ("incompleteCalls", "calls inside which the stream ended are left out");
    pub(crate) const ORPHANS: Lost = ("orphanResults", "results without a call, or that came twice, are left out");
    pub(crate) const BLANK: Lost =
        ("blankTexts", "texts that hold nothing but blanks, which the provider would refuse, are left out");
    pub(crate) const SHOWN: Lost = ("hiddenShown", "messages that were hidden from people are shown to them");
    pub(crate) const TEXTS_MOVED: Lost =
        ("textsMoved", "what stands beside a late result stands with it behind its call");
    pub(crate) const ERRORS: Lost =
        ("errorMarks", "the format has no mark for a failed result, which says so in words");
    pub(crate) const RAW: Lost = ("rawOutputs", "what a tool gave for the screen is left out");
    pub(crate) const FIELDS: Lost = ("otherFields", "fields that only the first program knows are left out");
    pub(crate) const RECORDS: Lost = ("otherRecords", "records that are no messages are left out");
    pub(crate) const UNPLACED: Lost = ("unplaced", "lines that could not be read are left out");
    pub(crate) const STARTED: Lost = ("toolStarts", "notes that a tool was about to run are left out");
    pub(crate) const PRUNES: Lost = ("prunes", "results that were a stub for the model are whole again");
    pub(crate) const AMENDS: Lost = ("amends", "messages stand as they were amended");
    pub(crate) const SUMMARY_SEEN: Lost = ("summaries", "the model sees a summary that was for people only");
    pub(crate) const LEAF: Lost = ("position", "the program may go on from another message than the session stands at");
    pub(crate) const PARTED: Lost = (
        "leftAnswers",
        "blocks on a branch that was left within their answer are an answer of their own to the program",
    );
    pub(crate) const DROPPED_CALLS: Lost =
        ("droppedCalls", "the program leaves out calls behind which the file has no result");
    pub(crate) const COPIES: Lost = ("keptMessages", "messages that a compaction kept stand behind it once more");
    pub(crate) const KEPT_EARLIER: Lost =
        ("keptEarlier", "what a compaction before the last one kept does not stand behind it once more");
    pub(crate) const KEPT_ASIDE: Lost =
        ("keptAside", "what a compaction on another branch kept does not stand behind it once more");
    pub(crate) const HUNG: Lost =
        ("parents", "records whose parent is not in the file hang where the session has them");
    pub(crate) const FOLDER: Lost = ("folder", "no working folder is known: in the file it is `/`, or there is none");
    pub(crate) const NO_OUTPUT: Lost =
        ("emptyErrors", "what a failed tool gave is empty, which the provider would refuse; the file says so in words");
    pub(crate) const KEPT_MORE: Lost = ("keptMore", "a compaction that kept a part of an answer keeps all of it");
    pub(crate) const STOP_REASONS: Lost =
        ("stopReasons", "reasons to end that the provider does not know are left out");
    pub(crate) const STOP_REASONS_UNSAID: Lost = ("stopReasons", "why an answer ended is left out");
    pub(crate) const RESULTS_ELSEWHERE: Lost =
        ("resultsElsewhere", "results that stand on another branch than their calls are not seen by the program");
    pub(crate) const BROKEN_OFF: Lost =
        ("brokenOff", "answers that were broken off are said to be whole, as the program sends no others");
    pub(crate) const LOST_PARENTS: Lost =
        ("lostParents", "what named a parent that was not in the file names the one that the session has for it");
    pub(crate) const MODELS: Lost =
        ("models", "answers name a model of another provider, which the program's own may not know");
    pub(crate) const MODEL_UNKNOWN: Lost =
        ("modelUnknown", "answers of which no model is known are said to be of what the format has for that");
    pub(crate) const PROVIDERS: Lost = ("providers", "which provider made an answer is left out");
    pub(crate) const USAGE: Lost = ("usage", "a part of what is known of a request's cost is left out");
    pub(crate) const AGENT: Lost = ("agent", "the name of the session's agent is left out");
    pub(crate) const AGENT_NAMES: Lost = ("agentNames", "which agent said a message is left out");
    pub(crate) const SESSION_MODEL: Lost = ("sessionModel", "the model that the session is set to is left out");
    pub(crate) const MEDIA_DETAILS: Lost =
        ("mediaDetails", "names and types of pictures and files that the format has no place for are left out");
    pub(crate) const PARENT: Lost =
        ("parentSession", "the path of the session that this one was forked from is not named");
    pub(crate) const TAGS: Lost = ("tags", "labels of the session are left out");
}
