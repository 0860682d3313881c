//! This binary as another process: it is started again for one test only, [`entry`], which does nothing without its
//! variables. It tells what it has done by lines on its standard output.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use seslog::log::{Durability, LogError, LogOptions, LogWriter, RealFs};

use crate::log_support::append;

const TASK: &str = "SESLOG_CHILD_TASK";
const PATH: &str = "SESLOG_CHILD_PATH";
/// What the test harness prints is not ours.
const MARK: &str = "@ ";
/// What lacks it was cut by the end of the process, and was not said.
const END: &str = " .";

/// Another process at work on a log.
pub(crate) struct Other {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Other {
    pub(crate) fn start(task: &str, path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child::entry", "--exact", "--nocapture"])
            .env(TASK, task)
            .env(PATH, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next thing that it tells; none at its end.
    pub(crate) fn says(&mut self) -> Option<String> {
        self.lines.by_ref().find_map(|line| Some(line.unwrap().strip_prefix(MARK)?.strip_suffix(END)?.to_owned()))
    }

    /// Ends it as by SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// How it ended, and all that it said.
    pub(crate) fn ended(mut self) -> (std::process::ExitStatus, Vec<String>) {
        self.let_go();
        let said = std::iter::from_fn(|| self.says()).collect();
        (self.child.wait().unwrap(), said)
    }

    /// Lets it go on from where it waits for us.
    pub(crate) fn let_go(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Waits for its end; true if it was a good one.
    pub(crate) fn ends_well(mut self) -> bool {
        self.let_go();
        while self.says().is_some() {}
        self.child.wait().unwrap().success()
    }
}

fn say(what: &str) {
    println!("\n{MARK}{what}{END}");
}

/// Returns when the parent closes our standard input, or dies.
fn wait_for_parent() {
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}

#[test]
fn entry() {
    let (Ok(task), Some(path)) = (std::env::var(TASK), std::env::var_os(PATH)) else { return };
    #[cfg(unix)]
    match task.as_str() {
        "race a stranger" => return crate::cut_files::race(Path::new(&path), say),
        "hold a frame" => return crate::cut_files::hold_a_frame(Path::new(&path), false, say),
        "hold a mapped frame" => return crate::cut_files::hold_a_frame(Path::new(&path), true, say),
        _ => {}
    }
    let opened = LogWriter::open(RealFs::shared(), Path::new(&path), LogOptions::default());
    match (task.as_str(), opened) {
        ("try to open", Ok(_)) => say("opened"),
        ("try to open", Err(error @ LogError::Locked { .. })) => say(&format!("locked: {error}")),
        ("hold", Ok((log, _))) => {
            append(&log, 1000, 10, Durability::Sync);
            say("holding");
            wait_for_parent();
            log.close().unwrap();
        }
        ("exit in another thread", Ok((log, _))) => {
            let log = std::sync::Arc::new(log);
            for thread in 0..3 {
                let log = log.clone();
                std::thread::spawn(move || {
                    for number in 1.. {
                        append(&log, thread * 1_000_000 + number, 300, Durability::Os);
                        say(&format!("{}", thread * 1_000_000 + number));
                    }
                });
            }
            wait_for_parent();
            std::thread::spawn(|| std::process::exit(0));
            std::thread::park();
        }
        (task, opened) => panic!("{task}: {opened:?}"),
    }
}
