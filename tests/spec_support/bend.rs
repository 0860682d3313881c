//! Damage, by offsets.

/// Bytes of the frame at `offset`, if its header is there.
pub fn len_at(file: &[u8], offset: usize) -> Option<usize> {
    let head = file.get(offset..offset + 64).filter(|head| head[..4] == [0xC1, b'S', b'L', b'F'])?;
    let payload_len = u32::from_le_bytes(head[8..12].try_into().unwrap()) as usize;
    Some(head[14] as usize * 8 + payload_len.next_multiple_of(8) + 8)
}

/// Bytes of the frame at `offset`.
pub fn frame_len(file: &[u8], offset: usize) -> usize {
    len_at(file, offset).expect("a frame")
}

/// Where frames start, one behind the other, as far as their lengths tell.
pub fn frame_offsets(file: &[u8]) -> Vec<usize> {
    let mut offsets = Vec::new();
    let mut at = 4096;
    while let Some(len) = len_at(file, at) {
        offsets.push(at);
        at += len;
    }
    offsets
}

/// The file with one change.
pub fn bent(file: &[u8], bend: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = file.to_vec();
    bend(&mut bytes);
    bytes
}

pub fn zeroed(file: &[u8], from: usize, to: usize) -> Vec<u8> {
    bent(file, |bytes| bytes[from..to].fill(0))
}

pub fn flipped(file: &[u8], at: usize) -> Vec<u8> {
    bent(file, |bytes| bytes[at] ^= 0x10)
}
