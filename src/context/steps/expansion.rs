//! Texts with names in double braces, and what becomes of them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::Serialize;

use crate::context::BoxError;
use crate::context::tag::without_marks;

/// Gives a value. It is asked at most once a run, and only if a text names it.
pub type Generate = Arc<dyn Fn() -> Result<String, BoxError> + Send + Sync>;

/// What [`Placeholders`](super::placeholders::Placeholders) could not replace.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaceholderReport {
    /// Names that nothing is known of, most likely mistyped.
    pub unresolved: BTreeSet<String>,
    /// Names whose generator failed, and why.
    pub failed: BTreeMap<String, String>,
    /// Names in values that lie deeper than is allowed.
    pub too_deep: BTreeSet<String>,
}

/// Begins the end of a tag.
const TAG_END: &str = "</";
/// The same as a text.
const TAG_END_DEFUSED: &str = "&lt;/";

/// A text would grow by more than is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

/// One run's values, each made once, and each with the names in it replaced once a depth: so the work is in proportion
/// to what is written, whatever the values name.
pub(super) struct Expansion<'a> {
    generators: &'a BTreeMap<String, Generate>,
    growth_max: usize,
    /// The values as they were made; none: the generator failed.
    values: HashMap<&'a str, Option<Arc<str>>>,
    /// The values with the names in them replaced, so deep.
    expanded: HashMap<(&'a str, usize), Result<Arc<str>, TooLong>>,
    pub(super) report: PlaceholderReport,
}

impl<'a> Expansion<'a> {
    pub(super) fn new(generators: &'a BTreeMap<String, Generate>, growth_max: usize) -> Self {
        let (values, expanded) = (HashMap::new(), HashMap::new());
        Self { generators, growth_max, values, expanded, report: PlaceholderReport::default() }
    }

    /// The text with its names replaced, and those of their values, so deep; none if there is nothing to replace. In a text
    /// with tags no value ends one of them.
    pub(super) fn of(&mut self, text: &str, depth: usize) -> Result<Option<String>, TooLong> {
        self.filled(text, depth, text.contains(TAG_END))
    }

    fn filled(&mut self, text: &str, depth: usize, is_in_tags: bool) -> Result<Option<String>, TooLong> {
        let longest = text.len().saturating_add(self.growth_max);
        let mut filled = String::new();
        let mut from = 0;
        for name in names(text) {
            let Some(value) = self.value(name.name, depth) else { continue };
            let value = value?;
            let value =
                if is_in_tags { Cow::Owned(value.replace(TAG_END, TAG_END_DEFUSED)) } else { Cow::Borrowed(&*value) };
            let before = &text[from..name.start];
            if filled.len() + before.len() + value.len() > longest {
                return Err(TooLong);
            }
            filled.push_str(before);
            filled.push_str(&value);
            from = name.end;
        }
        if from == 0 {
            return Ok(None);
        }
        let rest = &text[from..];
        if filled.len() + rest.len() > longest {
            return Err(TooLong);
        }
        filled.push_str(rest);
        Ok(Some(filled))
    }

    /// What stands for this name, so deep; none if the name stays.
    fn value(&mut self, name: &str, depth: usize) -> Option<Result<Arc<str>, TooLong>> {
        let Some((name, generate)) = self.generators.get_key_value(name) else {
            self.report.unresolved.insert(name.to_owned());
            return None;
        };
        let Some(below) = depth.checked_sub(1) else {
            self.report.too_deep.insert(name.clone());
            return None;
        };
        if let Some(known) = self.expanded.get(&(name, below)) {
            return Some(known.clone());
        }
        if !self.values.contains_key(name.as_str()) {
            let value = match generate() {
                // It may stand in a wrapper.
                Ok(value) => Some(Arc::from(without_marks(&value))),
                Err(error) => {
                    self.report.failed.insert(name.clone(), error.to_string());
                    None
                }
            };
            self.values.insert(name, value);
        }
        let value = self.values.get(name.as_str())?.clone()?;
        let expanded = self.of(&value, below).map(|expanded| expanded.map_or(value, Arc::from));
        self.expanded.insert((name, below), expanded.clone());
        Some(expanded)
    }
}

/// A name in double braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Name<'t> {
    name: &'t str,
    /// Where its braces begin and end.
    start: usize,
    end: usize,
}

/// The names in a text, in order.
fn names(text: &str) -> impl Iterator<Item = Name<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find("{{")?;
            // The second brace may be the first of two.
            at = start + 1;
            let inside = text[start + 2..].trim_start();
            let len = inside.find(|c: char| !is_of_name(c)).unwrap_or(inside.len());
            let (name, rest) = inside.split_at(len);
            if let Some(rest) = rest.trim_start().strip_prefix("}}").filter(|_| len > 0) {
                at = text.len() - rest.len();
                return Some(Name { name, start, end: at });
            }
        }
    })
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_in_two_braces() {
        let cases: &[(&str, &[&str])] = &[
            ("{{a}} {{ b }}{{c.d-e_1}}", &["a", "b", "c.d-e_1"]),
            ("{{{a}}} {{{{b}}", &["a", "b"]),
            ("{{}} {{ }} {a} {{a b}} {{a} }} {{a", &[]),
            ("{{ünï\u{a0}}}", &["ünï"]),
            ("{{\n a\n}}", &["a"]),
        ];
        for (text, expected) in cases {
            let found: Vec<&str> = names(text).map(|name| name.name).collect();
            assert_eq!(found, *expected, "{text}");
        }
    }
}
