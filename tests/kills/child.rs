//! The writer that is killed: this binary, started once more for the one test [`entry`], which does nothing without its
//! variables. It says what is acknowledged, a line each.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const TASK: &str = "SESLOG_KILL_TASK";
const PATH: &str = "SESLOG_KILL_PATH";
/// What the test harness prints is not ours.
const MARK: &str = "@ ";
/// What lacks it was cut by the kill, and was not said.
const END: &str = " .";

/// A writer at work.
pub(crate) struct Writer {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Writer {
    pub(crate) fn start(kind: &str, seed: u64, path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child::entry", "--exact", "--nocapture"])
            .env(TASK, format!("{kind} {seed}"))
            .env(PATH, path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Listens to `lines` acknowledgements, then lets it go on for a moment and kills it. Everything that it had said by
    /// then goes to `hear`.
    pub(crate) fn kill_after(mut self, lines: u64, moment: Duration, mut hear: impl FnMut(&str)) {
        let mut heard = 0;
        while heard < lines {
            let Some(line) = self.next() else { break };
            hear(&line);
            heard += 1;
        }
        let until = Instant::now() + moment;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        self.child.kill().unwrap();
        while let Some(line) = self.next() {
            hear(&line);
        }
        let status = self.child.wait().unwrap();
        // Its own death would be a fault, and not the one that was meant.
        if status.code().is_some() {
            let mut told = String::new();
            let _ = std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut told);
            panic!("the writer ended by itself: {status}\n{told}");
        }
    }

    fn next(&mut self) -> Option<String> {
        self.lines.by_ref().find_map(|line| Some(line.ok()?.strip_prefix(MARK)?.strip_suffix(END)?.to_owned()))
    }
}

/// Says that something is acknowledged. One write for one line, so that lines of several threads do not mix.
pub(crate) fn say(what: &str) {
    use std::io::Write as _;
    let line = format!("\n{MARK}{what}{END}\n");
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}

#[test]
fn entry() {
    let (Ok(task), Some(path)) = (std::env::var(TASK), std::env::var_os(PATH)) else { return };
    let (kind, seed) = task.split_once(' ').unwrap();
    let (path, seed) = (Path::new(&path), seed.parse().unwrap());
    match kind {
        "log" => super::log_kills::write(path, seed),
        "session" => super::session_kills::write(path, seed),
        _ => panic!("no such task: {task}"),
    }
}
