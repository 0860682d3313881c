//! What goes to standard output: text for people, or JSON for programs.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use serde::Serialize;

use crate::cure::quoted;
use crate::exit::{Exit, Outcome, Told};
use crate::sanitize::{Layout, terminal_safe_json, visible};

/// The version of all JSON documents.
pub(crate) const VERSION: u32 = 1;

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR or TERM=dumb says no; CLICOLOR_FORCE says yes.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Standard output.
#[derive(Debug)]
pub(crate) struct Output {
    /// JSON is asked for.
    pub(crate) json: bool,
    colour: bool,
    /// The terminal's width in cells; none where standard output is no terminal. A pager may have taken its place since.
    pub(crate) width: Option<usize>,
    out: BufWriter<AutoStream<Stdout>>,
}

/// A JSON document of ours: its version, then its fields.
#[derive(Debug, Serialize)]
struct Document<'a, T> {
    version: u32,
    #[serde(flatten)]
    fields: &'a T,
}

impl Output {
    pub(crate) fn new(json: bool, when: When) -> Self {
        let colour = !json && wants_colour(when, io::stdout().is_terminal());
        // Without colour no code is written, so nothing has to be taken out either.
        let choice = if colour { ColorChoice::Always } else { ColorChoice::AlwaysAnsi };
        Self { json, colour, width: terminal_width(), out: BufWriter::new(AutoStream::new(io::stdout(), choice)) }
    }

    /// One JSON document with the fields of this, in a line of its own.
    pub(crate) fn document(&mut self, fields: &impl Serialize) -> Outcome<()> {
        let document = Document { version: VERSION, fields };
        let json = serde_json::to_string(&document).map_err(|error| Told::io("can't write JSON", &error.into()))?;
        self.json_line(&json)
    }

    /// Begins a JSON document that is written field by field, for one that is too long to be held.
    pub(crate) fn open_document(&mut self) -> Outcome<OpenDocument<'_>> {
        write!(self.out, "{{\"version\":{VERSION}")?;
        Ok(OpenDocument { out: self })
    }

    /// JSON text, in a line of its own.
    pub(crate) fn json_line(&mut self, json: &str) -> Outcome<()> {
        Ok(writeln!(self.out, "{}", terminal_safe_json(json))?)
    }

    /// A line of ours. Text from a session in it must have been made visible.
    pub(crate) fn line(&mut self, line: &str) -> Outcome<()> {
        Ok(writeln!(self.out, "{line}")?)
    }

    /// A name and what belongs to it, which may come from a session.
    pub(crate) fn field(&mut self, name: &str, value: &str) -> Outcome<()> {
        let name = self.paint(Style::new().bold(), &format!("{name:<10}"));
        self.line(&format!("{name} {}", visible(value, Layout::Line)))
    }

    /// The text in this style, if there is colour.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Hands on what was written so far.
    pub(crate) fn flush(&mut self) -> Outcome<()> {
        Ok(self.out.flush()?)
    }

    /// Waits so long, or until nobody reads what is written any more.
    pub(crate) fn pause(&mut self, time: Duration) -> Outcome<()> {
        #[cfg(unix)]
        {
            use rustix::event::{PollFd, PollFlags, Timespec, poll};
            // Only that the other end is gone is asked for; whether more can be written does not matter.
            let out = io::stdout();
            let mut end = [PollFd::new(&out, PollFlags::empty())];
            match Timespec::try_from(time).map(|time| poll(&mut end, Some(&time))) {
                Ok(Ok(0)) => return Ok(()),
                Ok(Ok(_)) => return Err(crate::exit::Failure::PipeClosed),
                // Asked in vain: then the next write tells.
                Ok(Err(_)) | Err(_) => {}
            }
        }
        std::thread::sleep(time);
        Ok(())
    }
}

/// A JSON document that is being written.
pub(crate) struct OpenDocument<'a> {
    out: &'a mut Output,
}

impl OpenDocument<'_> {
    /// One field. Its name is one of ours.
    pub(crate) fn field(&mut self, name: &str, value: &impl Serialize) -> Outcome<()> {
        write!(self.out.out, ",\"{name}\":")?;
        self.value(value)
    }

    /// A list, written as its items come. An error among them ends the line; what was written of it stays.
    pub(crate) fn list<T: Serialize>(&mut self, name: &str, items: impl Iterator<Item = Outcome<T>>) -> Outcome<()> {
        write!(self.out.out, ",\"{name}\":[")?;
        for (index, item) in items.enumerate() {
            match item {
                Ok(item) => {
                    self.out.out.write_all(if index == 0 { b"" } else { b"," })?;
                    self.value(&item)?;
                }
                Err(error) => {
                    writeln!(self.out.out)?;
                    return Err(error);
                }
            }
        }
        Ok(self.out.out.write_all(b"]")?)
    }

    /// Ends it.
    pub(crate) fn close(self) -> Outcome<()> {
        self.out.line("}")
    }

    fn value(&mut self, value: &impl Serialize) -> Outcome<()> {
        let json = serde_json::to_string(value).map_err(|error| Told::io("can't write JSON", &error.into()))?;
        Ok(self.out.out.write_all(terminal_safe_json(&json).as_bytes())?)
    }
}

fn terminal_width() -> Option<usize> {
    const WIDTH_UNKNOWN: usize = 80;
    const WIDTH_MAX: usize = 10_000;
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let told = terminal_size::terminal_size_of(stdout).map(|(width, _)| usize::from(width.0));
    // One that does not know its own size may have been told it otherwise.
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|width| *width > 0);
    Some(told.or_else(columns).unwrap_or(WIDTH_UNKNOWN).clamp(20, WIDTH_MAX))
}

/// Whether to write colour to a stream, which may be a terminal.
pub(crate) fn wants_colour(when: When, is_terminal: bool) -> bool {
    let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto if value("NO_COLOR").is_some() => false,
        // 0 is as good as not set.
        When::Auto if value("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        When::Auto => std::env::var_os("TERM").is_none_or(|term| term != "dumb") && is_terminal,
    }
}

/// Whether a new file can be made at this place: its directory must be there, and no directory in its place.
pub(crate) fn has_room(path: &Path) -> Outcome<()> {
    if path.is_dir() {
        return Err(Told::usage(format!("`{}` is a directory; name a file in it", path.display())).into());
    }
    match path.parent().filter(|dir| !dir.as_os_str().is_empty() && !dir.is_dir()) {
        None => Ok(()),
        Some(dir) => {
            let message =
                format!("`{}`: its directory is not there; `mkdir -p {}` makes it", path.display(), quoted(dir));
            Err(Told { exit: Exit::Io, code: "io", message }.into())
        }
    }
}

/// A line on standard error. That it can't be written changes nothing.
pub(crate) fn tell(text: &str) {
    _ = writeln!(io::stderr(), "seslog: {}", visible(text, Layout::Line));
}

/// So many of something, in words.
pub(crate) fn plural(count: usize, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (_, "branch" | "match") => format!("{count} {what}es"),
        _ => format!("{count} {what}s"),
    }
}
