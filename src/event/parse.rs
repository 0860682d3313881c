//! JSON text to a [`Value`], in one pass.
//!
//! Our own, since what is read must not depend on features that another crate in the build may switch on for
//! serde_json, and since agents write lone surrogates, which serde_json refuses.

use super::constants::DEPTH_MAX;
use super::error::EventError;
use super::value::{Fields, Value, settle};

/// What a text had that no Rust string can hold; each was replaced by U+FFFD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lossy {
    /// Escapes of half a surrogate pair.
    pub surrogates: usize,
    /// Runs of bytes that are no UTF-8.
    pub bad_utf8: usize,
}

impl Lossy {
    /// Whether nothing had to be replaced.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

impl std::ops::AddAssign for Lossy {
    fn add_assign(&mut self, other: Self) {
        self.surrogates += other.surrogates;
        self.bad_utf8 += other.bad_utf8;
    }
}

impl Value {
    /// Reads one JSON value with nothing but blanks around it. A name given twice keeps the last value; numbers keep
    /// their text; half surrogates and bytes that are no UTF-8 become U+FFFD and are counted.
    ///
    /// # Errors
    /// [`EventError::Json`] if the text is no JSON, [`EventError::TooDeep`] beyond
    /// [`DEPTH_MAX`](super::DEPTH_MAX) levels, [`EventError::Trailing`] if something follows.
    pub fn parse_json(text: impl AsRef<[u8]>) -> Result<(Self, Lossy), EventError> {
        let text = text.as_ref();
        let (value, lossy, used) = parse_prefix(text)?;
        match text.len() - used {
            0 => Ok((value, lossy)),
            left => Err(EventError::Trailing { offset: used, left }),
        }
    }
}

/// Reads the JSON value that the text begins with; says how many bytes it took, blanks around it included.
pub(crate) fn parse_prefix(text: &[u8]) -> Result<(Value, Lossy, usize), EventError> {
    let mut parser = Parser { text, at: 0, lossy: Lossy::default() };
    parser.blanks();
    let value = parser.value(0)?;
    parser.blanks();
    Ok((value, parser.lossy, parser.at))
}

/// Whether the text is exactly one number by JSON's grammar.
pub(crate) fn is_number(text: &str) -> bool {
    let mut parser = Parser { text: text.as_bytes(), at: 0, lossy: Lossy::default() };
    parser.number_end().is_ok() && parser.at == text.len()
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    lossy: Lossy,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn wrong(&self, expected: &'static str) -> EventError {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(byte @ 0x21..=0x7E) => format!("`{}`", char::from(byte)),
            Some(byte) => format!("byte {byte:#04x}"),
        };
        EventError::Json { offset: self.at, expected, found }
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), EventError> {
        if self.peek() != Some(byte) {
            return Err(self.wrong(expected));
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Value, EventError> {
        match self.peek() {
            Some(b'"') => Ok(Value::Text(self.text()?)),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.list(depth + 1),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.wrong("a value")),
        }
    }

    fn word(&mut self, word: &'static str, value: Value) -> Result<Value, EventError> {
        if !self.text[self.at..].starts_with(word.as_bytes()) {
            return Err(self.wrong("a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn enter(&mut self, depth: usize) -> Result<(), EventError> {
        if depth > DEPTH_MAX {
            return Err(EventError::TooDeep { limit: DEPTH_MAX, offset: self.at });
        }
        self.at += 1;
        self.blanks();
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<Value, EventError> {
        self.enter(depth)?;
        let mut fields = Fields::new();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Map(fields));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a field's name"));
            }
            let name = self.text()?;
            self.blanks();
            self.expect(b':', "`:` behind a field's name")?;
            self.blanks();
            fields.push((name, self.value(depth)?));
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                _ => break,
            }
            self.blanks();
        }
        self.expect(b'}', "`,` or `}` behind a field")?;
        settle(&mut fields);
        Ok(Value::Map(fields))
    }

    fn list(&mut self, depth: usize) -> Result<Value, EventError> {
        self.enter(depth)?;
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                _ => break,
            }
            self.blanks();
        }
        self.expect(b']', "`,` or `]` behind an item")?;
        Ok(Value::List(items))
    }

    fn number_end(&mut self) -> Result<(), EventError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), EventError> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.wrong("a digit"));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, EventError> {
        let start = self.at;
        self.number_end()?;
        let text = std::str::from_utf8(&self.text[start..self.at]).expect("a number is ASCII");
        Ok(number(text))
    }

    fn text(&mut self) -> Result<String, EventError> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1F)) {
                self.at += 1;
            }
            self.push(&mut text, start);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    let letter = self.escape()?;
                    text.push(letter);
                }
                _ => return Err(self.wrong("the rest of a string")),
            }
        }
    }

    fn push(&mut self, text: &mut String, start: usize) {
        match std::str::from_utf8(&self.text[start..self.at]) {
            Ok(run) => text.push_str(run),
            Err(_) => {
                for chunk in self.text[start..self.at].utf8_chunks() {
                    text.push_str(chunk.valid());
                    if !chunk.invalid().is_empty() {
                        text.push(char::REPLACEMENT_CHARACTER);
                        self.lossy.bad_utf8 += 1;
                    }
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, EventError> {
        self.at += 1;
        let letter = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.wrong("an escape")),
        };
        self.at += 1;
        Ok(letter)
    }

    fn unicode(&mut self) -> Result<char, EventError> {
        self.at += 1;
        let unit = self.hex()?;
        if let Some(letter) = char::from_u32(unit) {
            return Ok(letter);
        }
        // Half a pair. Only a high half with its low half right behind it makes a letter.
        if (0xD800..0xDC00).contains(&unit) && self.text[self.at..].starts_with(b"\\u") {
            let before = self.at;
            self.at += 2;
            let low = self.hex()?;
            if (0xDC00..0xE000).contains(&low) {
                let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(code).expect("a surrogate pair names a letter"));
            }
            self.at = before;
        }
        self.lossy.surrogates += 1;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self) -> Result<u32, EventError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            unit = unit * 16 + digit.ok_or_else(|| self.wrong("four hex digits"))?;
            self.at += 1;
        }
        Ok(unit)
    }
}

/// The value that gives this number's text back.
fn number(text: &str) -> Value {
    let whole = !text.contains(['.', 'e', 'E']);
    if whole && text != "-0" {
        if let Ok(value) = text.parse() {
            return Value::Int(value);
        }
        if let Ok(value) = text.parse() {
            return Value::UInt(value);
        }
    }
    match text.parse::<f64>() {
        Ok(value) if !whole && value.is_finite() && float_text(value).as_deref() == Some(text) => Value::Float(value),
        _ => Value::Number(text.to_owned()),
    }
}

/// The text as which a float is printed.
fn float_text(value: f64) -> Option<String> {
    serde_json::to_string(&value).ok()
}
