//! The whole log: verified, and replayed.

use std::fs::File;
use std::hint::black_box;

use rusqlite::Connection;
use seslog::log::{Durability, Map, RealFs, Verdict, survey};
use seslog::session::{Session, SessionOptions, SessionReader};

use crate::Result;
use crate::limits::Place;
use crate::measure::{Cost, Racer, Watch, digits, race};
use crate::peer::Peer;
use crate::peer::jsonl::Jsonl;
use crate::peer::seslog::{Seslog, file};
use crate::peer::sqlite::Sqlite;
use crate::scene::{Goal, Scene};

const SESLOG: Seslog = Seslog(Durability::Os);

/// The tables of whole logs.
pub fn run(scene: &Scene) -> Result<()> {
    let (name, size) = scene.sizes()[1];
    let log = file(&scene.session(&SESLOG, size)?);
    let len = std::fs::metadata(&log)?.len();
    println!("### Verifying a whole log, {name}\n");
    println!("{} bytes, in the page cache. Goal: at most 1.1 times the limit.\n", digits(len as f64));
    let sqlite = scene.session(&Sqlite::Normal, size)?.join("session.sqlite");
    let lines = scene.session(&Jsonl::CAREFUL, size)?;
    let racers = vec![
        Racer::new("limit", "map, CRC over the file", || {
            let watch = Watch::start();
            let map = Map::new(&File::open(&log)?, len)?;
            black_box(crc32fast::hash(&map));
            Ok(watch.stop(1))
        }),
        Racer::new("**Seslog**", "`survey`: each frame, its place and its chain", || {
            let watch = Watch::start();
            let survey = survey(RealFs::shared(), &log)?;
            let cost = watch.stop(1);
            if survey.verdict == Verdict::Clean { Ok(cost) } else { Err("it is not clean".into()) }
        }),
        Racer::new("SQLite", "`PRAGMA quick_check`: no checksums", || {
            let watch = Watch::start();
            let connection = Connection::open(&sqlite)?;
            let told: String = connection.query_row("PRAGMA quick_check", [], |row| row.get(0))?;
            let cost = watch.stop(1);
            if told == "ok" { Ok(cost) } else { Err(told.into()) }
        }),
        Racer::new("JSONL", "parses every line: no checksums", || {
            let watch = Watch::start();
            black_box(Jsonl::USUAL.resume(&lines)?);
            Ok(watch.stop(1))
        }),
    ];
    let outcome = race(scene.rounds(5), racers)?;
    outcome.print("a log");
    scene.goal("verify ÷ map, CRC", Goal::AtMost(1.1), outcome.ratio("**Seslog**", "limit"));

    println!("### A whole log, replayed to its state, {name}\n");
    let place = Place::of(&log, true)?;
    println!("{} events. Goal: at most 1.11 times the limit.\n", digits(place.count() as f64));
    let racers = vec![
        Racer::new("limit", "map, owned decode", || {
            let watch = Watch::start();
            let events = place.only_decode(&log)?;
            let cost = watch.stop(1);
            drop(black_box(events));
            Ok(cost)
        }),
        Racer::new("limit with CRC", "map, CRC, owned decode", || {
            let watch = Watch::start();
            let events = place.map_and_decode(&log)?;
            let cost = watch.stop(1);
            drop(black_box(events));
            Ok(cost)
        }),
        Racer::new("**Seslog**", "`Session::whole_state`", || {
            let session = Session::open(&log, SessionOptions::default())?;
            let watch = Watch::start();
            let state = session.whole_state()?;
            let cost = watch.stop(1);
            drop(black_box(state));
            Ok(cost)
        }),
    ];
    let outcome = race(scene.rounds(5), racers)?;
    outcome.print("a log");
    scene.goal("whole state ÷ owned decode", Goal::AtMost(1.11), outcome.ratio("**Seslog**", "limit"));

    println!("### Every event of a log, one after the other, {name}\n");
    println!("Each is let go before the next: an export, a count, a search. Goal: at most 1.11 times the limit.\n");
    let racers = vec![
        Racer::new("limit", "map, owned decode", || {
            let watch = Watch::start();
            let count = place.decode_each(&log)?;
            all(count, &place, watch.stop(1))
        }),
        Racer::new("**Seslog**", "`SessionReader::events`: each frame checked, and where it stands", || {
            let session = SessionReader::open(&log, RealFs::shared())?;
            let watch = Watch::start();
            let mut count = 0;
            for event in session.events() {
                black_box(event?);
                count += 1;
            }
            all(count, &place, watch.stop(1))
        }),
    ];
    let outcome = race(scene.rounds(5), racers)?;
    outcome.print("a log");
    scene.goal("typed replay ÷ owned decode", Goal::AtMost(1.11), outcome.ratio("**Seslog**", "limit"));
    Ok(())
}

fn all(count: usize, place: &Place, cost: Cost) -> Result<Cost> {
    if count == place.count() { Ok(cost) } else { Err("these are not all events".into()) }
}
