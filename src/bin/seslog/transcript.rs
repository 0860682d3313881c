//! The transcript of a session, read from its log and written message by message: it may be longer than memory.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use seslog::event::Uuid;
use seslog::log::{LogReader, OpenReport, RealFs, Verdict};
use seslog::projection::{Diagnostics, TranscriptStream, View};
use seslog::session::{DamagedRange, SessionReader, Story};

use crate::Context;
use crate::agents::{Sessions, sub_agents};
use crate::beside::{Branching, Hidden, Points, tell_hidden};
use crate::exit::{Exit, Failure, Outcome};
use crate::names;
use crate::output::{OpenDocument, Output, tell};
use crate::render::Renderer;
use crate::views::{beside, tell_of};

/// Shows a session's whole story, now or as it was once an event was in.
pub(crate) fn show(session: &OsStr, at: Option<&str>, full: bool, context: &mut Context) -> Outcome {
    let (log, open) = context.place.log(session)?;
    let at = at.map(|name| names::event(&log, name)).transpose()?;
    let store = beside(log.path());
    let mut story = match at {
        Some(event) => store.story_at(&log, event)?,
        None => store.story(&log)?,
    };
    let mut damage = damage_of(&log, &open, &story)?;
    tell_of(story.missing_parent(), &mut damage, log.path());
    // A damaged session may say nothing of them.
    let agents = SessionReader::open(log.path(), RealFs::shared()).map(|reader| sub_agents(reader.state().meta()));
    let agents = agents.unwrap_or_default();
    if context.out.json {
        document(&log, at, &damage, &agents, &mut story, context.out.open_document()?)?;
    } else {
        lines(
            (log.info().log_id, &context.place.as_option()),
            &mut story,
            Renderer::new(full).with_agents(agents),
            &mut context.out,
        )?;
    }
    Ok(if open.verdict == Verdict::Damaged || !damage.is_empty() { Exit::Found } else { Exit::Fine })
}

/// All damage that is known: what the open found, what ended the story, and what lies behind that.
fn damage_of(log: &LogReader, open: &OpenReport, story: &Story<'_>) -> Outcome<Vec<DamagedRange>> {
    let mut damage: Vec<DamagedRange> = open.damage.iter().map(DamagedRange::of).collect();
    damage.extend_from_slice(story.damage());
    if !damage.is_empty() {
        damage.extend(SessionReader::open(log.path(), RealFs::shared())?.report().damage.iter().cloned());
    }
    Ok(damage)
}

fn lines(
    (session, store): (Uuid, &str),
    story: &mut Story<'_>,
    mut renderer: Renderer,
    out: &mut Output,
) -> Outcome<()> {
    let points = story.branch_points()?;
    let elsewhere = points.iter().find_map(|point| point.leaves.first().copied());
    let mut points = Points::new(&points);
    let mut stream = TranscriptStream::new(story);
    let (mut shown, mut hidden) = (0_u64, Hidden::default());
    points.beginning(out)?;
    loop {
        let message = stream.next().transpose()?;
        // A branch leaves at a hidden message too: behind what was shown last.
        let ids = stream.take_diagnostics().hidden_message_ids;
        hidden.add(&ids);
        points.behind(&ids, out)?;
        let Some(message) = message else { break };
        shown += 1;
        renderer.message(&message, out)?;
        points.behind(&message.source_message_ids, out)?;
    }
    points.rest(out)?;
    if shown == 0 && hidden.is_empty() {
        match elsewhere {
            Some(leaf) => tell(&format!(
                "no message is on the current branch; `seslog show {session} --branch {leaf}{store}` reads the other one"
            )),
            None => tell("no messages yet"),
        }
    }
    tell_hidden(session, store, &hidden, out)
}

fn document(
    log: &LogReader,
    at: Option<Uuid>,
    damage: &[DamagedRange],
    agents: &BTreeMap<String, Sessions>,
    story: &mut Story<'_>,
    mut document: OpenDocument<'_>,
) -> Outcome<()> {
    document.field("session", &log.info().log_id.to_string())?;
    document.field("view", &View::Transcript)?;
    document.field("at", &at)?;
    document.field("missingParent", &story.missing_parent())?;
    document.field("damage", &damage)?;
    document.field("branchPoints", &story.branch_points()?.iter().map(Branching::from).collect::<Vec<_>>())?;
    if !agents.is_empty() {
        document.field("subAgents", agents)?;
    }
    let mut stream = TranscriptStream::new(&mut *story);
    document.list("messages", stream.by_ref().map(|message| message.map_err(Failure::from)))?;
    let diagnostics = stream.take_diagnostics();
    document.field("diagnostics", &diagnostics)?;
    document.field("originalIds", &originals(story, &diagnostics, at))?;
    document.close()
}

/// The ids that the events which the diagnostics name had where they came from.
fn originals(story: &Story<'_>, diagnostics: &Diagnostics, at: Option<Uuid>) -> BTreeMap<Uuid, String> {
    let named = diagnostics.items.iter().flat_map(|item| item.ids.iter().copied()).chain(at);
    // In a damaged log an event may not be found; that it is damaged was told.
    let original = |id| Some((id, story.event(id).ok().flatten()?.original_id?));
    named.filter_map(original).collect()
}
