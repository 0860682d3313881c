//! Puts the checksums of a log right, so that a fuzzer's changes get behind them.

const PAGE: usize = 4096;
const HEADER: usize = 64;

/// How far a seal goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seal {
    /// The header's copies, the watermark, and every frame from the page on as far as their lengths lead.
    Sums,
    /// Each frame also names the one before it.
    Chained,
    /// Also behind a gap: wherever a frame may stand. It names the frame that the eight bytes before it tell of.
    Scattered,
}

/// The file that an input of the log's targets stands for. The first byte says how the rest is sealed (bits 0 and 1: not
/// at all, or as [`Seal`] lists it) and whether a header page with the smallest record limit goes in front (bit 2).
pub fn file_of(data: &[u8]) -> Option<Vec<u8>> {
    let (mode, rest) = data.split_first()?;
    let mut file = if mode & 4 == 0 { Vec::new() } else { page() };
    file.extend_from_slice(rest);
    match mode & 3 {
        0 => {}
        1 => seal(&mut file, Seal::Sums),
        2 => seal(&mut file, Seal::Chained),
        _ => seal(&mut file, Seal::Scattered),
    }
    Some(file)
}

/// A header page, sealed.
fn page() -> Vec<u8> {
    let mut page = vec![0; PAGE];
    for start in [0, 2048] {
        page[start..start + 12].copy_from_slice(b"\x89SLOG\r\n\x1a\x01\0\0\0");
        page[start + 12] = 116;
        page[start + 40..start + 56].fill(0x77);
        page[start + 88..start + 96].copy_from_slice(&[0, 0x10, 0, 0, 7, 0, 0, 0]);
        page[start + 96] = 1;
        let _ = header(&mut page[start..start + 1024]);
    }
    page
}

/// Puts a file's checksums right.
pub fn seal(file: &mut [u8], how: Seal) {
    if file.len() < PAGE {
        return;
    }
    let (a, b) = (header(&mut file[..1024]), header(&mut file[2048..3072]));
    let tag: [u8; 4] = match a {
        Some(_) => file[92..96].try_into().expect("four bytes"),
        None => file[2048 + 92..2048 + 96].try_into().expect("four bytes"),
    };
    if file[1024..1040] != [0; 16] {
        let crc = crc32(&[&file[1024..1036]]);
        file[1036..1040].copy_from_slice(&crc.to_le_bytes());
    }
    let mut chain = a.or(b).unwrap_or(0);
    let mut at = PAGE;
    while let Some(next) = seal_frame(file, at, (how != Seal::Sums).then_some(chain), tag) {
        chain = u32::from_le_bytes(file[at + 4..at + 8].try_into().expect("four bytes"));
        at = next;
    }
    while how == Seal::Scattered && at + 72 <= file.len() {
        at += 8;
        while end_of(file, at).is_some() {
            let before = u32::from_le_bytes(file[at - 4..at].try_into().expect("four bytes"));
            let Some(next) = seal_frame(file, at, Some(before), tag) else { break };
            at = next;
        }
    }
}

/// Where the frames of a file begin, as far as their lengths lead.
pub fn frames_of(file: &[u8]) -> Vec<usize> {
    frames_from(file, PAGE)
}

/// The same from a place on.
pub fn frames_from(file: &[u8], start: usize) -> Vec<usize> {
    let mut at = start;
    let mut starts = Vec::new();
    while let Some(next) = end_of(file, at) {
        starts.push(at);
        at = next;
    }
    starts
}

fn header(copy: &mut [u8]) -> Option<u32> {
    let len = usize::try_from(u32::from_le_bytes(copy[12..16].try_into().ok()?)).ok()?;
    if !(116..=1024).contains(&len) {
        return None;
    }
    let crc = crc32(&[&copy[..len - 4]]);
    copy[len - 4..len].copy_from_slice(&crc.to_le_bytes());
    Some(crc)
}

fn end_of(file: &[u8], at: usize) -> Option<usize> {
    let head = file.get(at..at + HEADER)?;
    let header_len = usize::from(head[14]) * 8;
    let payload_len = u32::from_le_bytes(head[8..12].try_into().ok()?) as usize;
    let end = at + header_len + payload_len.next_multiple_of(8) + 8;
    (head.starts_with(&[0xC1, 0x53, 0x4C, 0x46]) && header_len >= HEADER && end <= file.len()).then_some(end)
}

/// Seals the frame at a place, behind this one if there is a chain; gives where the next one starts.
pub fn seal_frame(file: &mut [u8], at: usize, chain: Option<u32>, tag: [u8; 4]) -> Option<usize> {
    let end = end_of(file, at)?;
    let header_len = usize::from(file[at + 14]) * 8;
    let payload_crc = crc32(&[&file[at + header_len..end - 8]]);
    file[at + 16..at + 20].copy_from_slice(&tag);
    // Bytes behind the payload that are not zero are no padding; few changes are meant to be one of it.
    let payload_len = u32::from_le_bytes(file[at + 8..at + 12].try_into().expect("four bytes")) as usize;
    let payload_crc = match payload_len % 8 {
        0 => payload_crc,
        _ => {
            file[at + header_len + payload_len..end - 8].fill(0);
            crc32(&[&file[at + header_len..end - 8]])
        }
    };
    if let Some(chain) = chain {
        file[at + 24..at + 28].copy_from_slice(&chain.to_le_bytes());
    }
    file[at + 28..at + 32].copy_from_slice(&payload_crc.to_le_bytes());
    let crc = crc32(&[&(at as u64).to_le_bytes(), &file[at + 8..at + header_len]]).to_le_bytes();
    file[at + 4..at + 8].copy_from_slice(&crc);
    file[end - 8..end - 4].copy_from_slice(&((end - at) as u32).to_le_bytes());
    file[end - 4..end].copy_from_slice(&crc);
    Some(end)
}

/// CRC-32 as in IEEE 802.3.
pub fn crc32(parts: &[&[u8]]) -> u32 {
    static TABLE: std::sync::OnceLock<[u32; 256]> = std::sync::OnceLock::new();
    let table = TABLE.get_or_init(|| {
        std::array::from_fn(|index| {
            (0..8).fold(index as u32, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
        })
    });
    let bytes = parts.iter().flat_map(|part| part.iter());
    !bytes.fold(u32::MAX, |crc, byte| crc >> 8 ^ table[usize::from(crc as u8 ^ byte)])
}
