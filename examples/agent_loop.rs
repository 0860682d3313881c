//! An agent's loop that may be killed at any moment and goes on where it was. Run it, stop it by Ctrl-C, run it again:
//! `cargo run --example agent_loop -- /tmp/agent`

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use seslog::event::{Message, Part, Role, Uuid, Value};
use seslog::log::Durability::Sync;
use seslog::projection::{Options, ProjectedMessage, View, project};
use seslog::session::{SessionOptions, Store};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args().nth(1).unwrap_or_else(|| "agent-loop".into());
    run(Path::new(&dir), &mut |line| {
        println!("{line}");
        std::thread::sleep(Duration::from_millis(500)); // time to stop it
    })
}

/// Nothing is remembered but in the session: each turn looks at it, does the one thing that is due, and writes that down.
pub(crate) fn run(dir: &Path, say: &mut dyn FnMut(String)) -> Result<(), Box<dyn Error>> {
    let store = Store::at(dir, SessionOptions::default());
    let session = store.open_or_create(Uuid::from_u128(0xA6E27))?;
    say(format!("{} events are there", session.log().record_count()?));
    loop {
        // A call without a result is run; after a kill too, since the tool can tell whether it ran already.
        let due = session.with_state(|state| state.pairing().dangling().next().map(|open| open.call.id.clone()))?;
        if let Some(call) = due {
            session.tool_started(&call, Some(&call), Sync)?.wait()?;
            say(format!("runs {call}"));
            let told = water(dir, &call)?;
            say(format!("{call}: {told}"));
            session.append(Message::tool_result(call, told, false), Sync)?.wait()?;
            continue;
        }
        let view = session.with_state(|state| project(state, View::Model, &Options::default()))?;
        let next = match view.messages.last().map(|message| message.role) {
            None => Message::user("Water the three beds, please."),
            Some(Role::User | Role::Tool) => model(&view.messages),
            Some(_) => break,
        };
        say(format!("{}: {}", next.role.name(), next.joined_text()));
        session.append(next, Sync)?.wait()?;
    }
    session.close()?;
    say("done".to_owned());
    Ok(())
}

/// The model: it calls for one bed after another. A real one is sent `wire::payload` of the same messages.
fn model(messages: &[ProjectedMessage]) -> Message {
    match messages.iter().filter(|message| message.role == Role::Tool).count() {
        3 => Message::assistant("All three beds are watered."),
        beds => {
            let bed = (beds + 1) as u64;
            let call = Part::tool_call(format!("bed-{bed}"), "water", Value::from([("bed", bed.into())]));
            Message::assistant_calls(vec![Part::text(format!("Now bed {bed}.")), call])
        }
    }
}

/// The tool: it has an effect that must not happen twice, and knows by the key of the call whether it did.
fn water(dir: &Path, key: &str) -> std::io::Result<&'static str> {
    let beds = dir.join("watered.txt");
    if std::fs::read_to_string(&beds).is_ok_and(|done| done.lines().any(|line| line == key)) {
        return Ok("it was watered before the kill");
    }
    std::fs::OpenOptions::new().append(true).create(true).open(&beds)?.write_all(format!("{key}\n").as_bytes())?;
    Ok("watered")
}
