//! What a list counts in a session: messages and branches, and the first words of a person. Where a session has grown since
//! it was counted, only its new part is read.

use std::collections::HashMap;

use super::counting::{NONE, Node, ends_of, messages_of};
use super::error::SessionError;
use super::place::is_only_results;
use super::read_event::event_of;
use super::replay::find_event;
use crate::event::{Amend, Body, Event, Kind, Message, Uuid, apply_patch};
use crate::log::LogView;

/// So many characters of what a person said first are kept.
const FIRST_WORDS_CHARS: usize = 160;
/// A longer name of a model is none.
const MODEL_BYTES_MAX: usize = 200;
/// Of so many of a person's messages, the first that was not taken back gives the first words.
const FIRST_MESSAGES: usize = 8;
/// A mark with more ids than this is not kept: the session is counted from its start when it changes.
const IDS_KEPT_MAX: usize = 64;

/// What was counted.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Tally {
    /// Messages of all branches that were not taken back.
    pub(super) messages: u64,
    /// The first words of what a person said first.
    pub(super) first_words: Option<String>,
    /// When the first message was said, µs since the epoch.
    pub(super) first_at: Option<i64>,
    /// The model that the last answer names which names one.
    pub(super) model: Option<String>,
    /// Where the count ended.
    pub(super) mark: Mark,
    /// An amend has made results of what was said, hidden it, or the other way round: the next count begins at the start.
    pub(super) is_turned: bool,
}

/// Where a count ended, and what it takes to go on from there.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Mark {
    /// The file's tag: a file that was written anew has another.
    pub(super) file_tag: u32,
    /// Where the frames ended, in bytes from the start of the file.
    pub(super) end: u64,
    /// Checksum of the last frame's header, and so of all before it.
    pub(super) chain: u32,
    /// The end of each branch: the message, and behind it those that stand for it as a parent, since they hold results
    /// only or were taken back.
    pub(super) ends: Vec<Vec<Uuid>>,
}

impl Tally {
    /// The end of a branch is a living message with more in it than results, on which no such message hangs, not even across
    /// others. (Results beside the chain are no branch: they belong to calls on it.)
    pub(super) fn branches(&self) -> u64 {
        self.mark.ends.len() as u64
    }

    /// It takes few bytes to go on from here, and so it is worth keeping.
    pub(super) fn is_short(&self) -> bool {
        !self.is_turned && self.mark.ends.iter().map(Vec::len).sum::<usize>() <= IDS_KEPT_MAX
    }

    /// Counts a log, from where an earlier count ended, if what that had read is still there.
    ///
    /// # Errors
    /// Those of reading the log: what is damaged can't be counted.
    pub(super) fn of(log: &LogView, before: Option<&Self>) -> Result<Self, SessionError> {
        // Whatever hinders going on hinders a whole walk too, or is none of its business.
        if let Some(before) = before
            && let Ok(Some(tally)) = before.gone_on(log)
        {
            return Ok(tally);
        }
        whole(log)
    }

    /// The count with what has come since; none if it can't be gone on with.
    fn gone_on(&self, log: &LogView) -> Result<Option<Self>, SessionError> {
        let (mark, end) = (&self.mark, log.end());
        let is_same = mark.file_tag == log.info().file_tag && (mark.end < end || mark.chain == log.chain());
        if !is_same || mark.end > end {
            return Ok(None);
        }
        let mut ends: HashMap<u32, Vec<Uuid>> = (0..).zip(mark.ends.iter().cloned()).collect();
        let mut of: HashMap<Uuid, u32> = HashMap::new();
        for (number, ids) in &ends {
            of.extend(ids.iter().map(|id| (*id, *number)));
        }
        let mut tally = Self { mark: Mark::at(log), ..self.clone() };
        let mut next = mark.ends.len() as u32;
        // The chain is held against the first frame, and by that against all that was read then.
        for frame in log.frames_behind(mark.end, mark.chain) {
            let Some(event) = event_of(log, &frame?)? else { continue };
            // What a message that is taken back leaves can't be told from here.
            if matches!(event.body, Body::Tombstone(_)) {
                return Ok(None);
            }
            if let Body::Amend(amend) = &event.body
                && is_counted(amend)
                && let Some(before) = written(log, amend.target)?.filter(Message::takes_part)
                && let Ok(after) = apply_patch(&before, &amend.patch)
                // The first words may be others now, and what was no branch may be one. An earlier amend may have shown
                // what this one hides.
                && (matches!(after.kind, Kind::UserInput) || is_turned(&before, &after) || hides(&after, amend))
            {
                return Ok(None);
            }
            let Some(message) = event.message().filter(|message| message.takes_part()) else { continue };
            tally.messages += u64::from(message.is_said());
            tally.first_at = tally.first_at.or(Some(event.at));
            if tally.first_words.is_none() {
                tally.first_words = first_words(message);
            }
            tally.model = model(message).or(tally.model);
            let end = event.effective_parent().and_then(|parent| of.get(&parent).copied());
            if is_only_results(message) {
                let Some(number) = end else { continue };
                ends.entry(number).or_default().push(event.id);
                of.insert(event.id, number);
            } else {
                // It is the end now; or begins a branch, where it hangs on something that is none.
                for id in end.and_then(|number| ends.remove(&number)).unwrap_or_default() {
                    of.remove(&id);
                }
                ends.insert(next, vec![event.id]);
                of.insert(event.id, next);
                let Some(number) = next.checked_add(1) else { return Ok(None) };
                next = number;
            }
        }
        let mut sorted: Vec<(u32, Vec<Uuid>)> = ends.into_iter().collect();
        sorted.sort_unstable_by_key(|(number, _)| *number);
        tally.mark.ends = sorted.into_iter().map(|(_, ids)| ids).collect();
        Ok(Some(tally))
    }
}

impl Mark {
    fn at(log: &LogView) -> Self {
        Self { file_tag: log.info().file_tag, end: log.end(), chain: log.chain(), ends: Vec::new() }
    }
}

/// A count from the first frame on. It holds some 60 bytes a message, and of those that were amended what else they say of
/// themselves.
fn whole(log: &LogView) -> Result<Tally, SessionError> {
    let mut mark = Mark::at(log);
    let is_fork = log.info().parent.is_some();
    let mut nodes: Vec<Node> = Vec::new();
    let mut numbers: HashMap<Uuid, u32> = HashMap::new();
    let mut firsts = Firsts::default();
    let mut amended = Amended::default();
    let (mut first_at, mut last_model, mut turned) = (None, None, false);
    for frame in log.frames(0) {
        let Some(event) = event_of(log, &frame?)? else { continue };
        match &event.body {
            Body::Tombstone(tombstone) => {
                for target in tombstone.targets.iter().filter_map(|id| numbers.get(id)) {
                    let partner = nodes[*target as usize].partner;
                    nodes[*target as usize].is_living = false;
                    // Boundary and summary are taken back together.
                    if partner != NONE {
                        nodes[partner as usize].is_living = false;
                    }
                }
            }
            Body::Message(message) if message.takes_part() => {
                first_at = first_at.or(Some(event.at));
                last_model = model(message).or(last_model);
                let number = u32::try_from(nodes.len()).unwrap_or(NONE);
                firsts.take(nodes.len(), message);
                let node = node(&event, message, &numbers, is_fork.then(|| nodes.len().wrapping_sub(1) as u32));
                if matches!(message.kind, Kind::CompactSummary(_)) && node.anchor != NONE {
                    let above = &mut nodes[node.anchor as usize];
                    if above.is_boundary && above.partner == NONE {
                        above.partner = number;
                    }
                }
                let has_partner = node.anchor != NONE && nodes[node.anchor as usize].partner == number;
                nodes.push(Node { partner: if has_partner { node.anchor } else { NONE }, ..node });
                numbers.insert(event.id, number);
                amended.latest = Some(event);
            }
            Body::Amend(amend) if is_counted(amend) => {
                let Some(&number) = numbers.get(&amend.target) else { continue };
                let Some(after) = amended.by(log, amend)? else { continue };
                firsts.amend(number as usize, after, amend);
                let node = &mut nodes[number as usize];
                let before = (node.speaks, node.counts);
                if has(amend, "content") {
                    node.speaks = !is_only_results(after);
                    // Its words were looked at, and the next patch that has some takes their place whole.
                    after.content = Vec::new();
                }
                node.counts = after.is_said();
                turned |= before != (node.speaks, node.counts);
            }
            _ => {}
        }
    }
    mark.ends = ends_of(&nodes);
    let messages = messages_of(&nodes);
    let first_words = firsts.first(&nodes);
    Ok(Tally { messages, first_words, first_at, model: last_model, mark, is_turned: turned })
}

/// What a person said first, of which later changes are followed.
#[derive(Default)]
struct Firsts {
    /// Each of a person's messages: its number, its first words, and whether it is somebody's own.
    said: Vec<(usize, Option<String>, bool)>,
    /// How many of them give words.
    count: usize,
}

impl Firsts {
    fn take(&mut self, number: usize, message: &Message) {
        if self.count < FIRST_MESSAGES && matches!(message.kind, Kind::UserInput) {
            let (words, is_own) = (words(message), is_own(message));
            self.count += usize::from(is_own && words.is_some());
            self.said.push((number, words, is_own));
        }
    }

    /// Each field of a patch takes the place of the old one whole.
    fn amend(&mut self, number: usize, after: &Message, amend: &Amend) {
        let Ok(place) = self.said.binary_search_by_key(&number, |(number, ..)| *number) else { return };
        let (_, known_words, known_own) = &mut self.said[place];
        if has(amend, "content") {
            *known_words = words(after);
        }
        if has(amend, "metadata") {
            *known_own = is_own(after);
        }
    }

    fn first(self, nodes: &[Node]) -> Option<String> {
        let mut living = self.said.into_iter().filter(|(number, _, is_own)| *is_own && nodes[*number].is_living);
        living.find_map(|(_, words, _)| words)
    }
}

/// Whether it counts otherwise than before.
fn is_turned(before: &Message, after: &Message) -> bool {
    is_only_results(before) != is_only_results(after) || before.is_said() != after.is_said()
}

fn has(amend: &Amend, field: &str) -> bool {
    amend.patch.iter().any(|(name, _)| name == field)
}

/// Whether it changes anything that is counted.
fn is_counted(amend: &Amend) -> bool {
    ["content", "metadata", "display"].iter().any(|field| has(amend, field))
}

/// Whether it says anew if the message is shown, where that hangs on more than one field, which may be amended one by one.
fn hides(after: &Message, amend: &Amend) -> bool {
    matches!(after.kind, Kind::Custom(_)) && (has(amend, "metadata") || has(amend, "display"))
}

/// A message as it was written.
fn written(log: &LogView, id: Uuid) -> Result<Option<Message>, SessionError> {
    Ok(match find_event(log, id)? {
        Some((Event { body: Body::Message(message), .. }, _)) => Some(*message),
        _ => None,
    })
}

/// Messages with what amends have made of them so far.
#[derive(Default)]
struct Amended {
    messages: HashMap<Uuid, Message>,
    /// The last message that was read: mostly the one that an amend finishes.
    latest: Option<Event>,
}

impl Amended {
    /// The message with this patch in it, too; none if that does not fit. What it said before is not in it.
    fn by(&mut self, log: &LogView, amend: &Amend) -> Result<Option<&mut Message>, SessionError> {
        if !self.messages.contains_key(&amend.target) {
            let latest = self.latest.as_ref().filter(|latest| latest.id == amend.target);
            let message = match latest.and_then(Event::message) {
                Some(message) => Some(message.clone()),
                None => written(log, amend.target)?,
            };
            let Some(message) = message else { return Ok(None) };
            self.messages.insert(amend.target, Message { content: Vec::new(), ..message });
        }
        let Some(message) = self.messages.get_mut(&amend.target) else { return Ok(None) };
        Ok(apply_patch(message, &amend.patch).ok().map(|after| {
            *message = after;
            message
        }))
    }
}

fn node(event: &Event, message: &Message, numbers: &HashMap<Uuid, u32>, before: Option<u32>) -> Node {
    let parent = event.effective_parent();
    let anchor = parent.and_then(|parent| numbers.get(&parent).copied());
    // A fork's first messages are one chain; what lies between them is in its parent's log.
    let anchor = anchor.or_else(|| parent.and(before)).unwrap_or(NONE);
    Node {
        id: event.id,
        anchor,
        speaks: !is_only_results(message),
        counts: message.is_said(),
        is_boundary: matches!(message.kind, Kind::CompactBoundary(_)),
        is_living: true,
        partner: NONE,
    }
}

/// The model that an answer names.
fn model(message: &Message) -> Option<String> {
    message.model.clone().filter(|model| !model.is_empty() && model.len() <= MODEL_BYTES_MAX)
}

/// The first words of what a person said, in one line; none if no person said it.
fn first_words(message: &Message) -> Option<String> {
    words(message).filter(|_| matches!(message.kind, Kind::UserInput) && is_own(message))
}

/// Nobody but the person has made it.
fn is_own(message: &Message) -> bool {
    !message.metadata.synthetic && !message.metadata.meta
}

/// The first words of a message, in one line.
fn words(message: &Message) -> Option<String> {
    let mut words = String::new();
    let parts = message.content.iter().filter_map(crate::event::Part::as_text);
    for word in parts.flat_map(str::split_whitespace) {
        if words.chars().count() >= FIRST_WORDS_CHARS {
            break;
        }
        words.push_str(if words.is_empty() { "" } else { " " });
        words.extend(word.chars().take(FIRST_WORDS_CHARS));
    }
    let kept: String = words.chars().take(FIRST_WORDS_CHARS).collect();
    (!kept.is_empty()).then_some(kept)
}
