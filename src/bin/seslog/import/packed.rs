//! Files that an agent has compressed (zstd), read as if they were not.

use std::io::{self, BufRead, BufReader, Read};

/// The first bytes of a zstd frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// A file that unpacks to more bytes is no session: a few bytes of it may stand for any number.
const UNPACKED_MAX: u64 = 8 << 30;
/// The logarithm of the most memory in bytes that a file may ask for.
const WINDOW_LOG_MAX: u32 = 27;

/// The input, unpacked where it is packed.
pub(super) fn unpacked(mut input: Box<dyn BufRead>) -> io::Result<Box<dyn BufRead>> {
    if !input.fill_buf()?.starts_with(&MAGIC) {
        return Ok(input);
    }
    let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?;
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    Ok(Box::new(BufReader::with_capacity(64 << 10, Bounded { input: decoder, left: UNPACKED_MAX })))
}

/// An input that may not be longer than it is allowed to be.
struct Bounded<R> {
    input: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("it unpacks to more than {UNPACKED_MAX} bytes"))
        })?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: Vec<u8>) -> io::Result<String> {
        let mut text = String::new();
        unpacked(Box::new(io::Cursor::new(bytes)))?.read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn what_is_packed_reads_as_what_it_was_and_a_cut_one_is_an_error() {
        let text = "one line\n".repeat(10_000);
        let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
        assert_eq!(read(text.clone().into_bytes()).unwrap(), text);
        assert_eq!(read(packed.clone()).unwrap(), text);
        assert!(read(packed[..packed.len() / 2].to_vec()).is_err());
        assert!(read(MAGIC.to_vec()).is_err());
        assert_eq!(read(Vec::new()).unwrap(), "");
    }

    #[test]
    fn an_input_ends_in_an_error_where_it_is_longer_than_it_may_be() {
        let mut text = String::new();
        assert!(Bounded { input: &b"12345"[..], left: 4 }.read_to_string(&mut text).is_err());
        assert!(Bounded { input: &b"1234"[..], left: 4 }.read_to_string(&mut text).is_ok());
    }
}
