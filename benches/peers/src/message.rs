//! The session that every store gets: messages whose every word says to which message it belongs.

use std::ops::Range;

use crate::random::Random;

/// Length of a word with the blank behind it.
const WORD: usize = 10;

/// So many messages of 100 bytes to 4 KiB each, always the same.
pub fn messages(count: usize) -> Vec<String> {
    let mut random = Random::at(7);
    (0..count)
        .map(|number| {
            // Short ones are more frequent than long ones, as in a real session.
            let octave = 100_u64 << (random.bits() % 5);
            text(number, (octave + random.bits() % (octave + 1)).min(4096) as usize)
        })
        .collect()
}

/// The text of one message, of about this length in bytes.
pub fn text(number: usize, len: usize) -> String {
    (0..len / WORD).map(|word| format!("m{number:03}w{word:04} ")).collect()
}

/// Which bytes of a file belong to which message: its text, and what lies between two texts that are near each other,
/// which belongs to both, since it is the one's end or the other's beginning.
pub fn owners(bytes: &[u8]) -> Vec<Vec<usize>> {
    let mut owners = vec![Vec::new(); bytes.len()];
    let spans = spans(bytes);
    for (span, number) in &spans {
        owners[span.clone()].iter_mut().for_each(|of| of.push(*number));
    }
    // More than this between two texts is no framing of theirs but a structure of the file's own.
    let near = 256;
    let ends = std::iter::once((0..0, None)).chain(spans.iter().map(|(span, number)| (span.clone(), Some(*number))));
    let begins = spans.iter().map(|(span, number)| (span.clone(), Some(*number)));
    let begins = begins.chain(std::iter::once((bytes.len()..bytes.len(), None)));
    for ((before, one), (after, other)) in ends.zip(begins) {
        if after.start.saturating_sub(before.end) <= near {
            owners[before.end..after.start].iter_mut().for_each(|of| of.extend([one, other].into_iter().flatten()));
        } else {
            // The framing right before a text and right behind it is its own.
            let head = after.start.saturating_sub(160)..after.start;
            owners[head].iter_mut().for_each(|of| of.extend(other));
            let tail = before.end..before.end + 16;
            owners[tail].iter_mut().for_each(|of| of.extend(one));
        }
    }
    owners
}

/// The stretches of text in a file, with the message that each is of.
fn spans(bytes: &[u8]) -> Vec<(Range<usize>, usize)> {
    let mut spans: Vec<(Range<usize>, usize)> = Vec::new();
    let mut at = 0;
    while at + WORD <= bytes.len() {
        let Some(number) = word(&bytes[at..at + WORD]) else {
            at += 1;
            continue;
        };
        match spans.last_mut() {
            // Half a word is missing where a page ends.
            Some((span, last)) if *last == number && at - span.end < 3 * WORD => span.end = at + WORD,
            _ => spans.push((at..at + WORD, number)),
        }
        at += WORD;
    }
    spans
}

fn word(bytes: &[u8]) -> Option<usize> {
    let digits = |range: Range<usize>| std::str::from_utf8(&bytes[range]).ok()?.parse::<u16>().ok();
    let framed = bytes[0] == b'm' && bytes[4] == b'w' && bytes[9] == b' ';
    digits(5..9).and(digits(1..4)).filter(|_| framed).map(usize::from)
}
