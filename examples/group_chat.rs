//! Several agents in one session: who said what is recorded once, and each of them is sent the conversation from its own
//! point of view. `cargo run --example group_chat`

use std::error::Error;
use std::path::Path;

use seslog::context::{Config, Pipeline};
use seslog::event::Message;
use seslog::log::Durability;
use seslog::projection::{self, View, project};
use seslog::session::{SessionOptions, Store};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    run(dir.path(), &mut |line| println!("{line}"))
}

/// What an agent of this name says.
fn says(agent: &str, text: &str) -> Message {
    let mut message = Message::assistant(text);
    message.metadata.agent_name = Some(agent.to_owned());
    message
}

pub(crate) fn run(dir: &Path, say: &mut dyn FnMut(String)) -> Result<(), Box<dyn Error>> {
    let session = Store::at(dir, SessionOptions::default()).create()?;
    let said = [
        Message::user("What should grow in the north bed?"),
        says("botanist", "Ferns: it is in the shade all day."),
        says("cook", "I would like mint, for tea."),
        says("botanist", "Mint grows there too, in a pot, or it takes the whole bed."),
        Message::user("Cook, is a pot all right?"),
    ];
    for message in said {
        session.append(message, Durability::Group)?.wait()?;
    }
    let view = session.with_state(|state| project(state, View::Model, &projection::Options::default()))?;
    for agent in ["botanist", "cook"] {
        // The own words of an agent are the assistant's; those of others come from outside, with their names.
        let mut config = Config::default();
        config.system_role = Some(format!("You are the {agent} of this garden."));
        config.active_agent = Some(agent.to_owned());
        let prompt = Pipeline::standard(&config).run(&view.messages)?;
        say(format!("What the {agent} is sent:"));
        for message in &prompt.messages {
            let texts: Vec<&str> = message.content.iter().filter_map(|part| part.as_text()).collect();
            say(format!("  {:<9} {}", message.role.name(), texts.join(" ").replace('\n', " ")));
        }
    }
    session.close()?;
    Ok(())
}
