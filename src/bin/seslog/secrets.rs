//! The shapes of keys and passwords: where one may stand in a text. Each is looked for by how it begins, so a text is gone
//! over once for each beginning and no more.

use std::ops::Range;

/// What may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// What sort of key it looks like.
    pub(crate) kind: &'static str,
    /// Where it stands, in bytes.
    pub(crate) range: Range<usize>,
}

/// The kind of a private key in PEM.
pub(crate) const PRIVATE_KEY: &str = "private key";

/// A key that begins with a known text.
struct Shape {
    kind: &'static str,
    prefix: &'static str,
    /// Characters behind the prefix: the fewest and the most.
    len: (usize, usize),
    /// What may stand there besides letters and digits.
    also: &'static str,
}

const fn shape(kind: &'static str, prefix: &'static str, least: usize, most: usize, also: &'static str) -> Shape {
    Shape { kind, prefix, len: (least, most), also }
}

/// The longer beginnings first: of two that fit at one place the first counts.
const SHAPES: &[Shape] = &[
    shape("Anthropic key", "sk-ant-", 20, 200, "-_"),
    shape("OpenRouter key", "sk-or-", 20, 200, "-_"),
    shape("OpenAI key", "sk-proj-", 20, 300, "-_"),
    shape("API key", "sk-", 20, 200, "-_"),
    shape("Stripe key", "sk_live_", 16, 120, ""),
    shape("Stripe key", "rk_live_", 16, 120, ""),
    shape("AWS access key", "AKIA", 16, 16, ""),
    shape("AWS access key", "ASIA", 16, 16, ""),
    shape("GitHub token", "github_pat_", 30, 120, "_"),
    shape("GitHub token", "ghp_", 30, 80, ""),
    shape("GitHub token", "gho_", 30, 80, ""),
    shape("GitHub token", "ghs_", 30, 80, ""),
    shape("GitHub token", "ghu_", 30, 80, ""),
    shape("GitHub token", "ghr_", 30, 80, ""),
    shape("GitLab token", "glpat-", 18, 80, "-_"),
    shape("Slack token", "xoxa-", 10, 120, "-"),
    shape("Slack token", "xoxb-", 10, 120, "-"),
    shape("Slack token", "xoxp-", 10, 120, "-"),
    shape("Slack token", "xoxs-", 10, 120, "-"),
    shape("Google key", "AIza", 35, 35, "-_"),
    shape("npm token", "npm_", 30, 60, ""),
    shape("Hugging Face token", "hf_", 30, 60, ""),
];

/// All that look like secrets, in order and apart from each other.
pub(crate) fn find(text: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    SHAPES.iter().for_each(|shape| prefixed(text, shape, &mut hits));
    private_keys(text, &mut hits);
    web_tokens(text, &mut hits);
    bearers(text, &mut hits);
    url_passwords(text, &mut hits);
    // Stable: of those that begin at one place the earlier shape stays in front.
    hits.sort_by_key(|hit| hit.range.start);
    let mut end = 0;
    hits.retain(|hit| {
        let is_apart = hit.range.start >= end;
        end = if is_apart { hit.range.end } else { end };
        is_apart
    });
    hits
}

/// Bytes of this text that are letters, digits or one of these.
fn run(text: &str, also: &str) -> usize {
    text.bytes().take_while(|byte| is_of(*byte, also)).count()
}

fn is_of(byte: u8, also: &str) -> bool {
    byte.is_ascii_alphanumeric() || also.as_bytes().contains(&byte)
}

/// A word goes on here: what is found behind it is a part of it. The letter of an escaped line's end is no word.
fn is_inside_a_word(text: &str, at: usize) -> bool {
    match &text.as_bytes()[..at] {
        [.., b'\\', b'n' | b'r' | b't'] => false,
        [.., before] => before.is_ascii_alphanumeric() || *before == b'_',
        [] => false,
    }
}

fn prefixed(text: &str, shape: &Shape, hits: &mut Vec<Hit>) {
    for (at, _) in text.match_indices(shape.prefix) {
        let body = &text[at + shape.prefix.len()..];
        // No further than counts, wherever it ends.
        let len = body.bytes().take(shape.len.1 + 1).take_while(|byte| is_of(*byte, shape.also)).count();
        let fits = (shape.len.0..=shape.len.1).contains(&len) && !is_inside_a_word(text, at);
        if fits && is_random(&body[..len]) {
            hits.push(Hit { kind: shape.kind, range: at..at + shape.prefix.len() + len });
        }
    }
}

/// Whether this looks made by chance, and not like words, an example or a row of the same.
///
/// Real keys of 16 characters and more have some 4 bits of entropy a character, words joined by hyphens less than that and
/// no digits, and `xxxxxxxx` or `1234567890` stand for a key.
fn is_random(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    let has_letter = bytes.iter().any(u8::is_ascii_alphabetic);
    let rising = bytes.windows(2).filter(|pair| pair[1] == pair[0] || pair[1] == pair[0].wrapping_add(1)).count();
    let lower = text.to_ascii_lowercase();
    let is_example = ["example", "your", "placeholder", "redacted", "xxxx", "test-key", "dummy"];
    has_digit
        && has_letter
        && rising * 2 < bytes.len()
        && !is_example.iter().any(|word| lower.contains(word))
        && entropy(bytes) >= if bytes.len() < 24 { 2.8 } else { 3.2 }
}

/// Bits a byte, by how often each occurs.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let len = bytes.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / len)
        .map(|share| -share * share.log2())
        .sum()
}

/// The header of a private key in PEM, and what follows it up to its end, if that is there.
fn private_keys(text: &str, hits: &mut Vec<Hit>) {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "PRIVATE KEY-----";
    const KIND_MAX: usize = 32;
    for (at, _) in text.match_indices(BEGIN) {
        let rest = &text[at + BEGIN.len()..];
        let head = rest.bytes().take(KIND_MAX).take_while(|byte| byte.is_ascii_uppercase() || *byte == b' ').count();
        // `RSA PRIVATE KEY` ends with the words that close the line.
        let Some(kind) = rest[..head].strip_suffix("PRIVATE KEY") else { continue };
        let begin = at + BEGIN.len() + kind.len();
        if !text[begin..].starts_with(END) {
            continue;
        }
        let body = begin + END.len();
        let end = text[body..].find(END).map_or(body, |end| body + end + END.len());
        // A header alone, as in a text about keys, holds none.
        if end > body || run(text[body..].trim_start_matches(['\r', '\n', '\\', 'n', 'r', ' ']), "+/=") >= 32 {
            hits.push(Hit { kind: PRIVATE_KEY, range: at..end });
        }
    }
}

/// `eyJ….eyJ….signature`.
fn web_tokens(text: &str, hits: &mut Vec<Hit>) {
    for (at, _) in text.match_indices("eyJ") {
        // Only where a run begins: each is gone over once.
        if is_inside_a_word(text, at) || text[..at].ends_with('-') {
            continue;
        }
        let head = run(&text[at..], "-_");
        let Some(rest) = text[at + head..].strip_prefix('.').filter(|rest| rest.starts_with("eyJ")) else { continue };
        let body = run(rest, "-_");
        let Some(signature) = rest[body..].strip_prefix('.') else { continue };
        let len = run(signature, "-_");
        if head >= 12 && body >= 12 && len >= 20 {
            hits.push(Hit { kind: "JSON web token", range: at..at + head + 1 + body + 1 + len });
        }
    }
}

/// `Bearer …`, as it stands in a header.
fn bearers(text: &str, hits: &mut Vec<Hit>) {
    for word in ["Bearer ", "bearer "] {
        for (at, _) in text.match_indices(word) {
            let begin = at + word.len();
            let len = run(&text[begin..], "-_.~+/=");
            if len >= 20 && is_random(&text[begin..begin + len]) && !is_inside_a_word(text, at) {
                hits.push(Hit { kind: "bearer token", range: begin..begin + len });
            }
        }
    }
}

/// `scheme://user:password@host`.
fn url_passwords(text: &str, hits: &mut Vec<Hit>) {
    const LEN_MAX: usize = 256;
    for (at, mark) in text.match_indices("://") {
        let begin = at + mark.len();
        let ends = |byte: &u8| {
            matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\') || byte.is_ascii_whitespace()
        };
        let len = text.as_bytes()[begin..].iter().take(LEN_MAX).take_while(|byte| !ends(byte)).count();
        let Some(authority) = text.get(begin..begin + len) else { continue };
        let Some((login, host)) = authority.rsplit_once('@') else { continue };
        let Some((user, password)) = login.split_once(':') else { continue };
        if !host.is_empty() && is_a_password(password) {
            let from = begin + user.len() + 1;
            hits.push(Hit { kind: "password in a URL", range: from..from + password.len() });
        }
    }
}

/// Not a variable, nor what stands for one in a text about URLs.
fn is_a_password(text: &str) -> bool {
    const STAND_INS: &[&str] = &["password", "passwd", "pass", "pwd", "secret", "token", "key", "user", "redacted"];
    let is_stand_in =
        text.starts_with(['$', '{', '[', '%', '*', '(']) || text.bytes().all(|byte| matches!(byte, b'x' | b'X' | b'.'));
    text.len() >= 4 && !is_stand_in && !STAND_INS.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(&'static str, &str)> {
        find(text).into_iter().map(|hit| (hit.kind, &text[hit.range])).collect()
    }

    /// Put together here, so that no scanner takes this file for one with keys.
    fn key(prefix: &str, len: usize) -> String {
        const LETTERS: &[u8] = b"q7Zt3KmX9vRb2LwYc8NfJ5hGd4SxP6uA1eTkM0oVj";
        let body: String = (0..len).map(|n| char::from(LETTERS[(n * 17 + n / 7) % LETTERS.len()])).collect();
        format!("{prefix}{body}")
    }

    #[test]
    fn each_shape_is_found_with_its_bounds() {
        for (kind, key) in [
            ("Anthropic key", key("sk-ant-api03-", 80)),
            ("OpenAI key", key("sk-proj-", 60)),
            ("API key", key("sk-", 48)),
            ("Stripe key", key("sk_live_", 24)),
            ("AWS access key", key("AKIA", 16).to_uppercase()),
            ("GitHub token", key("ghp_", 36)),
            ("GitHub token", key("github_pat_", 60)),
            ("GitLab token", key("glpat-", 20)),
            ("Slack token", key("xoxb-1234-", 30)),
            ("Google key", key("AIza", 35)),
            ("npm token", key("npm_", 36)),
            ("Hugging Face token", key("hf_", 34)),
            ("JSON web token", format!("{}.{}.{}", key("eyJ", 20), key("eyJ", 30), key("", 43))),
        ] {
            for (before, behind) in
                [("", ""), ("key=", " and more"), ("\"", "\""), ("(", ")."), ("ü", "ü"), ("a\\n", "\\n")]
            {
                assert_eq!(kinds(&format!("{before}{key}{behind}")), [(kind, key.as_str())]);
            }
            assert_eq!(kinds(&format!("{key} {key}")).len(), 2);
        }
        let bearer = key("", 40);
        assert_eq!(kinds(&format!("Authorization: Bearer {bearer}")), [("bearer token", bearer.as_str())]);
        assert_eq!(kinds("postgres://me:hunter2!@db/x"), [("password in a URL", "hunter2!")]);
        let pem =
            format!("-----BEGIN RSA {}-----\n{}\n-----END RSA {}-----", "PRIVATE KEY", key("MII", 90), "PRIVATE KEY");
        assert_eq!(kinds(&format!("x {pem} y")), [("private key", pem.as_str())]);
    }

    #[test]
    fn what_only_looks_like_one_is_left_alone() {
        for text in [
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "sk-your-api-key-goes-here-0123456789",
            "sk-this-is-a-long-css-class-name-with-words",
            "sk-1234567890123456789012345",
            "AKIAIOSFODNN7EXAMPLE",
            "task-management-of-the-9-lives-of-a-cat",
            "ghp_short1",
            "the flask-0a1b2c3d4e5f6a7b8c9d0e1f2a3b module",
            "Bearer token",
            "bearer authentication-is-described-below",
            "https://user:password@host and https://user:$PASS@host and https://u:xxxx@h",
            "https://example.com/a@b:c and mailto:me@host and ssh://git@github.com:22/x",
            "http://[::1]:8080/x",
            "a PEM file begins with -----BEGIN PRIVATE KEY-----",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "eyJhbGciOiJIUzI1NiJ9 alone",
            "key-[redacted]",
            "npm_config_registry_is_a_variable_of_npm_1",
        ] {
            assert_eq!(kinds(text), [], "{text}");
        }
    }

    #[test]
    fn hostile_texts_take_no_time() {
        for piece in [
            "eyJ",
            "://",
            "sk-",
            "-----BEGIN ",
            "Bearer ",
            "sk-a1",
            "-eyJa",
            "eyJa.eyJb.",
            "-----BEGIN PRIVATE KEY-----",
        ] {
            let text = piece.repeat(40_000);
            let begun = std::time::Instant::now();
            find(&text);
            // A thousand times what it takes where this was written.
            assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{piece}");
        }
    }
}
