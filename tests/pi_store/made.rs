//! Files in the form of pi's, made for tests: line by line, or by dice.

use std::fmt::Write;

/// JSON text of a string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// A file that grows line by line; an empty parent is none.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) text: String,
    at: u64,
}

impl Made {
    pub(crate) fn new() -> Self {
        let header = r#"{"type":"session","version":3,"id":"made-1","timestamp":"2026-03-01T00:00:00.000Z","cwd":"/home/dev/made"}"#;
        Self { text: format!("{header}\n"), at: 0 }
    }

    pub(crate) fn line(&mut self, line: &str) -> &mut Self {
        self.text.push_str(line);
        self.text.push('\n');
        self
    }

    /// An entry with these fields beside those that every entry has.
    pub(crate) fn entry(&mut self, id: &str, parent: &str, kind: &str, fields: &str) -> &mut Self {
        self.at += 1;
        let parent = if parent.is_empty() { "null".to_owned() } else { quoted(parent) };
        let (hour, minute, second) = (self.at / 3600 % 24, self.at / 60 % 60, self.at % 60);
        writeln!(
            self.text,
            "{{\"type\":\"{kind}\",\"id\":\"{id}\",\"parentId\":{parent},\
             \"timestamp\":\"2026-03-01T{hour:02}:{minute:02}:{second:02}.000Z\"{}{fields}}}",
            if fields.is_empty() { "" } else { "," }
        )
        .unwrap();
        self
    }

    pub(crate) fn message(&mut self, id: &str, parent: &str, role: &str, fields: &str) -> &mut Self {
        let fields =
            format!("\"message\":{{\"role\":\"{role}\",{fields},\"timestamp\":{}}}", 1_772_323_200_000 + self.at);
        self.entry(id, parent, "message", &fields)
    }

    pub(crate) fn user(&mut self, id: &str, parent: &str, text: &str) -> &mut Self {
        self.message(id, parent, "user", &format!("\"content\":{}", quoted(text)))
    }

    /// An answer of these blocks.
    pub(crate) fn answer(&mut self, id: &str, parent: &str, blocks: &str, stop: &str) -> &mut Self {
        let fields = format!(
            "\"content\":[{blocks}],\"api\":\"anthropic-messages\",\"provider\":\"anthropic\",\"model\":\"made-model\",\
             \"usage\":{{\"input\":4,\"output\":2,\"cacheRead\":0,\"cacheWrite\":0,\"totalTokens\":6}},\
             \"stopReason\":\"{stop}\""
        );
        self.message(id, parent, "assistant", &fields)
    }

    pub(crate) fn says(&mut self, id: &str, parent: &str, text: &str) -> &mut Self {
        self.answer(id, parent, &format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text)), "stop")
    }

    /// An answer that calls these tools.
    pub(crate) fn calls(&mut self, id: &str, parent: &str, calls: &[&str]) -> &mut Self {
        let blocks: Vec<String> = calls
            .iter()
            .map(|call| format!(r#"{{"type":"toolCall","id":"{call}","name":"read","arguments":{{"path":"{call}"}}}}"#))
            .collect();
        self.answer(id, parent, &blocks.join(","), "toolUse")
    }

    pub(crate) fn result(&mut self, id: &str, parent: &str, call: &str, output: &str) -> &mut Self {
        let fields = format!(
            "\"toolCallId\":\"{call}\",\"toolName\":\"read\",\"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":false",
            quoted(output)
        );
        self.message(id, parent, "toolResult", &fields)
    }

    pub(crate) fn compaction(&mut self, id: &str, parent: &str, first_kept: &str) -> &mut Self {
        let fields = format!(r#""summary":"Sum {id}.","firstKeptEntryId":"{first_kept}","tokensBefore":900"#);
        self.entry(id, parent, "compaction", &fields)
    }

    pub(crate) fn label(&mut self, id: &str, parent: &str, target: &str, label: &str) -> &mut Self {
        self.entry(id, parent, "label", &format!(r#""targetId":"{target}","label":"{label}""#))
    }

    /// `replacement` as JSON.
    pub(crate) fn edit(&mut self, id: &str, parent: &str, target: &str, replacement: &str) -> &mut Self {
        self.entry(id, parent, "context_edit", &format!(r#""targetId":"{target}","replacement":{replacement}"#))
    }
}

/// A small generator of random numbers, so that a failure can be repeated by its seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }
}

/// A file whose shape the dice choose: turns with calls and results, labels, models, states of extensions, messages
/// of theirs, branches with and without a summary, compactions, edits, broken turns, a change of root. Branches leave
/// anywhere, also between a call and its result.
pub(crate) fn random_file(seed: u64) -> Made {
    let mut dice = Dice(seed);
    let mut made = Made::new();
    let mut path: Vec<String> = Vec::new();
    let mut paths: Vec<(Vec<String>, Vec<String>)> = vec![Default::default()];
    let mut open: Vec<String> = Vec::new();
    for number in 0..8 + dice.below(40) {
        let id = format!("{number:08x}");
        let parent = path.last().cloned().unwrap_or_default();
        let any = |dice: &mut Dice, path: &[String]| path[dice.below(path.len())].clone();
        let is_open = !open.is_empty();
        match dice.below(if is_open { 6 } else { 16 }) {
            0..=3 if is_open => {
                let call = open.remove(dice.below(open.len()));
                made.result(&id, &parent, &call, &format!("out {number}"));
            }
            0 | 1 => drop(made.user(&id, &parent, &format!("Question {number}."))),
            2 | 3 => drop(made.says(&id, &parent, &format!("Answer {number}."))),
            4 if !is_open => {
                let calls: Vec<String> = (0..1 + dice.below(3)).map(|call| format!("c{number}_{call}|fc")).collect();
                open.clone_from(&calls);
                made.calls(&id, &parent, &calls.iter().map(String::as_str).collect::<Vec<_>>());
            }
            5 if !path.is_empty() => {
                let target = any(&mut dice, &path);
                made.label(&id, &parent, &target, "mark");
            }
            6 => drop(made.entry(&id, &parent, "model_change", r#""provider":"anthropic","modelId":"other""#)),
            7 => drop(made.entry(&id, &parent, "future", r#""foo":1"#)),
            8 => drop(made.entry(
                &id,
                &parent,
                "custom_message",
                r#""customType":"note","content":"Mind.","display":false"#,
            )),
            9 => drop(made.answer(&id, &parent, "", "aborted")),
            10 if path.len() > 2 => {
                let first = any(&mut dice, &path);
                made.compaction(&id, &parent, &first);
            }
            11 if path.len() > 1 => {
                let target = any(&mut dice, &path);
                let replacement = ["null", "\"Edited.\"", r#"[{"type":"text","text":"Blocks."}]"#][dice.below(3)];
                made.edit(&id, &parent, &target, replacement);
            }
            12 => drop(made.entry(&id, &parent, "branch_summary", r#""fromId":"root","summary":"Left.""#)),
            13 => drop(made.message(
                &id,
                &parent,
                "bashExecution",
                r#""command":"ls","output":"a","excludeFromContext":true"#,
            )),
            _ => {
                open.clear();
                made.user(&id, &parent, "Go on.");
            }
        }
        path.push(id);
        paths.push((path.clone(), open.clone()));
        if dice.below(7) == 0 {
            (path, open) = paths[dice.below(paths.len())].clone();
        }
    }
    made
}
