//! The state that a view is made of: now, or as it was once an event was in.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use seslog::context::tokens::Reported;
use seslog::event::Uuid;
use seslog::projection::{Options, Projection, View, project};
use seslog::session::{BranchPoint, DamagedRange, History, Opened, SessionOptions, SessionReader, State, Store};

use crate::Context;
use crate::cure::{quoted, saving};
use crate::exit::{Exit, Outcome, Told};
use crate::names;
use crate::output::tell;

/// A session that is looked at.
#[derive(Debug)]
pub(crate) struct Looked {
    /// The session.
    pub(crate) reader: SessionReader,
    /// As it was once this event was in; none: now.
    pub(crate) at: Option<Uuid>,
    /// On the branch of this event; none: the current one.
    pub(crate) branch: Option<Uuid>,
    /// What the view shows.
    pub(crate) projection: Projection,
    /// What a provider said last that the window costs, in a view for a model.
    pub(crate) reported: Option<Reported>,
    /// A session that this one was forked from and that is gone.
    pub(crate) missing_parent: Option<Uuid>,
    /// Damage that cuts the view short.
    pub(crate) damage: Vec<DamagedRange>,
    /// Where other branches leave the chain of a transcript.
    pub(crate) branch_points: Vec<BranchPoint>,
    /// The ids that events had where they came from.
    original_ids: BTreeMap<Uuid, String>,
}

impl Looked {
    /// The ids that these events had where they came from.
    pub(crate) fn originals(&self, ids: impl Iterator<Item = Uuid>) -> BTreeMap<Uuid, &str> {
        ids.filter_map(|id| Some((id, self.original_ids.get(&id)?.as_str()))).collect()
    }

    /// What a command that shows it ends with.
    pub(crate) fn exit(&self) -> Exit {
        if self.reader.report().open == Opened::Damaged || !self.damage.is_empty() { Exit::Found } else { Exit::Fine }
    }
}

/// What is to be looked at.
#[derive(Debug)]
pub(crate) struct Look<'a> {
    /// As it was once this event was in; none: now.
    pub(crate) at: Option<&'a str>,
    /// On the branch of this event, up to it; none: the current one.
    pub(crate) branch: Option<&'a str>,
    pub(crate) view: View,
    pub(crate) options: &'a Options,
}

/// Opens a session and projects it.
pub(crate) fn look(session: &OsStr, look: &Look<'_>, context: &Context) -> Outcome<Looked> {
    let reader = context.place.read(session)?;
    let at = look.at.map(|name| names::event(reader.log(), name)).transpose()?;
    let mut damage = reader.report().damage.clone();
    let (mut missing_parent, mut branch) = (None, None);
    let state = if look.branch.is_none() && look.view.is_for_a_model() {
        match at {
            Some(event) => Cow::Owned(reader.at(event)?),
            None => Cow::Borrowed(reader.state()),
        }
    } else {
        let mut history = history(&reader, at)?;
        missing_parent = history.missing_parent;
        damage.extend(history.damage);
        branch = look.branch.map(|name| branch_at(name, at, &history.state, &reader)).transpose()?;
        if let Some(leaf) = branch {
            history.state.move_to_leaf(leaf);
        }
        Cow::Owned(history.state)
    };
    let projection = project(&state, look.view, look.options);
    let reported = Reported::latest(&state).filter(|_| look.view.is_for_a_model());
    let original_ids = originals(&state);
    let branch_points = if look.view == View::Transcript { state.branch_points() } else { Vec::new() };
    drop(state);
    tell_of(missing_parent, &mut damage, reader.path());
    Ok(Looked { reader, at, branch, projection, reported, missing_parent, damage, branch_points, original_ids })
}

/// The event of a branch, among those that were there by then.
fn branch_at(name: &str, at: Option<Uuid>, state: &State, reader: &SessionReader) -> Outcome<Uuid> {
    let found = names::event_in(state, name);
    // It may have come later.
    match (&found, at) {
        (Err(_), Some(at)) if names::event(reader.log(), name).is_ok() => {
            let message =
                format!("event `{name}` came later than {at}, as of which the session is shown; leave --at out");
            Err(Told::not_found("noSuchEvent", message).into())
        }
        _ => found,
    }
}

/// The whole story of a session, with its parents' part, now or as it was once an event was in.
pub(crate) fn history(reader: &SessionReader, at: Option<Uuid>) -> Outcome<History> {
    let store = beside(reader.path());
    Ok(match at {
        Some(event) => store.history_at(reader, event)?,
        None => store.history(reader)?,
    })
}

/// The store that a session's file lies in.
pub(crate) fn beside(file: &Path) -> Store {
    Store::at(file.parent().unwrap_or(Path::new(".")), SessionOptions::default())
}

/// Says what a story lacks, each thing once.
pub(crate) fn tell_of(missing_parent: Option<Uuid>, damage: &mut Vec<DamagedRange>, path: &Path) {
    if let Some(parent) = missing_parent {
        tell(&format!("the session {parent}, which this one was forked from, is gone; the story begins at the fork"));
    }
    // The same damage may have been met at the open and again by the story.
    damage.sort_by_key(|damage| damage.offset);
    damage.dedup();
    for damage in damage {
        let (what, file) = (&damage.what, quoted(path));
        tell(&match damage.is_of_header() {
            true => format!(
                "the header is damaged {what}; the session is whole, `seslog salvage {file} --in-place` writes a new header"
            ),
            false => format!("damaged {what}; what lies before is shown, {}", saving(path)),
        });
    }
}

fn originals(state: &State) -> BTreeMap<Uuid, String> {
    state.entries().iter().filter_map(|entry| Some((entry.event.id, entry.event.original_id.clone()?))).collect()
}
