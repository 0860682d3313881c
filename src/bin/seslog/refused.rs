//! A command line that makes no sense: what is told of it, beside what the parser says.

use std::io::{IsTerminal, Write as _};
use std::process::ExitCode;

use anstream::stream::{AsLockedWrite, RawStream};
use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum as _;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit::{Exit, Failure, Told};
use crate::output::{Output, When, tell, wants_colour};

/// A command line that makes no sense, or that asks for help.
pub(crate) fn refuse(mut error: clap::Error) -> ExitCode {
    let hint = hint(&mut error);
    let printed = print(&error);
    if !error.use_stderr() {
        // Help is the result then: whoever asked for it must not think that all of it is there.
        return match printed.and_then(|()| std::io::stdout().flush()).map_err(Failure::from) {
            Err(Failure::Told(told)) => {
                tell(&told.message);
                told.exit.into()
            }
            Ok(()) | Err(Failure::PipeClosed) => Exit::Fine.into(),
        };
    }
    if let Some(hint) = hint {
        tell(hint);
    }
    // What could not be parsed can't say that JSON is wanted; the word itself does.
    if std::env::args_os().any(|argument| argument == "--json")
        && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    {
        let mut out = Output::new(true, When::Never);
        let message = in_one_line(&error.to_string()) + &hint.map_or_else(String::new, |hint| format!("; {hint}"));
        // Whether the document can be written or not, the use was wrong.
        _ = crate::write_error(&Told::usage(message), &mut out);
    }
    Exit::Usage.into()
}

/// Writes what the parser says, with colour if that is wanted.
fn print(error: &clap::Error) -> std::io::Result<()> {
    let text = error.render();
    if error.use_stderr() {
        let stderr = std::io::stderr();
        let colour = wants_colour(when(), stderr.is_terminal());
        return write_text(stderr, &text, colour);
    }
    let stdout = std::io::stdout();
    let colour = wants_colour(when(), stdout.is_terminal());
    write_text(stdout, &text, colour)
}

fn write_text(out: impl RawStream + AsLockedWrite, text: &StyledStr, colour: bool) -> std::io::Result<()> {
    match colour {
        true => write!(AutoStream::new(out, ColorChoice::Always), "{}", text.ansi()),
        false => write!(AutoStream::new(out, ColorChoice::Never), "{text}"),
    }
}

/// What `--color` says, as far as a command line says it that can't be parsed.
fn when() -> When {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let words: Vec<String> = words.take_while(|word| word != "--").collect();
    let given = words.iter().enumerate().filter_map(|(at, word)| match word.strip_prefix("--color")? {
        "" => words.get(at + 1).map(String::as_str),
        value => value.strip_prefix('='),
    });
    given.filter_map(|value| When::from_str(value, false).ok()).next_back().unwrap_or_default()
}

/// What may have been meant by an argument that the command does not have.
fn hint(error: &mut clap::Error) -> Option<&'static str> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return None };
    let argument = argument.clone();
    if error.get(ContextKind::SuggestedArg).is_none() {
        // That it could be a value helps nobody.
        error.remove(ContextKind::Suggested);
    }
    if argument.strip_prefix('-').is_some_and(|rest| rest.parse::<f64>().is_ok()) {
        return Some("a number here is 0 or more");
    }
    let mut words = std::env::args_os().skip(1).filter_map(|word| word.into_string().ok());
    let command = words.find(|word| crate::completions::shown().find_subcommand(word).is_some())?;
    match (command.as_str(), argument.starts_with('-')) {
        ("list", false) => Some(
            "`seslog list --text WORD` looks for it in titles, first words and folders, `seslog search WORD` in what is said",
        ),
        ("show", false) => Some(
            "`seslog show SESSION --at EVENT` reads it up to an event, `seslog explain SESSION EVENT` tells of one",
        ),
        ("delete", false) => Some("it asks for each session by itself; `for id in A B; do seslog delete $id; done`"),
        ("tree" | "export", true) if argument == "--branch" => Some(
            "`seslog show SESSION --branch EVENT` reads one branch; `seslog fork SESSION --at EVENT` makes a session of it",
        ),
        _ => None,
    }
}

/// What a wrong command line is told, without how the command is used.
fn in_one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with("For more information")).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}
