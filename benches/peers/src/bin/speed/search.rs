//! A word looked for in all sessions, by whole processes of the command line, beside a look at every byte.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use seslog::event::Message;
use seslog::log::{Durability, Map};
use seslog::session::{Compaction, SessionOptions, Store};

use crate::Result;
use crate::limits::Place;
use crate::measure::{Cost, Racer, Watch, digits, race};
use crate::peer::Peer;
use crate::peer::jsonl::Jsonl;
use crate::scene::Scene;
use crate::session::{SUMMARY, Size, Step, Story};

/// A word that no message of the generated sessions has, and one that nearly all have.
const RARE: &str = "quokka";
const COMMON: &str = "there";

/// The tables of searches.
pub fn run(scene: &Scene) -> Result<()> {
    let program =
        std::env::var_os("SESLOG_PROGRAM").ok_or("SESLOG_PROGRAM names no seslog; benches/run.sh builds one")?;
    let program = PathBuf::from(program);
    let (count, size) = match scene.quick {
        true => (2, Size::Messages(1_000)),
        false => (10, Size::Bytes(10_000_000)),
    };
    let dir = scene.empty()?;
    let files = make(&dir, count, size)?;
    let bytes: u64 = files.iter().map(|file| Ok(std::fs::metadata(file)?.len())).sum::<Result<u64>>()?;
    let lines = scene.session(&Jsonl::CAREFUL, size)?;
    let search = |word: &str, found: usize| -> Result<Cost> {
        let watch = Watch::start();
        let hits = hits(&program, &dir, word)?;
        let cost = Cost { processor: 0.0, ..watch.stop(1) };
        if hits == found { Ok(cost) } else { Err(format!("{hits} messages have the word {word}").into()) }
    };
    // Before the first turn the index is there.
    search(RARE, 1)?;

    println!("### A word in {count} sessions, {} bytes, warm\n", digits(bytes as f64));
    println!("Seslog's time is that of a whole process, from its start to its end.\n");
    let racers = vec![
        Racer::new("limit", "every byte of the files looked at, one thread", || {
            let watch = Watch::start();
            let mut found = 0;
            for file in &files {
                let map = Map::new(&File::open(file)?, std::fs::metadata(file)?.len())?;
                found += memchr::memmem::find_iter(&map, RARE).count();
            }
            let cost = watch.stop(1);
            if found == 1 { Ok(cost) } else { Err("the word is not there once".into()) }
        }),
        Racer::new("**Seslog**", "`seslog search`: a word of one message", || search(RARE, 1)),
        Racer::new("Seslog, a common word", "`seslog search`: the best 50 of thousands", || search(COMMON, 50)),
        Racer::new("JSONL", "parses every line", || {
            let watch = Watch::start();
            for _ in 0..count {
                std::hint::black_box(Jsonl::USUAL.resume(&lines)?);
            }
            Ok(watch.stop(1))
        }),
    ];
    race(scene.rounds(7), racers)?.print("a search");

    println!("### The same where the index is missing\n");
    println!("It is only a cache, and made anew from the sessions.\n");
    let places = files.iter().map(|file| Place::of(file, true)).collect::<Result<Vec<_>>>()?;
    let racers = vec![
        Racer::new("limit", "map, owned decode of every event, one thread", || {
            let watch = Watch::start();
            for (place, file) in places.iter().zip(&files) {
                place.decode_each(file)?;
            }
            Ok(watch.stop(1))
        }),
        Racer::new("**Seslog**", "`seslog search`, after `.cache` was removed", || {
            std::fs::remove_dir_all(dir.join(".cache"))?;
            search(RARE, 1)
        }),
    ];
    race(scene.rounds(5), racers)?.print("a search");
    Ok(())
}

/// So many sessions, of which the last has a message with the rare word in its middle.
fn make(dir: &Path, count: usize, size: Size) -> Result<Vec<PathBuf>> {
    let store = Store::at(dir, SessionOptions::default());
    let mut files = Vec::new();
    for number in 1..=count {
        let session = store.create()?;
        let mut rare = (number == count).then(|| Message::user(format!("The {RARE} sleeps by day.")));
        for step in Story::of(size) {
            match step {
                Step::Say(message) => drop(session.append(message, Durability::Os)?),
                Step::Compact => drop(session.compact(Compaction::new(SUMMARY), Durability::Os)?),
            }
            if let Some(message) = rare.take() {
                drop(session.append(message, Durability::Os)?);
            }
        }
        files.push(session.log().path().to_path_buf());
        session.close()?;
    }
    Ok(files)
}

/// How many messages a search names.
fn hits(program: &Path, dir: &Path, word: &str) -> Result<usize> {
    let output = Command::new(program).args(["--json", "--store"]).arg(dir).args(["search", word]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let document: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    Ok(document["matches"].as_array().map_or(0, Vec::len))
}
