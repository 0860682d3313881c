//! `seslog demo`: an agent is killed twice in the middle of its work, and resumes.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use seslog::event::Uuid;
use seslog::log::Durability;
use seslog::projection::{Options, ProjectedMessage, View, project};
use seslog::session::{ResumeReport, Session, SessionOptions, Store};
use seslog::wire::{self, Provider};

use crate::Context;
use crate::demo_agent::{ACKNOWLEDGED, KILL_ME, SAYS};
use crate::exit::{Exit, Outcome, Told};
use crate::output::Output;
use crate::render::Renderer;
use crate::resume;
use crate::sanitize::{Layout, visible};

/// See a killed agent resume
///
/// A small scripted agent works in a process of its own, in a temporary store. It is killed in the middle of a tool's
/// run and again in the middle of a streamed answer; each time the session is opened again, and every event that the
/// agent had acknowledged is looked for. Exits with 1 if one is missing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog demo")]
pub(crate) struct Args {}

/// After so many more acknowledged events the agent is killed.
const KILLED_AFTER: usize = 20;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    passed: bool,
    kills: Vec<Kill>,
    model: Vec<ProjectedMessage>,
    payload: Payload,
}

/// One kill and the resume behind it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Kill {
    /// Events that the agent had acknowledged.
    acknowledged: usize,
    /// Those of them that the resume found.
    found: usize,
    /// Those that it did not.
    missing: Vec<String>,
    report: ResumeReport,
    /// Results that were put in for calls without one.
    closed_calls: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    provider: &'static str,
    messages: usize,
    bytes: usize,
}

pub(crate) fn run(_: &Args, context: &mut Context) -> Outcome {
    let out = &mut context.out;
    let folder = Folder::new()?;
    let store = Store::at(folder.path.join("store"), SessionOptions::default());
    let session = store.create()?;
    let path = session.path().to_owned();
    session.close()?;

    let mut acknowledged = Vec::new();
    let mut kills = Vec::new();
    for act in [1, 2] {
        let heading = if act == 1 { "An agent works" } else { "The agent goes on" };
        title(heading, out)?;
        act_until_killed(&path, act, &mut acknowledged, out)?;
        title("The session is opened again", out)?;
        let session = Session::open(&path, SessionOptions::default())?;
        let kill = look(&session, &acknowledged)?;
        told(&kill, out)?;
        kills.push(kill);
        session.close()?;
    }

    let session = Session::open(&path, SessionOptions::default())?;
    let view = session.with_state(|state| project(state, View::Model, &Options::default()))?;
    session.close()?;
    let options = wire::Options::default();
    let payload = wire::payload(&view.messages, Provider::AiSdk, &options);
    let payload = Payload { provider: "ai-sdk", messages: payload.message_count(), bytes: payload.to_json().len() };
    let passed = kills.iter().all(|kill| kill.missing.is_empty());
    title("What the model sees after the resume", out)?;
    if !out.json {
        let mut renderer = Renderer::new(true);
        for message in &view.messages {
            renderer.message(message, out)?;
        }
        out.line(&format!("as a request of the AI SDK: {} messages, {} bytes", payload.messages, payload.bytes))?;
        let verdict = match passed {
            true => out.paint(AnsiColor::Green.on_default().bold(), "every acknowledged event was found"),
            false => out.paint(AnsiColor::Red.on_default().bold(), "acknowledged events are missing"),
        };
        out.line(&verdict)?;
    } else {
        out.document(&Document { passed, kills, model: view.messages, payload })?;
    }
    Ok(if passed { Exit::Fine } else { Exit::Found })
}

/// Runs the agent's process, takes note of what it acknowledges, and kills it in the middle.
fn act_until_killed(path: &Path, act: u8, acknowledged: &mut Vec<Uuid>, out: &mut Output) -> Outcome<()> {
    let failed = |error| Told::io("can't run the agent's process", &error);
    let program = std::env::current_exe().map_err(failed)?;
    let mut agent = Command::new(program)
        .args(["demo-agent", "--act", &act.to_string(), "--path"])
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let Some(pipe) = agent.stdout.take() else {
        return Err(Told::usage("the agent's process has no output").into());
    };
    let (mut left, mut killed) = (None, false);
    for line in BufReader::new(pipe).lines() {
        // What was in the pipe when the agent was killed was acknowledged too.
        let Ok(line) = line else { break };
        if let Some(text) = line.strip_prefix(SAYS) {
            say(&format!("    the agent {text}"), out)?;
        } else if let Some(id) = line.strip_prefix(ACKNOWLEDGED).and_then(|id| Uuid::try_parse(id).ok()) {
            acknowledged.push(id);
            left = left.map(|left: usize| left.saturating_sub(1));
        } else if line == KILL_ME {
            left = Some(KILLED_AFTER);
        }
        if left == Some(0) && !killed {
            agent.kill().map_err(failed)?;
            killed = true;
        }
    }
    agent.wait().map_err(failed)?;
    if !killed {
        return Err(Told::not_found("demo", "the agent ended before it was killed").into());
    }
    let text = format!("    it is killed (SIGKILL); {} events were acknowledged so far", acknowledged.len());
    say(&out.paint(AnsiColor::Yellow.on_default(), &text), out)
}

/// Looks for what was acknowledged, and closes the calls that were left open.
fn look(session: &Session, acknowledged: &[Uuid]) -> Outcome<Kill> {
    let mut missing = Vec::new();
    for &id in acknowledged {
        if session.event(id)?.is_none() {
            missing.push(id.to_string());
        }
    }
    let report = session.report().clone();
    let closed_calls = session.close_dangling_tool_calls(Durability::Sync)?;
    Ok(Kill {
        acknowledged: acknowledged.len(),
        found: acknowledged.len() - missing.len(),
        missing,
        report,
        closed_calls: closed_calls.iter().map(Uuid::to_string).collect(),
    })
}

fn told(kill: &Kill, out: &mut Output) -> Outcome<()> {
    if out.json {
        return Ok(());
    }
    resume::human(&kill.report, None, out)?;
    out.field("found", &format!("{} of {} acknowledged events", kill.found, kill.acknowledged))?;
    for id in &kill.missing {
        out.field("missing", id)?;
    }
    for id in &kill.closed_calls {
        out.field("closed", &format!("{id}, an error that says that no result was recorded"))?;
    }
    Ok(())
}

fn title(text: &str, out: &mut Output) -> Outcome<()> {
    let text = out.paint(Style::new().bold().underline(), text);
    say(&format!("\n{text}"), out)
}

fn say(text: &str, out: &mut Output) -> Outcome<()> {
    if out.json {
        return Ok(());
    }
    out.line(text)?;
    out.flush()
}

/// A folder of its own for the demo's store, gone when this is dropped.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new() -> Outcome<Self> {
        let path = std::env::temp_dir().join(format!("seslog-demo-{}", Uuid::now_v7()));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let shown = visible(&path.display().to_string(), Layout::Line).into_owned();
        builder.create(&path).map_err(|error| Told::io(format!("can't make `{shown}`"), &error))?;
        Ok(Self { path })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What can't be removed is the system's to tidy up: it lies in its temporary folder.
        _ = std::fs::remove_dir_all(&self.path);
    }
}
