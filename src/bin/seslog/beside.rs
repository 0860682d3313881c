//! What stands beside the messages of a view: where other branches leave, and how much is hidden.

use std::collections::HashMap;

use serde::Serialize;
use seslog::event::Uuid;
use seslog::session::BranchPoint;

use crate::exit::Outcome;
use crate::output::Output;
use crate::render::branch_point;

/// Where other branches leave the chain, as JSON has it.
#[derive(Debug, Serialize)]
pub(crate) struct Branching {
    at: Option<Uuid>,
    leaves: Vec<Uuid>,
}

impl From<&BranchPoint> for Branching {
    fn from(point: &BranchPoint) -> Self {
        Self { at: point.at, leaves: point.leaves.clone() }
    }
}

/// The branch points that are still to be shown.
#[derive(Debug)]
pub(crate) struct Points {
    left: Vec<Option<BranchPoint>>,
    by_message: HashMap<Option<Uuid>, usize>,
}

impl Points {
    pub(crate) fn new(points: &[BranchPoint]) -> Self {
        let by_message = points.iter().enumerate().map(|(index, point)| (point.at, index)).collect();
        Self { left: points.iter().cloned().map(Some).collect(), by_message }
    }

    /// Shows the branches beside the first message.
    pub(crate) fn beginning(&mut self, out: &mut Output) -> Outcome<()> {
        self.show(None, out)
    }

    /// Shows the branches that leave at one of these messages.
    pub(crate) fn behind(&mut self, ids: &[Uuid], out: &mut Output) -> Outcome<()> {
        ids.iter().try_for_each(|&id| self.show(Some(id), out))
    }

    /// Shows those whose message is hidden.
    pub(crate) fn rest(&mut self, out: &mut Output) -> Outcome<()> {
        self.left.iter().flatten().try_for_each(|point| branch_point(point, true, out))
    }

    fn show(&mut self, at: Option<Uuid>, out: &mut Output) -> Outcome<()> {
        let point = self.by_message.get(&at).and_then(|&index| self.left[index].take());
        point.map_or(Ok(()), |point| branch_point(&point, false, out))
    }
}

/// The messages that a view does not show: how many, and the first.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    count: usize,
    first: Option<Uuid>,
}

impl Hidden {
    pub(crate) fn add(&mut self, ids: &[Uuid]) {
        self.count += ids.len();
        self.first = self.first.or_else(|| ids.first().copied());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Says how many messages a view does not show, and how to learn why. `store` is what names the store in a command.
pub(crate) fn tell_hidden(session: Uuid, store: &str, hidden: &Hidden, out: &mut Output) -> Outcome<()> {
    let Some(first) = hidden.first else { return Ok(()) };
    let count = hidden.count;
    let (are, all) = if count == 1 { ("message is", "") } else { ("messages are", ", --json of all") };
    out.line(&format!(
        "({count} {are} not shown in this view; `seslog explain {session} {first}{store}` says why{all})"
    ))
}
