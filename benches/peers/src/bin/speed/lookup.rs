//! Look-ups by id in a session of many small records, and recording a list of messages that is known already.

use std::collections::HashSet;
use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rusqlite::{Connection, params};
use seslog::event::{Event, Uuid, decode, encode};
use seslog::log::Durability;
use seslog::session::{Session, SessionOptions};

use crate::Result;
use crate::measure::{Cost, Racer, Watch, digits, race};
use crate::peer::fjall::Fjall;
use crate::peer::lmdb::Lmdb;
use crate::peer::redb::Redb;
use crate::peer::seslog::{Seslog, file};
use crate::peer::sqlite::Sqlite;
use crate::peer::{Finder, Finds, Peer};
use crate::scene::{Goal, Scene};
use crate::session::Size;

const SESLOG: Seslog = Seslog(Durability::Os);
const PEERS: [&dyn Finds; 5] =
    [&SESLOG, &Sqlite::Normal, &Redb { sync: true }, &Fjall { sync: true }, &Lmdb { sync: true }];

/// Look-ups of a round, spread over the whole session.
const LOOKUPS: usize = 2_000;
/// Messages of a list that is recorded again.
const KNOWN: usize = 10_000;

/// The tables of look-ups.
pub fn run(scene: &Scene) -> Result<()> {
    lookups(scene)?;
    recorded_again(scene)
}

/// Ids of all parts of the session, in no order that a read-ahead could guess.
pub fn spread_ids(ids: &[Uuid]) -> Vec<Uuid> {
    (0..LOOKUPS).map(|n| ids[n * 7_919 % ids.len()]).collect()
}

fn lookups(scene: &Scene) -> Result<()> {
    let count = if scene.quick { 100_000 } else { 1_000_000 };
    println!("### Look-up of an id among {} small records, warm\n", digits(count as f64));
    println!("The event is read and decoded. Goal: at most 100 page reads, at most 50 µs.\n");
    let session = file(&scene.small(&SESLOG, count)?);
    let mut racers =
        vec![Racer::new("limit", "2 preads of 4 KiB at any place, for index and record", || pages(&session))];
    for peer in PEERS {
        let finder = peer.finder(&scene.small(peer as &dyn Peer, count)?)?;
        let ids = spread_ids(&finder.ids()?);
        racers.push(Racer::new(peer.kind(), "", move || find_all(&*finder, &ids)));
    }
    let outcome = race(scene.rounds(7), racers)?;
    outcome.print("a look-up");
    scene.goal("look-up of an id, µs", Goal::AtMost(50.0), outcome.micros("**Seslog**"));

    let log = Session::open(&session, SessionOptions::default())?;
    let ids = spread_ids(&Finder::ids(&log)?);
    let reads: Vec<u64> = ids
        .iter()
        .map(|id| {
            let before = log.log().io().reads;
            log.event(*id).map(|_| log.log().io().reads - before)
        })
        .collect::<Result<_, _>>()?;
    let all: u64 = reads[1..].iter().sum();
    scene.goal(
        "look-up of an id, read calls",
        Goal::AtMost(100.0),
        [reads.iter().max().copied().unwrap_or(0) as f64; 3],
    );
    println!(
        "Reads of Seslog: {} at the first look-up, then {} at most and {} on average.\n",
        reads[0],
        reads[1..].iter().max().copied().unwrap_or_default(),
        digits(all as f64 / (reads.len() - 1) as f64)
    );
    Ok(())
}

/// Looks all of them up.
pub fn find_all(finder: &dyn Finder, ids: &[Uuid]) -> Result<Cost> {
    let watch = Watch::start();
    for id in ids {
        if black_box(finder.find(*id)?).is_none() {
            return Err(format!("{id} is not found").into());
        }
    }
    Ok(watch.stop(ids.len()))
}

fn pages(path: &Path) -> Result<Cost> {
    let file = File::open(path)?;
    let pages = file.metadata()?.len() / 4_096;
    let mut page = [0; 4_096];
    let watch = Watch::start();
    for n in 0..2 * LOOKUPS as u64 {
        file.read_exact_at(&mut page, n * 7_919 % pages * 4_096)?;
        black_box(&page);
    }
    Ok(watch.stop(LOOKUPS))
}

fn recorded_again(scene: &Scene) -> Result<()> {
    for (what, dir) in
        [("small messages", scene.small(&SESLOG, KNOWN)?), ("messages", scene.session(&SESLOG, Size::Messages(KNOWN))?)]
    {
        let session = Session::open(&file(&dir), SessionOptions::default())?;
        let events = events(&session)?;
        let known: HashSet<Uuid> = events.iter().map(|event| event.id).collect();
        let table = table(scene, &events)?;
        println!("### Recording a list of {} {what} that is known already\n", digits(events.len() as f64));
        println!("Nothing is written. Goal: at most 5,000 µs.\n");
        let racers = vec![
            Racer::new("limit", "ids looked up in a set in memory, contents not compared", || {
                let watch = Watch::start();
                black_box(events.iter().filter(|event| known.contains(&event.id)).count());
                Ok(watch.stop(1))
            }),
            Racer::new("**Seslog**", "`Session::record`, contents compared", || {
                let watch = Watch::start();
                let recorded = session.record(&events, Durability::Os)?;
                let cost = watch.stop(1);
                match (recorded.known == events.len(), recorded.changed.len()) {
                    (true, 0) => Ok(cost),
                    _ => Err("it does not know them".into()),
                }
            }),
            Racer::new("SQLite", "`INSERT OR IGNORE` by id, one transaction, contents not compared", || {
                let watch = Watch::start();
                table.execute_batch("BEGIN")?;
                for event in &events {
                    let mut insert = table.prepare_cached("INSERT OR IGNORE INTO known VALUES (?1, ?2)")?;
                    insert.execute(params![event.id.as_bytes(), []])?;
                }
                table.execute_batch("COMMIT")?;
                Ok(watch.stop(1))
            }),
        ];
        let outcome = race(scene.rounds(7), racers)?;
        outcome.print("a list");
        scene.goal(
            format!("10,000 known {what} recorded again, µs"),
            Goal::AtMost(5_000.0),
            outcome.micros("**Seslog**"),
        );
    }
    Ok(())
}

fn events(session: &Session) -> Result<Vec<Event>> {
    let frames = session.log().frames(0);
    let records = frames.filter(|frame| !frame.as_ref().is_ok_and(|frame| frame.frame_type().is_own()));
    records.map(|frame| Ok(decode(frame?.payload())?)).collect()
}

/// A table that knows all of these events.
fn table(scene: &Scene, events: &[Event]) -> Result<Connection> {
    let table = Connection::open(scene.empty()?.join("known.sqlite"))?;
    table.pragma_update(None, "journal_mode", "WAL")?;
    table.pragma_update(None, "synchronous", "NORMAL")?;
    table.execute_batch("CREATE TABLE known (id BLOB NOT NULL UNIQUE, payload BLOB NOT NULL) STRICT; BEGIN")?;
    for event in events {
        table.execute("INSERT INTO known VALUES (?1, ?2)", params![event.id.as_bytes(), encode(event)?])?;
    }
    table.execute_batch("COMMIT")?;
    Ok(table)
}
