//! Any bytes as one frame at any place of a file.

use seslog::log::Frame;

use super::reference::{Head, Reference};
use super::seal::crc32;
use super::two_readers::head;

const MAX_RECORD: u32 = 4096;

/// The first byte says whether the checksums are put right, the next eight are the place. The decoder says what the rules
/// of the format say, of the bytes and of every cut of them that matters, and hands out the payload that lies there.
pub fn frame(data: &[u8]) {
    let Some((control, bytes)) = data.split_at_checked(9) else { return };
    let place = u64::from_le_bytes(control[1..9].try_into().expect("eight bytes"));
    let mut bytes = bytes.to_vec();
    if control[0] & 1 == 1 {
        seal(&mut bytes, place);
    }
    let tag = u32::from_le_bytes([7, 0, 0, 0]);
    let decode = |bytes: &[u8]| Frame::from_bytes(bytes, place, tag, MAX_RECORD);
    let found = decode(&bytes);
    let theirs = whole(&bytes, place, tag);
    assert_eq!(found.as_ref().map(|frame| head(frame, 0)), theirs);
    let Some(frame) = found else { return };
    let len = frame.head().total_len() as usize;
    assert!(decode(&bytes[..len]).is_some(), "nothing behind a frame matters");
    assert!(decode(&bytes[..len - 1]).is_none(), "a frame needs its last byte");
    assert!(!bytes[..len].iter().all(|byte| *byte == 0));
    let stored = &bytes[frame.head().header_len as usize..][..frame.head().payload_len as usize];
    let list: Vec<u8> = frame.targets().flat_map(|id| id.into_bytes()).collect();
    assert!(stored.ends_with(frame.payload()));
    assert!(list.is_empty() || stored[4..].starts_with(&list));
    let before = if matches!(theirs.map(|head| head.hint), Some(1 | 2)) { 4 + list.len() } else { 0 };
    assert_eq!(before + frame.payload().len(), stored.len());
}

fn whole(bytes: &[u8], place: u64, tag: u32) -> Option<Head> {
    let log = Reference {
        data: bytes,
        end: bytes.len(),
        has_header: true,
        page_damaged: false,
        read_only: false,
        tag,
        max_record: MAX_RECORD,
        first_chain: None,
        watermark: 0,
    };
    let head = log.head_for(0, place).filter(|head| log.body_fits(head))?;
    place.checked_add(head.total() as u64).map(|_| head)
}

fn seal(bytes: &mut [u8], place: u64) -> Option<()> {
    let header_len = usize::from(*bytes.get(14)?) * 8;
    let payload_len = u32::from_le_bytes(bytes.get(8..12)?.try_into().ok()?) as usize;
    let end = header_len + payload_len.next_multiple_of(8) + 8;
    if header_len < 64 || bytes.len() < end {
        return None;
    }
    bytes[..4].copy_from_slice(b"\xC1SLF");
    bytes[16..20].copy_from_slice(&[7, 0, 0, 0]);
    let payload_crc = crc32(&[&bytes[header_len..end - 8]]);
    bytes[28..32].copy_from_slice(&payload_crc.to_le_bytes());
    let crc = crc32(&[&place.to_le_bytes(), &bytes[8..header_len]]).to_le_bytes();
    bytes[4..8].copy_from_slice(&crc);
    bytes[end - 8..end - 4].copy_from_slice(&(end as u32).to_le_bytes());
    bytes[end - 4..end].copy_from_slice(&crc);
    Some(())
}
