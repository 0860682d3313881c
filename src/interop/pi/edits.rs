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
    /// Of each target the message as it was said, and as it is now.
    said: HashMap<usize, (Message, Message)>,
    targets: HashSet<usize>,
    /// The entry at which the conversation stands.
    at: Option<usize>,
    left: u64,
    given_up: bool,
}

impl<'a> Edits<'a> {
    pub(super) fn new(file: &'a File, tree: &'a Tree) -> Self {
        let edits = (0..file.entries.len()).filter(|&index| file.entries[index].kind == Type::ContextEdit);
        let target: HashMap<usize, usize> =
            edits.filter_map(|edit| Some((edit, target_of(file, tree, edit)?))).collect();
        let targets = target.values().copied().collect();
        let bytes: u64 = file.entries.iter().map(|entry| entry.len).sum();
        let left = bytes.saturating_mul(PER_BYTE);
        Self { file, tree, target, said: HashMap::new(), targets, at: None, left, given_up: false }
    }

    /// Whether there were too many changes to follow them all.
    pub(super) fn given_up(&self) -> bool {
        self.given_up
    }

    /// Takes note of an entry's message.
    pub(super) fn said(&mut self, index: usize, message: &Message) {
        if self.targets.contains(&index) {
            self.said.insert(index, (message.clone(), message.clone()));
        }
    }

    /// The patches of those messages that are another way at this entry than where the conversation stood before.
    pub(super) fn go_to(&mut self, entry: usize) -> Vec<(usize, Fields)> {
        let before = self.at.replace(entry);
        let (old, new) = (before.and_then(|before| self.tree.edit[before]), self.tree.edit[entry]);
        if old == new || self.given_up {
            return Vec::new();
        }
        let mut changed: Vec<usize> = Vec::new();
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
            let len = self.file.entries[target].len + edit.map_or(0, |edit| self.file.entries[edit].len);
            self.spend(len);
            if self.given_up {
                break;
            }
            patches.extend(self.patch(target, edit).map(|patch| (target, patch)));
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

    fn patch(&mut self, target: usize, edit: Option<usize>) -> Option<Fields> {
        let (said, now) = self.said.get_mut(&target)?;
        let wanted = match edit.map(|edit| replacement(&self.file.entries[edit])) {
            None => said.clone(),
            Some(Replacement::None) => {
                let mut message = said.clone();
                message.metadata.eligible_for_model_context = false;
                message
            }
            Some(Replacement::Content(content)) => with_content(said, content),
        };
        let patch = patch_between(now, &wanted).ok()?;
        *now = wanted;
        (!patch.is_empty()).then_some(patch)
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
