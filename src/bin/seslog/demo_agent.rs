//! The agent of `seslog demo`: a scripted one in a process of its own, which is killed while it works.
//!
//! It tells its parent what it does, and the id of each event once that is durable, a line each.

use std::io::{self, Write};
use std::path::PathBuf;

use seslog::event::{Message, Part, Progress, SessionMeta, StopReason, Uuid, Value};
use seslog::log::Durability;
use seslog::session::{Compaction, NewEvent, Session, SessionOptions};

use crate::Context;
use crate::exit::{Exit, Outcome};

/// The line before an id that is durable.
pub(crate) const ACKNOWLEDGED: &str = "ack ";
/// The line before what the agent says that it does.
pub(crate) const SAYS: &str = "say ";
/// From this line on the agent works until it is killed.
pub(crate) const KILL_ME: &str = "kill me";

/// The arguments of the agent's process.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session's file.
    #[arg(long)]
    path: PathBuf,
    /// Which half of the script.
    #[arg(long)]
    act: u8,
}

/// What it streams, again and again until it is killed.
const ANSWER: &str = "I changed one line of parse, so that an empty text now gives a leaf, and ran all tests of the \
    crate again to be sure that nothing else had relied on it.";

/// The agent works on after it asked to be killed, but not for ever, should nobody do it.
const STEPS_MAX: usize = 100_000;

pub(crate) fn run(args: &Args, _: &mut Context) -> Outcome {
    let session = Session::open(&args.path, SessionOptions::default())?;
    let mut agent = Agent { session, out: io::stdout() };
    match args.act {
        1 => agent.first_act()?,
        _ => agent.second_act()?,
    }
    agent.session.close()?;
    Ok(Exit::Fine)
}

struct Agent {
    session: Session,
    out: io::Stdout,
}

impl Agent {
    /// Works with tools, until it is killed while one of them runs.
    fn first_act(&mut self) -> Outcome<()> {
        let title = SessionMeta { title: Some("A failing parser".into()), ..SessionMeta::default() };
        self.append(title)?;
        self.append(Message::user("The tests of the parser fail. Find out why and mend it."))?;
        self.says("calls read_file and gets its result")?;
        let parts = vec![
            Part::text("I look at the parser first."),
            Part::tool_call("call_1", "read_file", input("path", "src/parser.rs")),
        ];
        self.append(Message::assistant_calls(parts))?;
        self.tool_started("call_1", "read-1")?;
        self.append(Message::tool_result("call_1", "fn parse(text: &str) -> Option<Tree> { todo(text) }", false))?;
        self.says("writes ahead that run_tests starts, and waits for it")?;
        let parts = vec![Part::tool_call("call_2", "run_tests", input("filter", "parser"))];
        self.append(Message::assistant_calls(parts))?;
        self.tool_started("call_2", "tests-1")?;
        self.line(KILL_ME)?;
        for step in 1..STEPS_MAX {
            let data = Some(Value::Text(format!("{step} tests run")));
            let progress = Progress { tool_use_id: Some("call_2".into()), data, ..Progress::default() };
            self.append(Message::progress(progress))?;
        }
        Ok(())
    }

    /// Goes on, compacts, and is killed while it streams an answer.
    fn second_act(&mut self) -> Outcome<()> {
        self.says("goes on: runs the tests again, this time to their end")?;
        let parts = vec![
            Part::text("The run was cut off; I do it again."),
            Part::tool_call("call_3", "run_tests", input("filter", "parser")),
        ];
        self.append(Message::assistant_calls(parts))?;
        self.tool_started("call_3", "tests-2")?;
        self.append(Message::tool_result("call_3", "12 passed, 1 failed: an_empty_text_is_a_leaf", false))?;
        self.append(Message::assistant("An empty text gives None where the test wants a leaf."))?;
        let asks = self.append(Message::user("Mend that, then tell me what you changed."))?;
        self.says("compacts: a summary stands for what came before the last question")?;
        let summary = "The parser gave None for an empty text; the test an_empty_text_is_a_leaf wants a leaf.";
        let compaction = Compaction::new(summary).keep_from(asks);
        let compacted = self.session.compact(compaction, Durability::Sync)?;
        self.acknowledge(compacted.boundary)?;
        self.acknowledge(compacted.summary)?;
        self.says("streams its answer")?;
        let mut words = String::from("Done:");
        let mut answer = Message::assistant(words.as_str());
        answer.stop_reason = StopReason::StreamOpen;
        let answer = self.append(answer)?;
        self.line(KILL_ME)?;
        for word in ANSWER.split(' ').cycle().take(STEPS_MAX) {
            words.push(' ');
            words.push_str(word);
            let part = Value::Map(vec![
                ("type".into(), Value::Text("text".into())),
                ("text".into(), Value::Text(words.clone())),
            ]);
            let patch = vec![("content".into(), Value::List(vec![part]))];
            let amended = self.session.amend(answer, patch, Durability::Sync)?;
            self.acknowledge(amended.id)?;
        }
        Ok(())
    }

    /// Appends, waits until the event is durable, and only then says so.
    fn append(&mut self, event: impl Into<NewEvent>) -> Outcome<Uuid> {
        let appended = self.session.append(event, Durability::Sync)?;
        self.acknowledge(appended.id)?;
        Ok(appended.id)
    }

    fn tool_started(&mut self, call: &str, key: &str) -> Outcome<()> {
        let appended = self.session.tool_started(call, Some(key), Durability::Sync)?;
        self.acknowledge(appended.id)
    }

    fn acknowledge(&mut self, id: Uuid) -> Outcome<()> {
        self.line(&format!("{ACKNOWLEDGED}{id}"))
    }

    fn says(&mut self, text: &str) -> Outcome<()> {
        self.line(&format!("{SAYS}{text}"))
    }

    fn line(&mut self, line: &str) -> Outcome<()> {
        writeln!(self.out, "{line}")?;
        Ok(self.out.flush()?)
    }
}

fn input(name: &str, text: &str) -> Value {
    Value::Map(vec![(name.into(), Value::Text(text.into()))])
}
