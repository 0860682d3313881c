//! A compaction as pi has it: what it keeps is the end of the path, or stands behind it once more.

use std::collections::HashSet;

use super::Writer;
use crate::event::{Fields, Kind};
use crate::interop::fields::put;
use crate::interop::leaving_line::Line;
use crate::interop::leaving_told::{Told, lost};

impl Writer<'_, '_> {
    /// A compaction that did not come from a file of this format. What it kept must be the end of the path; else it
    /// stands behind it once more.
    pub(super) fn compaction(
        &mut self,
        index: usize,
        keep: &[usize],
        above: Option<usize>,
        line: Option<&Line>,
        told: &mut Told,
    ) {
        let source = self.source;
        let event = source.event(index);
        let Some(summary) = source.summary(index) else { return told.note(lost::KINDS, event.id) };
        let Some(message) = source.message(summary) else { return };
        let kept: Vec<usize> = match line {
            Some(line) => line.units(keep.iter().copied()),
            None => {
                let mut seen = HashSet::new();
                keep.iter().copied().filter(|kept| seen.insert(*kept)).collect()
            }
        };
        // An answer is one entry, so of a part of it there is none to begin with.
        let begins = |first: usize| line.is_none_or(|line| line.is_result(first) || line.begins(first));
        let is_end = self.is_end(&kept, above, line);
        let first = kept.first().filter(|&&first| is_end && begins(first)).and_then(|&first| self.first_id(first));
        let id = self.id_for(event.id);
        let mut said: Fields = vec![("type".to_owned(), "compaction".into())];
        put(&mut said, "summary", message.joined_text());
        put(&mut said, "firstKeptEntryId", first.clone().unwrap_or_else(|| id.clone()));
        let tokens = match &message.kind {
            Kind::CompactSummary(summary) => summary.tokens_before,
            _ => None,
        };
        put(&mut said, "tokensBefore", tokens.unwrap_or(0));
        self.push(id.clone(), self.id_of(above), event.at, said);
        let mut end = id;
        if first.is_none() && !kept.is_empty() && !source.is_last_boundary(index) {
            told.note(lost::KEPT_EARLIER, event.id);
        } else if first.is_none() && !kept.is_empty() {
            told.note(lost::COPIES, event.id);
            self.with_copies.insert(index);
            let before = self.ids.clone();
            let is_kept: HashSet<usize> = kept.iter().copied().collect();
            let mut done = HashSet::new();
            for &kept in &kept {
                if done.contains(&kept) {
                    continue;
                }
                let answer = line.filter(|line| !line.is_result(kept)).and_then(|line| line.answer(kept));
                let whole: Vec<usize> = match answer {
                    Some(answer) => answer.blocks.iter().copied().filter(|block| is_kept.contains(block)).collect(),
                    None => vec![kept],
                };
                done.extend(whole.iter().copied());
                self.entries(kept, &whole, end.as_str().into(), told);
                end = self.ids[kept].clone().unwrap_or(end);
            }
            self.ids = before;
        }
        self.ids[index] = Some(end.clone());
        self.ids[summary] = Some(end);
    }

    /// Whether these are what stands last on the path, with nothing between that stands there once more.
    fn is_end(&self, kept: &[usize], above: Option<usize>, line: Option<&Line>) -> bool {
        let source = self.source;
        let up = |index: usize| match line {
            Some(line) => line.parent[index],
            None => {
                let anchor = source.state.anchor(source.entry(index));
                anchor.and_then(|anchor| source.place(anchor.event.id)).filter(|&above| above < index)
            }
        };
        let mut left = kept.iter().rev();
        let mut at = above;
        while let Some(index) = at {
            let is_kept = self
                .source
                .message(index)
                .is_some_and(|message| !matches!(message.kind, Kind::CompactBoundary(_) | Kind::CompactSummary(_)));
            if self.with_copies.contains(&index) {
                return false;
            }
            if is_kept && left.next() != Some(&index) {
                return false;
            }
            if left.len() == 0 {
                return true;
            }
            at = up(index);
        }
        false
    }

    /// The first entry of a message, of which `ids` has the last.
    fn first_id(&self, index: usize) -> Option<String> {
        let last = self.ids[index].as_deref()?;
        let is_alone = self.source.message(index).is_some_and(|message| {
            message.results().count() <= 1 && (message.results().count() == 0 || message.content.len() == 1)
        });
        is_alone.then(|| last.to_owned())
    }
}
