//! What is run: each command in what it usually does, and in how it usually fails.

use seslog::session::{Session, SessionOptions};

use crate::cli_support::{Home, Ran};
use crate::fixture::{BRANCHED, LABELLED, SMALL, TITLED, damage, home, run_in};

/// A run of a command in a fresh store.
pub(crate) struct Case {
    /// Names the snapshot.
    pub(crate) name: &'static str,
    /// The command line.
    pub(crate) args: &'static [&'static str],
    pub(crate) stdin: &'static str,
    pub(crate) code: i32,
    pub(crate) prepare: Prepare,
}

/// What is done before.
#[derive(Clone, Copy)]
pub(crate) enum Prepare {
    Nothing,
    /// These commands.
    Runs(&'static [&'static [&'static str]]),
    /// The same command, however it ends.
    Again,
    /// A byte of the small session is turned.
    Damage,
    /// Another process, as it were, writes the small session.
    Lock,
    /// There is a file `notes.txt`.
    Notes,
}

const HELLO: &str = r#"{"type":"message","role":"user","kind":"user_input","content":"hello"}"#;
const COMPACTION: &str =
    r#"{"type":"compaction","summary":{"text":"Seventeen."},"keep":["0192f3a4-1111-7000-8000-00000000000d"]}"#;
const OWN: &str = "store/0192f3a0-1111-7000-8000-000000000001.seslog";
const CALL: &str = "0192f3a2-1111-7000-8000-00000000000b";
const RESULT: &str = "0192f3a3-1111-7000-8000-00000000000c";
const ANSWER: &str = "0192f3a4-1111-7000-8000-00000000000d";

const fn case(name: &'static str, args: &'static [&'static str], code: i32) -> Case {
    Case { name, args, stdin: "", code, prepare: Prepare::Nothing }
}

const fn after(name: &'static str, args: &'static [&'static str], code: i32, prepare: Prepare) -> Case {
    Case { name, args, stdin: "", code, prepare }
}

const PRUNE: &[&str] = &["prune", SMALL, "--target", RESULT];
const FORK: &[&str] = &["fork", SMALL, "--at", RESULT];

/// What commands give.
pub(crate) const DONE: &[Case] = &[
    case("list", &["list"], 0),
    case("list-limit", &["list", "--limit", "2"], 0),
    case("list-empty", &["list", "--store", "elsewhere"], 0),
    after("list-damaged", &["list"], 1, Prepare::Damage),
    case("demo", &["demo"], 0),
    case("import", &["import", "samples/v3-all-types.jsonl", "--store", "new"], 0),
    case("import-claude-code", &["import", "samples/branching-2.0.jsonl", "--store", "new"], 0),
    case("import-codex", &["import", "samples/resume-2026.jsonl", "--store", "new"], 0),
    case("import-again", &["import", "samples/small.jsonl"], 0),
    case("import-directory", &["import", "samples", "--store", "new"], 0),
    case("import-agent", &["import", "others/modern-2.1.agent-a77c01.jsonl"], 0),
    case("import-damaged", &["import", "others/damaged.jsonl"], 1),
    case("import-directory-damaged", &["import", "others", "--store", "new"], 1),
    Case { stdin: COMPACTION, ..case("append-compaction", &["append", SMALL], 0) },
    Case { stdin: HELLO, ..case("append", &["append", SMALL], 0) },
    Case { stdin: "nonsense", ..case("append-refused", &["append", SMALL], 1) },
    Case { stdin: HELLO, ..case("append-new", &["append", "--new"], 0) },
    case("show", &["show", SMALL], 0),
    case("show-branched", &["show", BRANCHED], 0),
    case("show-model", &["show", TITLED, "--view", "model"], 0),
    case("show-compact", &["show", SMALL, "--view", "compact"], 0),
    case("show-debug", &["show", SMALL, "--view", "debug"], 0),
    case("show-export", &["show", SMALL, "--view", "export", "--redact", "beetles"], 0),
    case("show-ui", &["show", SMALL, "--view", "ui"], 0),
    after(
        "show-sub-agents",
        &["show", TITLED, "--view", "transcript"],
        0,
        Prepare::Runs(&[&["import", "others/modern-2.1.agent-a77c01.jsonl"]]),
    ),
    after("show-pruned", &["show", SMALL, "--view", "model"], 0, Prepare::Runs(&[PRUNE])),
    case("show-branch", &["show", BRANCHED, "--branch", "00000007"], 0),
    after("show-damaged", &["show", SMALL], 1, Prepare::Damage),
    case("tail", &["tail", SMALL, "-n", "2"], 0),
    case("tree", &["tree", BRANCHED], 0),
    case("tree-all", &["tree", SMALL, "--all"], 0),
    case("tree-labels", &["tree", LABELLED], 0),
    after("tree-fork", &["tree", SMALL], 0, Prepare::Runs(&[FORK])),
    case("diff", &["diff", SMALL, RESULT, "0192f3a0-1111-7000-8000-000000000001:"], 1),
    case("diff-branches", &["diff", BRANCHED, "00000007", "00000017"], 1),
    after(
        "diff-pruned",
        &["diff", SMALL, RESULT, "0192f3a0-1111-7000-8000-000000000001:"],
        1,
        Prepare::Runs(&[PRUNE, &["rewind", SMALL, "--to", RESULT]]),
    ),
    case("diff-same", &["diff", SMALL, ANSWER, "0192f3a0-1111-7000-8000-000000000001:"], 0),
    case("search", &["search", "beetles"], 0),
    case("search-nothing", &["search", "zeppelin"], 1),
    case("explain", &["explain", SMALL, CALL], 0),
    case("explain-out", &["explain", TITLED, "00000004"], 0),
    case("export", &["export", SMALL, "--output", "small.jsonl"], 0),
    case("export-markdown", &["export", SMALL, "--format", "markdown", "--output", "small.md"], 0),
    case("export-codex", &["export", BRANCHED, "--format", "codex", "--output", "rollout.jsonl"], 0),
    case("resume", &["resume", SMALL], 0),
    case("resume-open-call", &["resume", BRANCHED], 0),
    after("resume-damaged", &["resume", SMALL], 1, Prepare::Damage),
    case("payload", &["payload", SMALL, "--provider", "anthropic"], 0),
    case("payload-config", &["payload", SMALL, "--provider", "gemini", "--config", "others/prompt.json"], 0),
    case("payload-compacted", &["payload", TITLED, "--provider", "openai-responses"], 0),
    case("verify", &["verify", SMALL], 0),
    case("verify-summary", &["verify", SMALL, "--summary"], 0),
    after("verify-damaged", &["verify", SMALL], 1, Prepare::Damage),
    case("rewind", &["rewind", SMALL, "--to", RESULT], 0),
    case("rewind-to-start", &["rewind", SMALL, "--to-start"], 0),
    case("fork", FORK, 0),
    case("salvage", &["salvage", SMALL, "-o", "whole.seslog"], 0),
    after("salvage-damaged", &["salvage", SMALL, "-o", "whole.seslog"], 1, Prepare::Damage),
    after("salvage-in-place", &["salvage", SMALL, "--in-place"], 1, Prepare::Damage),
    after(
        "import-own",
        &["import", "own.seslog", "--store", "new"],
        0,
        Prepare::Runs(&[&["salvage", SMALL, "-o", "own.seslog"]]),
    ),
    after("import-own-damaged", &["import", OWN, "--store", "new"], 1, Prepare::Damage),
    after("import-old-losses", &["import", "others/damaged.jsonl"], 0, Prepare::Again),
    after("import-directory-old-losses", &["import", "others", "--store", "new"], 0, Prepare::Again),
    case("search-filtered", &["search", "seventeen", "--role", "assistant", "--until", "2024-11-05"], 0),
    case("compact", &["compact", SMALL, "--summary", "Seventeen beetles.", "--keep-from", ANSWER], 0),
    after(
        "compact-nothing",
        &["compact", SMALL, "--summary", "x"],
        0,
        Prepare::Runs(&[&["rewind", SMALL, "--to-start"]]),
    ),
    case("tombstone", &["tombstone", SMALL, "--target", ANSWER, "--reason", "wrong window"], 0),
    case("prune", PRUNE, 0),
    case("redact", &["redact", SMALL, "--literal", "ghp_Zq4vT9xWm2Lc7RkB5nHs8YdJ3fPg6UaE1oXi"], 0),
    case("redact-dry-run", &["redact", SMALL, "--pattern", "[0-9]+ beetles", "--dry-run"], 0),
    case("redact-nothing", &["redact", SMALL, "--literal", "zeppelin"], 1),
    case("vacuum", &["vacuum", SMALL], 0),
    after(
        "vacuum-tombstoned",
        &["vacuum", SMALL, "--tombstoned"],
        0,
        Prepare::Runs(&[&["tombstone", SMALL, "--target", ANSWER]]),
    ),
    case("scan-secrets", &["scan-secrets"], 1),
    case("scan-secrets-none", &["scan-secrets", TITLED], 0),
    case("stat", &["stat", SMALL], 0),
    case("stat-all", &["stat"], 0),
    after("stat-damaged", &["stat", SMALL], 1, Prepare::Damage),
    case("doctor", &["doctor"], 0),
    after("doctor-damaged", &["doctor"], 1, Prepare::Damage),
    case("title", &["title", SMALL], 0),
    case("title-set", &["title", SMALL, "Beetles in June"], 0),
    case("title-same", &["title", SMALL, "Beetles"], 0),
    case("title-none", &["title", BRANCHED], 0),
    after("delete-forked", &["delete", SMALL, "--yes", "--force"], 0, Prepare::Runs(&[FORK])),
    case("delete", &["delete", SMALL, "--yes"], 0),
    case("prune-nothing", &["prune", SMALL, "--target", ANSWER], 0),
    case("list-filtered", &["list", "--text", "zeppelin"], 0),
    case("meta", &["meta", SMALL, "--title", "Beetles in June"], 0),
    case("completions", &["completions", "fish"], 0),
    case("man", &["man"], 0),
    case("man-pages", &["man", "--output", "man1"], 0),
];

/// How commands fail.
pub(crate) const FAILED: &[Case] = &[
    case("error-no-such-session", &["show", "0193"], 1),
    case("error-no-such-event", &["show", SMALL, "--at", "0193"], 1),
    case("error-ambiguous-session", &["show", "5b1e0a10"], 2),
    case("error-ambiguous-event", &["explain", SMALL, "0192f3a"], 2),
    case("error-no-command-so", &["shwo", SMALL], 2),
    case("error-missing-argument", &["show"], 2),
    case("error-wrong-value", &["show", SMALL, "--view", "nobody"], 2),
    case("error-usage", &["meta", SMALL], 2),
    case("error-redact-nothing-named", &["redact", SMALL], 2),
    case("error-bad-pattern", &["redact", SMALL, "--pattern", "("], 2),
    case("error-no-such-file", &["import", "nothing.jsonl"], 1),
    after("error-unknown-format", &["import", "notes.txt"], 2, Prepare::Notes),
    after("error-not-a-session", &["verify", "./notes.txt"], 1, Prepare::Notes),
    after("error-exists", &["export", SMALL, "--output", "notes.txt"], 2, Prepare::Notes),
    after("error-salvage-exists", &["salvage", SMALL, "-o", "notes.txt"], 2, Prepare::Notes),
    case("error-no-sessions", &["import", "--all"], 1),
    after("error-damaged", &["meta", SMALL, "--title", "x"], 1, Prepare::Damage),
    after("error-locked", &["rewind", SMALL, "--to-start"], 3, Prepare::Lock),
    after("error-locked-redact", &["redact", SMALL, "--literal", "beetles"], 3, Prepare::Lock),
    after("error-needed", &["delete", SMALL, "--yes"], 1, Prepare::Runs(&[FORK])),
    case("error-no-terminal", &["delete", SMALL], 2),
    case("error-refused", &["prune", SMALL, "--target", SMALL], 1),
];

impl Case {
    /// Runs it in a fresh home.
    pub(crate) fn run(&self, more: &[&str]) -> (Home, Ran) {
        let home = home();
        let mut held = None;
        match self.prepare {
            Prepare::Nothing => {}
            Prepare::Runs(runs) => runs.iter().for_each(|args| {
                run_in(&home, args, "").ends_with(0);
            }),
            Prepare::Again => drop(run_in(&home, self.args, self.stdin)),
            Prepare::Damage => damage(&home, SMALL),
            Prepare::Lock => held = Some(Session::open(&home.file(SMALL), SessionOptions::default()).unwrap()),
            Prepare::Notes => {
                home.write("notes.txt", "These are notes.\nNothing else.\n");
            }
        }
        let args: Vec<&str> = self.args.iter().chain(more).copied().collect();
        let ran = run_in(&home, &args, self.stdin);
        assert_eq!(ran.code, Some(self.code), "{}: {ran:?}", self.name);
        drop(held);
        (home, ran)
    }

    /// The command's name.
    pub(crate) fn command(&self) -> &'static str {
        self.args[0]
    }
}
