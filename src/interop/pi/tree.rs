//! What hangs on what, and what holds at each entry of the tree.

use super::entry::{Named, Type};
use super::file::File;
use super::report::code;
use crate::event::Value;
use crate::interop::fields::field;
use crate::interop::forest::Forest;
use crate::interop::trees::Trees;
use crate::interop::work::Work;

/// So many entries back, a place is looked for on which an entry with a lost parent can hang.
const HANG_BACK_MAX: usize = 64;

/// How much a model is to think, where nothing is said about it.
const NO_THINKING: &str = "off";

/// The links of a file's entries.
#[derive(Debug)]
pub(super) struct Tree {
    /// What each entry hangs on.
    pub(super) link: Vec<Option<usize>>,
    /// Entries whose parent is not in the file, or whose link closed a circle, in file order.
    pub(super) lost: Vec<usize>,
    /// Which of them were hung on which entry.
    pub(super) hung: Vec<(usize, usize)>,
    pub(super) forest: Forest,
    /// The nearest entry that takes part in the chain of parents, itself included.
    pub(super) anchor: Vec<Option<usize>>,
    /// The nearest compaction, itself included.
    pub(super) compaction: Vec<Option<usize>>,
    /// The nearest edit of the context, itself included.
    pub(super) edit: Vec<Option<usize>>,
    /// The entry that says which model is at work; none: the header, or nobody.
    pub(super) model: Vec<Option<usize>>,
    /// The entry that says how much it is to think.
    pub(super) thinking: Vec<Option<usize>>,
}

impl Tree {
    /// Links the entries. Unless `strict`, an entry that lost its parent hangs on the one before it.
    pub(super) fn new(file: &mut File, strict: bool, work: &mut Work) -> Self {
        let mut link = std::mem::take(&mut file.link);
        let mut trees = Trees::new(&link);
        let mut lost = Vec::new();
        for (index, entry) in file.entries.iter().enumerate() {
            work.step();
            if link[index].is_some() || entry.parent == Named::Root {
                continue;
            }
            let later = match &entry.parent {
                Named::Id(parent) => file.by_id.get(parent).copied(),
                Named::Root | Named::Nothing => None,
            };
            // A link to an earlier entry can't close a circle, one to a later entry can.
            match later {
                Some(later) if trees.root(later) != index => {
                    link[index] = Some(later);
                    trees.hang(index, later);
                }
                other => lost.push((index, other.is_some())),
            }
        }
        let hung = if strict { Vec::new() } else { hang(file, &mut link, &mut trees, &lost, work) };
        // The first entry of a file need not say that it is a root.
        lost.retain(|&(index, _)| file.entries[index].parent != Named::Nothing || index > 0);
        for &(index, is_circle) in &lost {
            let entry = &file.entries[index];
            let (code, what) = match is_circle {
                true => (code::CYCLE, "makes a circle with its parents"),
                false => (code::MISSING_PARENT, "names no parent that is in the file"),
            };
            let (line, text) = (entry.line, format!("entry {} {what}", entry.id));
            file.warn(code, line, text);
        }
        let lost = lost.into_iter().map(|(index, _)| index).collect();
        let forest = Forest::new(&link, work);
        let inherited = || vec![None; link.len()];
        let (anchor, compaction, edit) = (inherited(), inherited(), inherited());
        let (model, thinking) = (inherited(), inherited());
        let mut tree = Self { link, lost, hung, forest, anchor, compaction, edit, model, thinking };
        tree.inherit(file);
        tree
    }

    fn inherit(&mut self, file: &File) {
        for &index in &self.forest.order {
            let entry = &file.entries[index];
            let here = |is: bool, of: &[Option<usize>]| match is {
                true => Some(index),
                false => self.link[index].and_then(|above| of[above]),
            };
            self.anchor[index] = here(entry.takes_part(), &self.anchor);
            self.compaction[index] = here(entry.kind == Type::Compaction, &self.compaction);
            self.edit[index] = here(entry.kind == Type::ContextEdit, &self.edit);
            self.model[index] = here(entry.model().is_some(), &self.model);
            self.thinking[index] = here(entry.kind == Type::ThinkingChange, &self.thinking);
        }
    }

    /// From the root to this entry.
    pub(super) fn path(&self, to: usize, work: &mut Work) -> Vec<usize> {
        let mut path = vec![to];
        let mut at = to;
        while let Some(above) = self.link[at] {
            work.step();
            path.push(above);
            at = above;
        }
        path.reverse();
        path
    }

    /// The first entry that a compaction keeps; none: it keeps nothing.
    pub(super) fn first_kept(&self, file: &File, compaction: usize) -> Option<usize> {
        let entry = &file.entries[compaction];
        let first = match entry.text("firstKeptEntryId") {
            Some(id) if file.version() != 1 => entry.names.or_else(|| file.by_id.get(id).copied()),
            _ => entry.get("firstKeptEntryIndex").and_then(Value::as_i64).and_then(|place| file.at_place(place)),
        }?;
        let above = self.link[compaction]?;
        self.forest.is_above(first, above).then_some(first)
    }

    /// Provider and model at this entry.
    pub(super) fn model_at<'a>(&self, file: &'a File, entry: Option<usize>) -> Option<(&'a str, &'a str)> {
        match entry.and_then(|entry| self.model[entry]) {
            Some(says) => file.entries[says].model(),
            None => Some((file.header_text("provider")?, file.header_text("modelId")?)),
        }
    }

    /// How much the model is to think at this entry.
    pub(super) fn thinking_at<'a>(&self, file: &'a File, entry: Option<usize>) -> &'a str {
        let said = match entry.and_then(|entry| self.thinking[entry]) {
            Some(says) => file.entries[says].text("thinkingLevel"),
            None => {
                file.header.as_ref().and_then(|(_, fields)| field(fields, "thinkingLevel")).and_then(Value::as_text)
            }
        };
        said.unwrap_or(NO_THINKING)
    }
}

/// Hangs each entry that lost its parent on the entry before it. The first of a file stays a root, and so does one
/// before which, for a while, there is nothing but what hangs on itself.
fn hang(
    file: &File,
    link: &mut [Option<usize>],
    trees: &mut Trees,
    lost: &[(usize, bool)],
    work: &mut Work,
) -> Vec<(usize, usize)> {
    let mut hung = Vec::new();
    for &(index, _) in lost {
        for candidate in (0..index).rev().take(HANG_BACK_MAX) {
            work.step();
            if trees.root(candidate) != trees.root(index) {
                link[index] = Some(candidate);
                trees.hang(index, candidate);
                hung.push((index, candidate));
                break;
            }
        }
    }
    debug_assert!(file.entries.len() == link.len(), "each entry has one link");
    hung
}
