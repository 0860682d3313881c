//! A catalogue comes back as it was written, and hostile bytes end in an answer.

use super::*;

fn listed(name: &str, text: &str) -> Listed {
    Listed {
        id: Some(Uuid::from_u128(7)),
        path: Path::new("/s").join(name),
        open: Opened::Recovered,
        problem: None,
        bytes: 5000,
        records: 3,
        messages: None,
        branches: None,
        first_words: None,
        first_at: None,
        created_at: -1,
        last_event: None,
        last_original_id: Some(String::new()),
        last_at: Some(i64::MIN),
        title: Some(text.to_owned()),
        tags: vec![text.to_owned(), String::new()],
        cwd: None,
        model: None,
        agent: None,
        parent: Some(Uuid::nil()),
    }
}

fn name(number: u128) -> String {
    super::super::file_name::name_of(Uuid::from_u128(number))
}

fn stamp(number: u64) -> FileStamp {
    FileStamp { size: number, modified: -3, changed: i64::MAX, inode: number.is_multiple_of(2).then_some(number) }
}

/// A session that is to be gone on with has its messages counted.
fn tally(number: usize) -> Option<Tally> {
    let ends = vec![vec![Uuid::from_u128(3); number % 4], vec![Uuid::from_u128(4)]];
    let mark = Mark { file_tag: 7, end: 70_000, chain: u32::MAX, ends };
    number.is_multiple_of(3).then_some(Tally {
        messages: 2,
        first_words: Some("ä title".to_owned()),
        first_at: Some(-5),
        model: number.is_multiple_of(2).then(|| "m-1".to_owned()),
        mark,
        is_turned: false,
    })
}

fn sample(names: &[String]) -> Vec<u8> {
    let rows: Vec<Listed> = names.iter().map(|name| listed(name, "ä title")).collect();
    let rows = names.iter().zip(&rows).enumerate();
    let tallies: Vec<Option<Tally>> = (0..names.len()).map(tally).collect();
    let settled = rows
        .map(|(number, (name, row))| (name.as_str(), stamp(number as u64), row, tallies[number].as_ref()))
        .collect::<Vec<_>>();
    encode(Some(stamp(9)), &[(&name(1), None), (&name(2), tally(0).as_ref())], settled.into_iter())
}

/// Makes the checksums fit whatever is in the bytes.
fn seal(bytes: &mut [u8]) {
    let Ok(front_len) = usize::try_from(u64::from_le_bytes(bytes[16..24].try_into().unwrap())) else { return };
    let Some(rest) = bytes.get(front_len..) else { return };
    let rest = crc32(rest);
    bytes[12..16].copy_from_slice(&rest.to_le_bytes());
    let front = crc32(&bytes[12..front_len.max(12)]);
    bytes[8..12].copy_from_slice(&front.to_le_bytes());
}

#[test]
fn what_was_encoded_is_decoded_and_the_front_is_its_beginning() {
    for count in [0, 1, FRONT_COUNT, FRONT_COUNT + 1, 300] {
        let names: Vec<String> = (10..10 + count as u128).map(name).collect();
        let bytes = sample(&names);
        let whole = decode(&bytes, Path::new("/s")).unwrap();
        assert_eq!((whole.dir, whole.settled_count, whole.unsettled.len()), (Some(stamp(9)), count, 2));
        for (index, entry) in whole.settled.iter().enumerate() {
            assert_eq!((entry.name, entry.stamp), (names[index].as_str(), Some(stamp(index as u64))));
            assert!(!entry.is_new && entry.tally == tally(index));
            assert_eq!(entry.listed, listed(&names[index], "ä title"));
        }
        assert!(whole.unsettled[0].tally.is_none() && whole.unsettled[1].tally == tally(0));
        let head = decode_head(&bytes).unwrap();
        for more in [&bytes[..head.front_len], &bytes] {
            let front = decode_front(more, Path::new("/s")).unwrap();
            assert_eq!(front.settled, whole.settled[..count.min(FRONT_COUNT)]);
            assert_eq!((front.settled_count, &front.unsettled), (count, &whole.unsettled));
        }
    }
}

#[test]
fn a_name_that_leads_out_of_the_directory_or_is_no_sessions_is_refused() {
    for bad in [
        "../x.seslog",
        "/etc/passwd",
        "..",
        "",
        "x.seslog",
        "0198.seslog/../y.seslog",
        "a/00000000-0000-0000-0000-000000000007.seslog",
    ] {
        let row = listed("x", "t");
        assert_eq!(decode(&encode(None, &[(bad, None)], std::iter::empty()), Path::new("/s")), Err(Unusable::Damaged));
        let entry = encode(None, &[], std::iter::once((bad, stamp(0), &row, None)));
        assert_eq!(decode(&entry, Path::new("/s")), Err(Unusable::Damaged), "{bad}");
        assert_eq!(decode_front(&entry, Path::new("/s")), Err(Unusable::Damaged), "{bad}");
    }
}

#[test]
fn hostile_bytes_with_right_checksums_end_in_an_answer() {
    let names: Vec<String> = (10..80).map(name).collect();
    let whole = sample(&names);
    // All counts and lengths, and whatever lies between, at their largest and smallest, and cut anywhere.
    for at in 8..whole.len() - 8 {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[at..at + 4].fill(value);
            seal(&mut bytes);
            let _ = (decode(&bytes, Path::new("/s")), decode_front(&bytes, Path::new("/s")));
        }
        let mut bytes = whole[..at.max(HEAD_LEN)].to_vec();
        let len = bytes.len() as u64;
        bytes[24..32].copy_from_slice(&len.to_le_bytes());
        seal(&mut bytes);
        let _ = (decode(&bytes, Path::new("/s")), decode_front(&bytes, Path::new("/s")));
    }
    // A count that is claimed makes no room that the bytes can't fill.
    let mut bytes = sample(&[]);
    bytes[32..40].fill(0xff);
    seal(&mut bytes);
    assert_eq!(decode(&bytes, Path::new("/s")), Err(Unusable::Damaged));
}
