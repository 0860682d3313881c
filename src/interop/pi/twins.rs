//! Calls that are answered otherwise on another branch.
//!
//! The store finds a call's result wherever it hangs, and the first one counts. In this format the results of a turn hang
//! below it one after the other, and a branch may leave between them: each branch has results of its own, or none. So
//! where a branch leaves a turn whose calls are not all answered there, it leaves from a twin of that turn.

use std::collections::{HashMap, HashSet};

use super::entry::Type;
use super::file::File;
use super::tree::Tree;

/// So many bytes of twins a byte of the file may cost.
const PER_BYTE: u64 = 8;

/// Which turns are open where, and which have twins.
#[derive(Debug)]
pub(super) struct Twins {
    /// The turn above each entry, itself included, whose calls are not all answered there, and how many are not.
    open: Vec<Option<(usize, usize)>>,
    /// Whether anything that takes part hangs on the entry's own event already.
    is_extended: Vec<bool>,
    /// The event that holds the calls of the turn above an entry's event.
    holder: HashMap<usize, String>,
    /// The entries that leave from a twin, and the turn of which it is one.
    leaves: HashMap<usize, usize>,
    left: u64,
    pub(super) given_up: bool,
}

impl Twins {
    pub(super) fn new(file: &File, tree: &Tree, answered: &HashSet<String>) -> Self {
        let mut open: Vec<Option<(usize, usize)>> = vec![None; file.entries.len()];
        for &index in &tree.forest.order {
            let entry = &file.entries[index];
            let above = tree.link[index].and_then(|above| open[above]);
            open[index] = match entry.kind {
                Type::Assistant => {
                    // What nothing answers is open on each branch, as the call of a broken turn is, which never ran.
                    let runs = |call: &&String| answered.contains(*call);
                    Some((index, entry.calls.iter().filter(runs).count())).filter(|(_, count)| *count > 0)
                }
                Type::ToolResult => above.map(|(turn, count)| (turn, count - 1)).filter(|(_, count)| *count > 0),
                Type::Custom => above,
                _ if entry.takes_part() => None,
                _ => above,
            };
        }
        let bytes: u64 = file.entries.iter().map(|entry| entry.len).sum();
        let is_extended = vec![false; open.len()];
        let left = bytes.saturating_mul(PER_BYTE);
        Self { open, is_extended, holder: HashMap::new(), leaves: HashMap::new(), left, given_up: false }
    }

    /// The entries of which a branch that leaves here needs twins, the turn first; none: it leaves from the entry itself.
    pub(super) fn needed(&mut self, file: &File, tree: &Tree, from: usize) -> Option<Vec<usize>> {
        let (turn, _) = self.open[from].filter(|_| self.is_extended[from])?;
        let (mut line, mut at, mut len) = (Vec::new(), from, 0);
        loop {
            line.push(at);
            len += file.entries[at].len;
            if at == turn || len > self.left {
                break;
            }
            at = tree.link[at].and_then(|above| tree.anchor[above])?;
        }
        if len > self.left {
            self.given_up = true;
            return None;
        }
        self.left -= len;
        line.reverse();
        Some(line)
    }

    /// Takes note of an entry's event: what it hangs on, and whether that is a twin.
    pub(super) fn wrote(&mut self, file: &File, index: usize, above: Option<usize>, twin_of: Option<usize>) {
        if let Some(above) = above.filter(|_| twin_of.is_none()) {
            self.is_extended[above] = true;
        }
        self.leaves.extend(twin_of.map(|turn| (index, turn)));
        let holder = match (self.open[index], twin_of, above) {
            (Some((turn, _)), _, _) if turn == index => Some(file.entries[index].id.clone()),
            (_, Some(turn), _) => Some(twin(file, turn, &file.entries[index].id)),
            (_, None, Some(above)) => self.holder.get(&above).filter(|_| self.open[above].is_some()).cloned(),
            (_, None, None) => None,
        };
        self.holder.extend(holder.map(|holder| (index, holder)));
    }

    /// The event that holds the calls of the turn above this entry's event.
    pub(super) fn holder(&self, index: usize) -> Option<&str> {
        self.holder.get(&index).map(String::as_str)
    }

    /// The events of these entries, which stand above this one in that order, on its own line.
    pub(super) fn on_the_line(&self, file: &File, line: &[usize], below: usize) -> Vec<String> {
        let begins = |index: usize| self.leaves.get(&index).map(|&turn| (turn, index));
        let mut twins = begins(below);
        let mut names: Vec<String> = Vec::with_capacity(line.len());
        for &index in line.iter().rev() {
            match twins {
                Some((turn, leaves)) => {
                    names.push(twin(file, index, &file.entries[leaves].id));
                    if index == turn {
                        twins = None;
                    }
                }
                None => {
                    names.push(file.entries[index].id.clone());
                    twins = begins(index);
                }
            }
        }
        names.reverse();
        names
    }
}

/// The name of an entry's twin from which another leaves.
pub(super) fn twin(file: &File, index: usize, leaves: &str) -> String {
    format!("{}~{leaves}", file.entries[index].id)
}
