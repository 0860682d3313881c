//! What a session takes on the disk.

use seslog::log::Durability;

use crate::Result;
use crate::limits::Place;
use crate::measure::digits;
use crate::peer::Peer;
use crate::peer::fjall::Fjall;
use crate::peer::jsonl::Jsonl;
use crate::peer::lmdb::Lmdb;
use crate::peer::redb::Redb;
use crate::peer::seslog::{Compressed, Seslog, file};
use crate::peer::sqlite::Sqlite;
use crate::scene::{Goal, Scene, bytes_of};
use crate::session::Size;

const SESLOG: Seslog = Seslog(Durability::Os);

/// The table of sizes.
pub fn run(scene: &Scene) -> Result<()> {
    println!("### Bytes on disk\n");
    println!("Goal: at most 1.15 times the events' MessagePack, INDEX frames included, and less than JSON lines.\n");
    println!("| session | who | bytes | ÷ MessagePack | ÷ JSON lines |\n| --- | --- | --: | --: | --: |");
    let small = if scene.quick { 100_000 } else { 1_000_000 };
    let sizes = scene.sizes();
    let rows = |what: &str, make: &dyn Fn(&dyn Peer) -> Result<std::path::PathBuf>| -> Result<()> {
        let payload = Place::of(&file(&make(&SESLOG)?), true)?.payload_len() as f64;
        let lines = bytes_of(&make(&Jsonl::CAREFUL)?)? as f64;
        let peers: [&dyn Peer; 7] = [
            &SESLOG,
            &Compressed,
            &Jsonl::CAREFUL,
            &Sqlite::Normal,
            &Redb { sync: true },
            &Fjall { sync: true },
            &Lmdb { sync: true },
        ];
        for peer in peers {
            let bytes = bytes_of(&make(peer)?)? as f64;
            let name = if peer.kind().starts_with("JSONL") { "JSONL" } else { peer.kind() };
            println!(
                "| {what} | {name} | {} | {} | {} |",
                digits(bytes),
                digits(bytes / payload),
                digits(bytes / lines)
            );
        }
        // The goal is that of an agent's session.
        if what.contains("small") {
            return Ok(());
        }
        let ours = bytes_of(&make(&SESLOG)?)? as f64;
        scene.goal(format!("bytes of the log ÷ MessagePack, {what}"), Goal::AtMost(1.15), [ours / payload; 3]);
        scene.goal(format!("bytes of the log ÷ JSON lines, {what}"), Goal::AtMost(1.0), [ours / lines; 3]);
        Ok(())
    };
    rows("1k messages", &|peer| scene.session(peer, Size::Messages(1_000)))?;
    for (name, size) in sizes.into_iter().filter(|(_, size)| *size != Size::Messages(1_000)) {
        rows(name, &|peer| scene.session(peer, size))?;
    }
    rows(&format!("{} small records", digits(small as f64)), &|peer| scene.small(peer, small))?;
    println!();
    Ok(())
}
