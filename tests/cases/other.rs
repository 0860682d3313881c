//! Other processes: the command line, whose lock and whose death are real, and this test binary started once more,
//! for what is measured of a whole process.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use seslog::event::Uuid;
use seslog::projection::{Options, View, project};
use seslog::session::{Session, SessionOptions};

use super::case::{Case, list};
use super::names::Names;

/// The command line, if it was built with these tests.
const COMMAND: Option<&str> = option_env!("CARGO_BIN_EXE_seslog");
const TASK: &str = "SESLOG_CASES_RESUME";
const UMASK_SET: &str = "SESLOG_CASES_UMASK";
/// The test runner writes to standard output too, so an answer has a word of its own.
const ANSWER: &str = "answer: ";

/// Whether a case needs the command line, and there is none.
pub fn lacks_command(case: &Case) -> bool {
    COMMAND.is_none() && case.has_step("open_in_other_process")
}

fn command(args: &[&str], path: &Path) -> Command {
    let mut command = Command::new(COMMAND.expect("the command line is built"));
    command.args(args).arg(path);
    command
}

/// What another process told about a session that it opened.
#[derive(Debug)]
pub struct Told {
    /// `ok`, or `error:` and the error by sense.
    pub outcome: String,
    /// The messages of the transcript.
    pub messages: Vec<Uuid>,
    /// How long it took, the start of the process included.
    pub took: Duration,
}

/// Opens a session in another process, for writing or for reading, and closes it there.
pub fn open(path: &Path, for_writing: bool) -> Told {
    let show = ["show", "--view", "transcript", "--json"];
    let start = Instant::now();
    let args: &[&str] = if for_writing { &["append", "--json"] } else { &show };
    let output = command(args, path).stdin(Stdio::null()).output().unwrap();
    let took = start.elapsed();
    let document = |bytes: &[u8]| serde_json::from_slice::<Json>(bytes).unwrap_or_default();
    if !output.status.success() {
        let code = document(&output.stdout)["error"]["code"].as_str().map(by_sense);
        let outcome = format!("error:{}", code.unwrap_or_else(|| panic!("{output:?}")));
        return Told { outcome, messages: Vec::new(), took };
    }
    let shown = document(&command(&show, path).output().unwrap().stdout);
    let ids = list(&shown["messages"]).iter().flat_map(|message| list(&message["sourceMessageIds"]));
    let messages = ids.map(|id| id.as_str().unwrap().parse().unwrap()).collect();
    Told { outcome: "ok".to_owned(), messages, took }
}

fn by_sense(code: &str) -> &'static str {
    match code {
        "locked" => "Locked",
        "damaged" => "Damaged",
        "unknownParent" => "UnknownParent",
        "duplicateId" => "DuplicateId",
        "io" | "full" => "Io",
        "poisoned" => "Poisoned",
        other => panic!("{other} is new to the harness"),
    }
}

/// Another process that has a session open for writing until it is killed.
#[derive(Debug)]
pub struct Writer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Writer {
    pub fn start(path: &Path) -> Self {
        let mut command = command(&["append", "--durability", "sync"], path);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    /// Appends an event there, durably; returns `ok` or the error by sense.
    pub fn append(&mut self, event: &Json) -> String {
        writeln!(self.input, "{event}").unwrap();
        self.input.flush().unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Json = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line} is no receipt"));
        match answer["error"]["code"].as_str() {
            Some(code) => format!("error:{}", by_sense(code)),
            None => "ok".to_owned(),
        }
    }

    /// Waits until the process has opened the session: it takes a line that says nothing and must refuse it.
    pub fn wait_until_open(&mut self) {
        writeln!(self.input, "{{}}").unwrap();
        self.input.flush().unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert!(line.contains("badLine"), "{line}");
    }

    /// Kills the process; it has no chance to say goodbye.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The event with the ids that its words mean, for a process that does not know the words.
pub fn with_ids(event: &Json, names: &Names) -> Json {
    let mut event = event.clone();
    if let Some(word) = event["id"].as_str() {
        event["id"] = json!(super::names::fixed(word));
    }
    if let Some(word) = event["parentId"].as_str() {
        event["parentId"] = json!(names.id(word));
    }
    event
}

/// Resumes a session in a process of its own and builds the model's view. Returns by how many bytes the memory that
/// the process holds grew at most; none where the platform can't tell.
pub fn memory_of_a_resume(path: &Path) -> Option<u64> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "other_process", "--ignored", "--nocapture"])
        .env(TASK, path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let answer = text.lines().find_map(|line| line.strip_prefix(ANSWER)).unwrap_or_else(|| panic!("{output:?}"));
    answer.parse().ok()
}

/// The other process of [`memory_of_a_resume`]. Without a task it does nothing.
pub fn serve() {
    let Some(path) = std::env::var_os(TASK) else { return };
    // The peak counts from here on.
    _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = memory("VmRSS");
    let session = Session::open(Path::new(&path), SessionOptions::default()).unwrap();
    let model = session.with_state(|state| project(state, View::Model, &Options::default())).unwrap();
    assert!(!model.messages.is_empty());
    let grown = memory("VmHWM").zip(before).map(|(peak, before)| peak.saturating_sub(before));
    println!("\n{ANSWER}{}", grown.map_or_else(|| "unknown".to_owned(), |grown| grown.to_string()));
}

/// A line of the process's own status, in bytes.
fn memory(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib * 1024)
}

/// Whether the case is to run in a process with a umask of its own, and this is not that process.
pub fn needs_umask(case: &Case) -> bool {
    cfg!(unix) && case.given.get("umask").is_some() && std::env::var_os(UMASK_SET).is_none()
}

/// Runs the case's test in a process with the case's umask.
pub fn run_under_umask(case: &Case) {
    let umask = case.given["umask"].as_str().unwrap();
    assert!(umask.bytes().all(|digit| digit.is_ascii_digit()), "umask {umask}");
    let output = Command::new("sh")
        .args(["-c", &format!("umask {umask} && exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &case.id.replace('-', "_"), "--nocapture"])
        .env(UMASK_SET, umask)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success() && text[0].contains("1 passed"), "{}{}", text[0], text[1]);
}
