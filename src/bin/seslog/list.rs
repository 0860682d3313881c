//! `seslog list`: the sessions of the store, from their headers and ends, or the catalogue that remembers those.

use std::collections::HashMap;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use seslog::event::Uuid;
use seslog::session::{Listed, Opened, Store};

use crate::Context;
use crate::columns::{Column, cell, cut, fitting, size};
use crate::cure::with_cure;
use crate::exit::{Exit, Outcome};
use crate::held::Locks;
use crate::output::{Output, tell};
use crate::sanitize::excerpt;
use crate::short_ids::ShortIds;
use crate::time::{End, local, local_minutes, named, rfc3339};
use crate::whose::{Whose, WhoseArgs, has};

/// List the sessions, the one that went on last first
///
/// Reads header and end of each session that is new, has changed or was not closed, and counts what came since the last
/// list; what that has seen of the others is in the store's cache. A session that has no title shows that of the one it was forked
/// from, or what a person said first. States: open (somebody writes it now), clean, unclean (a crash left it; it will be
/// recovered), damaged. Exits with 1 if one of those that are shown is damaged.
///
/// LAST is when the conversation went on last; a title that is given later does not change it. A fork that was made here is as
/// new as its making. MESSAGES are those of all branches that were not taken back, without compactions; BRANCHES are the ends of
/// the tree. `tree` and `stat` count the same.
///
/// On a terminal the table fits its width and ids are as short as they can be. Elsewhere each session is a line of fields
/// separated by tabs, with whole ids and sizes in bytes, always the same ones: ID, LAST, STATE, MESSAGES, BRANCHES, BYTES,
/// AGENT, MODEL, BEGAN, FOLDER, TITLE, PROBLEM.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seslog list -n 20                       the newest
  seslog list --since 2d --cwd .          of the last two days, in this folder or below
  seslog list --agent codex --text parser
  seslog list --json | jq '.sessions[].id'")]
pub(crate) struct Args {
    /// Show N sessions at most. Where the directory is as the last list has left it, no other is looked
    /// at, and one that another program has written into in place is noticed by the next whole list only
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// That went on at this time or later: a date, RFC 3339, or so long ago (3h, 2d, 1w)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// That went on last at this time or earlier; a date: in that day or earlier
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    #[command(flatten)]
    whose: WhoseArgs,
    /// That have this in title, first words, folder or labels, in any case
    #[arg(long, value_name = "WORD")]
    text: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    store: String,
    sessions: Vec<Row>,
}

/// A session as a program reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: Option<String>,
    path: String,
    open: Opened,
    state: State,
    problem: Option<String>,
    bytes: Option<u64>,
    records: u64,
    messages: Option<u64>,
    branches: Option<u64>,
    first_at: Option<String>,
    created_at: Option<String>,
    last_event: Option<String>,
    last_original_id: Option<String>,
    last_at: Option<String>,
    title: Option<String>,
    first_words: Option<String>,
    tags: Vec<String>,
    cwd: Option<String>,
    model: Option<String>,
    agent: Option<String>,
    parent: Option<String>,
}

/// What a list says of a session in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum State {
    Open,
    Clean,
    Unclean,
    Damaged,
}

/// What is wanted of all sessions.
struct Filter {
    since: Option<i64>,
    until: Option<i64>,
    whose: Whose,
    text: Option<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let filter = Filter::of(args)?;
    let store = context.place.store()?;
    let mut sessions = store.counted(args.limit.filter(|_| filter.takes_all()))?.sessions;
    let titles: HashMap<Uuid, String> = titles_of(&sessions, &store);
    let count = sessions.len();
    sessions.retain(|session| filter.takes(session, &titles));
    sessions.truncate(args.limit.unwrap_or(usize::MAX));
    let locks = Locks::now();
    let states: Vec<State> = sessions.iter().map(|session| state(session, &locks)).collect();
    let out = &mut context.out;
    if out.json {
        let store = store.dir().display().to_string();
        let rows = sessions.iter().zip(&states).map(|(session, state)| Row::of(session, *state)).collect();
        out.document(&Document { store, sessions: rows })?;
    } else if sessions.is_empty() {
        nothing(args, &store, count, out)?;
    } else {
        human(&sessions, &states, &titles, &store, out)?;
    }
    let damaged = sessions.iter().any(|session| session.open == Opened::Damaged);
    Ok(if damaged { Exit::Found } else { Exit::Fine })
}

fn nothing(args: &Args, store: &Store, count: usize, out: &mut Output) -> Outcome<()> {
    let dir = excerpt(&store.dir().display().to_string(), usize::MAX);
    if args.limit == Some(0) {
        tell("none were asked for (-n 0); `seslog list` shows all");
    } else if count > 0 {
        tell(&format!("none of the {count} sessions in {dir} fits; `seslog list` shows all of them"));
    } else {
        out.line(&format!("no sessions in {dir}"))?;
        tell("`seslog import --all` takes in those of your agents, `seslog demo` shows how one is kept");
    }
    Ok(())
}

/// The titles of sessions that others were forked from.
fn titles_of(sessions: &[Listed], store: &Store) -> HashMap<Uuid, String> {
    let needed = |session: &&Listed| session.title.is_none() && session.parent.is_some();
    let wanted: Vec<Uuid> = sessions.iter().filter(needed).filter_map(|session| session.parent).collect();
    if wanted.is_empty() {
        return HashMap::new();
    }
    // A limited list may not have them.
    let all = store.list().unwrap_or_default();
    let titled = all.into_iter().filter(|session| session.id.is_some_and(|id| wanted.contains(&id)));
    titled.filter_map(|session| Some((session.id?, session.title?))).collect()
}

fn state(session: &Listed, locks: &Locks) -> State {
    // A session that was closed is in the list of locks or not held; one that was not may be another container's.
    let holder = locks.holder(&session.path, session.open == Opened::Recovered);
    match session.open {
        Opened::Damaged => State::Damaged,
        _ if holder.is_some() => State::Open,
        Opened::Clean => State::Clean,
        _ => State::Unclean,
    }
}

impl Filter {
    fn of(args: &Args) -> Outcome<Self> {
        let time = |text: &Option<String>, end| text.as_deref().map(|text| named(text, end)).transpose();
        Ok(Self {
            since: time(&args.since, End::First)?,
            until: time(&args.until, End::Last)?,
            whose: Whose::of(&args.whose)?,
            text: args.text.as_ref().map(|text| text.to_lowercase()),
        })
    }

    fn takes_all(&self) -> bool {
        let Self { since, until, whose, text } = self;
        since.is_none() && until.is_none() && whose.takes_all() && text.is_none()
    }

    fn takes(&self, session: &Listed, titles: &HashMap<Uuid, String>) -> bool {
        let at = session.last_at.unwrap_or(session.created_at);
        let title = session.title.as_ref().or_else(|| titles.get(&session.parent?));
        let texts = [title, session.first_words.as_ref(), session.cwd.as_ref()];
        let mut texts = texts.into_iter().flatten().chain(&session.tags);
        self.since.is_none_or(|since| at >= since)
            && self.until.is_none_or(|until| at <= until)
            && self.whose.takes(session)
            && (self.text.is_none() || texts.any(|text| has(self.text.as_deref(), Some(text))))
    }
}

const fn column(name: &'static str, is_number: bool, width_max: usize, rank: u8) -> Column {
    Column { name, is_number, width_max, rank }
}

/// The place of the state among the columns.
const STATE: usize = 2;
const COLUMNS: [Column; 11] = [
    column("ID", false, 36, 0),
    column("LAST", false, 16, 2),
    column("STATE", false, 7, 1),
    column("MSGS", true, 9, 3),
    column("BR", true, 5, 6),
    column("SIZE", true, 7, 4),
    column("AGENT", false, 14, 5),
    column("MODEL", false, 24, 7),
    column("BEGAN", false, 16, 9),
    column("FOLDER", false, 32, 8),
    column("TITLE", false, usize::MAX, 0),
];

fn human(
    sessions: &[Listed],
    states: &[State],
    titles: &HashMap<Uuid, String>,
    store: &Store,
    out: &mut Output,
) -> Outcome<()> {
    const TITLE_MIN: usize = 24;
    let Some(width) = out.width else { return plain(sessions, states, titles, out) };
    let ids = ShortIds::of(ids_in(store).into_iter());
    let shown = ids.len_of(sessions.iter().filter_map(|session| session.id));
    let rows: Vec<Vec<String>> = sessions
        .iter()
        .zip(states)
        .map(|(session, state)| {
            let id = session.id.map(|id| id.to_string()).unwrap_or_default();
            let branches = session.branches.filter(|branches| *branches > 1);
            vec![
                id.chars().take(shown).collect(),
                session.last_at.map(local_minutes).unwrap_or_default(),
                state.word().to_owned(),
                session.messages.map(|count| count.to_string()).unwrap_or_default(),
                branches.map(|count| count.to_string()).unwrap_or_default(),
                bytes(session).map(size).unwrap_or_default(),
                session.agent.clone().unwrap_or_default(),
                session.model.clone().unwrap_or_default(),
                began(session).map(local_minutes).unwrap_or_default(),
                session.cwd.clone().unwrap_or_default(),
                title(session, titles),
            ]
        })
        .collect();
    let fits = fitting(&COLUMNS, &rows, width, TITLE_MIN.min(width / 3));
    let heading = fits.iter().map(|(place, width)| cell(COLUMNS[*place].name, *width, COLUMNS[*place].is_number));
    let heading = out.paint(Style::new().bold(), heading.collect::<Vec<_>>().join("  ").trim_end());
    out.line(&heading)?;
    for ((row, session), state) in rows.iter().zip(sessions).zip(states) {
        let cells = fits.iter().map(|(place, width)| {
            let text = cell(&row[*place], *width, COLUMNS[*place].is_number);
            if *place == STATE { state.painted(&text, out) } else { text }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        out.line(line.trim_end())?;
        if let Some(problem) = &session.problem {
            out.line(&format!("    {}", cut(&with_cure(problem, &session.path), usize::MAX)))?;
        }
    }
    Ok(())
}

/// When it began, as far as that is known.
fn began(session: &Listed) -> Option<i64> {
    session.first_at.or(created_at(session))
}

/// When it was made: of a file without a header that is not known.
fn created_at(session: &Listed) -> Option<i64> {
    Some(session.created_at).filter(|at| *at != 0)
}

/// How long it is, which is not known either.
fn bytes(session: &Listed) -> Option<u64> {
    Some(session.bytes).filter(|bytes| *bytes > 0 || session.created_at != 0)
}

/// One line a session, the same fields each time.
fn plain(sessions: &[Listed], states: &[State], titles: &HashMap<Uuid, String>, out: &mut Output) -> Outcome<()> {
    let heading = "ID\tLAST\tSTATE\tMESSAGES\tBRANCHES\tBYTES\tAGENT\tMODEL\tBEGAN\tFOLDER\tTITLE\tPROBLEM";
    let heading = out.paint(Style::new().bold(), heading);
    out.line(&heading)?;
    for (session, state) in sessions.iter().zip(states) {
        let text = |text: &Option<String>| cut(text.as_deref().unwrap_or_default(), usize::MAX);
        let count = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
        let fields = [
            session.id.map(|id| id.to_string()).unwrap_or_default(),
            session.last_at.map(local).unwrap_or_default(),
            state.painted(state.word(), out),
            count(session.messages),
            count(session.branches),
            count(bytes(session)),
            text(&session.agent),
            text(&session.model),
            began(session).map(local).unwrap_or_default(),
            text(&session.cwd),
            cut(&title(session, titles), usize::MAX),
            text(&session.problem.as_deref().map(|problem| with_cure(problem, &session.path).into_owned())),
        ];
        out.line(fields.map(|field| field.replace('\t', " ")).join("\t").trim_end())?;
    }
    Ok(())
}

/// What a person knows a session by.
fn title(session: &Listed, titles: &HashMap<Uuid, String>) -> String {
    let fork = if session.parent.is_some() { " (fork)" } else { "" };
    let known = session.title.as_ref().filter(|title| !title.trim().is_empty());
    match (known.or_else(|| titles.get(&session.parent?)), &session.first_words) {
        (Some(title), _) => format!("{title}{fork}"),
        (None, Some(words)) => format!("“{words}”{fork}"),
        (None, None) if session.open != Opened::Damaged && session.messages == Some(0) => format!("(empty){fork}"),
        (None, None) => fork.trim_start().to_owned(),
    }
}

/// The ids of all sessions in the directory: an id must be told apart from each of them.
fn ids_in(store: &Store) -> Vec<Uuid> {
    let entries = std::fs::read_dir(store.dir()).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| name.strip_suffix(".seslog")?.parse().ok()).collect()
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Clean => "clean",
            Self::Unclean => "unclean",
            Self::Damaged => "damaged",
        }
    }

    fn painted(self, text: &str, out: &Output) -> String {
        match self {
            Self::Clean => text.to_owned(),
            Self::Open => out.paint(AnsiColor::Green.on_default(), text),
            Self::Unclean => out.paint(AnsiColor::Yellow.on_default(), text),
            Self::Damaged => out.paint(AnsiColor::Red.on_default(), text),
        }
    }
}

impl Row {
    fn of(session: &Listed, state: State) -> Self {
        Self {
            id: session.id.map(|id| id.to_string()),
            path: session.path.display().to_string(),
            open: session.open,
            state,
            problem: session.problem.clone(),
            bytes: bytes(session),
            records: session.records,
            messages: session.messages,
            branches: session.branches,
            first_at: session.first_at.and_then(rfc3339),
            created_at: created_at(session).and_then(rfc3339),
            last_event: session.last_event.map(|id| id.to_string()),
            last_original_id: session.last_original_id.clone(),
            last_at: session.last_at.and_then(rfc3339),
            title: session.title.clone(),
            first_words: session.first_words.clone(),
            tags: session.tags.clone(),
            cwd: session.cwd.clone(),
            model: session.model.clone(),
            agent: session.agent.clone(),
            parent: session.parent.map(|id| id.to_string()),
        }
    }
}
