//! Transcripts in the form of Claude Code's, made for tests: small ones line by line, and long ones of a real shape.

#![allow(dead_code, reason = "each test program uses some of it")]

use std::fmt::Write;

/// The id that stands for a number in a made transcript.
pub(crate) fn id(number: u64) -> String {
    format!("{number:08x}-0c0c-4000-8000-{number:012x}")
}

/// JSON text of a string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

/// A transcript that grows line by line. Numbers stand for ids, see [`id`]; parent 0 is none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript {
    /// The file so far.
    pub(crate) text: String,
    at: u64,
}

impl Transcript {
    /// A raw line.
    pub(crate) fn line(&mut self, line: &str) -> &mut Self {
        self.text.push_str(line);
        self.text.push('\n');
        self
    }

    /// A transcript record with these fields beside those that every record has.
    pub(crate) fn record(&mut self, number: u64, parent: u64, kind: &str, fields: &str) -> &mut Self {
        let parent = if parent == 0 { "null".to_owned() } else { quoted(&id(parent)) };
        self.at += 1;
        let (minute, second) = (self.at / 60 % 60, self.at % 60);
        let hour = self.at / 3600 % 24;
        let uuid = id(number);
        writeln!(
            self.text,
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/home/dev/made\",\
             \"sessionId\":\"5b1e0a10-0c0c-4000-8000-0000000000ff\",\"version\":\"2.1.100\",\"gitBranch\":\"main\",\
             \"type\":\"{kind}\",{fields},\"uuid\":\"{uuid}\",\
             \"timestamp\":\"2026-03-01T{hour:02}:{minute:02}:{second:02}.000Z\"}}"
        )
        .expect("a string takes all");
        self
    }

    /// What a person typed.
    pub(crate) fn user(&mut self, number: u64, parent: u64, text: &str) -> &mut Self {
        let fields = format!("\"message\":{{\"role\":\"user\",\"content\":{}}}", quoted(text));
        self.record(number, parent, "user", &fields)
    }

    /// A user's record that is for the model only.
    pub(crate) fn meta(&mut self, number: u64, parent: u64, text: &str) -> &mut Self {
        let fields = format!("\"message\":{{\"role\":\"user\",\"content\":{}}},\"isMeta\":true", quoted(text));
        self.record(number, parent, "user", &fields)
    }

    /// One block of the answer `message`.
    pub(crate) fn block(&mut self, number: u64, parent: u64, message: &str, block: &str) -> &mut Self {
        let fields = format!(
            "\"message\":{{\"id\":\"{message}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"made-model\",\
             \"content\":[{block}],\"stop_reason\":null,\"stop_sequence\":null,\
             \"usage\":{{\"input_tokens\":4,\"output_tokens\":20}}}},\"requestId\":\"req-{message}\""
        );
        self.record(number, parent, "assistant", &fields)
    }

    /// A block of text.
    pub(crate) fn says(&mut self, number: u64, parent: u64, message: &str, text: &str) -> &mut Self {
        self.block(number, parent, message, &format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text)))
    }

    /// A block that calls a tool.
    pub(crate) fn calls(&mut self, number: u64, parent: u64, message: &str, call: &str) -> &mut Self {
        let block =
            format!("{{\"type\":\"tool_use\",\"id\":\"{call}\",\"name\":\"Read\",\"input\":{{\"path\":\"{call}\"}}}}");
        self.block(number, parent, message, &block)
    }

    /// The result of a call.
    pub(crate) fn result(&mut self, number: u64, parent: u64, call: &str, output: &str) -> &mut Self {
        let fields = format!(
            "\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"{call}\",\"type\":\"tool_result\",\
             \"content\":{}}}]}},\"toolUseResult\":{{\"stdout\":\"\"}}",
            quoted(output)
        );
        self.record(number, parent, "user", &fields)
    }

    /// How far a tool is.
    pub(crate) fn progress(&mut self, number: u64, parent: u64, call: &str) -> &mut Self {
        let fields = format!(
            "\"data\":{{\"type\":\"bash_progress\",\"output\":\"\"}},\"toolUseID\":\"{call}\",\
             \"parentToolUseID\":\"{call}\""
        );
        self.record(number, parent, "progress", &fields)
    }

    /// An attachment with these fields.
    pub(crate) fn attachment(&mut self, number: u64, parent: u64, attachment: &str) -> &mut Self {
        self.record(number, parent, "attachment", &format!("\"attachment\":{{{attachment}}}"))
    }

    /// A system record.
    pub(crate) fn system(&mut self, number: u64, parent: u64, subtype: &str) -> &mut Self {
        self.record(number, parent, "system", &format!("\"subtype\":\"{subtype}\",\"level\":\"info\""))
    }

    /// A boundary, which hangs on nothing; `metadata` are fields of its metadata.
    pub(crate) fn boundary(&mut self, number: u64, logical_parent: u64, metadata: &str) -> &mut Self {
        let fields = format!(
            "\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\",\"logicalParentUuid\":\"{}\",\
             \"compactMetadata\":{{\"trigger\":\"auto\",\"preTokens\":1000{}{metadata}}}",
            id(logical_parent),
            if metadata.is_empty() { "" } else { "," }
        );
        self.record(number, 0, "system", &fields)
    }

    /// The summary of a compaction.
    pub(crate) fn summary(&mut self, number: u64, parent: u64, text: &str) -> &mut Self {
        let fields =
            format!("\"message\":{{\"role\":\"user\",\"content\":{}}},\"isCompactSummary\":true", quoted(text));
        self.record(number, parent, "user", &fields)
    }
}

/// A long transcript of a real shape: each turn has a person's words, an answer of several blocks with three calls
/// that run in parallel, dead runs of progress, attachments, and a closing answer; some turns a compaction. Outputs
/// have about `output_len` bytes. The same arguments give the same bytes.
pub(crate) fn long_transcript(turns: u64, output_len: usize) -> Vec<u8> {
    let mut made = Transcript::default();
    let output = "0123456789abcde\n".repeat(output_len.div_ceil(16));
    let (mut next, mut leaf) = (1, 0);
    let mut new = || {
        next += 1;
        next - 1
    };
    for turn in 0..turns {
        let user = new();
        made.user(user, leaf, &format!("Question {turn}."));
        let (first, second) = (format!("msg_{turn}_a"), format!("msg_{turn}_b"));
        let thinking = new();
        made.block(thinking, user, &first, r#"{"type":"thinking","thinking":"","signature":"c2ln"}"#);
        // Three calls hang one below the other; each result hangs on its own call, and the walk meets one of them.
        let calls: Vec<(u64, String)> = (0..3).map(|call| (new(), format!("toolu_{turn}_{call}"))).collect();
        let mut above = thinking;
        for (number, call) in &calls {
            made.calls(*number, above, &first, call);
            above = *number;
        }
        let mut dead = above;
        for _ in 0..4 {
            let number = new();
            made.progress(number, dead, &calls[2].1);
            dead = number;
        }
        let results: Vec<u64> = calls.iter().map(|_| new()).collect();
        for place in [2, 0, 1] {
            made.result(results[place], calls[place].0, &calls[place].1, &output);
        }
        let hook = new();
        made.attachment(
            hook,
            results[2],
            &format!(r#""type":"hook_success","hookEvent":"PostToolUse","toolUseID":"{}""#, calls[2].1),
        );
        let answer = new();
        made.says(answer, hook, &second, &format!("Answer {turn}."));
        leaf = new();
        made.system(leaf, answer, "turn_duration");
        if turn % 50 == 49 {
            let (boundary, summary) = (new(), new());
            made.boundary(boundary, leaf, "").summary(summary, boundary, &format!("Summary up to turn {turn}."));
            leaf = summary;
        }
        if turn % 10 == 9 {
            made.line(&format!(
                r#"{{"type":"last-prompt","lastPrompt":"Question {turn}.","leafUuid":"{}"}}"#,
                id(leaf)
            ));
        }
    }
    made.text.into_bytes()
}
