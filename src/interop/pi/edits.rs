//! Edits of the context, which hold on their own branch only, as amends, which hold everywhere: whenever the
//! conversation goes on elsewhere, each message that is edited differently there is amended again.

use std::collections::{HashMap, HashSet};

use super::context::{Replacement, replacement, target_of};
use super::entry::Type;
use super::file::File;
use super::parts::{Maker, output, parts};
use super::tree::Tree;
use crate::event::{Fields, Message, PartBody, Value, patch_between};

/// So many bytes of edited entries a byte of the file may cost.
const PER_BYTE: u64 = 16;

/// What the edits have made of their targets so far.
pub(super) struct Edits<'a> {
    file: &'a File,
    tree: &'a Tree,
    /// The target of each edit.
    target: HashMap<usize, usize>,
    /// The events of each target: its own and its twins.
    events: HashMap<usize, Vec<Edited>>,
    targets: HashSet<usize>,
    /// Targets that have got an event since the conversation moved last.
    fresh: Vec<usize>,
    /// The entry at which the conversation stands.
    at: Option<usize>,
    left: u64,
    given_up: bool,
}

/// An event of a target.
struct Edited {
    name: String,
    said: Message,
    now: Message,
}

impl<'a> Edits<'a> {
    pub(super) fn new(file: &'a File, tree: &'a Tree) -> Self {
        let edits = (0..file.entries.len()).filter(|&index| file.entries[index].kind == Type::ContextEdit);
        let target: HashMap<usize, usize> =
            edits.filter_map(|edit| Some((edit, target_of(file, tree, edit)?))).collect();
        let targets = target.values().copied().collect();
        let bytes: u64 = file.entries.iter().map(|entry| entry.len).sum();
        let left = bytes.saturating_mul(PER_BYTE);
        Self { file, tree, target, events: HashMap::new(), targets, fresh: Vec::new(), at: None, left, given_up: false }
    }

    /// Whether there were too many changes to follow them all.
    pub(super) fn given_up(&self) -> bool {
        self.given_up
    }

    /// Takes note of an entry's message, and of the name of its event.
    pub(super) fn said(&mut self, index: usize, name: &str, message: &Message) {
        if self.targets.contains(&index) {
            let (said, now) = (message.clone(), message.clone());
            self.events.entry(index).or_default().push(Edited { name: name.to_owned(), said, now });
            self.fresh.push(index);
        }
    }

    /// An event's message was completed.
    pub(super) fn said_anew(&mut self, index: usize, name: &str, message: &Message) {
        let events = self.events.get_mut(&index).into_iter().flatten();
        for event in events.filter(|event| event.name == name) {
            event.said.clone_from(message);
            event.now.clone_from(message);
            self.fresh.push(index);
        }
    }

    /// The patches of those messages that are another way at this entry than where the conversation stood before.
    pub(super) fn go_to(&mut self, entry: usize) -> Vec<(String, Fields)> {
        let before = self.at.replace(entry);
        let (old, new) = (before.and_then(|before| self.tree.edit[before]), self.tree.edit[entry]);
        let mut changed = std::mem::take(&mut self.fresh);
        if (old == new && (new.is_none() || changed.is_empty())) || self.given_up {
            return Vec::new();
        }
        self.walk(old, |edits, edit| edits.tree.forest.is_above(edit, entry), |_, target| changed.push(target));
        let held = |edits: &Self, edit| before.is_some_and(|before| edits.tree.forest.is_above(edit, before));
        self.walk(new, held, |_, target| changed.push(target));
        changed.sort_unstable();
        changed.dedup();
        let mut holds: HashMap<usize, usize> = HashMap::new();
        self.walk(
            new,
            |_, _| false,
            |edit, target| {
                holds.entry(target).or_insert(edit);
            },
        );
        let mut patches = Vec::new();
        for target in changed {
            let edit = holds.get(&target).copied();
            let count = self.events.get(&target).map_or(0, |events| events.len() as u64);
            let len = self.file.entries[target].len + edit.map_or(0, |edit| self.file.entries[edit].len);
            self.spend(len.saturating_mul(count));
            if self.given_up {
                break;
            }
            self.patch(target, edit, &mut patches);
        }
        patches
    }

    /// From this edit up, until one is so.
    fn walk(&mut self, from: Option<usize>, is_end: impl Fn(&Self, usize) -> bool, mut take: impl FnMut(usize, usize)) {
        let mut at = from;
        while let Some(edit) = at.filter(|_| !self.given_up) {
            if is_end(self, edit) {
                break;
            }
            self.spend(1);
            if let Some(&target) = self.target.get(&edit) {
                take(edit, target);
            }
            at = self.tree.link[edit].and_then(|above| self.tree.edit[above]);
        }
    }

    fn spend(&mut self, count: u64) {
        self.given_up |= count > self.left;
        self.left = self.left.saturating_sub(count);
    }

    fn patch(&mut self, target: usize, edit: Option<usize>, patches: &mut Vec<(String, Fields)>) {
        let replacement = edit.map(|edit| replacement(&self.file.entries[edit]));
        for Edited { name, said, now } in self.events.get_mut(&target).into_iter().flatten() {
            let wanted = match &replacement {
                None => said.clone(),
                Some(Replacement::None) => {
                    let mut message = said.clone();
                    message.metadata.eligible_for_model_context = false;
                    message
                }
                Some(Replacement::Content(content)) => with_content(said, content),
            };
            let Ok(patch) = patch_between(now, &wanted) else { continue };
            *now = wanted;
            if !patch.is_empty() {
                patches.push((name.clone(), patch));
            }
        }
    }
}

/// The message with another content; a result stays the answer to its call.
fn with_content(message: &Message, content: &Value) -> Message {
    let mut message = message.clone();
    message.metadata.eligible_for_model_context = true;
    let result = message.content.iter_mut().find_map(|part| match &mut part.body {
        PartBody::ToolResult(result) => Some(result),
        _ => None,
    });
    match result {
        Some(result) => result.output = output(content.clone()),
        None => message.content = parts(content.clone(), Maker::default()),
    }
    message
}
