//! Each single bit of each byte.

use crate::deep;
use crate::made::{End, rich};
use crate::oracle::{Case, Look};

fn every_bit(end: End) {
    let log = rich(end);
    let (mut flips, mut salvaged) = (0, 0);
    // What later frames vouch for is the same whatever the end; the deep run looks at it again.
    let vouched = log.frames.iter().map(|frame| frame.head.durable_end()).max().unwrap() as usize;
    let from = if end == End::Closed || deep() { 0 } else { vouched - 1000 };
    for at in from..log.bytes.len() {
        // Nothing but zeros stands in most of the page: a writer sees one byte in sixteen of that.
        let is_nothing = at < 4096 && log.bytes[at] == 0 && at % 16 != 3;
        for bit in 0..8 {
            let mut bytes = log.bytes.clone();
            bytes[at] ^= 1 << bit;
            let look = match () {
                () if deep() => Look::All,
                () if is_nothing => Look::Survey,
                () if bit == at % 8 && at % 3 == 0 => Look::All,
                () if bit == at % 8 => Look::Bytes,
                () => Look::Survey,
            };
            let _ = Case::of(&log, bytes, format!("{end:?}, bit {bit} of byte {at}")).check(look);
            flips += 1;
            salvaged += u32::from(look == Look::All);
        }
    }
    println!(
        "{end:?}: {flips} flips in {} bytes and {} frames, {salvaged} salvaged",
        log.bytes.len(),
        log.frames.len()
    );
}

#[test]
fn any_flipped_bit_of_a_closed_session_is_named_and_costs_the_record_that_it_hits() {
    every_bit(End::Closed);
}

#[test]
fn any_flipped_bit_of_a_session_whose_writer_was_killed_is_named_or_passes_as_its_torn_tail() {
    every_bit(End::Killed);
}
