//! Words that are taken out of what a command shows or writes, and whether each was met at all.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use seslog::event::Event;
use seslog::interop::page::Page;
use seslog::projection::{Literals, ProjectedMessage, Redact, Redactor};
use seslog::session::{Redaction, SessionError};

use crate::exit::Outcome;
use crate::output::tell;

/// Several texts, or patterns, that are taken out together. Each remembers whether it was met.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    all: Arc<dyn Redact>,
    each: Arc<Vec<One>>,
}

#[derive(Debug)]
struct One {
    /// As it was given.
    text: String,
    rule: Box<dyn Redact>,
    was_met: AtomicBool,
}

impl Watched {
    /// Texts, letter by letter.
    pub(crate) fn texts(texts: &[String]) -> Self {
        let one = |text: &String| One::new(text, Literals::new([text]));
        Self { all: Arc::new(Literals::new(texts)), each: Arc::new(texts.iter().map(one).collect()) }
    }

    /// Regular expressions.
    pub(crate) fn patterns(patterns: &[String]) -> Outcome<Self> {
        let (mut all, mut each) = (Redaction::new(), Vec::new());
        for pattern in patterns {
            all = all.pattern(pattern)?;
            each.push(One::new(pattern, Redaction::new().pattern(pattern)?));
        }
        Ok(Self { all: Arc::new(all), each: Arc::new(each) })
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// Says which of them took nothing out: a slip of the pen must not pass for an export without the secret.
    pub(crate) fn tell_of_the_idle(&self) {
        // It may be a part of the secret.
        const SHOWN: usize = 4;
        for one in self.each.iter().filter(|one| !one.was_met.load(Ordering::Relaxed)) {
            let begin: String = one.text.chars().take(SHOWN).collect();
            let more = if begin.len() < one.text.len() { "…" } else { "" };
            tell(&format!("--redact `{begin}{more}` matches nothing here, and took nothing out"));
        }
    }
}

impl One {
    fn new(text: &str, rule: impl Redact + 'static) -> Self {
        Self { text: text.to_owned(), rule: Box::new(rule), was_met: AtomicBool::new(false) }
    }
}

impl Redact for Watched {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let redacted = self.all.redact(text);
        if redacted != text {
            let others = self.each.iter().filter(|one| !one.was_met.load(Ordering::Relaxed));
            others
                .filter(|one| one.rule.redact(text) != text)
                .for_each(|one| one.was_met.store(true, Ordering::Relaxed));
        }
        redacted
    }
}

/// Patterns that are taken out of events as they are written.
pub(crate) struct Events<'a> {
    all: Redaction,
    each: Vec<(Redaction, &'a One)>,
    /// Matches that stay, in ids.
    left: u64,
}

impl<'a> Events<'a> {
    pub(crate) fn new(patterns: &'a Watched) -> Outcome<Self> {
        let (mut all, mut each) = (Redaction::new(), Vec::new());
        for one in patterns.each.iter() {
            all = all.pattern(&one.text)?;
            each.push((Redaction::new().pattern(&one.text)?, one));
        }
        Ok(Self { all, each, left: 0 })
    }

    pub(crate) fn change(&mut self, event: Event) -> Result<Event, SessionError> {
        let redacted = self.all.apply(&event)?;
        if redacted.matches > 0 {
            for (own, one) in self.each.iter().filter(|(_, one)| !one.was_met.load(Ordering::Relaxed)) {
                one.was_met.store(own.apply(&event)?.matches > 0, Ordering::Relaxed);
            }
        }
        self.left += redacted.left;
        Ok(redacted.event)
    }

    pub(crate) fn tell_of_what_is_left(&self) {
        if self.left > 0 {
            let left = self.left;
            tell(&format!("{left} matches stay, in ids and the like: an import could not find the events again"));
        }
    }
}

/// A page from which words are taken out on the way, if there are rules.
pub(crate) struct Redacting<'r, P> {
    page: P,
    rules: &'r [Arc<dyn Redact>],
    redactor: Redactor<'r>,
}

impl<'r, P: Page> Redacting<'r, P> {
    pub(crate) fn new(page: P, rules: &'r [Arc<dyn Redact>]) -> Self {
        Self { page, rules, redactor: Redactor::new(rules) }
    }
}

impl<P: Page> Page for Redacting<'_, P> {
    fn message(&mut self, message: &ProjectedMessage) -> io::Result<()> {
        if self.rules.is_empty() {
            return self.page.message(message);
        }
        let mut own = message.clone();
        self.redactor.message(&mut own);
        self.page.message(&own)
    }

    fn begin_branch(&mut self, said: &str) -> io::Result<()> {
        self.page.begin_branch(&redacted(self.rules, said.to_owned()))
    }

    fn end_branch(&mut self) -> io::Result<()> {
        self.page.end_branch()
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        self.page.note(text)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.page.finish()
    }
}

/// A text without what the rules take out.
pub(crate) fn redacted(rules: &[Arc<dyn Redact>], text: String) -> String {
    rules.iter().fold(text, |text, rule| rule.redact(&text).into_owned())
}
