//! Runs `format-spec/reader.py` over many files in one process.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const CURE: &str = "the second reader needs Python 3.11, msgpack and zstandard: `bash tests/run.sh` sets both up, or install Python, \
     run `python3 -m pip install msgpack zstandard`, and name the interpreter in SESLOG_PYTHON if it is not `python3`";

/// The second reader, still without its arguments.
pub fn reader() -> Command {
    let python = std::env::var_os("SESLOG_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(python);
    command.arg("-B").arg(spec_dir().join("reader.py"));
    command
}

pub fn spec_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec")
}

/// What the reader says about each file, in their order, and its exit status.
pub fn read_all(files: &[Vec<u8>]) -> (Vec<Value>, i32) {
    let dir = tempfile::tempdir().expect("a folder");
    let mut names = String::new();
    for (index, bytes) in files.iter().enumerate() {
        let name = dir.path().join(format!("{index}.seslog"));
        std::fs::write(&name, bytes).expect("a file");
        names.push_str(name.to_str().expect("a name in UTF-8"));
        names.push('\n');
    }
    let mut reader = reader()
        .arg("--stdin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("python3 does not start ({error}); {CURE}"));
    // It reads all names before it writes anything.
    reader.stdin.take().expect("a pipe").write_all(names.as_bytes()).unwrap_or_else(|error| panic!("{error}; {CURE}"));
    let output = reader.wait_with_output().expect("its output");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.is_empty(), "{errors}\n{CURE}");
    let text = String::from_utf8(output.stdout).expect("its output in UTF-8");
    let documents: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(documents.len(), files.len(), "one document a file");
    (documents, output.status.code().expect("an exit status"))
}
