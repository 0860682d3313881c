//! A task of a process of its own, and what that says of it: the binary runs itself.

use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::limits::Place;

/// The one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Nothing at all.
    Nothing,
    /// One pread of the window.
    Read,
    /// The same, checked and decoded.
    ReadAndDecode,
    /// A map of the tail, checked and decoded.
    MapAndDecode,
    /// A resume in the store of this name.
    Resume(&'static str),
    /// A resume in Seslog and the body of a request.
    Payload,
    /// Appends in the store of this name, and an end without any closing.
    Die(&'static str),
}

/// What it took.
#[derive(Debug, Clone, Copy)]
pub struct Report {
    /// From the first line of `main` to the end of the task, in µs.
    pub micros: f64,
    /// Peak of the process's memory, in KiB.
    pub peak_kib: u64,
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Read => "read",
            Self::ReadAndDecode => "read-and-decode",
            Self::MapAndDecode => "map-and-decode",
            Self::Resume(peer) => peer,
            Self::Payload => "payload",
            Self::Die(_) => "die",
        }
    }

    fn command(self, dir: &Path) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("child").arg(self.name()).arg(dir);
        Ok(command)
    }
}

/// Runs a task in a process of its own, which does not come to its end.
pub fn kill(task: Task, dir: &Path) -> Result<()> {
    let mut command = task.command(dir)?;
    if let Task::Die(peer) = task {
        command.arg(peer);
    }
    let output = command.output()?;
    match output.status.code() {
        None => Ok(()),
        Some(_) => Err(format!("it was not killed: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// Runs a task in a process of its own.
pub fn ask(task: Task, dir: &Path, place: &Place) -> Result<Report> {
    let name = task.name();
    let mut command = task.command(dir)?;
    if matches!(task, Task::Read | Task::ReadAndDecode | Task::MapAndDecode) {
        command.arg(place.to_text());
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let mut fields = text.split_whitespace();
    let mut field = || fields.next().ok_or("a child said too little");
    Ok(Report { micros: field()?.parse()?, peak_kib: field()?.parse()? })
}
