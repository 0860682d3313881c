//! Growth: what is done often, at each size of a session. Nothing of it may grow.

use seslog::log::Durability;
use seslog::session::{Session, SessionOptions};

use crate::Result;
use crate::append::burst;
use crate::measure::{Watch, digits, spread};
use crate::peer::Peer;
use crate::peer::jsonl::Jsonl;
use crate::peer::seslog::{Seslog, file};
use crate::peer::sqlite::Sqlite;
use crate::scene::{Goal, Scene};
use crate::session::Size;

const SESLOG: Seslog = Seslog(Durability::Os);

const RESUME: &str = "resume, Seslog, µs";
const APPEND: &str = "append, Seslog `Os`, µs a message";

/// A line of the table: what, and its cost at each size.
type Row = (String, Vec<f64>);

/// The table of growth.
pub fn run(scene: &Scene) -> Result<()> {
    let sizes: &[(&str, Size)] = match scene.quick {
        true => &[("1k", Size::Messages(1_000)), ("10k", Size::Messages(10_000))],
        false => &[
            ("1k", Size::Messages(1_000)),
            ("10k", Size::Messages(10_000)),
            ("100k", Size::Messages(100_000)),
            ("1 GB", Size::Bytes(1_000_000_000)),
        ],
    };
    let mut rows: Vec<Row> = Vec::new();
    let mut add = |what: String, value: f64| match rows.iter_mut().find(|(known, _)| *known == what) {
        Some((_, values)) => values.push(value),
        None => rows.push((what, vec![value])),
    };
    for (name, size) in sizes {
        at(scene, *size, &mut add)?;
        // The last one is used by other parts.
        if *name == "100k" {
            scene.drop_sessions(*size)?;
        }
    }
    println!("### Growth\n");
    println!(
        "Medians, each at sessions of so many messages. Goal: nothing grows, and a resume at 1 GB takes at most 1.15 times as long as a small one.\n"
    );
    let names: Vec<&str> = sizes.iter().map(|(name, _)| *name).collect();
    println!("| what | {} | last ÷ first |", names.join(" | "));
    println!("| --- |{} --: |", " --: |".repeat(names.len()));
    for (what, values) in rows {
        let cells: Vec<String> = values.iter().map(|value| digits(*value)).collect();
        let ratio = values.last().copied().unwrap_or_default() / values[0];
        if what == RESUME || what == APPEND {
            scene.goal(format!("{what}: last ÷ first size"), Goal::AtMost(1.15), [ratio; 3]);
        }
        println!("| {what} | {} | {} |", cells.join(" | "), digits(ratio));
    }
    println!();
    Ok(())
}

fn at(scene: &Scene, size: Size, add: &mut impl FnMut(String, f64)) -> Result<()> {
    let rounds = scene.rounds(5);
    let dir = scene.session(&SESLOG, size)?;
    let bytes = std::fs::metadata(file(&dir))?.len();
    let median = |mut turn: Box<dyn FnMut() -> Result<f64> + '_>| -> Result<f64> {
        let values = (0..rounds).map(|_| turn()).collect::<Result<Vec<_>>>()?;
        Ok(spread(values.into_iter())[1])
    };
    let micros = |peer: &'static dyn Peer| -> Result<f64> {
        let dir = scene.session(peer, size)?;
        median(Box::new(move || {
            let watch = Watch::start();
            let window = peer.resume(&dir)?;
            let cost = watch.stop(1).wall;
            drop(window);
            Ok(cost)
        }))
    };
    let mut read = [0; 2];
    let resume = median(Box::new(|| {
        let watch = Watch::start();
        let session = Session::open(&file(&dir), SessionOptions::default())?;
        let cost = watch.stop(1).wall;
        let io = session.log().io();
        read = [io.bytes_read, io.reads];
        Ok(cost)
    }))?;
    add(RESUME.into(), resume);
    add("resume, Seslog, bytes read".into(), read[0] as f64);
    add("resume, Seslog, read calls".into(), read[1] as f64);
    add("resume, SQLite, µs".into(), micros(&Sqlite::Normal)?);
    add("resume, JSONL, careful reader, µs".into(), micros(&Jsonl::CAREFUL)?);
    add("resume, JSONL, all parsed, µs".into(), {
        let dir = scene.session(&Jsonl::CAREFUL, size)?;
        median(Box::new(move || {
            let watch = Watch::start();
            let window = Jsonl::USUAL.resume(&dir)?;
            let cost = watch.stop(1).wall;
            drop(window);
            Ok(cost)
        }))?
    });

    // Appends go to copies, so that the sessions stay as they are.
    // Of several thousand messages, so that each round holds the same share of what is written only now and then.
    let messages = burst(8 << 20)?;
    for (what, peer) in
        [("Seslog `Os`", &SESLOG as &dyn Peer), ("SQLite NORMAL", &Sqlite::Normal), ("JSONL", &Jsonl::CAREFUL)]
    {
        let from = scene.session(peer, size)?;
        let copy = scene.empty()?;
        for entry in std::fs::read_dir(&from)? {
            let entry = entry?;
            let to = copy.join(entry.file_name());
            std::fs::copy(entry.path(), &to)?;
            // Or the appends would wait for the disk that takes the copy in.
            std::fs::File::open(to)?.sync_all()?;
        }
        let cost = median(Box::new(|| {
            let mut writer = peer.open(&copy)?;
            let messages = messages.clone();
            let count = messages.len();
            let watch = Watch::start();
            for message in messages {
                writer.append(message)?;
            }
            let cost = watch.stop(count).wall;
            writer.compact()?;
            writer.close()?;
            Ok(cost)
        }))?;
        std::fs::remove_dir_all(copy)?;
        add(format!("append, {what}, µs a message"), cost);
    }
    let session = Session::open(&file(&dir), SessionOptions::default())?;
    let ids = crate::lookup::spread_ids(&crate::peer::Finder::ids(&session)?);
    let before = session.log().io().reads;
    let lookup = median(Box::new(|| Ok(crate::lookup::find_all(&session, &ids)?.wall)))?;
    add("look-up of an id, Seslog, µs".into(), lookup);
    let reads = (session.log().io().reads - before) as f64 / (rounds * ids.len()) as f64;
    add("look-up of an id, Seslog, read calls".into(), reads);
    add("log, bytes".into(), bytes as f64);
    Ok(())
}
