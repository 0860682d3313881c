//! Lines of a file that may be damaged: read one by one under a limit, and searched for whole objects where a line
//! as such is no JSON.

use std::io::{self, BufRead};

use crate::event::parse::parse_prefix;
use crate::event::{Lossy, Value};

/// One line, without its line break.
#[derive(Debug)]
pub(crate) struct Line {
    /// Its number, from 1.
    pub(crate) number: usize,
    /// Where it begins, in bytes from the start of the input.
    pub(crate) offset: u64,
    /// Its bytes; of a line over the limit only the first ones.
    pub(crate) bytes: Vec<u8>,
    /// How long it is.
    pub(crate) len: u64,
    /// It is over the limit.
    pub(crate) too_long: bool,
}

/// Reads lines, none of them longer than a limit.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    number: usize,
    offset: u64,
    len_max: usize,
}

/// How much of a line over the limit is kept, to be shown.
const KEPT_OF_LONG: usize = 64 * 1024;

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R, len_max: usize) -> Self {
        Self { input, number: 0, offset: 0, len_max }
    }

    pub(crate) fn set_len_max(&mut self, len_max: usize) {
        self.len_max = len_max;
    }

    /// The number of the last line that was read.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Where the next line begins.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Line>> {
        let offset = self.offset;
        let (mut bytes, mut len) = (Vec::new(), 0u64);
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                if self.offset == offset {
                    return Ok(None);
                }
                break;
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            len += part.len() as u64;
            if len <= self.len_max as u64 {
                bytes.extend_from_slice(part);
            } else {
                bytes.truncate(KEPT_OF_LONG);
            }
            let used = part.len() + usize::from(end.is_some());
            self.offset += used as u64;
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        self.number += 1;
        const MARK: &[u8] = b"\xEF\xBB\xBF";
        if offset == 0 && bytes.starts_with(MARK) {
            bytes.drain(..MARK.len());
        }
        Ok(Some(Line { number: self.number, offset, bytes, len, too_long: len > self.len_max as u64 }))
    }
}

/// The whole objects in a line that is no JSON: those that runs of NUL or nothing at all hold apart, and those
/// behind the torn beginning of another. `is_record` says of an object behind a torn beginning whether it may be a
/// record of its own and not a piece of the torn one.
pub(crate) fn whole_objects(line: &[u8], is_record: impl Fn(&Value) -> bool) -> Vec<(Value, Lossy)> {
    let mut found = Vec::new();
    // Each `{` of a torn beginning is tried, and each try may run far: the work in all stays linear.
    let mut budget = 64 * 1024 + line.len().saturating_mul(8);
    let (mut at, mut torn) = (0, false);
    while at < line.len() {
        match line[at] {
            0 => {
                torn = false;
                at += 1;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b'{' => match parse_prefix(&line[at..]) {
                Ok((value, lossy, used)) if stands_alone(&line[at + used..]) && (!torn || is_record(&value)) => {
                    found.push((value, lossy));
                    at += used;
                    torn = false;
                }
                Ok((_, _, used)) => {
                    budget = budget.saturating_sub(used);
                    at += 1;
                    torn = true;
                }
                Err(error) => {
                    budget = budget.saturating_sub(reached(&error, line.len() - at));
                    at += 1;
                    torn = true;
                }
            },
            _ => {
                at += 1;
                torn = true;
            }
        }
        if budget == 0 {
            break;
        }
    }
    found
}

fn stands_alone(rest: &[u8]) -> bool {
    matches!(rest.first(), None | Some(b'{' | 0))
}

fn reached(error: &crate::event::EventError, len: usize) -> usize {
    match error {
        crate::event::EventError::Json { offset, .. } | crate::event::EventError::TooDeep { offset, .. } => *offset,
        _ => len,
    }
}
