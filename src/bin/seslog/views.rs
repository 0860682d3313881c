//! The state that a view is made of: now, or as it was once an event was in.

use std::collections::BTreeMap;
use std::path::Path;

use seslog::event::Uuid;
use seslog::projection::{Options, Projection, View, project};
use seslog::session::{DamagedRange, Opened, SessionOptions, SessionReader, State, Store};

use crate::Context;
use crate::exit::{Exit, Outcome};
use crate::names;
use crate::output::tell;

/// A session that is looked at.
#[derive(Debug)]
pub(crate) struct Looked {
    /// The session.
    pub(crate) reader: SessionReader,
    /// As it was once this event was in; none: now.
    pub(crate) at: Option<Uuid>,
    /// What the view shows.
    pub(crate) projection: Projection,
    /// A session that this one was forked from and that is gone.
    pub(crate) missing_parent: Option<Uuid>,
    /// Damage that cuts the view short.
    pub(crate) damage: Vec<DamagedRange>,
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

/// Opens a session and projects it.
pub(crate) fn look(session: &str, at: Option<&str>, view: View, context: &Context) -> Outcome<Looked> {
    let reader = context.place.read(session)?;
    let at = at.map(|name| names::event(reader.log(), name)).transpose()?;
    let mut missing_parent = None;
    let mut damage = reader.report().damage.clone();
    let options = Options::default();
    let mut original_ids = BTreeMap::new();
    let mut project = |state: &State| {
        original_ids = originals(state);
        project(state, view, &options)
    };
    let projection = match at {
        _ if !view.is_for_a_model() => {
            let store = beside(reader.path());
            let history = match at {
                Some(event) => store.history_at(&reader, event)?,
                None => store.history(&reader)?,
            };
            missing_parent = history.missing_parent;
            damage.extend(history.damage);
            project(&history.state)
        }
        Some(event) => project(&reader.at(event)?),
        None => project(reader.state()),
    };
    tell_of(missing_parent, &mut damage);
    Ok(Looked { reader, at, projection, missing_parent, damage, original_ids })
}

/// The store that a session's file lies in.
pub(crate) fn beside(file: &Path) -> Store {
    Store::at(file.parent().unwrap_or(Path::new(".")), SessionOptions::default())
}

/// Says what a story lacks, each thing once.
pub(crate) fn tell_of(missing_parent: Option<Uuid>, damage: &mut Vec<DamagedRange>) {
    if let Some(parent) = missing_parent {
        tell(&format!("the session {parent}, which this one was forked from, is gone; the story begins at the fork"));
    }
    // The same damage may have been met at the open and again by the story.
    damage.sort_by_key(|damage| damage.offset);
    damage.dedup();
    for damage in damage {
        tell(&format!("damaged {}; what lies before is shown", damage.what));
    }
}

fn originals(state: &State) -> BTreeMap<Uuid, String> {
    state.entries().iter().filter_map(|entry| Some((entry.event.id, entry.event.original_id.clone()?))).collect()
}
