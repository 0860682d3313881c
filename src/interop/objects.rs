//! The objects of a file of JSON lines that may be torn, glued together or full of NUL bytes.

use std::io::{self, BufRead};

use super::lines::Lines;
use super::work::Work;
use crate::event::parse::parse_prefix;
use crate::event::{EventError, Lossy, Value};

/// Deeper objects are kept as text: what is made of them must fit the log's own limit with room to spare.
const DEPTH_KEPT: usize = 80;

/// How often the bytes of one bad line may be read again while whole objects are looked for in it.
const SALVAGE_ROUNDS: u64 = 16;

/// One line that is not blank.
#[derive(Debug)]
pub(super) struct Line {
    /// Counted from 1.
    pub(super) number: u64,
    /// Bytes from the start of the file.
    pub(super) offset: u64,
    /// Bytes without the line's end.
    pub(super) len: u64,
    /// The whole objects on it.
    pub(super) objects: Vec<Piece>,
    /// What is wrong with the line, if it is not one object.
    pub(super) bad: Option<Bad>,
}

/// A whole object on a line.
#[derive(Debug)]
pub(super) struct Piece {
    /// Its number on a bad line, from 0; none on a good one.
    pub(super) sub: Option<u32>,
    /// The object.
    pub(super) value: Value,
    /// What its text held that no string of ours can hold.
    pub(super) lossy: Lossy,
}

/// A line that is not one JSON object.
#[derive(Debug)]
pub(super) struct Bad {
    /// In a few words.
    pub(super) cause: String,
    /// The pieces in which no whole object was found, as they stand.
    pub(super) rest: Vec<Value>,
}

/// How a format's records look from outside, for the search in bad lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Names that the first field of a record may have.
    pub(super) first_fields: &'static [&'static str],
    /// Whether an object is a record of its own and not part of one.
    pub(super) is_record: fn(&Value) -> bool,
}

/// Hands on each line that is not blank, the last one too if its end is missing.
///
/// With a shape, whole objects are looked for in lines that are not one object.
pub(super) fn read_lines(
    input: impl BufRead,
    salvage: Option<Shape>,
    work: &mut Work,
    mut take: impl FnMut(Line),
) -> io::Result<()> {
    // A picture or a tool's output makes lines of tens of megabytes: none is too long.
    let mut lines = Lines::new(input, usize::MAX);
    while let Some(line) = lines.next()? {
        work.bytes(line.bytes.len());
        let blanks = line.bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let text = line.bytes.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let offset = line.offset + line.len - line.bytes.len() as u64 + blanks as u64;
        let (objects, bad) = read_line(text, salvage, work);
        take(Line { number: line.number as u64, offset, len: text.len() as u64, objects, bad });
    }
    Ok(())
}

fn read_line(text: &[u8], salvage: Option<Shape>, work: &mut Work) -> (Vec<Piece>, Option<Bad>) {
    let cause = match parse_prefix(text) {
        Ok((value @ Value::Map(_), lossy, used)) if used == text.len() => {
            if depth_within(&value, DEPTH_KEPT) {
                return (vec![Piece { sub: None, value, lossy }], None);
            }
            let bad = Bad { cause: format!("nested deeper than {DEPTH_KEPT} levels"), rest: vec![raw(text)] };
            return (Vec::new(), Some(bad));
        }
        Ok((_, _, used)) if used == text.len() => "no object".to_owned(),
        Ok((_, _, used)) => format!("something follows the first value at byte {used} of the line"),
        Err(_) if text.iter().all(|byte| is_filler(*byte)) => {
            return (Vec::new(), Some(Bad { cause: "only NUL bytes".to_owned(), rest: Vec::new() }));
        }
        Err(error) => error.to_string(),
    };
    let (objects, rest) = match salvage {
        Some(shape) => find_objects(text, shape, work),
        None => (Vec::new(), vec![raw(text)]),
    };
    let is_replaced = rest.iter().any(|piece| matches!(piece, Value::Map(_)));
    let cause = if is_replaced { format!("{cause}; what is no UTF-8 is shown as U+FFFD") } else { cause };
    (objects, Some(Bad { cause, rest }))
}

/// Finds the whole objects of a bad line: two glued together, one behind a torn one, one among NUL bytes.
///
/// Behind something torn, only what looks like a record of the file's top level is taken: a torn record has whole
/// objects inside, which are none.
fn find_objects(text: &[u8], shape: Shape, work: &mut Work) -> (Vec<Piece>, Vec<Value>) {
    let mut objects = Vec::new();
    let mut rest = Vec::new();
    let mut torn_from = None;
    let mut left = (text.len() as u64 + 256) * SALVAGE_ROUNDS;
    let mut at = 0;
    while at < text.len() {
        if is_filler(text[at]) {
            // Nothing of a record holds a raw NUL: what was torn ends here.
            if text[at] == 0 {
                close(text, &mut torn_from, at, &mut rest);
            }
            at += 1;
            continue;
        }
        let begins = torn_from.is_none();
        if text[at] == b'{' && left > 0 && (begins || looks_like_a_start(&text[at..], shape)) {
            let (found, spent) = try_object(&text[at..], begins, shape);
            left = left.saturating_sub(spent as u64);
            work.bytes(spent);
            match found {
                Found::Record(value, lossy) => {
                    close(text, &mut torn_from, at, &mut rest);
                    let sub = Some(objects.len() as u32);
                    objects.push(Piece { sub, value, lossy });
                    at += spent;
                    continue;
                }
                // A whole object inside a torn one: nothing of the top level begins in it.
                Found::Inner if !begins => {
                    at += spent;
                    continue;
                }
                Found::Inner | Found::Nothing => {}
            }
        }
        torn_from.get_or_insert(at);
        at += 1;
    }
    close(text, &mut torn_from, text.len(), &mut rest);
    (objects, rest)
}

enum Found {
    Record(Value, Lossy),
    Inner,
    Nothing,
}

fn try_object(text: &[u8], begins: bool, shape: Shape) -> (Found, usize) {
    match parse_prefix(text) {
        Ok((value, lossy, used)) => {
            let ends_well = text.get(used).is_none_or(|byte| *byte == b'{' || is_filler(*byte));
            let is_record = matches!(value, Value::Map(_)) && depth_within(&value, DEPTH_KEPT);
            if is_record && (begins || (ends_well && (shape.is_record)(&value))) {
                (Found::Record(value, lossy), used)
            } else {
                (Found::Inner, used)
            }
        }
        Err(EventError::Json { offset, .. }) => (Found::Nothing, offset.max(1)),
        Err(_) => (Found::Nothing, text.len()),
    }
}

fn close(text: &[u8], from: &mut Option<usize>, to: usize, rest: &mut Vec<Value>) {
    if let Some(from) = from.take() {
        rest.push(raw(&text[from..to]));
    }
}

/// Whether an object of the top level may begin here, by the name of its first field.
fn looks_like_a_start(text: &[u8], shape: Shape) -> bool {
    let Some(name) = text.strip_prefix(b"{\"") else { return false };
    let begins = |known: &&str| name.strip_prefix(known.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'"'));
    shape.first_fields.iter().any(begins)
}

/// Blanks, and the NUL bytes that a power cut leaves.
fn is_filler(byte: u8) -> bool {
    byte == 0 || byte.is_ascii_whitespace()
}

/// The bytes as they stand: text if they are one; else what can be read of them as text, and the bytes beside it.
fn raw(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.to_owned()),
        Err(_) => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            Value::from([("text", text.into()), ("bytes", Value::Bytes(bytes.to_vec()))])
        }
    }
}

/// Whether lists and objects stand inside one another no deeper than `levels`.
pub(super) fn depth_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::List(items) => levels > 0 && items.iter().all(|item| depth_within(item, levels - 1)),
        Value::Map(fields) => levels > 0 && fields.iter().all(|(_, item)| depth_within(item, levels - 1)),
        _ => true,
    }
}
