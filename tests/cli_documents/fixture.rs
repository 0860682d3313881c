//! A store whose ids and times are always the same: imports of samples.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::cli_support::{Home, run};

/// A session of Claude Code with two branches, a compaction and an open call.
pub(crate) const BRANCHED: &str = "5b1e0a10-0002-4000-8000-0000000000a2";
/// One with a title, a compaction and hooks.
pub(crate) const TITLED: &str = "5b1e0a10-0003-4000-8000-0000000000a3";
/// A session of pi with labels.
pub(crate) const LABELLED: &str = "6c0e0003-0000-4000-8000-0000000000b3";
/// A small one, of `small.jsonl` beside this file: a call, a result with a secret in it, a message beside.
pub(crate) const SMALL: &str = "0192f3a0-1111-7000-8000-000000000001";

const SAMPLES: [&str; 5] = [
    "data/claude-code/branching-2.0.jsonl",
    "data/claude-code/modern-2.1.jsonl",
    "data/codex/resume-2026.jsonl",
    "data/pi/v3-all-types.jsonl",
    "cli_documents/small.jsonl",
];

/// What lies beside the samples, in the folder `others`: not in the store.
const OTHERS: [&str; 3] =
    ["data/claude-code/modern-2.1.agent-a77c01.jsonl", "data/claude-code/damaged.jsonl", "data/prompt.json"];

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// A home with the store in it, the samples in its folder `samples`, and other files in `others`.
pub(crate) fn home() -> Home {
    static MADE: OnceLock<Home> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let home = Home::new();
        std::fs::create_dir(home.path().join("samples")).unwrap();
        for sample in SAMPLES {
            let name = sample.rsplit_once('/').unwrap().1;
            std::fs::copy(tests().join(sample), home.path().join("samples").join(name)).unwrap();
            home.run(&["import", &format!("samples/{name}")]).ends_with(0);
        }
        home
    });
    let home = Home::new();
    std::fs::create_dir(home.path().join("others")).unwrap();
    for other in OTHERS {
        let name = other.rsplit_once('/').unwrap().1;
        std::fs::copy(tests().join(other), home.path().join("others").join(name)).unwrap();
    }
    for dir in ["samples", "store"] {
        std::fs::create_dir(home.path().join(dir)).unwrap();
        // As the program makes it; `doctor` would tell of anything else.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::Permissions::from_mode(0o700);
            std::fs::set_permissions(home.path().join(dir), mode).unwrap();
        }
        for entry in std::fs::read_dir(made.path().join(dir)).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                std::fs::copy(entry.path(), home.path().join(dir).join(entry.file_name())).unwrap();
            }
        }
    }
    home
}

/// What a run in this home gives: exit code, standard output, standard error.
pub(crate) fn run_in(home: &Home, args: &[&str], stdin: &str) -> crate::cli_support::Ran {
    let mut command = home.command(args);
    command.env("TZ", "UTC").env("COLUMNS", "100").env("TMPDIR", home.path()).env("LC_ALL", "C.UTF-8");
    run(command, stdin)
}

/// Turns a byte of a session's file, in the middle of its records.
pub(crate) fn damage(home: &Home, session: &str) {
    let path = home.file(session);
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    let middle = 4096 + (end - 4096) / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&path, bytes).unwrap();
}
