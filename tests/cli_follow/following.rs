//! A program that follows a session, and one that writes to it, each in a process of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::cli_support::Home;

/// What has not come by then never comes.
const LONG: Duration = Duration::from_secs(30);

/// `seslog tail -f`, whose lines are read as they come.
pub(crate) struct Follower {
    child: Child,
    lines: Receiver<String>,
    told: Receiver<String>,
}

impl Follower {
    pub(crate) fn start(home: &Home, session: &str, args: &[&str]) -> Self {
        let mut command = home.command(&[&["tail", session, "-f"], args].concat());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = read(child.stdout.take().unwrap());
        let told = read(child.stderr.take().unwrap());
        Self { child, lines, told }
    }

    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(LONG).expect("a line")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// The next event's text.
    pub(crate) fn text(&self) -> String {
        let line = self.json();
        line["event"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned()
    }

    /// The next line on standard error.
    pub(crate) fn told(&self) -> String {
        self.told.recv_timeout(LONG).expect("a line on standard error")
    }

    /// Nothing more has come.
    pub(crate) fn has_no_more(&self) -> bool {
        self.lines.try_recv().is_err()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, by itself or by a signal.
    pub(crate) fn end(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(pipe: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

/// `seslog append`, which is given lines one by one.
pub(crate) struct Writer {
    child: Child,
    pipe: Option<ChildStdin>,
    receipts: Receiver<String>,
}

impl Writer {
    pub(crate) fn start(home: &Home, session: &str) -> Self {
        let mut command = home.command(&["append", session, "--durability", "os"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let receipts = read(child.stdout.take().unwrap());
        Self { pipe: child.stdin.take(), receipts, child }
    }

    /// Writes an event and waits until it is in the file.
    pub(crate) fn append(&mut self, line: &str) {
        writeln!(self.pipe.as_mut().unwrap(), "{line}").unwrap();
        let receipt = self.receipts.recv_timeout(LONG).expect("a receipt");
        assert!(receipt.contains("\"known\":false"), "{receipt}");
    }

    /// Ends it: by the end of its input, so that it closes the session, or by a kill.
    pub(crate) fn end(mut self, by_kill: bool) {
        if by_kill {
            self.child.kill().unwrap();
        }
        drop(self.pipe.take());
        self.child.wait().unwrap();
    }
}
