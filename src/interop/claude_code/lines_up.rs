//! Puts the blocks of one answer on one line.
//!
//! An answer's blocks are records of their own, and with parallel calls they hang beside one another, so that no walk
//! from a leaf meets them all. A block here hangs behind the blocks before it, and what goes on from the answer hangs
//! behind all of them. Results stay where they are: the store finds them by their call.

use std::collections::HashMap;

use super::compaction::Compactions;
use super::file::File;
use super::record::Type;

/// The chain as the store will have it.
#[derive(Debug)]
pub(super) struct Straight {
    /// Whether the record's event takes part in the chain.
    pub(super) takes_part: Vec<bool>,
    /// What it hangs on; of those that take part only.
    pub(super) parent: Vec<Option<usize>>,
    /// The answer around each record, by its number.
    answer_of: Vec<Option<usize>>,
    /// How many blocks of it stand on the record's own line.
    blocks_seen: Vec<usize>,
    answers: Vec<Answer>,
}

/// One answer of the provider's while its blocks come in.
#[derive(Debug)]
struct Answer {
    message_id: String,
    /// What its first block hung on.
    before: Option<usize>,
    blocks: usize,
    /// The last record on the line that holds all blocks so far.
    tip: usize,
}

impl Straight {
    /// The record on whose line all blocks of the answer stand: the record itself, if it is on no side line.
    pub(super) fn on_the_line(&self, index: usize) -> usize {
        match self.answer_of[index].map(|answer| &self.answers[answer]) {
            Some(answer) if self.blocks_seen[index] < answer.blocks => answer.tip,
            _ => index,
        }
    }
}

/// `order` names the records in the order of their events, parents first.
pub(super) fn line_up(file: &File, compactions: &Compactions, order: &[usize], hangs_on: &[Option<usize>]) -> Straight {
    let count = file.records.len();
    let carries = carries(file, compactions, order, hangs_on);
    let mut line = Straight {
        takes_part: vec![false; count],
        parent: vec![None; count],
        answer_of: vec![None; count],
        blocks_seen: vec![0; count],
        answers: Vec::new(),
    };
    let mut by_message: HashMap<&str, usize> = HashMap::new();
    // The nearest record that takes part, itself included.
    let mut nearest: Vec<Option<usize>> = vec![None; count];
    for &index in order {
        let parent = hangs_on[index].and_then(|above| nearest[above]);
        let is_compaction = compactions.of.contains_key(&index);
        if !is_compaction && !file.takes_part(index) {
            nearest[index] = parent;
            continue;
        }
        nearest[index] = Some(index);
        line.takes_part[index] = true;
        let record = &file.records[index];
        let around = parent.and_then(|parent| line.answer_of[parent]);
        let side_line = parent.filter(|&parent| line.on_the_line(parent) != parent);
        let straightened = parent.map(|parent| line.on_the_line(parent));
        let block_of = record.message_id.as_deref().filter(|_| !record.is_api_error && !is_compaction);
        if let Some(message_id) = block_of {
            let known = around.filter(|&around| line.answers[around].message_id == message_id).or_else(|| {
                by_message.get(message_id).copied().filter(|&answer| line.answers[answer].before == parent)
            });
            let answer = known.unwrap_or(line.answers.len());
            if let Some(known) = known {
                let whole = around == Some(known) && side_line.is_none();
                line.parent[index] = if whole { parent } else { Some(line.answers[known].tip) };
                line.answers[known].blocks += 1;
                line.answers[known].tip = index;
            } else {
                line.parent[index] = straightened;
                let message_id_owned = message_id.to_owned();
                line.answers.push(Answer { message_id: message_id_owned, before: parent, blocks: 1, tip: index });
                by_message.insert(message_id, answer);
            }
            line.answer_of[index] = Some(answer);
            line.blocks_seen[index] = line.answers[answer].blocks;
            continue;
        }
        let is_result = !record.results.is_empty();
        let goes_along = !is_compaction
            && (is_result || record.kind == Type::Attachment || (record.kind == Type::User && record.is_meta));
        let stays = is_result || (goes_along && !carries[index]);
        line.parent[index] = if stays { parent } else { straightened };
        if let (true, Some(answer), Some(parent)) = (goes_along, around, line.parent[index]) {
            line.answer_of[index] = Some(answer);
            line.blocks_seen[index] = line.blocks_seen[parent];
            if line.answers[answer].tip == parent {
                line.answers[answer].tip = index;
            }
        }
    }
    line
}

/// Whether the conversation goes on below each record: an answer, or words that are not only for the model.
fn carries(file: &File, compactions: &Compactions, order: &[usize], hangs_on: &[Option<usize>]) -> Vec<bool> {
    let mut carries = vec![false; file.records.len()];
    for &index in order.iter().rev() {
        let Some(parent) = hangs_on[index] else { continue };
        let record = &file.records[index];
        let words = record.kind == Type::User && !record.is_meta && record.results.is_empty();
        let goes_on = record.kind == Type::Assistant || words || compactions.of.contains_key(&index);
        carries[parent] |= goes_on || carries[index];
    }
    carries
}
