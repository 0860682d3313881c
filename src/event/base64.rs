//! Base64 with the standard alphabet and padding, for bytes that JSON can't hold.

/// The characters, by the number that each stands for.
pub(crate) const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of these bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits =
            group.iter().enumerate().fold(0u32, |bits, (index, byte)| bits | u32::from(*byte) << (16 - 8 * index));
        for index in 0..4 {
            match index <= group.len() {
                true => text.push(char::from(ALPHABET[(bits >> (18 - 6 * index)) as usize & 63])),
                false => text.push('='),
            }
        }
    }
    text
}

/// The first bytes of a base64 text, at most so many: up to its end or to the first character that is none of the
/// alphabet.
pub(crate) fn decode_start(text: &str, bytes_max: usize) -> Vec<u8> {
    let text = text.as_bytes();
    let mut bytes = Vec::with_capacity(bytes_max.min(text.len() / 4 * 3 + 3));
    let mut bits = 0_u32;
    let mut bits_held = 0;
    for value in text.iter().map_while(|&digit| value_of(digit)) {
        bits = bits << 6 | value;
        bits_held += 6;
        if bits_held >= 8 {
            bits_held -= 8;
            bytes.push((bits >> bits_held & 0xff) as u8);
            if bytes.len() == bytes_max {
                break;
            }
        }
    }
    bytes
}

/// The bytes of this text; none if it is no base64. Its padding may be missing; a line break inside is passed over.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).peekable();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0);
    while let Some(digit) = digits.next_if(|&digit| digit != b'=') {
        bits = bits << 6 | value_of(digit)?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xFF) as u8);
        }
    }
    // Six bits alone are no byte, and behind the padding stands nothing.
    (held != 6 && digits.all(|digit| digit == b'=')).then_some(bytes)
}

/// The six bits of a digit of the alphabet.
fn value_of(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_was_written_is_read_back_and_nothing_else_is() {
        for bytes in ["", "f", "fo", "foo", "foob", "fooba"] {
            assert_eq!(super::decode(&super::encode(bytes.as_bytes())).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(super::decode("Zm9v\nYg").as_deref(), Some(b"foob".as_slice()));
        for text in ["Z", "Zm9vY", "Zg==Zg", "?", "Zg=g", "héé"] {
            assert_eq!(super::decode(text), None, "{text}");
        }
    }

    #[test]
    fn the_start_of_a_text_gives_back_the_first_bytes() {
        let bytes: Vec<u8> = (0..=255).collect();
        let text = super::encode(&bytes);
        for count in 0..=bytes.len() {
            let given = super::decode_start(&text, count.max(1));
            assert_eq!(given, bytes[..count.max(1)]);
        }
        assert_eq!(super::decode_start(&text, 1_000), bytes);
        assert_eq!(super::decode_start("Zm9v!Zm9v", 10), b"foo");
    }

    #[test]
    fn the_vectors_of_rfc_4648_hold() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(super::encode(bytes.as_bytes()), text);
        }
    }
}
