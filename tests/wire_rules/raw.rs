//! What a body must keep as a text, before it is read as JSON.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

use super::Report;

/// Reads the text; nothing if it is no JSON that every server reads.
pub(super) fn parse(text: &str, report: &mut Report) -> Option<Json> {
    if let Some(offset) = lone_surrogate(text.as_bytes()) {
        report.add("lone-surrogate", "$", format!("half of a surrogate pair stands alone at byte {offset}"));
        return None;
    }
    if let Err(error) = serde_json::from_str::<DistinctKeys>(text) {
        let why = error.to_string();
        let rule = match &why {
            why if why.starts_with("duplicate key") => "json-duplicate-key",
            why if why.starts_with("recursion limit") => "json-depth",
            _ => "json",
        };
        report.add(rule, "$", why);
        return None;
    }
    serde_json::from_str(text).map_err(|error| report.add("json", "$", error.to_string())).ok()
}

/// Where an escaped half of a surrogate pair has no other half. Escapes are the only form that UTF-8 leaves it.
fn lone_surrogate(text: &[u8]) -> Option<usize> {
    let mut offset = 0;
    while let Some(step) = text[offset..].iter().position(|byte| *byte == b'\\') {
        let start = offset + step;
        match escaped_unit(text, start) {
            None => offset = (start + 2).min(text.len()),
            Some(0xD800..=0xDBFF) => match escaped_unit(text, start + 6) {
                Some(0xDC00..=0xDFFF) => offset = start + 12,
                _ => return Some(start),
            },
            Some(0xDC00..=0xDFFF) => return Some(start),
            Some(_) => offset = start + 6,
        }
    }
    None
}

fn escaped_unit(text: &[u8], start: usize) -> Option<u16> {
    let digits = text.get(start..start + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Any JSON whose objects have no key twice.
struct DistinctKeys;

impl<'de> Deserialize<'de> for DistinctKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeysVisitor)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = DistinctKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_i64<E>(self, _: i64) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_u64<E>(self, _: u64) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_f64<E>(self, _: f64) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_str<E>(self, _: &str) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_unit<E>(self) -> Result<DistinctKeys, E> {
        Ok(DistinctKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<DistinctKeys, A::Error> {
        while items.next_element::<DistinctKeys>()?.is_some() {}
        Ok(DistinctKeys)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<DistinctKeys, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            fields.next_value::<DistinctKeys>()?;
            if let Some(twice) = keys.replace(key) {
                return Err(A::Error::custom(format!("duplicate key {twice:?}")));
            }
        }
        Ok(DistinctKeys)
    }
}
