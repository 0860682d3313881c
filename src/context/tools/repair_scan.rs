//! The outermost fields of an object that may end too early. One pass, no recursion.

use crate::event::{DEPTH_MAX, EventError, Fields, Value};

/// What the text of an object holds.
#[derive(Debug)]
pub(super) struct Scan {
    /// The fields whose values are complete, in order.
    pub(super) fields: Fields,
    /// Where the value of the last field begins, behind its quote, if it is a string; and its end, if it has one.
    pub(super) last_text: Option<LastText>,
    /// How it ends.
    pub(super) end: End,
}

/// The text of the last field's value.
#[derive(Debug, Clone)]
pub(super) struct LastText {
    /// The field.
    pub(super) field: String,
    /// Behind its opening quote.
    pub(super) start: usize,
    /// At its closing quote, or at the end of the text.
    pub(super) end: usize,
}

/// How an object ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With its brace.
    Whole,
    /// Inside or behind a field; that of the field that was begun and not ended, if its name is known.
    Cut(Option<String>),
}

/// Reads the outermost fields of an object.
///
/// # Errors
/// [`EventError`] if it is wrong before its end: not an object, no JSON, nested too deeply, or something follows it.
pub(super) fn scan(text: &str) -> Result<Scan, EventError> {
    let mut cursor = Cursor { text, at: 0 };
    let mut scan = Scan { fields: Fields::new(), last_text: None, end: End::Cut(None) };
    cursor.blanks();
    cursor.expect(b'{', "an object")?;
    cursor.blanks();
    if cursor.peek() == Some(b'}') {
        scan.end = End::Whole;
        return cursor.nothing_follows(scan);
    }
    loop {
        cursor.blanks();
        if cursor.peek().is_none() {
            return Ok(scan);
        }
        let start = cursor.at;
        cursor.expect(b'"', "a field's name")?;
        if !cursor.skip_text() {
            return Ok(scan);
        }
        let Value::Text(name) = cursor.parse(start)? else { return Ok(scan) };
        scan.last_text = None;
        scan.end = End::Cut(Some(name.clone()));
        cursor.blanks();
        if cursor.peek().is_none() {
            return Ok(scan);
        }
        cursor.expect(b':', "`:` behind a field's name")?;
        cursor.blanks();
        let start = cursor.at;
        let is_text = cursor.peek() == Some(b'"');
        let is_complete = cursor.skip_value()?;
        if is_text {
            let end = if is_complete { cursor.at - 1 } else { cursor.at };
            scan.last_text = Some(LastText { field: name.clone(), start: start + 1, end });
        }
        if !is_complete {
            return Ok(scan);
        }
        scan.fields.push((name, cursor.parse(start)?));
        scan.end = End::Cut(None);
        cursor.blanks();
        match cursor.peek() {
            None => return Ok(scan),
            Some(b',') => cursor.at += 1,
            _ => {
                if cursor.peek() == Some(b'}') {
                    scan.end = End::Whole;
                }
                return cursor.nothing_follows(scan);
            }
        }
    }
}

struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), EventError> {
        if self.peek() != Some(byte) {
            return Err(self.wrong(expected));
        }
        self.at += 1;
        Ok(())
    }

    fn wrong(&self, expected: &'static str) -> EventError {
        let found = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        let found = found.map_or_else(|| "the end".to_owned(), |c| format!("{c:?}"));
        EventError::Json { offset: self.at, expected, found }
    }

    /// At the closing brace, behind which only blanks may stand.
    fn nothing_follows(&mut self, scan: Scan) -> Result<Scan, EventError> {
        self.expect(b'}', "`,` or `}` behind a field")?;
        self.blanks();
        match self.text.len() - self.at {
            0 => Ok(scan),
            left => Err(EventError::Trailing { offset: self.at, left }),
        }
    }

    /// The value from here to the cursor.
    fn parse(&self, start: usize) -> Result<Value, EventError> {
        Ok(Value::parse_json(&self.text.as_bytes()[start..self.at])?.0)
    }

    /// Goes behind the closing quote of a string whose opening one is passed; false if it has none.
    fn skip_text(&mut self) -> bool {
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'"' => return true,
                b'\\' => self.at = (self.at + 1).min(self.text.len()),
                _ => {}
            }
        }
        false
    }

    /// Goes behind a value; false if the text ends before it is certain that the value does.
    fn skip_value(&mut self) -> Result<bool, EventError> {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                None => return Ok(false),
                Some(b'"') => {
                    self.at += 1;
                    if !self.skip_text() {
                        return Ok(false);
                    }
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    if depth >= DEPTH_MAX {
                        return Err(EventError::TooDeep { limit: DEPTH_MAX, offset: self.at });
                    }
                    self.at += 1;
                }
                Some(b'}' | b']') => {
                    // Which bracket closes which is for the parser to see.
                    let Some(outer) = depth.checked_sub(1) else { return Err(self.wrong("a value")) };
                    depth = outer;
                    self.at += 1;
                }
                Some(_) if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                Some(_) => return Ok(self.skip_word()),
            }
            if depth == 0 {
                return Ok(true);
            }
        }
    }

    /// Goes behind a number or a word. A number that the text ends with may have had more digits.
    fn skip_word(&mut self) -> bool {
        let start = self.at;
        while !matches!(self.peek(), None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.peek().is_some() || matches!(&self.text[start..], "true" | "false" | "null")
    }
}
