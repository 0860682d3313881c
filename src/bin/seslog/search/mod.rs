//! `seslog search`: messages by what is said in them, over all sessions.

mod filter;
mod index;
mod update;
mod words;

use std::collections::HashMap;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use seslog::event::Uuid;
use seslog::session::Listed;

use crate::Context;
use crate::columns::cut;
use crate::cure::not_to_its_end;
use crate::exit::{Exit, Outcome, Told};
use crate::output::{Output, tell};
use crate::sanitize::excerpt;
use crate::time::{local, rfc3339};
use filter::{Filter, Wanted};
use index::{Found, Index};
use update::Part;

/// Find messages by what is said in them
///
/// Looks through all sessions, their other branches and their titles too, but not at what was taken back. A message fits
/// that has all of the words, whatever their case and accents, each at the beginning of a word in it; words in quotation marks
/// must stand in a row. What fits best comes first. The first search makes an index in the store's cache, later ones
/// read what is new in the sessions since. Exits with 0 if something fits, also where a damaged session could be searched up to
/// its damage only (it says so), and with 1 if nothing does.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  seslog search lamp rotation\n  seslog search parser --since 2d --role user --cwd .\n  seslog search 'no such file' --limit 5 --json"
)]
pub(crate) struct Args {
    /// What the message says
    #[arg(required = true)]
    words: Vec<String>,
    /// Show so many messages at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    wanted: Wanted,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    /// How many messages fit, shown or not.
    found: usize,
    /// The best first.
    matches: &'a [Match],
    /// Sessions that could not be read to their end.
    unread: &'a [Unread],
}

/// A message that fits.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Match {
    session: Option<Uuid>,
    path: String,
    title: Option<String>,
    event: Uuid,
    role: String,
    /// None for a time that RFC 3339 can't say.
    at: Option<String>,
    /// How well it fits: the higher, the better; to be compared within one answer only.
    score: f64,
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

/// What a search gives.
struct Answer {
    found: usize,
    matches: Vec<Match>,
    unread: Vec<Unread>,
    /// There was something to look through.
    had_sessions: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let query = words::query(&args.words)?;
    let store = context.place.store()?;
    let sessions = store.list()?;
    let filter = args.wanted.filter(&store, &sessions)?;
    let answer = match sessions.is_empty() {
        true => Answer { found: 0, matches: Vec::new(), unread: Vec::new(), had_sessions: false },
        false => {
            let search = |index: Index| search(index, &query, &filter, args, &sessions, !context.out.json);
            with_index(store.dir(), search).map_err(|error| Told::io("can't search", &std::io::Error::other(error)))?
        }
    };
    // What a list shows of sessions without a title; it keeps what it has counted.
    let untitled = !context.out.json && answer.matches.iter().any(|found| found.title.is_none());
    let counted = if untitled { store.counted(None)?.sessions } else { Vec::new() };
    let words = counted.into_iter().filter_map(|session| Some((session.id?, session.first_words?))).collect();
    show(&answer, &words, &filter, &mut context.out)
}

/// Works with the store's index. One that is of no use is made anew; where none can be kept, one is made for this time.
fn with_index<T>(store: &Path, work: impl Fn(Index) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let first = match Index::open(store).and_then(&work) {
        Ok(done) => return Ok(done),
        Err(error) => error,
    };
    if !index::is_no_fault_of_its(&first) {
        tell(&format!("the index of the last search is of no use and is made anew: {first}"));
        index::remove(store);
    }
    // Another program may have taken it away meanwhile, as a redaction does.
    let error = match Index::open(store).and_then(&work) {
        Ok(done) => return Ok(done),
        Err(error) => error,
    };
    tell(&format!("no index can be kept for the next search: {error}"));
    Index::in_memory().and_then(work)
}

fn search(
    mut index: Index,
    query: &str,
    filter: &Filter,
    args: &Args,
    sessions: &[Listed],
    tells: bool,
) -> rusqlite::Result<Answer> {
    update::update(&index, sessions, Part::Lasting, tells)?;
    index.unlock();
    // What may yet vanish is looked at, and not kept.
    index.begin()?;
    update::update(&index, sessions, Part::Rest, tells)?;
    let (found, best) = index.find(query, filter, args.limit)?;
    let known = index.known()?;
    index.roll_back()?;
    let by_file: HashMap<_, &Listed> = sessions.iter().map(|session| (session.path.file_name(), session)).collect();
    let of = |file: &str| by_file.get(&Some(file.as_ref())).copied();
    let matches = best.into_iter().filter_map(|found| Some(matching(of(&found.file)?, found, &args.words))).collect();
    let mut unread: Vec<Unread> = known
        .into_iter()
        .filter(|(file, _)| filter.files.as_ref().is_none_or(|files| files.contains(file)))
        .filter_map(|(file, known)| {
            Some(Unread { path: of(&file)?.path.display().to_string(), problem: known.problem? })
        })
        .collect();
    unread.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Answer { found, matches, unread, had_sessions: true })
}

fn matching(session: &Listed, found: Found, words: &[String]) -> Match {
    let text = update::text_at(&session.path, found.event, found.place, &found.changes);
    Match {
        session: session.id,
        path: session.path.display().to_string(),
        title: session.title.clone(),
        event: found.event,
        role: excerpt(&found.role, ROLE_CHARS),
        at: rfc3339(found.at),
        score: found.score,
        excerpt: text.map_or_else(|| String::from("(can't be read any more)"), |text| words::around(&text, words)),
        micros: found.at,
    }
}

/// A terminal of fewer cells shows what is said in a line of its own.
const NARROW: usize = 110;

/// No role is longer; an index that is not ours may say anything.
const ROLE_CHARS: usize = 16;

/// The sessions in the order of what fits best in them, and what fits in each under it.
fn by_session(matches: &[Match]) -> Vec<Vec<&Match>> {
    let mut sessions: Vec<Vec<&Match>> = Vec::new();
    let mut places = HashMap::new();
    for found in matches {
        let place = *places.entry(&found.path).or_insert(sessions.len());
        if place == sessions.len() {
            sessions.push(Vec::new());
        }
        sessions[place].push(found);
    }
    sessions
}

fn show(answer: &Answer, first_words: &HashMap<Uuid, String>, filter: &Filter, out: &mut Output) -> Outcome {
    let Answer { found, matches, unread, .. } = answer;
    if out.json {
        out.document(&Document { found: *found, matches, unread })?;
    } else {
        for session in by_session(matches) {
            heading(session[0], first_words, out)?;
            for hit in session {
                let about = format!("  {} {} {}", hit.event, local(hit.micros), hit.role);
                let painted = out.paint(Style::new().dimmed(), &about);
                match out.width {
                    // Beside an id of 36 characters too little of the text would be seen.
                    Some(width) if width < NARROW => {
                        let about = cut(&format!("  {} {}", hit.event, local(hit.micros)), width);
                        out.line(&out.paint(Style::new().dimmed(), &about))?;
                        out.line(&cut(&format!("    {}  {}", hit.role, hit.excerpt), width))?;
                    }
                    Some(width) => {
                        out.line(&format!("{painted}  {}", cut(&hit.excerpt, width.saturating_sub(about.len() + 2))))?;
                    }
                    None => out.line(&format!("{painted}  {}", hit.excerpt))?,
                }
            }
        }
        if *found > matches.len() {
            tell(&format!("{} more fit; --limit shows them", found - matches.len()));
        }
        if !answer.had_sessions {
            tell("there are no sessions here; `seslog import --all` takes in those of your agents");
        } else if *found == 0 {
            let more = if filter.takes_all() { "" } else { ", and so does a search without the filters" };
            tell(&format!("no message has all of these words; fewer or shorter ones find more{more}"));
        }
    }
    for unread in unread {
        tell(&not_to_its_end(&unread.problem, Path::new(&unread.path), "searched"));
    }
    // Whether something was found is what was asked; what could not be read is told.
    Ok(if *found == 0 { Exit::Found } else { Exit::Fine })
}

fn heading(found: &Match, first_words: &HashMap<Uuid, String>, out: &mut Output) -> Outcome<()> {
    const TITLE_CHARS: usize = 80;
    let words = found.session.and_then(|id| first_words.get(&id)).map(|words| format!("“{words}”"));
    let name = found.title.clone().or(words).unwrap_or_default();
    let id = found.session.map(|id| id.to_string()).unwrap_or_default();
    let line = format!("{id}  {}", excerpt(&name, TITLE_CHARS));
    let line = cut(&line, out.width.unwrap_or(usize::MAX));
    let line = out.paint(AnsiColor::Cyan.on_default().bold(), line.trim_end());
    out.line(&line)
}
