//! What hangs on what, and where the conversation stands.
//!
//! The whole file is looked at before anything is linked: a parent may stand behind its child.

use super::file::File;
use super::report::code;
use crate::interop::forest::Forest;
use crate::interop::trees::Trees;
use crate::interop::work::Work;

/// So many records back, a place is looked for on which a record with a lost parent can hang.
const HANG_BACK_MAX: usize = 64;

/// The links of a file's records.
#[derive(Debug)]
pub(super) struct Graph {
    /// What each record hangs on.
    pub(super) link: Vec<Option<usize>>,
    /// Records whose parent is not in the file, or whose link closed a circle, in file order.
    pub(super) lost: Vec<usize>,
    /// Which of them were hung on which record.
    pub(super) hung: Vec<(usize, usize)>,
    pub(super) forest: Forest,
}

impl Graph {
    /// Links the records. Unless `strict`, a record that lost its parent hangs on the one before it.
    pub(super) fn new(file: &mut File, strict: bool, work: &mut Work) -> Self {
        let mut link: Vec<Option<usize>> = (0..file.records.len()).map(|index| named(file, index)).collect();
        let mut lost: Vec<usize> =
            (0..link.len()).filter(|&index| link[index].is_none() && file.records[index].parent.is_some()).collect();
        for &index in &lost {
            let record = &file.records[index];
            let text = format!("record {} names a parent that is not in the file", record.uuid);
            let line = record.line;
            file.warn(code::MISSING_PARENT, line, text);
        }
        lost.extend(cut_circles(file, &mut link, work));
        lost.sort_unstable();
        let hung = if strict { Vec::new() } else { hang(file, &mut link, &lost, work) };
        let forest = Forest::new(&link, work);
        Self { link, lost, hung, forest }
    }

    /// The last message of the conversation: from every record on which nothing hangs up to the nearest message that
    /// is not only for the model, and of these the last in the file; sub-agents' and teams' only if there is no other.
    pub(super) fn leaf(&self, file: &File) -> Option<usize> {
        let (mut spoken, mut any) = (vec![None; self.link.len()], vec![None; self.link.len()]);
        let (mut best, mut fallback) = (None, None);
        for &index in &self.forest.order {
            let record = &file.records[index];
            let above = self.link[index];
            let own = record.is_message().then_some(index);
            any[index] = own.or_else(|| above.and_then(|above| any[above]));
            spoken[index] = own.filter(|_| !record.is_meta).or_else(|| above.and_then(|above| spoken[above]));
            if self.forest.first_child[index].is_some() {
                continue;
            }
            let candidate = spoken[index].or(any[index]);
            fallback = fallback.max(candidate);
            let main = |&index: &usize| {
                let record = &file.records[index];
                !record.sidechain && !record.in_team && !record.is_meta
            };
            best = best.max(candidate.filter(main));
        }
        best.or(fallback)
    }

    /// How many messages stand above each record, itself included, up to where a lost parent cuts the line.
    pub(super) fn messages_to_cut(&self, file: &File) -> Vec<usize> {
        let mut count = vec![0; self.link.len()];
        let cut: std::collections::HashSet<usize> = self.lost.iter().copied().collect();
        for &index in &self.forest.order {
            let above = self.link[index].filter(|_| !cut.contains(&index)).map_or(0, |above| count[above]);
            count[index] = above + usize::from(file.records[index].is_message());
        }
        count
    }
}

/// The record that a record names as its parent: the last of that id.
fn named(file: &File, index: usize) -> Option<usize> {
    let parent = file.records[index].parent.as_deref()?;
    let mut named = file.by_id.get(parent).copied()?;
    while named == index {
        // Its own id: an earlier record of that id may be meant.
        named = file.same_id[named]?;
    }
    Some(named)
}

/// Cuts every circle at the record of it that comes first in the file, unless a record of the circle names an id that
/// an earlier record has too: then that one is meant.
fn cut_circles(file: &mut File, link: &mut [Option<usize>], work: &mut Work) -> Vec<usize> {
    let mut cut = Vec::new();
    // In which walk a record was seen, from 1.
    let mut seen = vec![0; link.len()];
    let mut turned = vec![false; link.len()];
    let mut walk = 0;
    let mut start = 0;
    while start < link.len() {
        walk += 1;
        let mut at = start;
        while seen[at] == 0 {
            seen[at] = walk;
            work.step();
            match link[at] {
                Some(above) => at = above,
                None => break,
            }
        }
        let closes = seen[at] == walk && link[at].is_some();
        if !closes {
            start += 1;
            continue;
        }
        let mut circle = vec![at];
        let mut next = link[at];
        while let Some(index) = next.filter(|&index| index != at) {
            work.step();
            circle.push(index);
            next = link[index];
        }
        let earlier = |index: usize| {
            let mut other = file.same_id[link[index]?];
            while let Some(candidate) = other.filter(|&candidate| candidate >= index) {
                other = file.same_id[candidate];
            }
            other
        };
        let other_name =
            circle.iter().filter(|&&index| !turned[index]).find_map(|&index| Some((index, earlier(index)?)));
        let first = circle.iter().copied().min().unwrap_or(at);
        let turn = other_name.map_or(first, |(index, _)| index);
        link[turn] = other_name.map(|(_, other)| other);
        turned[turn] = true;
        if other_name.is_none() {
            cut.push(turn);
        }
        let text = format!("the parents of record {} make a circle", file.records[turn].uuid);
        let line = file.records[turn].line;
        file.warn(code::CYCLE, line, text);
        for index in circle {
            seen[index] = 0;
        }
        // The walk's other records lead into the circle and stay seen; the circle is walked again when its turn comes.
    }
    cut
}

/// Hangs each record that lost its parent on the record before it, of the same line. The first of a file stays a root,
/// and so does one before which, for a while, there is nothing but what hangs on itself.
fn hang(file: &File, link: &mut [Option<usize>], lost: &[usize], work: &mut Work) -> Vec<(usize, usize)> {
    let before = file.previous_of_same_line();
    let mut trees = Trees::new(link);
    let mut hung = Vec::new();
    for &index in lost {
        let mut place = before[index];
        for _ in 0..HANG_BACK_MAX {
            work.step();
            let Some(candidate) = place else { break };
            if trees.root(candidate) != trees.root(index) {
                link[index] = Some(candidate);
                trees.hang(index, candidate);
                hung.push((index, candidate));
                break;
            }
            place = before[candidate];
        }
    }
    hung
}
