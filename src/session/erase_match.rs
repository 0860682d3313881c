//! What is searched in the texts of a session, and what a replacement does to a text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use regex_lite::Regex;

use super::error::SessionError;
use crate::event::{Lost, REDACTED, Visitor};

/// JSON text inside JSON text inside a text, and so on: so deep escapes are undone. Each level makes a backslash two, so that
/// no text that was written so is deeper. (One that writes `\u005c` for it could be; that one is taken out whole.)
const ESCAPES_MAX: usize = 64;
/// A text in which new matches keep coming up beside what was put in is taken out whole after so many rounds.
const ROUNDS_MAX: usize = 4;

/// One thing to be found.
#[derive(Debug, Clone)]
pub(super) enum Pattern {
    Literal(String),
    Regex(Regex),
}

impl Pattern {
    pub(super) fn literal(text: &str) -> Result<Self, SessionError> {
        match text.is_empty() {
            true => Err(refused("an empty text is everywhere and nowhere; give the text that is to go".into())),
            false => Ok(Self::Literal(text.to_owned())),
        }
    }

    pub(super) fn regex(regex: &str) -> Result<Self, SessionError> {
        let bad = |error| {
            refused(format!(
                "`{regex}` is no regular expression: {error}; a text that is meant letter by letter is a literal"
            ))
        };
        Regex::new(regex).map(Self::Regex).map_err(bad)
    }

    /// Where it stands in a text. A match of no characters is none.
    fn find(&self, text: &str, found: &mut dyn FnMut(Range<usize>)) {
        match self {
            Self::Literal(literal) => {
                text.match_indices(literal.as_str()).for_each(|(at, _)| found(at..at + literal.len()))
            }
            Self::Regex(regex) => {
                regex.find_iter(text).map(|hit| hit.range()).filter(|range| !range.is_empty()).for_each(found);
            }
        }
    }
}

pub(super) fn refused(why: String) -> SessionError {
    SessionError::Refused { what: "erase", why }
}

/// Where the patterns stand in a text, in order and apart from each other: as it is written, and behind JSON's escapes.
/// What was put in for an earlier match counts as nothing, so that it is never found itself.
fn find(patterns: &[Pattern], text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    patterns.iter().for_each(|pattern| pattern.find(text, &mut |range| found.push(range)));
    let mut view = Cow::Borrowed(text);
    let mut places: Option<Vec<usize>> = None;
    let mut depth = 0;
    while view.contains('\\') {
        let (plain, starts) = unescaped(&view);
        // What is undone becomes shorter, so this ends.
        if plain.len() == view.len() {
            break;
        }
        depth += 1;
        if depth > ESCAPES_MAX {
            // What it says can't be told in a time that is its length's.
            found.push(0..text.len());
            break;
        }
        let starts: Vec<usize> = match &places {
            None => starts,
            Some(before) => starts.into_iter().map(|at| before[at]).collect(),
        };
        for pattern in patterns {
            pattern.find(&plain, &mut |range| found.push(starts[range.start]..starts[range.end]));
        }
        (view, places) = (Cow::Owned(plain), Some(starts));
    }
    if found.is_empty() {
        return found;
    }
    found.sort_unstable_by_key(|range| (range.start, range.end));
    let marks = marks(text);
    let mut apart: Vec<Range<usize>> = Vec::new();
    for mut range in found {
        // Those that it touches, at most: marks are apart from each other and in order.
        let from = marks.partition_point(|mark| mark.end <= range.start);
        let to = marks.partition_point(|mark| mark.start < range.end);
        let touched = marks.get(from..to).unwrap_or_default();
        if touched.iter().any(|mark| mark.start <= range.start && range.end <= mark.end) {
            continue;
        }
        if let (Some(first), Some(last)) = (touched.first(), touched.last()) {
            range = range.start.min(first.start)..range.end.max(last.end);
        }
        match apart.last_mut().filter(|last| range.start < last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => apart.push(range),
        }
    }
    apart
}

/// What stands for earlier matches: [`REDACTED`], and in the names of fields the same with a number. Side by side they are one.
fn marks(text: &str) -> Vec<Range<usize>> {
    let mut marks: Vec<Range<usize>> = Vec::new();
    let open = REDACTED.trim_end_matches(']');
    for (at, _) in text.match_indices(open) {
        let behind = &text[at + open.len()..];
        let number = behind.strip_prefix('-').map(|number| number.trim_start_matches(|c: char| c.is_ascii_digit()));
        let Some(rest) = number.unwrap_or(behind).strip_prefix(']') else { continue };
        let end = text.len() - rest.len();
        match marks.last_mut().filter(|last| last.end == at) {
            Some(last) => last.end = end,
            None => marks.push(at..end),
        }
    }
    marks
}

/// The text without JSON's escapes, and where each of its bytes begins in the escaped one, the end among them.
fn unescaped(text: &str) -> (String, Vec<usize>) {
    let mut plain = String::with_capacity(text.len());
    let mut starts = Vec::with_capacity(text.len() + 1);
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let (meant, len) = if c == '\\' { escape(&text[at..]) } else { (c, c.len_utf8()) };
        plain.push(meant);
        starts.resize(plain.len(), at);
        at += len;
    }
    starts.push(text.len());
    (plain, starts)
}

/// The character that an escape at the beginning of this text means, and how long it is. One that is none means itself.
fn escape(text: &str) -> (char, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    };
    match text.as_bytes().get(1) {
        Some(b'"') => ('"', 2),
        Some(b'\\') => ('\\', 2),
        Some(b'/') => ('/', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'u') => match (unit(0), unit(6)) {
            (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
                let pair = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (char::from_u32(pair).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
            }
            (Some(unit), _) => (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            (None, _) => ('\\', 1),
        },
        _ => ('\\', 1),
    }
}

/// The text without what is found in it, and how often that was; none if nothing is.
pub(super) fn redacted(patterns: &[Pattern], text: &str) -> Option<(String, u64)> {
    let mut matches = 0;
    let mut now = Cow::Borrowed(text);
    for _ in 0..ROUNDS_MAX {
        let found = find(patterns, &now);
        if found.is_empty() {
            break;
        }
        matches += found.len() as u64;
        let mut next = String::with_capacity(now.len());
        let mut done = 0;
        for range in found {
            next.push_str(&now[done..range.start]);
            next.push_str(REDACTED);
            done = range.end;
        }
        next.push_str(&now[done..]);
        now = Cow::Owned(next);
    }
    if matches > 0 && !find(patterns, &now).is_empty() {
        now = Cow::Borrowed(REDACTED);
    }
    (matches > 0).then(|| (now.into_owned(), matches))
}

/// Takes what is found out of the texts of events, and counts.
#[derive(Debug)]
pub(super) struct Taker<'a> {
    pub(super) patterns: &'a [Pattern],
    pub(super) matches: u64,
    pub(super) signatures: u64,
    pub(super) media: u64,
    pub(super) sealed: u64,
    /// Matches in what stays as it is, by the field's name.
    pub(super) left: BTreeMap<String, u64>,
    /// Matches in the names of our own fields.
    pub(super) names: u64,
}

impl<'a> Taker<'a> {
    pub(super) fn new(patterns: &'a [Pattern]) -> Self {
        Self { patterns, matches: 0, signatures: 0, media: 0, sealed: 0, left: BTreeMap::new(), names: 0 }
    }

    /// How often the patterns are found in a text.
    pub(super) fn count(&self, text: &str) -> u64 {
        find(self.patterns, text).len() as u64
    }
}

impl Visitor for Taker<'_> {
    fn text(&mut self, _: &str, text: &mut String) -> bool {
        let Some((redacted, matches)) = redacted(self.patterns, text) else { return false };
        *text = redacted;
        self.matches += matches;
        true
    }

    fn fixed(&mut self, at: &str, text: &str) {
        let count = self.count(text);
        if count > 0 {
            let field = at.rsplit('.').next().unwrap_or(at);
            let field = field.split('[').next().unwrap_or(field);
            *self.left.entry(field.to_owned()).or_default() += count;
        }
    }

    fn name(&mut self, name: &str) {
        self.names += self.count(name);
    }

    fn lost(&mut self, what: Lost) {
        match what {
            Lost::Signature => self.signatures += 1,
            Lost::Media => self.media += 1,
        }
    }

    fn sealed(&mut self) {
        self.sealed += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patterns: &[&str], text: &str, expected: &str) {
        let patterns: Vec<Pattern> = patterns.iter().map(|regex| Pattern::regex(regex).unwrap()).collect();
        let made = redacted(&patterns, text).map_or_else(|| text.to_owned(), |(made, _)| made);
        assert_eq!(made, expected);
        assert_eq!(redacted(&patterns, &made), None, "a second time finds something in {made:?}");
    }

    #[test]
    fn matches_are_taken_out_and_a_second_time_finds_nothing() {
        check(&["key-[0-9]+"], "a key-42, a key-7", "a [redacted], a [redacted]");
        check(&["a+", "aab"], "xaaby", "x[redacted]y");
        check(&["x*"], "axxb", "a[redacted]b");
        check(&["^|$|\\b"], "nothing of no width", "nothing of no width");
        check(&["red"], "a red [redacted]", "a [redacted] [redacted]");
        check(&[".+"], "all of it", "[redacted]");
        check(&["pw=.*"], "pw=[redacted] and more", "[redacted]");
        check(&["]b"], "[redacted]b", "[redacted]");
        check(&["b", "]c"], "abc", "a[redacted]");
        check(&["b", "]x"], "abxxxxxxxxxx", "[redacted]");
        check(&[".+"], "[redacted][redacted-12]", "[redacted][redacted-12]");
        check(&[".+"], "[redacted-x]", "[redacted]");
        check(&["ü"], "grün", "gr[redacted]n");
    }

    #[test]
    fn what_stands_behind_jsons_escapes_is_found() {
        check(&["a\"b"], r#"{"x":"a\"b!"}"#, r#"{"x":"[redacted]!"}"#);
        check(&["a\"b"], r#"["{\"x\":\"a\\\"b!\"}"]"#, r#"["{\"x\":\"[redacted]!\"}"]"#);
        check(&["k\u{e9}y\u{1F511}"], r#""k\u00e9y\ud83d\udd11""#, r#""[redacted]""#);
        check(&["two\nlines"], r"two\nlines", "[redacted]");
        check(&["C:\\\\x"], r"in C:\x, no escape", "in [redacted], no escape");
        check(&["key"], r"a \u006bey \u00 \", r"a [redacted] \u00 \");
    }

    #[test]
    fn what_is_escaped_many_times_over_is_found() {
        for secret in ["pa\"ss", "pa\\ss", "pa\nss"] {
            let mut text = secret.to_owned();
            for depth in 1..14 {
                text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                let patterns = [Pattern::literal(secret).unwrap()];
                assert_eq!(
                    redacted(&patterns, &format!("x {text} y")),
                    Some(("x [redacted] y".to_owned(), 1)),
                    "{depth}"
                );
            }
        }
        let text = format!("\\{}", "u005c".repeat(100_000));
        assert_eq!(redacted(&[Pattern::literal("x\"y").unwrap()], &text), Some((REDACTED.to_owned(), 1)));
    }

    #[test]
    fn a_literal_is_taken_letter_by_letter() {
        let patterns = [Pattern::literal("a.b").unwrap()];
        assert_eq!(redacted(&patterns, "axb a.b").unwrap(), ("axb [redacted]".to_owned(), 1));
        assert!(Pattern::literal("").is_err());
        assert!(Pattern::regex("(").is_err());
    }

    #[test]
    fn many_matches_and_marks_take_one_pass() {
        let patterns = [Pattern::literal("a").unwrap(), Pattern::literal("nowhere").unwrap()];
        let text = "ab".repeat(100_000);
        let (made, matches) = redacted(&patterns, &text).unwrap();
        assert_eq!((made.len(), matches), (100_000 * (1 + REDACTED.len()), 100_000));
    }
}
