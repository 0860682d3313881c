//! The golden logs of `format-spec/vectors/`: how each is made, and what must come of it. Nothing here depends on a clock, a
//! thread or chance, so the same bytes come out each time.

use seslog::log::{Durability, LogOptions, NewLog, ParentLink};

use super::bend::*;
use super::story::*;
use crate::log_support::{crc32, reseal, reseal_chain, reseal_header};

/// A golden log.
pub struct Vector {
    pub name: &'static str,
    /// What it shows, in one line.
    pub what: &'static str,
    pub bytes: Vec<u8>,
    /// The verdict over everything in the file.
    pub verdict: &'static str,
    /// Numbers of the records that are accepted, in order.
    pub records: Vec<u64>,
}

fn vector(name: &'static str, what: &'static str, bytes: Vec<u8>, verdict: &'static str, records: &[u64]) -> Vector {
    Vector { name, what, bytes, verdict, records: records.to_vec() }
}

/// All of them.
pub fn all() -> Vec<Vector> {
    [healthy(), tails(), damaged(), pages(), versions(), odd()].into_iter().flatten().collect()
}

/// A log of `count` messages, each synced; where they stand.
fn chat(count: u64) -> (Story, Vec<usize>) {
    let mut story = Story::new();
    let offsets =
        (1..=count).map(|number| story.put(user(number, (number > 1).then(|| number - 1), "Hello."))).collect();
    (story, offsets)
}

/// Three messages and a clean close: the file, and where the messages stand.
fn closed() -> (Vec<u8>, Vec<usize>) {
    let (story, offsets) = chat(3);
    (story.close(), offsets)
}

fn healthy() -> Vec<Vector> {
    let one = chat(1).0;
    let mut batch = chat(1).0;
    batch.write(&[assistant(2, 1, "I'll look."), started(3), result(4, 2)], Durability::Sync);

    let mut compacted = chat(3).0;
    compacted.write(&[boundary(4, 3, &[3]), summary(5, 4)], Durability::Sync);
    compacted.put(user(6, Some(5), "Go on."));

    let mut hints = chat(2).0;
    hints.put(result(3, 2));
    hints.put(meta(4, "A title"));
    hints.put(tombstone(5, &[1, 2]));

    let mut changes = chat(3).0;
    changes.put(tombstone(4, &[1]));
    changes.put(amend(5, 2));
    changes.put(prune(6, &[2, 3]));

    let mut heads = chat(2).0;
    heads.put(head(3, None));
    heads.put(user(4, None, "Once more."));
    heads.put(head(5, Some(2)));

    let (reopened, _) = chat(1).0.close_and_reopen();
    let mut compressed = Story::with(new_log().compressed(true), LogOptions::default(), 0);
    compressed.put(squeezed(user(1, None, &"a long text, ".repeat(30)), 0));
    compressed.put(user(2, Some(1), "A short one."));

    let mut reopened = reopened;
    reopened.put(user(2, Some(1), "Back again."));

    let parent = ParentLink { log: uid(900), event: uid(901) };
    let mut forked = Story::with(new_log().parent(Some(parent)), LogOptions::default(), 0);
    forked.put(user(1, None, "On another path."));

    let mut killed = chat(1).0;
    killed.leave(user(2, Some(1), "Not synced."));

    vec![
        vector("empty", "a new log without a frame", Story::new().kill(), "clean", &[]),
        vector("one_record", "OPEN, one record, MARK", one.close(), "clean", &[1]),
        vector("batch", "a batch of three, the last one a result", batch.close(), "clean", &[1, 2, 3, 4]),
        vector("compaction", "a batch of BOUNDARY and summary", compacted.close(), "clean", &[1, 2, 3, 4, 5, 6]),
        vector("every_type", "every type of frame, an INDEX among them", every_type().close(), "clean", &numbers(20)),
        vector("hints", "each class of hint", hints.close(), "clean", &[1, 2, 3, 4, 5]),
        vector("changes", "tombstone, amend, prune", changes.close(), "clean", &[1, 2, 3, 4, 5, 6]),
        vector(
            "head_none",
            "HEAD before the first message, and one to a leaf",
            heads.close(),
            "clean",
            &[1, 2, 3, 4, 5],
        ),
        vector("opened_twice", "closed, opened and closed again", reopened.close(), "clean", &[1, 2]),
        vector("compressed", "a compressed event and a plain one", compressed.close(), "clean", &[1, 2]),
        vector("forked", "a log with a parent", forked.close(), "clean", &[1]),
        vector("killed", "the writer was killed behind a record that was not synced", killed.kill(), "clean", &[1, 2]),
    ]
}

/// The item with its event in a zstd frame of one block that is stored as it is: no compressor's version has a say in these bytes.
/// `more` is how much longer the frame says that its content is.
fn squeezed(mut item: Item, more: u32) -> Item {
    let len = u32::try_from(item.payload.len()).unwrap();
    let block = (len << 3 | 1).to_le_bytes();
    let frame = [&[0x28, 0xB5, 0x2F, 0xFD, 0xA0][..], &(len + more).to_le_bytes(), &block[..3], &item.payload].concat();
    let head = [&[0xC8][..], &u16::try_from(frame.len()).unwrap().to_be_bytes(), &[2]].concat();
    item.payload = [head, frame].concat();
    item
}

fn numbers(count: u64) -> Vec<u64> {
    (1..=count).collect()
}

/// Twenty records; an INDEX is due after sixteen.
fn every_type() -> Story {
    let mut story = Story::with(new_log(), LogOptions::default().index_records(16), 0);
    story.put(meta(1, "Everything"));
    story.put(user(2, None, "Hi."));
    story.put(assistant(3, 2, "Hm."));
    story.put(result(4, 3));
    story.write(&[boundary(5, 4, &[4]), summary(6, 5)], Durability::Sync);
    story.put(amend(7, 3));
    story.put(tombstone(8, &[2, 3]));
    story.put(head(9, Some(4)));
    for number in 10..=20 {
        story.put(user(number, Some(number - 1), "So."));
    }
    story
}

fn tails() -> Vec<Vector> {
    let (story, at) = chat(3);
    let open = story.kill();
    let cut = |len: usize| open[..len].to_vec();

    let mut holed = chat(1).0;
    let second = holed.leave(user(2, Some(1), "Lost."));
    let third = holed.leave(user(3, Some(2), "Behind the hole."));
    let holed = holed.kill();

    let mut half = chat(1).0;
    half.write(&[user(2, Some(1), "a"), user(3, Some(2), "b"), user(4, Some(3), "c")], Durability::Sync);
    let half = half.kill();
    let last = *frame_offsets(&half).last().unwrap();

    let (mut torn, _) = chat(3).0.reopened(&cut(at[2] + 90));
    torn.put(user(4, Some(2), "After it."));

    // The OPEN of the recovery is torn as well; the next one names the same place.
    let first = recovered(&cut(at[2] + 90)).expect("a recovery");
    let (mut twice, _) = chat(3).0.reopened(&first[..first.len() - 40]);
    twice.put(user(4, Some(2), "After two."));

    let (mut stepped, _) = chat(1).0.reopened(&zeroed(&holed, second, third));
    stepped.put(user(4, Some(1), "Over the hole."));
    let (mut stepped_batch, _) = chat(1).0.reopened(&half[..last]);
    stepped_batch.put(user(5, Some(1), "Over the batch."));

    let zeros = |count: usize| bent(&closed().0, |bytes| bytes.resize(bytes.len() + count, 0));
    let ahead = |file: &[u8]| bent(file, |bytes| bytes.resize(bytes.len() + 8_000, 0));
    let torn_zeros = bent(&open, |bytes| bytes[at[2] + 100..].fill(0));
    vec![
        vector("torn_tail", "the last record is cut", cut(at[2] + 90), "recovered", &[1, 2]),
        vector("torn_header", "the last record is cut inside its header", cut(at[2] + 33), "recovered", &[1, 2]),
        vector("torn_before_zeros", "the last record is torn before zeros", torn_zeros, "recovered", &[1, 2]),
        vector(
            "stale_tail",
            "bytes of another file behind the end",
            bent(&closed().0, |bytes| bytes.extend([0x5A; 200])),
            "recovered",
            &[1, 2, 3],
        ),
        vector(
            "unsynced_hole",
            "a hole before a whole record, none of them synced",
            zeroed(&holed, second, third),
            "recovered",
            &[1],
        ),
        vector("half_batch", "a batch without its last record", half[..last].to_vec(), "recovered", &[1]),
        vector("open_after_torn_tail", "an OPEN steps over a torn record", torn.close(), "recovered", &[1, 2, 4]),
        vector(
            "open_after_torn_open",
            "the second OPEN steps over a torn one and names the same place",
            twice.close(),
            "recovered",
            &[1, 2, 4],
        ),
        vector(
            "open_after_hole",
            "an OPEN steps over a hole and the whole record behind it",
            stepped.close(),
            "recovered",
            &[1, 4],
        ),
        vector(
            "open_after_half_batch",
            "an OPEN steps over a batch, from its first record",
            stepped_batch.close(),
            "recovered",
            &[1, 5],
        ),
        vector("zero_tail", "thirteen zero bytes behind the end", zeros(13), "clean", &[1, 2, 3]),
        vector("zero_tail_page", "4,096 zero bytes behind the end", zeros(4096), "clean", &[1, 2, 3]),
        vector("zeros_ahead", "killed, with 8,000 zeros ahead", ahead(&open), "clean", &[1, 2, 3]),
        vector(
            "torn_in_zeros",
            "the last record is torn in zeros ahead",
            ahead(&cut(at[2] + 90)),
            "recovered",
            &[1, 2],
        ),
    ]
}

fn damaged() -> Vec<Vector> {
    let (whole, at) = closed();
    let second = at[1];
    let flip = |offset: usize| flipped(&whole, offset);

    let mut other = Story::with(new_log(), LogOptions::default(), 64);
    let placed = [1, 2, 3].map(|number| other.put(user(number, (number > 1).then(|| number - 1), "Hello.")));
    assert_eq!(placed[..], at[..]);
    let other = other.close();
    let foreign = bent(&whole, |bytes| bytes[second..at[2]].copy_from_slice(&other[second..at[2]]));
    let moved = bent(&whole, |bytes| bytes.copy_within(second..at[2], at[2]));

    // A payload that quotes a frame of this log, and damage before it.
    let mut quoting = chat(2).0;
    let quote = quoting.bytes();
    let mut quoted = user(3, Some(2), "");
    quoted.payload = quote[at[0]..at[1]].to_vec();
    quoting.put(quoted);
    quoting.put(user(4, Some(3), "The end."));
    let quoting = quoting.close();

    let mut batch = chat(1).0;
    let places = batch.write(&[user(2, Some(1), "a"), user(3, Some(2), "b"), user(4, Some(3), "c")], Durability::Sync);
    batch.put(user(5, Some(4), "Behind the batch."));
    let batch = batch.close();
    let in_batch = |index: usize| places[index] as usize;

    let indexed = every_type().close();
    let index = frame_offsets(&indexed).into_iter().find(|at| indexed[at + 12] == 18).expect("an INDEX");

    let inserted = bent(&whole, |bytes| drop(bytes.splice(at[0] + 80..at[0] + 80, [1, 2, 3, 4, 5])));
    let chain = bent(&whole, |bytes| {
        bytes[second + 24] ^= 1;
        reseal(bytes, second);
    });
    vec![
        vector("zeroed_frame", "a durable record is zero", zeroed(&whole, second, at[2]), "damaged", &[1]),
        vector("flip_header", "a bit in the header of a durable record", flip(second + 50), "damaged", &[1, 3]),
        vector("flip_hcrc", "a bit in a header's checksum", flip(second + 5), "damaged", &[1, 3]),
        vector("flip_payload", "a bit in a durable payload", flip(second + 70), "damaged", &[1, 3]),
        vector("flip_trailer", "a bit in the trailer of a durable record", flip(at[2] - 8), "damaged", &[1, 3]),
        vector(
            "flip_last",
            "a bit in the last record of a log that was not closed",
            flipped(&chat(3).0.kill(), at[2] + 70),
            "recovered",
            &[1, 2],
        ),
        vector(
            "two_lost",
            "two durable records in a row are zero: what follows is orphaned",
            zeroed(&whole, at[0], at[2]),
            "damaged",
            &[],
        ),
        vector("wrong_file_tag", "a block of another log at the same place", foreign, "damaged", &[1]),
        vector("moved_block", "a record stands doubled where another one had been", moved, "damaged", &[1, 2]),
        vector("wrong_chain", "a record that fits behind another one", chain, "damaged", &[1]),
        vector(
            "quoted_frame",
            "a record quotes a frame of this log, next to damage",
            flipped(&quoting, at[1] + 4),
            "damaged",
            &[1, 3, 4],
        ),
        vector(
            "batch_first_lost",
            "the first record of a durable batch is damaged",
            flipped(&batch, in_batch(0) + 70),
            "damaged",
            &[1, 5],
        ),
        vector(
            "batch_middle_lost",
            "the middle of a durable batch is zero",
            zeroed(&batch, in_batch(1) + 8, in_batch(2) - 8),
            "damaged",
            &[1, 5],
        ),
        vector(
            "batch_last_lost",
            "the end of a durable batch is damaged: what follows counts",
            flipped(&batch, in_batch(2) + 70),
            "damaged",
            &[1, 5],
        ),
        vector(
            "index_damaged",
            "a bit in the payload of an INDEX",
            flipped(&indexed, index + 300),
            "damaged",
            &numbers(20),
        ),
        vector("inserted_bytes", "five bytes were put in: what follows is displaced", inserted, "damaged", &[]),
        vector(
            "mark_in_front",
            "an editor put a byte-order mark in front of the file: everything is displaced, the header too",
            [b"\xEF\xBB\xBF".as_slice(), &whole].concat(),
            "damaged",
            &[],
        ),
        vector(
            "page_shortened",
            "the first header copy and what is behind it up to the second was taken out",
            [&whole[..0], &whole[2100..]].concat(),
            "damaged",
            &[],
        ),
        vector(
            "cut_at_frame",
            "cut at the end of a record, below the watermark",
            whole[..at[2]].to_vec(),
            "damaged",
            &[1, 2],
        ),
        vector(
            "watermark_beyond",
            "the watermark speaks of more than there is",
            bent(&whole, |bytes| watermark(bytes, 1 << 20)),
            "damaged",
            &[1, 2, 3],
        ),
        vector("watermark_torn", "the watermark's checksum is wrong: it is ignored", flip(1024), "clean", &[1, 2, 3]),
    ]
}

fn watermark(bytes: &mut [u8], durable_end: u64) {
    bytes[1024..1032].copy_from_slice(&durable_end.to_le_bytes());
    let sum = crc32(&[&bytes[1024..1036]]);
    bytes[1036..1040].copy_from_slice(&sum.to_le_bytes());
}

fn pages() -> Vec<Vector> {
    let (whole, _) = closed();
    let both = bent(&whole, |bytes| {
        bytes[40] ^= 1;
        bytes[2048 + 40] ^= 1;
    });
    let differing = bent(&whole, |bytes| {
        bytes[2048 + 104] ^= 1;
        reseal_header(bytes, 2048);
    });
    let b_newer = bent(&whole, |bytes| {
        bytes[2048 + 8] = 2;
        reseal_header(bytes, 2048);
    });
    vec![
        vector("header_a_bad", "copy A of the header is bad", flipped(&whole, 40), "damaged", &[1, 2, 3]),
        vector("header_b_bad", "copy B of the header is bad", flipped(&whole, 2048 + 90), "damaged", &[1, 2, 3]),
        vector("header_both_bad", "both copies are bad", both, "damaged", &[1, 2, 3]),
        vector("header_copies_differ", "both copies are good and differ", differing, "damaged", &[1, 2, 3]),
        vector("header_b_newer", "copy B is of another major version", b_newer, "damaged", &[1, 2, 3]),
        vector(
            "page_stray_byte",
            "a byte between the copies is not zero",
            flipped(&whole, 3000),
            "damaged",
            &[1, 2, 3],
        ),
        vector(
            "header_half",
            "the file ends in the header page, behind copy A",
            whole[..1000].to_vec(),
            "damaged",
            &[],
        ),
        vector("header_cut", "the file ends inside copy A", whole[..60].to_vec(), "not_a_log", &[]),
        vector("zero_length", "no byte at all", Vec::new(), "not_a_log", &[]),
        vector("all_zero", "zeros only", vec![0; 5000], "not_a_log", &[]),
        vector("junk", "text", b"This is no log. ".repeat(300), "not_a_log", &[]),
    ]
}

fn versions() -> Vec<Vector> {
    let (whole, at) = closed();
    let header = |bend: &dyn Fn(&mut [u8])| {
        bent(&whole, |bytes| {
            for start in [0, 2048] {
                bend(&mut bytes[start..start + 200]);
                reseal_header(bytes, start);
            }
            let len = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
            bytes.copy_within(len - 4..len, 4096 + 24);
            reseal_chain(bytes, 4096);
        })
    };
    let longer = |head: &mut [u8]| {
        head[10] = 1;
        head[12] = 124;
        head[112..120].fill(7);
    };
    let frame = |bend: &dyn Fn(&mut [u8])| {
        bent(&whole, |bytes| {
            bend(&mut bytes[at[1]..]);
            reseal_chain(bytes, at[1]);
        })
    };
    let long_head = bent(&whole, |bytes| {
        bytes[at[1] + 14] = 9;
        bytes.splice(at[1] + 64..at[1] + 64, [7; 8]);
        reseal(bytes, at[1]);
        bytes.truncate(at[1] + frame_len(bytes, at[1]));
        bytes[1024..1040].fill(0);
    });
    vec![
        vector(
            "compat_unknown",
            "an unknown compat bit: no consequence",
            header(&|head| head[16] = 1),
            "clean",
            &[1, 2, 3],
        ),
        vector(
            "ro_compat_unknown",
            "an unknown ro_compat bit: to be read only",
            header(&|head| head[24] = 2),
            "clean",
            &[1, 2, 3],
        ),
        vector(
            "incompat_unknown",
            "an unknown incompat bit beside a known one: refused",
            header(&|head| head[32] = 5),
            "refused",
            &[],
        ),
        vector("minor_newer", "a newer minor version and a longer header", header(&longer), "clean", &[1, 2, 3]),
        vector("major_newer", "a newer major version: refused", header(&|head| head[8] = 2), "refused", &[]),
        vector(
            "type_skippable",
            "a frame of an unknown type that may be skipped",
            frame(&|frame| (frame[12], frame[13]) = (77, 0x80)),
            "clean",
            &[1, 2, 3],
        ),
        vector(
            "type_unskippable",
            "a frame of an unknown type that must not be skipped",
            frame(&|frame| (frame[12], frame[13]) = (77, 0)),
            "clean",
            &[1, 2, 3],
        ),
        vector("frame_header_longer", "a frame with a header of 72 bytes", long_head, "clean", &[1, 2]),
        vector("flag_unknown", "an unknown flag: no frame", frame(&|frame| frame[13] |= 2), "damaged", &[1, 3]),
        vector("hint_unknown", "an unknown hint class: no frame", frame(&|frame| frame[15] = 4), "damaged", &[1, 3]),
    ]
}

/// Frames that a writer never writes, with all checksums right.
fn odd() -> Vec<Vector> {
    // A batch of which only the last record goes over the limit.
    let small = NewLog::new(uid(0), 1_700_000_000_000_000).max_record(4096);
    let mut over = Story::with(small, LogOptions::default(), 0);
    let first = over.put(user(1, None, &"a".repeat(2500)));
    let second = over.put(user(2, Some(1), &"b".repeat(2500)));
    let over = bent(&over.kill(), |bytes| {
        bytes[first + 13] |= 1;
        bytes[second + 20..second + 24].copy_from_slice(&(((second - first) / 8) as u32).to_le_bytes());
        reseal_chain(bytes, first);
    });

    let (whole, at) = closed();
    // An OPEN whose payload ends behind the cause, without its seven zero bytes.
    let mut short = whole[..at[1]].to_vec();
    let mut open = whole[4096..4096 + 128].to_vec();
    open[8] = 49;
    open[24..28].copy_from_slice(&whole[at[0] + 4..at[0] + 8]);
    open[20..24].fill(0);
    open[64 + 40..64 + 48].copy_from_slice(&(at[1] as u64).to_le_bytes());
    short.extend(open);
    reseal(&mut short, at[1]);
    short[1024..1040].fill(0);

    let own_in_batch = bent(&whole, |bytes| {
        bytes[at[2] + 13] |= 1; // the MARK behind it stands inside a batch then
        reseal_chain(bytes, at[2]);
        bytes[1024..1040].fill(0);
    });
    let marked = frame_offsets(&own_in_batch).last().copied().unwrap();
    let own_in_batch = bent(&own_in_batch, |bytes| {
        let words = ((marked - at[2]) / 8) as u32;
        bytes[marked + 20..marked + 24].copy_from_slice(&words.to_le_bytes());
        reseal(bytes, marked);
    });
    let mut unreadable = Story::with(new_log().compressed(true), LogOptions::default(), 0);
    unreadable.put(squeezed(user(1, None, &"a long text, ".repeat(30)), 1));
    unreadable.put(squeezed(user(2, Some(1), "short"), 200_000));
    vec![
        vector(
            "compressed_wrong",
            "two compressed events that name a wrong length, one of them too large a one: the log is whole, the bodies are not",
            unreadable.close(),
            "clean",
            &[1, 2],
        ),
        vector(
            "batch_over_limit",
            "a batch whose last record goes over the limit: none of it counts",
            over,
            "recovered",
            &[],
        ),
        vector("open_short", "an OPEN with a payload of 49 bytes fits nowhere", short, "recovered", &[1]),
        vector("mark_in_batch", "a MARK inside a batch: the batch does not count", own_in_batch, "recovered", &[1, 2]),
    ]
}
