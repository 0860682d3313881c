//! Any mixture of damage: salvaged, resumed, appended to, closed, verified; and a salvage of that is the same.

use crate::deep;
use crate::made::{End, Log, ages};
use crate::oracle::Case;
use crate::random::Random;

/// One kind of damage somewhere; `old` is the file at an earlier time.
fn bend(random: &mut Random, bytes: &mut Vec<u8>, old: &[u8]) -> &'static str {
    if bytes.len() < 600 {
        return "nothing";
    }
    let at = random.below(bytes.len() - 520);
    let size = [1, 8, 64, 512][random.below(4)];
    let range = at..at + size;
    match random.below(11) {
        0 | 1 => {
            bytes[at] ^= 1 << random.below(8);
            "a bit"
        }
        2 => {
            bytes[range].fill(0);
            "zeros"
        }
        3 => {
            bytes[range].fill(0xFF);
            "ones"
        }
        4 => {
            let junk = random.bytes(size);
            bytes[range].copy_from_slice(&junk);
            "junk"
        }
        5 => {
            let from = random.below(bytes.len() - size);
            bytes.copy_within(from..from + size, at);
            "doubled"
        }
        6 => {
            bytes.drain(range);
            "taken out"
        }
        7 => {
            let junk = random.bytes(size);
            bytes.splice(at..at, junk);
            "put in"
        }
        8 => {
            let len = bytes.len() - random.below(bytes.len() / 2);
            bytes.truncate(len);
            "cut"
        }
        9 => {
            let sector = at / 512 * 512;
            for at in sector..(sector + 512).min(bytes.len()) {
                bytes[at] = old.get(at).copied().unwrap_or(0);
            }
            "fallen back"
        }
        _ => {
            let junk = random.bytes(size);
            bytes.extend(junk);
            "garbage behind"
        }
    }
}

#[test]
fn whatever_is_damaged_what_was_salvaged_goes_on_and_is_whole() {
    let count = if deep() { 60_000 } else { 600 };
    let (mut kept, mut of) = (0, 0);
    for seed in 0..count {
        let mut random = Random::new(seed);
        let end = if random.below(2) == 0 { End::Closed } else { End::Killed };
        let (all, given_up) = SESSIONS.with(|sessions| sessions[usize::from(end == End::Killed)].clone());
        let log = Log::clone(&all.0);
        let mut bytes = log.bytes.clone();
        let old = &all.1[random.below(all.1.len())];
        let done: Vec<&str> = (0..=random.below(5)).map(|_| bend(&mut random, &mut bytes, old)).collect();
        let mut case = Case::of(&log, bytes, format!("seed {seed}: {done:?}"));
        case.strangers.clone_from(&given_up);
        kept += case.check_genuine().len();
        of += log.events().count();
    }
    println!("{count} damaged files: {kept} of {of} records kept");
}

type Made = (std::rc::Rc<(Log, Vec<Vec<u8>>)>, Vec<seslog::event::Event>);

thread_local! {
    static SESSIONS: [Made; 2] = [End::Closed, End::Killed].map(|end| {
        let mut all = ages(end, 1);
        let log = Log::of(all.pop().unwrap());
        let given_up = Log::of(all[1].clone()).events().cloned().collect();
        (std::rc::Rc::new((log, all)), given_up)
    });
}
