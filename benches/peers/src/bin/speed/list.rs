//! The list of ten thousand sessions, beside one catalogue file and one table.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use seslog::event::{Message, SessionMeta};
use seslog::log::Durability;
use seslog::session::{SessionOptions, Store};

use crate::Result;
use crate::measure::{Racer, Watch, digits, race};
use crate::scene::{Goal, Scene};

/// Sessions that a first page shows.
const NEWEST: usize = 50;

/// What a list shows of a session.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    id: [u8; 16],
    path: String,
    bytes: u64,
    created_at: i64,
    last_event: [u8; 16],
    last_at: i64,
    title: String,
    tags: Vec<String>,
    cwd: String,
    model: String,
    agent: String,
}

/// The tables of lists.
pub fn run(scene: &Scene) -> Result<()> {
    let count = if scene.quick { 1_000 } else { 10_000 };
    let dir = scene.empty()?;
    let store = Store::at(&dir, SessionOptions::default());
    make(&store, count)?;
    let entries: Vec<Entry> = (0..count).map(entry).collect();
    let file = scene.empty()?.join("catalogue");
    std::fs::write(&file, rmp_serde::to_vec(&entries)?)?;
    let table = scene.empty()?.join("catalogue.sqlite");
    fill_table(&table, &entries)?;

    println!("### List of {} sessions, warm\n", digits(count as f64));
    println!("The last written first. Goal: at most 1.5 times the limit.\n");
    let listed = |listed: usize, cost| if listed == count { Ok(cost) } else { Err("not all are listed".into()) };
    let racers = vec![
        Racer::new("limit", "one catalogue file, read and decoded", || {
            let watch = Watch::start();
            let entries: Vec<Entry> = rmp_serde::from_slice(&std::fs::read(&file)?)?;
            listed(entries.len(), watch.stop(1))
        }),
        Racer::new("**Seslog**", "`Store::list`: the catalogue, and a look at each file's stamp", || {
            let watch = Watch::start();
            let list = store.list()?;
            listed(list.len(), watch.stop(1))
        }),
        Racer::new("SQLite", "one table of as many rows; knows nothing of files", || {
            let watch = Watch::start();
            let entries = read_table(&table, count)?;
            listed(entries.len(), watch.stop(1))
        }),
        Racer::new("files only", "each one's name, size and time, as agents do that keep no titles", || {
            let watch = Watch::start();
            let files = newest_files(&dir)?;
            Ok((watch.stop(1), std::hint::black_box(files)).0)
        }),
    ];
    settle(|| Ok(store.listing()?.report.taken == count))?;
    let outcome = race(scene.rounds(7), racers)?;
    outcome.print("a list");
    scene.goal("list of sessions ÷ one catalogue file", Goal::AtMost(1.5), outcome.ratio("**Seslog**", "limit"));

    println!("### The newest {NEWEST} of {} sessions, warm\n", digits(count as f64));
    println!("Goal: at most 1,000 µs.\n");
    let racers = vec![
        Racer::new("limit", "SQLite: an index by time", || {
            let watch = Watch::start();
            let entries = read_table(&table, NEWEST)?;
            Ok((watch.stop(1), std::hint::black_box(entries)).0)
        }),
        Racer::new("**Seslog**", "`Store::newest`", || {
            let watch = Watch::start();
            let list = store.newest(NEWEST)?;
            let cost = watch.stop(1);
            if list.sessions.len() == NEWEST { Ok(cost) } else { Err("not so many".into()) }
        }),
        Racer::new("files only", "each one's name, size and time, sorted", || {
            let watch = Watch::start();
            let files = newest_files(&dir)?;
            Ok((watch.stop(1), std::hint::black_box(files)).0)
        }),
    ];
    settle(|| Ok(!store.newest(NEWEST)?.report.every_stamp))?;
    let outcome = race(scene.rounds(7), racers)?;
    outcome.print("a list");
    scene.goal("newest 50 sessions, µs", Goal::AtMost(1_000.0), outcome.micros("**Seslog**"));

    println!("### List of {} sessions where the catalogue is missing\n", digits(count as f64));
    println!("It is only a cache, and rebuilt from the sessions.\n");
    let racers = vec![
        Racer::new("limit", "header page and last page of each file", || {
            let watch = Watch::start();
            for (_, len, path) in newest_files(&dir)? {
                let (file, mut page) = (File::open(path)?, [0; 4_096]);
                file.read_exact_at(&mut page, 0)?;
                std::hint::black_box(file.read_at(&mut page, len.saturating_sub(4_096))?);
            }
            Ok(watch.stop(1))
        }),
        Racer::new("**Seslog**", "`Store::list`", || {
            let _ = std::fs::remove_dir_all(dir.join(".cache"));
            let watch = Watch::start();
            let list = store.list()?;
            listed(list.len(), watch.stop(1))
        }),
    ];
    race(scene.rounds(5), racers)?.print("a list");
    std::fs::remove_dir_all(dir)?;
    Ok(())
}

/// Waits, ten seconds at most: what has changed a moment ago is looked at again each time, and nobody lists what was made in
/// this very second.
fn settle(mut is_settled: impl FnMut() -> Result<bool>) -> Result<()> {
    for _ in 0..100 {
        if is_settled()? {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// What an agent knows that reads no file.
fn newest_files(dir: &Path) -> Result<Vec<(SystemTime, u64, PathBuf)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        if meta.is_file() {
            files.push((meta.modified()?, meta.len(), entry.path()));
        }
    }
    files.sort();
    Ok(files)
}

/// Makes the sessions, by several threads, since each waits for the disk.
fn make(store: &Store, count: usize) -> Result<()> {
    const THREADS: usize = 8;
    std::thread::scope(|scope| {
        let some = |thread: usize| {
            move || -> Result<()> {
                for n in (thread..count).step_by(THREADS) {
                    let session = store.create()?;
                    let _ = session.set_meta(meta(n), Durability::Os)?;
                    let _ = session.append(Message::user(format!("Please look at item {n}.")), Durability::Os)?;
                    let _ = session.append(Message::assistant("It is as it should be."), Durability::Os)?;
                    session.close()?;
                }
                Ok(())
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(some(thread))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}

fn meta(n: usize) -> SessionMeta {
    SessionMeta {
        title: Some(format!("Item {n}: what the tests say about it")),
        tags: vec!["work".to_owned(), format!("item-{}", n % 50)],
        cwd: Some(format!("/home/user/project-{}", n % 20)),
        model: Some("some-model-20260301".to_owned()),
        agent: Some("coder".to_owned()),
        ..SessionMeta::default()
    }
}

fn entry(n: usize) -> Entry {
    let SessionMeta { title, tags, cwd, model, agent, .. } = meta(n);
    let id = (n as u128 | 0x7 << 76).to_be_bytes();
    Entry {
        id,
        path: format!("/home/user/.sessions/{n:032x}.seslog"),
        bytes: 5_000 + n as u64,
        created_at: 1_800_000_000_000_000 + n as i64,
        last_event: id,
        last_at: 1_800_000_100_000_000 + n as i64,
        title: title.unwrap_or_default(),
        tags,
        cwd: cwd.unwrap_or_default(),
        model: model.unwrap_or_default(),
        agent: agent.unwrap_or_default(),
    }
}

fn fill_table(path: &Path, entries: &[Entry]) -> Result<()> {
    let table = Connection::open(path)?;
    table.pragma_update(None, "journal_mode", "WAL")?;
    table.execute_batch(
        "CREATE TABLE session (id BLOB PRIMARY KEY, path TEXT, bytes INTEGER, created_at INTEGER, last_event BLOB,
            last_at INTEGER, title TEXT, tags TEXT, cwd TEXT, model TEXT, agent TEXT) STRICT;
        CREATE INDEX by_time ON session (last_at DESC);
        BEGIN",
    )?;
    for entry in entries {
        table.execute(
            "INSERT INTO session VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                entry.id,
                entry.path,
                i64::try_from(entry.bytes)?,
                entry.created_at,
                entry.last_event,
                entry.last_at,
                entry.title,
                entry.tags.join("\n"),
                entry.cwd,
                entry.model,
                entry.agent
            ],
        )?;
    }
    table.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(())
}

/// The newest entries, opened anew.
fn read_table(path: &Path, count: usize) -> Result<Vec<Entry>> {
    let table = Connection::open(path)?;
    let mut query = table.prepare("SELECT * FROM session ORDER BY last_at DESC LIMIT ?1")?;
    let rows = query.query_map([i64::try_from(count)?], |row| {
        let tags: String = row.get(7)?;
        Ok(Entry {
            id: row.get(0)?,
            path: row.get(1)?,
            bytes: row.get::<_, i64>(2)?.unsigned_abs(),
            created_at: row.get(3)?,
            last_event: row.get(4)?,
            last_at: row.get(5)?,
            title: row.get(6)?,
            tags: tags.split('\n').map(str::to_owned).collect(),
            cwd: row.get(8)?,
            model: row.get(9)?,
            agent: row.get(10)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
