//! Names of tools that every provider takes.

use std::borrow::Cow;

use crate::event::Uuid;

/// Longest name that every provider takes, in bytes.
const LEN_MAX: usize = 64;

/// Digits of the hash behind a name that had to be changed.
const HASH_DIGITS: usize = 12;

/// Stands for a name that has no legal character.
const UNNAMED: &str = "tool";

/// The namespace of derived names. They stand in request bodies that providers keep, so it never changes.
const DERIVED: Uuid = Uuid::from_u128(0x9d0e_4b6a_52f1_4c38_a7c6_1f83_0be5_d294);

/// The name that a call of this tool goes out with.
///
/// A legal name is kept. In any other each illegal character becomes `_`, and a hash of the whole name stands behind,
/// so that two names never meet. It depends on the name alone: all calls of a tool have one name in all bodies.
pub(super) fn legal_name(name: &str) -> Cow<'_, str> {
    if is_legal(name) {
        return Cow::Borrowed(name);
    }
    let readable: String = name.chars().map(|c| if is_legal_char(c) { c } else { '_' }).collect();
    let readable = if readable.bytes().all(|byte| byte == b'_') { UNNAMED.to_owned() } else { readable };
    let first = if readable.starts_with(may_begin) { "" } else { "_" };
    let mut legal = format!("{first}{readable}");
    legal.truncate(LEN_MAX - HASH_DIGITS - 1);
    let hash = Uuid::new_v5(&DERIVED, name.as_bytes()).simple().to_string();
    // The digits at the end of a UUID are all of the hash's.
    Cow::Owned(format!("{legal}_{}", &hash[hash.len() - HASH_DIGITS..]))
}

fn is_legal(name: &str) -> bool {
    name.len() <= LEN_MAX && name.starts_with(may_begin) && name.chars().all(is_legal_char)
}

fn may_begin(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_legal_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legal_name_is_kept() {
        for name in ["run", "_", "mcp__files__read-all", "X9", "x".repeat(LEN_MAX).as_str()] {
            assert_eq!(legal_name(name), name);
        }
    }

    #[test]
    fn any_other_name_becomes_a_legal_one_of_its_own() {
        let long = "x".repeat(LEN_MAX + 1);
        let longer = "x".repeat(LEN_MAX + 2);
        let names =
            ["", " ", "a b", "a.b", "a_b.", "1st", "-x", "ä", "ö", "mcp:server/tool", "😀", "a\nb", &long, &longer];
        let mapped: std::collections::HashSet<String> =
            names.iter().map(|name| legal_name(name).into_owned()).collect();
        assert_eq!(mapped.len(), names.len());
        for name in &mapped {
            assert!(is_legal(name), "{name}");
        }
    }

    #[test]
    fn a_changed_name_can_still_be_read_and_never_changes_again() {
        let name = legal_name("mcp:server/tool").into_owned();
        assert!(name.starts_with("mcp_server_tool_"), "{name}");
        assert_eq!(legal_name(&name), name);
        assert_eq!(legal_name("mcp:server/tool"), name);
    }
}
