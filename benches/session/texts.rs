//! Texts as an agent's sessions hold them: prose, code, and what tools put out. Pieces of three long texts that are made once,
//! so that a gigabyte of them takes a second.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::random::Random;

/// Bytes of each of the long texts.
const POOL: usize = 1 << 20;

const WORDS: &str = "the of and to a in is that it for was on are as with be this have from or by one not but what all were \
    when we there can an your which their if do will each about how up out them then so some her would make like into time \
    has look two more write go see number no way could people my than first water been call who its now find long down day \
    did get come made may part over new sound take only little work know place year live back give most very after thing \
    our just name good sentence man think say great where help through much before line right too mean old any same tell \
    boy follow came want show also around form three small set put end does another well large must big even such because \
    turn here why ask went men read need land different home us move try kind hand picture again change off play spell air \
    away animal house point page letter mother answer found study still learn should session message token buffer parser \
    request response handler config error retry timeout server client stream branch commit merge test failure module \
    function struct field value index record writer reader header offset length checksum durable replay snapshot compact \
    window cache memory thread lock channel queue worker schedule deploy container image layer volume network socket \
    naïve café – “quoted” → ✓ größer";

/// The three long texts.
#[derive(Debug)]
struct Pools {
    prose: String,
    code: String,
    output: String,
}

/// Makes texts; the long ones are shared.
#[derive(Debug, Clone)]
pub struct Texts {
    pools: Arc<Pools>,
    words: Arc<Vec<&'static str>>,
}

impl Texts {
    pub fn new() -> Self {
        static MADE: OnceLock<Texts> = OnceLock::new();
        MADE.get_or_init(Self::make).clone()
    }

    fn make() -> Self {
        let words: Vec<&'static str> = WORDS.split_whitespace().collect();
        let mut random = Random::new(0);
        let mut pool = |push: fn(&mut String, &mut Random, &[&str])| {
            let mut text = String::with_capacity(POOL + 4_096);
            while text.len() < POOL {
                push(&mut text, &mut random, &words);
            }
            text
        };
        let pools = Pools { prose: pool(push_sentence), code: pool(push_line), output: pool(push_output) };
        Self { pools: Arc::new(pools), words: Arc::new(words) }
    }

    /// What people and models write, of about `len` bytes.
    pub fn prose(&self, random: &mut Random, len: usize) -> String {
        let mut text = piece(&self.pools.prose, random, len);
        if len > 3_000 {
            text.push_str("\n\n```rust\n");
            text.push_str(&piece(&self.pools.code, random, len / 4));
            text.push_str("\n```\n");
        }
        text
    }

    /// One line of code of about `len` bytes.
    pub fn code(&self, random: &mut Random, len: usize) -> String {
        piece(&self.pools.code, random, len).replace('\n', " ")
    }

    /// What a tool puts out, of about `len` bytes: a file, JSON, or lines of a log.
    pub fn output(&self, random: &mut Random, len: usize) -> String {
        let pool = if random.between(0, 1) == 0 { &self.pools.code } else { &self.pools.output };
        let mut text = String::with_capacity(len + 8);
        while text.len() < len {
            text.push_str(&piece(pool, random, (len - text.len()).min(POOL / 2)));
        }
        text
    }

    /// A name of a file without its ending.
    pub fn name(&self, random: &mut Random) -> String {
        format!("{}_{}", word(random, &self.words[..200]), word(random, &self.words[..200]))
    }
}

/// A piece from anywhere, of `len` bytes or up to three more.
fn piece(pool: &str, random: &mut Random, len: usize) -> String {
    let at = random.between(0, pool.len() - len - 4);
    let on_char = |at: usize| (at..at + 4).find(|at| pool.is_char_boundary(*at)).unwrap_or(at);
    let range: Range<usize> = on_char(at)..on_char(at + len);
    pool[range].to_owned()
}

/// A word; the earlier ones come far more often, as in every language.
fn word<'a>(random: &mut Random, words: &[&'a str]) -> &'a str {
    let far = random.between(1, words.len() * words.len());
    words[words.len() - 1 - ((far as f64).sqrt() as usize).min(words.len() - 1)]
}

fn push_sentence(text: &mut String, random: &mut Random, words: &[&str]) {
    let first = text.len();
    for n in 0..random.between(5, 22) {
        text.push_str(if n == 0 { "" } else { " " });
        if random.between(0, 19) == 0 {
            text.push_str(&format!("`{}_{}`", word(random, words), word(random, words)));
        } else {
            text.push_str(word(random, words));
        }
    }
    if let Some(letter) = text.get_mut(first..first + 1) {
        letter.make_ascii_uppercase();
    }
    text.push_str(if random.between(0, 5) == 0 { ".\n\n" } else { ". " });
}

fn push_line(text: &mut String, random: &mut Random, words: &[&str]) {
    let mut name = || word(random, words).to_owned();
    let (one, two, three) = (name(), name(), name());
    let indent = "    ".repeat(random.between(0, 3));
    let line = match random.between(0, 7) {
        0 => format!("{indent}let {one}_{two} = self.{three}({one}).map_err(Error::from)?;\n"),
        1 => format!(
            "{indent}if {one}.{two}() > {} {{\n{indent}    return Err({three});\n{indent}}}\n",
            random.between(0, 999)
        ),
        2 => format!("{indent}/// The {one} of a {two}, in {three}.\n"),
        3 => format!("{indent}pub fn {one}_{two}(&self, {three}: usize) -> Result<{two}, Error> {{\n"),
        4 => format!("{indent}}}\n\n"),
        5 => format!("{indent}assert_eq!({one}.{two}, \"{three}\");\n"),
        6 => format!(
            "{indent}for {one} in {two}.iter().filter(|{three}| {three}.len() < {}) {{\n",
            random.between(0, 99)
        ),
        _ => format!("{indent}use crate::{one}::{two}::{{{three}, {one}}};\n"),
    };
    text.push_str(&line);
}

fn push_output(text: &mut String, random: &mut Random, words: &[&str]) {
    let mut name = || word(random, words).to_owned();
    let (one, two, three) = (name(), name(), name());
    let number = random.between(1, 99_999);
    let line = match random.between(0, 4) {
        0 => format!(
            "2026-03-{:02}T12:{:02}:07.{number:05}Z INFO {one}::{two}: {three} {one}={number}\n",
            number % 28 + 1,
            number % 60
        ),
        1 => format!("src/{one}/{two}.rs:{}: {three} {two} = {one}({number});\n", number % 900),
        2 => format!(
            "{{\"id\": {number}, \"{one}\": \"{two} {three}\", \"tags\": [\"{one}\", \"{three}\"], \"done\": {}}},\n",
            number.is_multiple_of(2)
        ),
        3 => format!("test {one}::{two}_{three} ... ok ({number} µs)\n"),
        _ => format!("-rw-r--r-- 1 user user {number:>8} Mar  3 12:07 {one}_{two}.{three}\n"),
    };
    text.push_str(&line);
}
