//! The built program, run in a home of its own.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A home that nothing outside is read from or written to.
pub(crate) struct Home {
    dir: tempfile::TempDir,
}

/// What a run of the program gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path().join("store")
    }

    /// The program with these arguments, not yet started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seslog"));
        command.args(args);
        self.at_home(&mut command);
        command
    }

    /// Gives a command this home and no other.
    pub(crate) fn at_home(&self, command: &mut Command) {
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "CODEX_HOME", "CLAUDE_CONFIG_DIR"] {
            command.env_remove(name);
        }
        command
            .env("HOME", self.path())
            .env("XDG_DATA_HOME", self.path().join("data"))
            .env("SESLOG_HOME", self.store())
            .current_dir(self.path());
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, "")
    }

    pub(crate) fn run_with(&self, args: &[&str], stdin: &str) -> Ran {
        run(self.command(args), stdin)
    }

    /// A new session with these neutral events; gives its id.
    pub(crate) fn session(&self, lines: &[&str]) -> String {
        let ran = self.run_with(&["append", "--new"], &lines.join("\n"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.json_lines()[0]["session"].as_str().unwrap().to_owned()
    }

    /// The path of a session's file.
    pub(crate) fn file(&self, session: &str) -> PathBuf {
        self.store().join(format!("{session}.seslog"))
    }

    /// Writes a file into the home; gives its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// How many files are in the store, its cache left out.
    pub(crate) fn file_count(&self) -> usize {
        let is_cache = |entry: &std::fs::DirEntry| entry.file_name() == ".cache";
        std::fs::read_dir(self.store())
            .map_or(0, |entries| entries.filter(|entry| !entry.as_ref().is_ok_and(is_cache)).count())
    }
}

/// Runs a command with this on its standard input.
pub(crate) fn run(mut command: Command, stdin: &str) -> Ran {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_owned();
    let feeder = std::thread::spawn(move || {
        // A program that refuses its arguments reads nothing.
        let _ = pipe.write_all(stdin.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ran {
    /// The one JSON document on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// A JSON document a line.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Asserts the exit code.
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }
}

/// The names of an object's fields, sorted, in one text.
pub(crate) fn keys(value: &Value) -> String {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names.join(" ")
}

/// A neutral line with what a person says.
pub(crate) fn user(id: &str, text: &str) -> String {
    serde_json::json!({"type": "message", "id": id, "role": "user", "kind": "user_input", "content": text}).to_string()
}

/// A neutral line with what the model says.
pub(crate) fn assistant(id: &str, text: &str) -> String {
    serde_json::json!({"type": "message", "id": id, "role": "assistant", "kind": "assistant_text", "content": text})
        .to_string()
}

/// A neutral line with a call.
pub(crate) fn call(id: &str, call: &str) -> String {
    let part = serde_json::json!({"type": "tool_call", "id": call, "name": "ls", "input": {"dir": "."}});
    serde_json::json!({"type": "message", "id": id, "role": "assistant", "kind": "tool_call", "content": [part]})
        .to_string()
}

/// A neutral line with a call's result.
pub(crate) fn result(id: &str, call: &str, text: &str) -> String {
    let part = serde_json::json!({"type": "tool_result", "callId": call, "output": text});
    serde_json::json!({"type": "message", "id": id, "role": "tool", "kind": "tool_result", "content": [part]})
        .to_string()
}
