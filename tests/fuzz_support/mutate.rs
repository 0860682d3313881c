//! Changes of a log that a fuzzer's blind ones seldom hit: whole frames put elsewhere, and numbers that name other frames.

use super::random::Random;
use super::seal::frames_from;

/// One input of the log's targets with one change of its frames. The input begins with the mode of
/// [`file_of`](super::file_of).
pub fn change_input(input: &[u8], random: &mut Random) -> Vec<u8> {
    let Some((mode, file)) = input.split_first() else { return vec![2] };
    let mode = if random.below(16) == 0 { (mode & !3) | random.below(4) as u8 } else { *mode };
    let page = if mode & 4 == 0 { 4096 } else { 0 };
    let mut changed = vec![mode];
    changed.extend(change(file, page, random));
    changed
}

/// A file with one change of its frames. `page` bytes stand in front of them; what is not there of 4,096 is put there later.
pub fn change(file: &[u8], page: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes = file.to_vec();
    if bytes.len() < page {
        return bytes;
    }
    let starts = frames_from(&bytes, page);
    // Where each frame lies in the input, and the place that it has in the file.
    let shift = 4096 - page;
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([bytes.len()]).collect();
    if starts.is_empty() || random.below(12) == 0 {
        let at = page + random.below((bytes.len() - page) / 8 + 1) * 8;
        bytes.splice(at..at, new_frame(random));
        return bytes;
    }
    let which = random.below(starts.len());
    let (start, end) = (starts[which], ends[which]);
    let place = |random: &mut Random| {
        let near = starts[random.below(starts.len())] + shift;
        (near + [0, 0, 0, 8, 72][random.below(5)]) as u64
    };
    match random.below(14) {
        0 => {
            let again = bytes[start..end].to_vec();
            let to = starts[random.below(starts.len())];
            bytes.splice(to..to, again);
        }
        1 => drop(bytes.drain(start..end)),
        2 => {
            let other = random.below(starts.len());
            let (low, high) = (which.min(other), which.max(other));
            if low != high {
                let moved: Vec<u8> = bytes.drain(starts[high]..ends[high]).collect();
                bytes.splice(starts[low]..starts[low], moved);
            }
        }
        3 => bytes[start..end].fill(random.pick(&[0, 0, 0xFF])),
        4 => {
            let at = random.pick(&[start, end]);
            let count = random.pick(&[1, 3, 8, 16, 64, 512]);
            bytes.splice(at..at, std::iter::repeat_n(0, count));
        }
        5 => {
            let count = random.pick(&[1, 3, 8, 16, 64]).min(end - start);
            bytes.drain(start..start + count);
        }
        6 => bytes.truncate(random.pick(&[start, end, end - 1, end - 8, start + 64])),
        7 => bytes[start + 12] = random.pick(&[1, 2, 3, 4, 5, 16, 17, 18, 200]),
        8 => bytes[start + 13] ^= random.pick(&[1, 1, 1, 4, 128]),
        9 => bytes[start + 15] = random.pick(&[0, 1, 2, 3]),
        10 => {
            let durable = place(random).min((start + shift) as u64);
            let distance = ((start + shift) as u64 - durable) / 8;
            bytes[start + 20..start + 24].copy_from_slice(&(distance as u32).to_le_bytes());
        }
        11 => {
            let field = start + random.pick(&[48, 56]);
            let to = if random.below(4) == 0 { 0 } else { place(random) };
            bytes[field..field + 8].copy_from_slice(&to.to_le_bytes());
        }
        12 => {
            // An OPEN that steps over something; a frame with another payload becomes one as well.
            let body = start + 64;
            if end >= body + 64 {
                bytes[start + 12] = 16;
                bytes[body + 40..body + 48].copy_from_slice(&place(random).to_le_bytes());
                bytes[body + 48] = random.pick(&[0, 1, 2, 3, 9]);
            }
        }
        _ if page > 0 => {
            // The watermark.
            let tag: [u8; 4] = bytes[92..96].try_into().expect("four bytes");
            bytes[1024..1032].copy_from_slice(&place(random).to_le_bytes());
            bytes[1032..1036].copy_from_slice(&tag);
            let sum = super::seal::crc32(&[&bytes[1024..1036]]);
            bytes[1036..1040].copy_from_slice(&sum.to_le_bytes());
        }
        _ => bytes[start + 24] ^= 1,
    }
    bytes
}

/// A small frame of right lengths; its checksums are none.
fn new_frame(random: &mut Random) -> Vec<u8> {
    let kind = random.pick(&[1, 1, 2, 3, 4, 16, 17, 18]);
    let payload_len: usize = match kind {
        16 => 56,
        17 => 40,
        18 => 140,
        _ => random.below(3) * 20,
    };
    let mut frame = vec![0; 64 + payload_len.next_multiple_of(8) + 8];
    frame[..4].copy_from_slice(b"\xC1SLF");
    frame[8..12].copy_from_slice(&(payload_len as u32).to_le_bytes());
    frame[12] = kind;
    frame[13] = random.pick(&[0, 0, 1, 4]);
    frame[14] = 8;
    frame[32..40].copy_from_slice(&random.next().to_le_bytes());
    let len = frame.len();
    frame[len - 8..len - 4].copy_from_slice(&(len as u32).to_le_bytes());
    frame
}
