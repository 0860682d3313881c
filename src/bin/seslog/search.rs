//! `seslog search`: messages by what is said in them, over all sessions.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use seslog::event::{Body, Message, Uuid, decode};
use seslog::interop::part_text;
use seslog::log::{LogReader, RealFs};
use seslog::session::Listed;

use crate::Context;
use crate::exit::{Exit, Outcome};
use crate::output::{Output, tell};
use crate::sanitize::excerpt;
use crate::time::{rfc3339, rfc3339_seconds};

/// Find messages by what is said in them
///
/// Looks through all sessions, their other branches too, but not at what was taken back. A message fits that has all of the
/// words, in any case; words in quotation marks are one. The sessions that were written last come first. Exits with 1 if
/// nothing fits.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  seslog search lamp rotation\n  seslog search 'no such file' --limit 5 --json")]
pub(crate) struct Args {
    /// What the message says
    #[arg(required = true)]
    words: Vec<String>,
    /// Show so many messages at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    /// How many messages fit, shown or not.
    found: usize,
    matches: Vec<Match<'a>>,
    /// Sessions that could not be read to their end.
    unread: &'a [Unread],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Match<'a> {
    session: Option<Uuid>,
    path: String,
    title: Option<&'a str>,
    #[serde(flatten)]
    hit: &'a Hit,
}

/// A message that fits.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Hit {
    event: Uuid,
    role: &'static str,
    at: String,
    /// What stands around the first word.
    excerpt: String,
    #[serde(skip)]
    micros: i64,
}

#[derive(Debug, Serialize)]
struct Unread {
    path: String,
    problem: String,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let words: Vec<String> = args.words.iter().map(|word| word.to_lowercase()).collect();
    let sessions = context.place.store()?.list()?;
    let results: Vec<Mutex<(Vec<Hit>, Option<Unread>)>> = sessions.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from).min(sessions.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(session) = sessions.get(index) else { break };
                    let found = search(&session.path, &words);
                    *results[index].lock().unwrap_or_else(std::sync::PoisonError::into_inner) = found;
                }
            });
        }
    });
    let results: Vec<_> = results
        .into_iter()
        .map(|result| result.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
        .collect();
    show(args, &sessions, results, &mut context.out)
}

fn show(args: &Args, sessions: &[Listed], results: Vec<(Vec<Hit>, Option<Unread>)>, out: &mut Output) -> Outcome {
    let (hits, unread): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    let unread: Vec<Unread> = unread.into_iter().flatten().collect();
    let found = hits.iter().map(Vec::len).sum();
    let all = sessions.iter().zip(&hits).flat_map(|(session, hits)| hits.iter().map(move |hit| (session, hit)));
    let shown: Vec<(&Listed, &Hit)> = all.take(args.limit).collect();
    if out.json {
        let matches = shown.iter().map(|(session, hit)| Match {
            session: session.id,
            path: session.path.display().to_string(),
            title: session.title.as_deref(),
            hit,
        });
        out.document(&Document { found, matches: matches.collect(), unread: &unread })?;
    } else {
        let mut last = None;
        for (session, hit) in &shown {
            if last != Some(&session.path) {
                last = Some(&session.path);
                heading(session, out)?;
            }
            let about = format!("  {} {} {}", hit.event, rfc3339_seconds(hit.micros), hit.role);
            let about = out.paint(Style::new().dimmed(), &about);
            out.line(&format!("{about}  {}", hit.excerpt))?;
        }
        if found > shown.len() {
            tell(&format!("{} more messages fit; --limit shows them", found - shown.len()));
        }
    }
    for unread in &unread {
        tell(&format!("`{}` was searched up to its damage only: {}", unread.path, unread.problem));
    }
    Ok(if found == 0 || !unread.is_empty() { Exit::Found } else { Exit::Fine })
}

fn heading(session: &Listed, out: &mut Output) -> Outcome<()> {
    const TITLE_CHARS: usize = 80;
    let id = session.id.map(|id| id.to_string()).unwrap_or_default();
    let title = session.title.as_deref().or(session.cwd.as_deref()).unwrap_or_default();
    let line = format!("{id}  {}", excerpt(title, TITLE_CHARS));
    let line = out.paint(AnsiColor::Cyan.on_default().bold(), line.trim_end());
    out.line(&line)
}

/// The messages of a session that have all of these words, in the order of the file.
fn search(path: &Path, words: &[String]) -> (Vec<Hit>, Option<Unread>) {
    let (mut hits, mut dead) = (Vec::new(), HashSet::new());
    let outcome = each_event(path, |event| match &event.body {
        Body::Tombstone(tombstone) => dead.extend(tombstone.targets.iter().copied()),
        Body::Message(message) => {
            let text = text_of(message);
            let lower = text.to_lowercase();
            if words.iter().all(|word| lower.contains(word.as_str())) {
                let at = lower.find(words[0].as_str()).unwrap_or(0);
                hits.push(Hit {
                    event: event.id,
                    role: message.role.name(),
                    at: rfc3339(event.at),
                    excerpt: around(&text, lower[..at].chars().count()),
                    micros: event.at,
                });
            }
        }
        _ => {}
    });
    hits.retain(|hit| !dead.contains(&hit.event));
    let unread = outcome.err().map(|problem| Unread { path: path.display().to_string(), problem });
    (hits, unread)
}

fn each_event(path: &Path, mut look: impl FnMut(&seslog::event::Event)) -> Result<(), String> {
    let (log, _) = LogReader::open(RealFs::shared(), path).map_err(|error| error.to_string())?;
    for frame in log.frames(0) {
        let frame = frame.map_err(|error| error.to_string())?;
        if !frame.frame_type().is_own() {
            look(&decode(frame.payload()).map_err(|error| error.to_string())?);
        }
    }
    Ok(())
}

/// All that a message says, part by part.
fn text_of(message: &Message) -> String {
    message.content.iter().map(part_text).collect::<Vec<_>>().join("\n")
}

/// A few words before the place and some behind it, in one line.
fn around(text: &str, chars_before: usize) -> String {
    const BEFORE: usize = 40;
    const SHOWN: usize = 160;
    let from = chars_before.saturating_sub(BEFORE);
    let text: String = text.chars().skip(from).map(|c| if c == '\n' { ' ' } else { c }).take(SHOWN + 1).collect();
    let begin = if from > 0 { "…" } else { "" };
    format!("{begin}{}", excerpt(text.trim_start(), SHOWN))
}
