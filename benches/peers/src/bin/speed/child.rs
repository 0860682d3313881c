//! What is measured in a process of its own: the binary runs itself, does one thing, and says what that took.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use seslog::projection::{Options, View, project};
use seslog::session::{Session, SessionOptions};
use seslog::wire::{self, Provider, payload};

use crate::Result;
use crate::limits::Place;
use crate::peer::seslog::file;
use crate::resume::PEERS;

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

/// The child's side.
pub fn run(args: &[String]) -> Result<()> {
    let start = Instant::now();
    let [task, dir, rest @ ..] = args else { return Err("a child needs a task and a directory".into()) };
    let dir = Path::new(dir);
    let place = || Place::from_text(rest.first().ok_or("no place was given")?);
    let held: Box<dyn std::any::Any> = match task.as_str() {
        "nothing" => Box::new(()),
        "read" => Box::new(place()?.read(&file(dir))?),
        "read-and-decode" => Box::new(place()?.read_and_decode(&file(dir))?),
        "map-and-decode" => Box::new(place()?.map_and_decode(&file(dir))?),
        "payload" => Box::new(request(dir)?),
        "die" => {
            let peer = rest.first().ok_or("no store was named")?;
            let (_, peer) = crate::crash::PEERS.iter().find(|(known, _)| known == peer).ok_or("no such store")?;
            return crate::crash::die(*peer, dir);
        }
        name => {
            let (_, peer) = PEERS.iter().find(|(known, _)| *known == name).ok_or("no such store")?;
            peer.resume(dir)?.held
        }
    };
    let micros = start.elapsed().as_secs_f64() * 1e6;
    println!("{micros} {}", peak_kib());
    drop(held);
    Ok(())
}

/// Resumes and makes the body of the next request, written somewhere that keeps nothing, as to a socket.
fn request(dir: &Path) -> Result<Session> {
    let session = Session::open(&file(dir), SessionOptions::default())?;
    let view = session.with_state(|state| project(state, View::Model, &Options::default()))?;
    let options = wire::Options::default();
    payload(&view.messages, Provider::Anthropic, &options).write_to(&mut std::io::sink())?;
    Ok(session)
}

/// Peak of this process's memory, in KiB; 0 where the system does not tell.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or_default()
}
