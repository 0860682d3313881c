//! Sectors and pages zeroed, 0xFF, random, doubled, swapped, fallen back to older content; cuts at every length.

use crate::made::{End, Log, ages};
use crate::oracle::{Case, Look};
use crate::random::Random;

const SIZES: [usize; 2] = [512, 4096];

fn each_block(end: End, mut bend: impl FnMut(&mut Vec<u8>, std::ops::Range<usize>) -> String) {
    let log = ages(end, 1).pop().map(Log::of).unwrap();
    for size in SIZES {
        for from in (0..log.bytes.len()).step_by(size) {
            let mut bytes = log.bytes.clone();
            let block = from..(from + size).min(bytes.len());
            let what = bend(&mut bytes, block);
            let mut case = Case::of(&log, bytes, format!("{end:?}, {size} bytes from {from}: {what}"));
            // Whole frames that stand elsewhere, where no other whole frame is left, are found there.
            case.shuffled = true;
            let _ = case.check(Look::All);
        }
    }
}

#[test]
fn a_block_of_zeros_of_ones_or_of_junk_costs_the_records_that_it_hits() {
    for end in [End::Closed, End::Killed] {
        each_block(end, |bytes, block| {
            bytes[block].fill(0);
            "zeros".to_owned()
        });
        each_block(end, |bytes, block| {
            bytes[block].fill(0xFF);
            "ones".to_owned()
        });
        for seed in 0..3 {
            let mut random = Random::new(seed);
            each_block(end, |bytes, block| {
                let junk = random.bytes(block.len());
                bytes[block].copy_from_slice(&junk);
                format!("junk, seed {seed}")
            });
        }
    }
}

#[test]
fn a_doubled_or_a_swapped_block_is_no_record_at_its_new_place() {
    for end in [End::Closed, End::Killed] {
        for other in 0..20 {
            let place = |bytes: &[u8], len: usize| (other * 512) % (bytes.len() - len + 1) / 512 * 512;
            each_block(end, |bytes, block| {
                let from = place(bytes, block.len());
                bytes.copy_within(from..from + block.len(), block.start);
                format!("those from {from} doubled")
            });
            each_block(end, |bytes, block| {
                let from = place(bytes, block.len());
                let (len, mine) = (block.len(), bytes[block.clone()].to_vec());
                if from + len > block.start && block.end > from {
                    return "not swapped with itself".to_owned();
                }
                bytes.copy_within(from..from + len, block.start);
                bytes[from..from + len].copy_from_slice(&mine);
                format!("swapped with those from {from}")
            });
        }
    }
}

#[test]
fn a_block_that_falls_back_to_older_content_costs_the_records_that_are_not_in_it_and_no_more() {
    for end in [End::Closed, End::Killed] {
        let mut ages = ages(end, 1);
        let log = Log::of(ages.pop().unwrap());
        let given_up = Log::of(ages[1].clone());
        let mut count = 0;
        for (age, old) in ages.iter().enumerate() {
            for size in SIZES {
                for from in (0..log.bytes.len()).step_by(size) {
                    let mut bytes = log.bytes.clone();
                    for at in from..(from + size).min(bytes.len()) {
                        bytes[at] = old.get(at).copied().unwrap_or(0);
                    }
                    let what = format!("{end:?}, {size} bytes from {from} of age {age}");
                    let mut case = Case::of(&log, bytes, what);
                    case.strangers = given_up.events().cloned().collect();
                    let _ = case.check(Look::All);
                    count += 1;
                }
            }
        }
        println!("{end:?}: {count} blocks fell back");
    }
}

#[test]
fn a_file_cut_at_any_byte_keeps_what_lies_before_and_says_what_is_missing() {
    for end in [End::Closed, End::Killed] {
        let log = ages(end, 1).pop().map(Log::of).unwrap();
        for len in 0..log.bytes.len() {
            let look = if len % 29 == 0 || crate::deep() { Look::All } else { Look::Survey };
            let _ = Case::of(&log, log.bytes[..len].to_vec(), format!("{end:?}, cut at {len}")).check(look);
        }
    }
}
