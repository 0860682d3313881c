//! No field of the log's own frames is there for nothing: each is bent, with all checksums right, in a log that holds every type
//! of frame, and something that a reader says must change. (What the fields of headers answer, `log_fields.rs` tests.)
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod log_support;
mod spec_support;

use log_support::{disk_with, read, reseal_chain};
use serde_json::{Value, json};
use seslog::log::{Durability, LogOptions, LogReader};
use spec_support::bend::{frame_len, frame_offsets};
use spec_support::document::document;
use spec_support::story::*;

/// A log of two INDEX frames, an OPEN that steps over a torn record, and a MARK at the end.
fn log() -> Vec<u8> {
    let mut story = Story::with(new_log(), LogOptions::default().index_records(16), 0);
    story.put(meta(1, "A title"));
    story.put(user(2, None, "Hi."));
    story.put(result(3, 2));
    story.write(&[boundary(4, 3, &[3]), summary(5, 4)], Durability::Sync);
    story.put(tombstone(6, &[2]));
    for number in 7..=40 {
        story.put(user(number, Some(number - 1), "So."));
    }
    let whole = story.bytes();
    let (mut story, _) = story.reopened(&whole[..whole.len() - 20]);
    story.put(user(41, Some(39), "Behind the torn one."));
    story.close()
}

/// The last frame of a type.
fn last_of(file: &[u8], frame_type: u8) -> usize {
    let mut found = 0;
    let mut at = 4096;
    // Over what the OPEN has set aside as well.
    while at + 64 <= file.len() {
        if file[at..at + 4] == [0xC1, b'S', b'L', b'F'] && file[at + 12] == frame_type {
            found = at;
        }
        at += 8;
    }
    found
}

/// Everything that readers say: the document without the bare echo of the bytes, what look-ups find, and how much they read.
fn said(file: &[u8]) -> Value {
    let mut doc = document(file);
    for frame in doc["frames"].as_array_mut().into_iter().flatten() {
        frame.as_object_mut().unwrap().remove("crc32");
    }
    let find = |reader: &LogReader| -> Value {
        let places = (1..=42).map(|number| reader.find(uid(number)).ok().flatten().map(|found| found.offset));
        let targets = (1..=42).map(|number| reader.targets_of(uid(number)).unwrap_or_default());
        json!([places.collect::<Vec<_>>(), targets.collect::<Vec<_>>(), reader.io().bytes_read])
    };
    let found = read(&disk_with(file)).map_or(Value::Null, |(reader, _)| find(&reader));
    json!([doc, found])
}

/// Bends bytes of the payload of the frame at `frame`, makes all checksums right again, an INDEX head's too.
fn bent(file: &[u8], frame: usize, field: usize, bend: impl Fn(&mut [u8])) -> Vec<u8> {
    let mut bytes = file.to_vec();
    let payload = frame + 64;
    bend(&mut bytes[payload + field..]);
    if bytes[frame + 12] == 18 {
        let sum = log_support::crc32(&[&(payload as u64).to_le_bytes(), &bytes[payload..payload + 136]]);
        bytes[payload + 136..payload + 140].copy_from_slice(&sum.to_le_bytes());
    }
    let last = frame + frame_len(&bytes, frame) == bytes.len();
    reseal_chain(&mut bytes, frame);
    assert!(last || bytes != file);
    bytes
}

fn matters(what: &str, file: &[u8], frame: usize, field: usize, bend: impl Fn(&mut [u8])) {
    let bytes = bent(file, frame, field, bend);
    assert_ne!(bytes, file, "{what}");
    assert_ne!(said(&bytes), said(file), "{what}: nobody minds");
}

fn up(bytes: &mut [u8]) {
    bytes[0] ^= 8;
}

#[test]
fn the_unbent_log_is_sound_and_resealing_changes_nothing() {
    let file = log();
    let doc = document(&file);
    assert_eq!((&doc["verdict"], doc["survey"]["set_aside"].as_array().unwrap().len()), (&json!("recovered"), 1));
    assert_eq!(bent(&file, last_of(&file, 17), 0, |_| ()), file);
    assert!(frame_offsets(&file).len() > 40);
}

#[test]
fn every_field_of_the_state_block_and_of_an_open_matters() {
    let file = log();
    // In the OPEN the state counts until the MARK; the MARK's counts at the end.
    let (open, mark) = (last_of(&file, 16), last_of(&file, 17));
    let killed = &file[..mark];
    for (name, frame, bytes) in [("OPEN", open, killed), ("MARK", mark, &file[..])] {
        for (field, at) in [("meta_offset", 0), ("last_index", 24), ("records", 32)] {
            matters(&format!("{field} in {name}"), bytes, frame, at, up);
        }
        // In front of the largest id among the records behind it, so that it is not outdone.
        matters(&format!("last_id in {name}"), bytes, frame, 8, |id| id[0] = 0x7F);
    }
    matters("skip_from", &file, open, 40, up);
    matters("cause", &file, open, 48, |cause| cause[0] = 3);
}

#[test]
fn every_field_of_an_index_head_matters() {
    let file = log();
    let (index, open) = (last_of(&file, 18), last_of(&file, 16));
    // Without the OPEN and what it has set aside, the state comes from the INDEX.
    let end = u64::from_le_bytes(file[open + 104..open + 112].try_into().unwrap()) as usize;
    let mut file = file[..end].to_vec();
    file[1024..1040].fill(0);
    for (field, at) in [("meta_offset", 0), ("records", 32)] {
        matters(field, &file, index, at, up);
    }
    matters("last_id", &file, index, 8, |id| id[0] = 0x7F);
    matters("level", &file, index, 40, |level| level[0] = 3);
    matters("latest", &file, index, 48, |latest| latest[..8].fill(0));
    matters("covers_to", &file, index, 84, |place| place[1] ^= 0x10);
    matters("record_rows", &file, index, 92, |rows| rows[0] -= 1);
    matters("target_rows", &file, index, 96, |rows| rows[0] += 1);
    matters("blocks", &file, index, 100, |blocks| blocks[0] = 0);
    matters("first", &file, index, 104, |id| id[..16].fill(0xFF));
    matters("last", &file, index, 120, |id| id[..16].fill(0));
}
