//! One session of a coding agent, the same bytes in every run and at every size: what benches and tests of size append.
//!
//! Turns of a person's text (200 B to 2 KB), answers (500 B to 6 KB), tool calls (about 300 B) and their results
//! (log-normal, median 2 KB, p99 60 KB), and an image of 1 to 5 MB about every thousand messages. The session is compacted
//! again and again, the last time [`WINDOW`] messages before its end; that window is the same at every size and holds no
//! image, so that what a resume costs can be compared.
#![allow(dead_code, unreachable_pub, reason = "each bench and test uses a part of it")]

mod random;
mod texts;

use std::collections::VecDeque;

use seslog::event::{Media, MediaSource, Message, Part, PartBody, ToolOutput, Value};

use random::Random;
use texts::Texts;

/// Messages behind the last compaction.
pub const WINDOW: usize = 200;
/// Messages between two compactions in what comes before the window.
pub const COMPACTED_EVERY: usize = 1_000;
/// What a compaction says that came before.
pub const SUMMARY: &str = "The files were read and the first tests pass; what is left is the list in notes.md.";

/// An image every so many messages.
const IMAGE_EVERY: usize = 1_000;
/// What a message takes beside its texts, about, in bytes.
const BESIDE: u64 = 350;
const BODY_SEED: u64 = 1;
const WINDOW_SEED: u64 = 2;
/// The beginning of a picture of 800 x 600 pixels.
const PNG_HEADER: &str = "iVBORw0KGgoAAAANSUhEUgAAAyAAAAJYCAIAAAAA";

/// How large a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// So many messages, or a few more: the last turn before the window comes to its end.
    Messages(usize),
    /// A log of about so many bytes.
    Bytes(u64),
}

/// What happens next in a session.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "nearly all are messages, and none is kept")]
pub enum Step {
    /// A message is appended.
    Say(Message),
    /// The session is compacted to [`SUMMARY`].
    Compact,
}

/// Everything that happens in a session of this size, in order.
#[derive(Debug)]
pub struct Story {
    size: Size,
    body: Messages,
    window: Messages,
    said: usize,
    bytes: u64,
    since_compaction: usize,
    left: Option<usize>,
}

impl Story {
    /// The session of this size; never less than the window.
    pub fn of(size: Size) -> Self {
        let window = Messages::new(WINDOW_SEED);
        Self {
            size,
            body: Messages::new(BODY_SEED).with_images(),
            window,
            said: 0,
            bytes: 0,
            since_compaction: 0,
            left: None,
        }
    }

    /// Whether only the window is missing. A turn that has begun comes to its end: a compaction would keep an open call.
    fn body_is_told(&self) -> bool {
        // The window takes less than a megabyte.
        self.body.at_turn_end()
            && match self.size {
                Size::Messages(count) => self.said + WINDOW >= count,
                Size::Bytes(bytes) => self.bytes + (1 << 20) >= bytes,
            }
    }
}

impl Iterator for Story {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
            return self.window.next().map(Step::Say);
        }
        if self.body_is_told() {
            self.left = Some(WINDOW);
            // Also where nothing came before it, so that all sizes end alike.
            return Some(Step::Compact);
        }
        if self.since_compaction >= COMPACTED_EVERY && self.body.at_turn_end() {
            self.since_compaction = 0;
            return Some(Step::Compact);
        }
        let message = self.body.next()?;
        self.said += 1;
        self.since_compaction += 1;
        self.bytes += said_len(&message) + BESIDE;
        Some(Step::Say(message))
    }
}

/// Messages of turns without an end.
#[derive(Debug)]
pub struct Messages {
    random: Random,
    texts: Texts,
    ready: VecDeque<Message>,
    made: usize,
    /// Messages after which the next image comes; none without images.
    image_at: Option<usize>,
}

impl Messages {
    /// The messages of this seed, without images.
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), texts: Texts::new(), ready: VecDeque::new(), made: 0, image_at: None }
    }

    /// With an image in a tool's result every thousand messages.
    pub fn with_images(mut self) -> Self {
        self.image_at = Some(IMAGE_EVERY / 2);
        self
    }

    /// Whether no call waits for its result and no question for its answer.
    fn at_turn_end(&self) -> bool {
        self.ready.is_empty()
    }

    fn make_turn(&mut self) {
        let len = self.random.between(200, 2_000);
        let question = self.texts.prose(&mut self.random, len);
        self.put(Message::user(question));
        for _ in 0..self.random.between(1, 6) {
            let call = format!("toolu_{:016x}", self.random.bits());
            let mut parts = Vec::new();
            if self.random.between(0, 2) == 0 {
                let len = self.random.between(500, 2_000);
                parts.push(Part::text(self.texts.prose(&mut self.random, len)));
            }
            let (name, input) = self.call();
            parts.push(Part::tool_call(&call, name, input));
            self.put(Message::assistant_calls(parts));
            let len = self.random.log_normal(2_048.0, 60_000.0);
            let text = self.texts.output(&mut self.random, len);
            let mut result = Message::tool_result(&call, text, false);
            if let Some(at) = self.image_at.filter(|at| *at <= self.made) {
                self.image_at = Some(at + IMAGE_EVERY);
                show(&mut result, image(&mut self.random));
            }
            self.put(result);
        }
        let len = self.random.between(500, 6_000);
        let answer = self.texts.prose(&mut self.random, len);
        self.put(Message::assistant(answer));
    }

    fn put(&mut self, message: Message) {
        self.made += 1;
        self.ready.push_back(message);
    }

    /// A call of about 300 bytes.
    fn call(&mut self) -> (&'static str, Value) {
        let path = format!("/home/user/project/src/{}.rs", self.texts.name(&mut self.random));
        let code = self.texts.code(&mut self.random, 120);
        match self.random.between(0, 2) {
            0 => {
                ("read_file", Value::from([("path", path.into()), ("around", code.into()), ("limit", Value::Int(200))]))
            }
            1 => {
                let command = format!("cd /home/user/project && grep -rn '{code}' src | head -50");
                ("bash", Value::from([("command", command.into()), ("timeout", Value::Int(120_000))]))
            }
            _ => {
                let new = self.texts.code(&mut self.random, 120);
                ("edit", Value::from([("path", path.into()), ("old", code.into()), ("new", new.into())]))
            }
        }
    }
}

impl Iterator for Messages {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        if self.ready.is_empty() {
            self.make_turn();
        }
        self.ready.pop_front()
    }
}

/// A message of some hundred bytes: for sessions of which only the number of records matters.
pub fn small(n: usize) -> Message {
    match n % 2 {
        0 => Message::user(format!("Please look at item {n}.")),
        _ => Message::assistant(format!("Item {} is as it should be.", n - 1)),
    }
}

/// An image of 1 to 5 MB, base64.
fn image(random: &mut Random) -> Media {
    let len = random.between(1_000_000, 5_000_000);
    let mut data = String::with_capacity(len + 8);
    data.push_str(PNG_HEADER);
    random.push_base64(&mut data, len);
    Media {
        media_type: "image/png".to_owned(),
        source: MediaSource::Data(data),
        name: None,
        width: Some(800),
        height: Some(600),
    }
}

/// Makes a tool's result one of a text and an image.
fn show(result: &mut Message, image: Media) {
    if let Some(PartBody::ToolResult(result)) = result.content.first_mut().map(|part| &mut part.body) {
        result.output = ToolOutput::Parts(vec![Part::text("a picture of the page"), Part::new(PartBody::Image(image))]);
    }
}

/// A message with an image, to put into a window that has none.
pub fn with_image(mut result: Message, seed: u64) -> Message {
    show(&mut result, image(&mut Random::new(seed)));
    result
}

/// Bytes of what a message says.
fn said_len(message: &Message) -> u64 {
    let part_len = |part: &Part| match &part.body {
        PartBody::Text(text) => text.text.len(),
        PartBody::Image(media) => match &media.source {
            MediaSource::Data(data) => data.len(),
            _ => 0,
        },
        _ => 0,
    };
    let len = |part: &Part| match &part.body {
        PartBody::ToolResult(result) => match &result.output {
            ToolOutput::Text(text) => text.len(),
            ToolOutput::Parts(parts) => parts.iter().map(part_len).sum(),
        },
        PartBody::ToolCall(_) => 300,
        _ => part_len(part),
    };
    message.content.iter().map(len).sum::<usize>() as u64
}
