//! Prints what damage and power cuts leave of one session in Seslog and in what people use today, as two Markdown tables.
//! The numbers are the same in every run; `PEERS_PLACES` is how many places each kind of damage is done at (default 1000).

use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::seslog::log::Durability;
use ::seslog::sim::{Persistence, persistence};
use peers::closed::{self, End};
use peers::crash;
use peers::damage::ALL;
use peers::jsonl::Jsonl;
use peers::peer::Peer;
use peers::raft::{self, Raft};
use peers::seslog::Seslog;
use peers::sqlite::Sqlite;

const COMMAND: &str = "cargo run --release --locked --manifest-path benches/peers/Cargo.toml";
const MESSAGES: usize = 60;
/// Up to so many sectors in doubt are tried in every combination; above it, all states with so many exceptions.
const FULL_SECTORS: usize = 8;
const EXCEPTIONS: usize = 2;

const JSONL: Jsonl = Jsonl { sync: false };
const JSONL_SYNC: Jsonl = Jsonl { sync: true };
const NORMAL: Sqlite = Sqlite { synchronous: "NORMAL" };
const FULL: Sqlite = Sqlite { synchronous: "FULL" };
const RAFT: Raft = Raft { sync: false, file_size: 512 << 10 };
const RAFT_SMALL: Raft = Raft { sync: false, file_size: 16 << 10 };
const RAFT_SMALL_SYNC: Raft = Raft { sync: true, file_size: 16 << 10 };
const OS: Seslog = Seslog { durability: Durability::Os };
const SYNC: Seslog = Seslog { durability: Durability::Sync };

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    // What a store panics about is counted, not shown.
    std::panic::set_hook(Box::new(|_| {}));
    raft::listen();
    let places = std::env::var("PEERS_PLACES").ok().and_then(|text| text.parse().ok()).unwrap_or(1000);
    println!("`{COMMAND}`\n");
    damaged(places)?;
    power_cuts()
}

fn damaged(places: usize) -> Result<(), Failure> {
    let stores: [(&str, &dyn Peer, End); 6] = [
        ("JSONL", &JSONL, End::Closed),
        ("SQLite WAL, closed", &NORMAL, End::Closed),
        ("SQLite WAL, killed", &NORMAL, End::Killed),
        ("raft-engine", &RAFT, End::Closed),
        ("Seslog, closed", &SYNC, End::Closed),
        ("Seslog, killed", &SYNC, End::Killed),
    ];
    let rows = each(&stores, |(_, peer, end)| closed::run(*peer, *end, MESSAGES, places))?;
    println!(
        "| damage | store | places | refused | told | silent harm | no harm | wrong message given | its check misses | \
         unhit, not read | unhit, not repaired | wrong after the repair |"
    );
    println!("| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
    for (index, (_, what)) in ALL.iter().enumerate() {
        for ((name, _, _), rows) in stores.iter().zip(&rows) {
            let row = rows[index].1;
            let mean = |count: u64| format!("{:.1}", count as f64 / row.places.max(1) as f64);
            println!(
                "| {what} | {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                row.places,
                row.refused,
                row.told,
                row.silent,
                row.harmless,
                row.wrong,
                row.unfound,
                mean(row.beside),
                mean(row.beside_repaired),
                row.wrong_repaired
            );
            if row.panics > 0 {
                eprintln!("{what}, {name}: {} panics", row.panics);
            }
        }
    }
    println!();
    Ok(())
}

fn power_cuts() -> Result<(), Failure> {
    // The last column: whether an append that has returned is promised to be there.
    let stores: [(&str, &str, &dyn Peer, bool); 8] = [
        ("JSONL", "nothing", &JSONL, false),
        ("JSONL, each line synced", "each message", &JSONL_SYNC, true),
        ("SQLite WAL, NORMAL", "an unbroken beginning", &NORMAL, false),
        ("SQLite WAL, FULL", "each message", &FULL, true),
        ("raft-engine, not synced", "nothing that was not synced", &RAFT_SMALL, false),
        ("raft-engine, synced", "each message", &RAFT_SMALL_SYNC, true),
        ("Seslog, Os", "an unbroken beginning", &OS, false),
        ("Seslog, Sync", "each message", &SYNC, true),
    ];
    let models = [persistence::EXT4_ORDERED, persistence::ANYTHING];
    let jobs: Vec<(usize, Persistence)> =
        (0..stores.len()).flat_map(|store| models.map(|model| (store, model))).collect();
    let rows = each(&jobs, |(store, model)| crash::run(stores[*store].2, *model, FULL_SECTORS, EXCEPTIONS))?;
    println!(
        "| store | promises after a power cut | file system | states | refused | acknowledged lost | lost from before \
         the run | hole in the order | hole not told | wrong message given | can't go on | next append lost or harmful |"
    );
    println!("| --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
    for ((store, model), row) in jobs.iter().zip(rows) {
        let (name, promise, _, durable) = stores[*store];
        let lost = if durable { row.lost.to_string() } else { format!("({})", row.lost) };
        println!(
            "| {name} | {promise} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            model.name,
            row.count.distinct,
            row.refused,
            lost,
            row.base_lost,
            row.holes,
            row.silent_holes,
            row.wrong,
            row.stuck,
            row.next_lost
        );
        if row.panics > 0 {
            eprintln!("{name}, {}: {} panics", model.name, row.panics);
        }
    }
    Ok(())
}

/// Does all jobs, on two threads; the results are in the jobs' order.
fn each<J: Sync, T: Send>(jobs: &[J], run: impl Fn(&J) -> Result<T, Failure> + Sync) -> Result<Vec<T>, Failure> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((index, job)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    jobs.get(index).map(|job| (index, job))
                } {
                    let start = std::time::Instant::now();
                    let result = run(job);
                    if std::env::var_os("PEERS_TIMES").is_some() {
                        eprintln!("job {index}: {:?}", start.elapsed());
                    }
                    if let Ok(mut results) = results.lock() {
                        results.push((index, result));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().map_err(|error| error.to_string())?;
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
