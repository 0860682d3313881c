//! `seslog scan-secrets`: point at what looks like a key or a password.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use seslog::event::{Uuid, texts_of};
use seslog::log::{LogReader, RealFs};

use crate::Context;
use crate::cure::{not_to_its_end, quoted};
use crate::exit::{Exit, Outcome};
use crate::output::{plural, tell};
use crate::secrets::{Hit, PRIVATE_KEY, find};

/// Point at what looks like a key or a password
///
/// Looks through every text of every event for the shapes of well-known tokens, private keys, and passwords in URLs. They are
/// never shown whole, and what can't be told from chance is not found. Without a SESSION all of the store are looked
/// through. Exits with 1 if something was found, or if not all of a session could be looked through.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  seslog scan-secrets\n  seslog scan-secrets 0192 --json")]
pub(crate) struct Args {
    /// Sessions: each an id, the beginning of one, or a path
    session: Vec<OsString>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    /// How many sessions were looked through.
    sessions: usize,
    found: Vec<Found>,
    /// Sessions that could not be read to their end.
    unread: Vec<Unread>,
}

/// What looks like a secret.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    session: Uuid,
    event: Uuid,
    /// Where it stands in the event, by the log's names.
    field: String,
    kind: &'static str,
    /// Its first four characters and its last two.
    shown: String,
    /// How many characters it has.
    length: usize,
    /// What takes it out; none of an id, since other things hang on it.
    command: Option<String>,
}

#[derive(Debug, Serialize)]
struct Unread {
    path: String,
    problem: String,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let paths: Vec<PathBuf> = match args.session.is_empty() {
        true => {
            let store = context.place.store()?;
            let sessions = store.list()?.into_iter().map(|listed| listed.path);
            sessions.chain(damaged_copies(store.dir())).collect()
        }
        false => args.session.iter().map(|name| context.place.file(name)).collect::<Outcome<_>>()?,
    };
    let mut document = Document { sessions: paths.len(), found: Vec::new(), unread: Vec::new() };
    let store = context.place.as_option();
    for path in &paths {
        if let Err(problem) = scan(path, &store, &mut document.found) {
            document.unread.push(Unread { path: path.display().to_string(), problem });
        }
    }
    show(&document, context)?;
    for unread in &document.unread {
        let path = Path::new(&unread.path);
        tell(&match is_copy(path) {
            true => format!(
                "`{}` was looked through up to its damage only: once you miss nothing, `rm {}` removes this copy",
                unread.path,
                quoted(path)
            ),
            false => not_to_its_end(&unread.problem, path, "looked through"),
        });
    }
    Ok(if document.found.is_empty() && document.unread.is_empty() { Exit::Fine } else { Exit::Found })
}

/// What `salvage --in-place` has kept beside the sessions.
fn damaged_copies(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut copies: Vec<PathBuf> = entries.filter(|path| is_copy(path) && path.is_file()).collect();
    copies.sort();
    copies
}

/// Whether it is named like what `salvage --in-place` keeps.
pub(crate) fn is_copy(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.contains(".seslog.damaged"))
}

fn show(document: &Document, context: &mut Context) -> Outcome<()> {
    let out = &mut context.out;
    if out.json {
        return out.document(document);
    }
    let mut last = None;
    for found in &document.found {
        if last != Some(found.session) {
            last = Some(found.session);
            let line = out.paint(AnsiColor::Cyan.on_default().bold(), &found.session.to_string());
            out.line(&line)?;
        }
        let Found { event, field, kind, shown, length, .. } = found;
        out.line(&format!("  {event}  {kind}: {shown} ({length} characters) in {}", visible(field)))?;
        let none = "it is in an id, which other things hang on: only `seslog delete` takes it away, with the session";
        let command = out.paint(Style::new().dimmed(), found.command.as_deref().unwrap_or(none));
        out.line(&format!("      {command}"))?;
    }
    if document.found.is_empty() {
        let read = plural(document.sessions - document.unread.len(), "session");
        let rest = if document.unread.is_empty() { "" } else { ", nor in what could be read of the others" };
        tell(&format!("nothing that looks like a secret in {read}{rest}"));
    }
    Ok(())
}

fn visible(text: &str) -> String {
    const FIELD_CHARS: usize = 120;
    crate::sanitize::excerpt(text, FIELD_CHARS)
}

/// Adds what is found in a session.
fn scan(path: &Path, store: &str, found: &mut Vec<Found>) -> Result<(), String> {
    let (log, _) = LogReader::open(RealFs::shared(), path).map_err(|error| error.to_string())?;
    let session = log.info().log_id;
    for frame in log.frames(0) {
        let frame = frame.map_err(|error| error.to_string())?;
        if frame.frame_type().is_own() {
            continue;
        }
        let event = frame.id();
        let looked = texts_of(frame.payload(), |place| {
            // What a provider signed or encrypted looks like chance, and is.
            if is_sealed(place.at) {
                return;
            }
            for Hit { kind, range } in find(place.text) {
                let secret = &place.text[range];
                found.push(Found {
                    session,
                    event,
                    field: veiled(place.at),
                    kind,
                    shown: part_of(secret),
                    length: secret.chars().count(),
                    command: (!place.is_fixed).then(|| command(store, session, event, kind, secret)),
                });
            }
        });
        looked.map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn is_sealed(at: &str) -> bool {
    const SEALED: &[&str] = &["signature", "thought_signature", "redacted", "encrypted", "encrypted_content", "data"];
    at.rsplit('.').next().is_some_and(|field| SEALED.contains(&field))
}

/// The place, in which a field's own name may be a secret.
fn veiled(at: &str) -> String {
    let mut veiled = at.to_owned();
    for hit in find(at).into_iter().rev() {
        veiled.replace_range(hit.range.clone(), &part_of(&at[hit.range]));
    }
    veiled
}

/// Of so few characters or less only the first is shown.
const SHORT: usize = 12;

/// The first four characters and the last two.
fn part_of(secret: &str) -> String {
    let chars: Vec<char> = secret.chars().collect();
    match chars.len() {
        // Of a short one that would be most of it.
        0..=SHORT => format!("{}…", chars.iter().take(1).collect::<String>()),
        len => format!("{}…{}", chars[..4].iter().collect::<String>(), chars[len - 2..].iter().collect::<String>()),
    }
}

/// What takes the secret out, without telling it.
fn command(store: &str, session: Uuid, event: Uuid, kind: &str, secret: &str) -> String {
    match pattern_of(kind, secret) {
        Some(pattern) => format!("seslog redact{store} {session} --pattern '{pattern}'"),
        None => format!("seslog redact{store} {session} --event {event}"),
    }
}

/// A regular expression that fits the secret and does not tell it; none where none is sure to fit all of it.
fn pattern_of(kind: &str, secret: &str) -> Option<String> {
    // More repetitions an expression may not have.
    const TIMES_MAX: usize = 250;
    if kind == PRIVATE_KEY {
        // One without an end may go on anywhere.
        let is_whole = secret.contains("-----END ");
        return is_whole.then(|| "-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)PRIVATE KEY-----".to_owned());
    }
    let chars: Vec<char> = secret.chars().collect();
    // What is told of a short one would fit too much else.
    if chars.len() <= SHORT {
        return None;
    }
    let is_token = |c: &char| c.is_ascii_alphanumeric() || "-_.~+/=".contains(*c);
    let class = if chars.iter().all(is_token) { "[A-Za-z0-9_.~+/=-]" } else { r"\S" };
    let (first, last) = (4, 2);
    let exactly = |chars: &[char]| -> String {
        chars
            .iter()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_string() } else { "[^A-Za-z0-9]".to_owned() })
            .collect()
    };
    let between = chars.len().checked_sub(first + last)?;
    let (front, back) = (exactly(&chars[..first]), exactly(&chars[chars.len() - last..]));
    Some(match between {
        0..=TIMES_MAX => format!("{front}{class}{{{between}}}{back}"),
        _ => format!("{front}{class}{{{TIMES_MAX},}}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown_whole() {
        assert_eq!(part_of("sk-abcdefghijklmnopqrst"), "sk-a…st");
        assert_eq!(part_of("hunter2"), "h…");
        assert_eq!(part_of(""), "…");
    }

    #[test]
    fn the_pattern_fits_the_secret_and_does_not_tell_it() {
        let check = |kind, secret: &str, expected: Option<&str>| {
            assert_eq!(pattern_of(kind, secret).as_deref(), expected);
        };
        check("API key", "sk-abcdefghijklm", Some("sk[^A-Za-z0-9]a[A-Za-z0-9_.~+/=-]{10}lm"));
        check("password in a URL", "hun'er2", None);
        check("password in a URL", "hun'er2hun'er2", Some(r"hun[^A-Za-z0-9]\S{8}r2"));
        check("bearer token", &"ab".repeat(200), Some("abab[A-Za-z0-9_.~+/=-]{250,}"));
        check(PRIVATE_KEY, "-----BEGIN ", None);
    }
}
