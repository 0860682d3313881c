//! The branches that leave the chain, each to be written where it leaves.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::io;

use super::Page;
use crate::event::{Body, PartBody, Uuid};
use crate::projection::{ProjectedMessage, TranscriptStream};
use crate::session::{BranchPoint, State};

/// The branches of a session on their way to a page. What of each is its own is found for all of them at once, so however
/// many there are, it costs no more than going over the session.
#[derive(Debug)]
pub struct Branches<'a> {
    state: &'a State,
    at: HashMap<Option<Uuid>, Vec<Uuid>>,
    /// For each leaf the entries of its branch that stand on no page before it, in the order of the file.
    own: HashMap<Uuid, Vec<usize>>,
}

/// To whom an entry belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Nobody,
    Chain,
    Branch(usize),
}

impl<'a> Branches<'a> {
    /// The branches of a whole session that leave at these points, as
    /// [`State::branch_points`](crate::session::State::branch_points) gives them.
    #[must_use]
    pub fn new(state: &'a State, points: &[BranchPoint]) -> Self {
        let leaves: Vec<Uuid> = points.iter().flat_map(|point| &point.leaves).copied().collect();
        let owners = owners(state, &leaves);
        let mut own: HashMap<Uuid, Vec<usize>> = HashMap::new();
        for (index, owner) in owners.into_iter().enumerate() {
            if let Owner::Branch(number) = owner {
                own.entry(leaves[number]).or_default().push(index);
            }
        }
        let at = points.iter().map(|point| (point.at, point.leaves.clone())).collect();
        Self { state, at, own }
    }

    /// Writes the branches that leave here; gives how many messages they have of their own. Each is written once.
    ///
    /// # Errors
    /// What the output says.
    pub fn write(&mut self, at: Option<Uuid>, page: &mut impl Page) -> io::Result<u64> {
        let mut written = 0;
        for leaf in self.at.remove(&at).unwrap_or_default() {
            let own = self.own.remove(&leaf).unwrap_or_default();
            let entries = own.iter().map(|&index| Ok::<_, Infallible>(&self.state.entries()[index]));
            let mut stream = TranscriptStream::new(entries).map(|Ok(message)| message).peekable();
            let said = stream.peek().map(said_by).unwrap_or_default();
            page.begin_branch(&said)?;
            for message in stream {
                page.message(&message)?;
                written += 1;
            }
            page.end_branch()?;
        }
        Ok(written)
    }

    /// Writes those that leave at messages which the page does not show.
    ///
    /// # Errors
    /// What the output says.
    pub fn rest(&mut self, page: &mut impl Page) -> io::Result<u64> {
        let mut left: Vec<Option<Uuid>> = self.at.keys().copied().collect();
        left.sort_unstable();
        left.into_iter().map(|at| self.write(at, page)).sum()
    }
}

/// What a message says in words, or else the tool that it calls.
fn said_by(message: &ProjectedMessage) -> String {
    let text = message.content.iter().filter_map(|part| part.as_text()).find(|text| !text.trim().is_empty());
    let call = || {
        message.content.iter().find_map(|part| match &part.body {
            PartBody::ToolCall(call) => Some(format!("calls {}", call.name)),
            _ => None,
        })
    };
    text.map(str::to_owned).or_else(call).unwrap_or_default()
}

/// For each entry whose it is: what lies on the chain, or on the way from a leaf up to what is somebody's already, is theirs; of
/// the rest a result is its call's, and a side record belongs to what it hangs on.
fn owners(state: &State, leaves: &[Uuid]) -> Vec<Owner> {
    let entries = state.entries();
    let above = |index: usize| state.anchor(&entries[index]).and_then(|anchor| state.index_of(anchor.event.id));
    let mut owners = vec![Owner::Nobody; entries.len()];
    let mut claim = |mut at: Option<usize>, owner: Owner| {
        while let Some(index) = at.filter(|&index| owners[index] == Owner::Nobody) {
            owners[index] = owner;
            at = above(index);
        }
    };
    claim(state.leaf().and_then(|leaf| state.index_of(leaf.event.id)), Owner::Chain);
    for (number, leaf) in leaves.iter().enumerate() {
        claim(state.index_of(*leaf), Owner::Branch(number));
    }
    // Calls that have a real result: a second one is shown nowhere.
    let mut answered: HashSet<(usize, &str)> = HashSet::new();
    for (index, entry) in entries.iter().enumerate() {
        let is_claimed = owners[index] != Owner::Nobody;
        let beside = above(index).map_or(Owner::Chain, |above| owners[above]);
        if !entry.is_living() {
            // What hangs on one that was taken back belongs to what that hung on.
            if !is_claimed {
                owners[index] = beside;
            }
            continue;
        }
        let Some(message) = entry.event.message() else {
            if !is_claimed && matches!(&entry.event.body, Body::Unknown(unknown) if unknown.kind.is_some()) {
                owners[index] = beside;
            }
            continue;
        };
        let mut of_call = None;
        for result in message.results() {
            let Some(holder) = state.holder_for(&result.call_id, message, index) else { continue };
            let call = (holder, result.call_id.as_str());
            if answered.contains(&call) {
                continue;
            }
            of_call = of_call.or(Some(owners[holder]));
            if !message.is_synthetic() {
                answered.insert(call);
            }
        }
        if is_claimed || message.metadata.sidechain {
            continue;
        }
        match of_call {
            Some(owner) => owners[index] = owner,
            None if !message.kind.takes_part() => owners[index] = beside,
            None => {}
        }
    }
    for (owner, entry) in owners.iter_mut().zip(entries) {
        if !entry.is_living() {
            *owner = Owner::Nobody;
        }
    }
    owners
}
