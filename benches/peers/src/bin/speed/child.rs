//! The side of a process that the binary has run itself as: does its one task, and says what that took.

use std::path::Path;
use std::time::Instant;

use seslog::projection::{Options, View, project};
use seslog::session::{Session, SessionOptions};
use seslog::wire::{self, Provider, payload};

use crate::Result;
use crate::limits::Place;
use crate::peer::seslog::file;
use crate::resume::PEERS;

/// Does the task that these arguments name.
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
