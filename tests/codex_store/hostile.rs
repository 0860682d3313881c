//! Hostile bytes: no panic, nothing lost in silence, and work that grows with the file alone.

use serde_json::json;
use seslog::interop::codex::{Imported, Options, read};

use crate::odd::{File, message};
use crate::{samples, with_session};

/// A small generator of random numbers, so that a failure can be repeated by its seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count.max(1)
    }
}

fn read_all(bytes: &[u8]) -> Imported {
    let imported = read(bytes, &Options::default()).unwrap();
    let limit = 64 * bytes.len() as u64 + (1 << 16);
    assert!(imported.cost.bytes <= limit && imported.cost.steps <= limit, "{:?} for {}", imported.cost, bytes.len());
    imported
}

/// Cuts, doubled lines, lines out of order, NUL bytes, bytes that are no UTF-8, torn ends.
fn broken(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..1 + dice.below(6) {
        let (from, to) = (dice.below(lines.len()), dice.below(lines.len()));
        let at = dice.below(lines[from].len());
        match dice.below(7) {
            0 => drop(lines.remove(from)),
            1 => lines.insert(to, lines[from].clone()),
            2 => lines.swap(from, to),
            3 => lines[from].truncate(at),
            4 => lines[from].splice(at..at, [0; 9]).for_each(drop),
            5 => lines[from].splice(at..at, *b"\xff{\"").for_each(drop),
            _ => drop(lines[from].pop()),
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.concat()
}

#[test]
fn broken_files_are_read_and_stored_and_known_when_they_come_again() {
    let samples = samples();
    for seed in 0..140 {
        let mut dice = Dice(seed);
        let (name, bytes) = &samples[seed as usize % samples.len()];
        let bytes = broken(bytes, &mut dice);
        let imported = read_all(&bytes);
        with_session(|session| {
            let (first, _) = imported.clone().feed(session, "s").unwrap();
            assert!(first.refused.is_empty() && first.missing.is_empty(), "{name}, seed {seed}: {first:?}");
            assert_eq!(first.written + first.known, imported.events.len(), "{name}, seed {seed}");
            let (again, _) = imported.feed(session, "s").unwrap();
            assert_eq!(again.written, 0, "{name}, seed {seed}: {again:?}");
        });
    }
}

#[test]
fn every_cut_of_a_file_is_read() {
    for (_, bytes) in samples() {
        for cut in (0..bytes.len()).step_by(37) {
            let _ = read_all(&bytes[..cut]);
            let _ = read_all(&bytes[cut..]);
        }
    }
}

#[test]
fn many_compactions_and_rollbacks_cost_no_more_than_the_file_is_long() {
    let mut file = File::begun();
    for turn in 0..3000 {
        file.user(&format!("Turn {turn}."));
    }
    for _ in 0..3000 {
        file.put("compacted", &json!({"message": "m"}));
    }
    let imported = read_all(file.0.as_bytes());
    // All persons' words, as often as a file may name them.
    assert!(imported.report.context.len() > 8, "{}", imported.report.context.len());
    assert!(imported.report.warnings.iter().any(|warning| warning.code == "context_may_differ"));
    let mut file = File::begun();
    for turn in 0..3000 {
        file.user(&format!("Turn {turn}.")).left(&[message("user", "Sum."), message("user", "Turn 0.")]).back(1);
        file.user("<environment_context>");
    }
    let imported = read_all(file.0.as_bytes());
    assert_eq!(imported.report.rollbacks.len(), 3000);
}
