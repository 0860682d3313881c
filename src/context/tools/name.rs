//! The names that a model calls tools by, and what they mean.
//!
//! ```text
//! identifier ____ api [____ type]        files____read        web____search____mcp
//! ```
//!
//! Names stand in old logs, so how they are made never changes. Every provider takes them as they are: letters and digits
//! of ASCII, `_` and `-`, fewer than [`LEN_LIMIT`] characters, a letter or `_` first.
//!
//! A part that is not of that kind becomes [`MARK`] and 12 hex digits of its hash. So does one that would make a name mean
//! two things: one that holds `____` or ends with `_`, so that the first `____` is where the identifier ends; and one that
//! looks like a mark with its digits. A hash tells nothing back: a name is decoded by making the names of all known
//! manifests anew.

use std::collections::{BTreeMap, BTreeSet};

use super::manifest::{Api, Manifest};
use crate::event::Uuid;

/// Stands between the parts of a name.
pub const SEPARATOR: &str = "____";

/// A name has fewer characters than this.
const LEN_LIMIT: usize = 64;

/// Begins a part that is a hash.
const MARK: &str = "hash_";

/// Hex digits of a hash.
const HASH_DIGITS: usize = 12;

/// The namespace of the hashes. It never changes.
const NAMESPACE: Uuid = Uuid::from_u128(0x5b1f_7c02_9a64_4de8_8e3d_c1a0_76f9_4b25);

/// Most names that an error lists.
const LISTED_MAX: usize = 8;

/// The name of an API of a manifest. What has the same three parts has the same name, everywhere and for ever.
///
/// A name that is too long is made shorter by hashing the API, then the identifier too, then the type.
#[must_use]
pub fn encode(identifier: &str, api: &str, kind: Option<&str>) -> String {
    let whole = [identifier_part(identifier), part(api)].into_iter().chain(kind.map(part));
    let mut parts: Vec<String> = whole.collect();
    for (place, original) in [(1, Some(api)), (0, Some(identifier)), (2, kind)] {
        let len = parts.iter().map(String::len).sum::<usize>() + (parts.len() - 1) * SEPARATOR.len();
        match original {
            Some(original) if len >= LEN_LIMIT => parts[place] = hashed(original),
            _ => {}
        }
    }
    parts.join(SEPARATOR)
}

/// What the names of all APIs of a manifest begin with: one where the identifier stands as it is, one where it is hashed,
/// which may be the same.
#[must_use]
pub fn prefixes(identifier: &str) -> [String; 2] {
    [identifier_part(identifier), hashed(identifier)].map(|part| part + SEPARATOR)
}

fn identifier_part(identifier: &str) -> String {
    match identifier.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        true => part(identifier),
        false => hashed(identifier),
    }
}

fn part(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        && !text.contains(SEPARATOR)
        && !text.ends_with('_')
        && !is_hashed(text);
    if is_plain { text.to_owned() } else { hashed(text) }
}

/// The API's part of a name, as it stands in it.
pub(in crate::context) fn api_part(name: &str) -> &str {
    let behind = name.split_once(SEPARATOR).map_or(name, |(_, behind)| behind);
    behind.split_once(SEPARATOR).map_or(behind, |(api, _)| api)
}

fn hashed(text: &str) -> String {
    let hash = Uuid::new_v5(&NAMESPACE, text.as_bytes()).simple().to_string();
    // The digits at the end of a UUID are all of the hash's.
    format!("{MARK}{}", &hash[hash.len() - HASH_DIGITS..])
}

fn is_hashed(text: &str) -> bool {
    let digits = text.strip_prefix(MARK);
    digits.is_some_and(|digits| {
        digits.len() == HASH_DIGITS && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The manifest's identifier.
    pub identifier: String,
    /// The API.
    pub api: String,
    /// The manifest's type.
    pub kind: Option<String>,
}

/// Why a name means nothing that may run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// No known manifest has an API of this name.
    #[error("there is no tool `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// There is such a tool, and it was not offered in this call.
    #[error("the tool `{name}` was not offered in this call")]
    NotOffered {
        /// The name.
        name: String,
    },
    /// It was offered, and not by a manifest: the application declared it itself and knows what it means.
    #[error("the tool `{name}` was offered, but is of no manifest")]
    NoManifest {
        /// The name.
        name: String,
    },
    /// Several tools that were offered could be meant.
    #[error("`{name}` could be each of {}", listed(candidates))]
    Ambiguous {
        /// The name.
        name: String,
        /// The names that were offered, sorted.
        candidates: Vec<String>,
    },
}

fn listed(names: &[String]) -> String {
    let listed: Vec<String> = names.iter().take(LISTED_MAX).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(LISTED_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    listed.join(", ") + &more
}

/// The names of one call: what each means, and which of them were offered.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// By name, what those that are on were made of.
    on: BTreeMap<String, BTreeSet<Target>>,
    /// By an API's name alone: the names that it may stand for, of those that are on.
    bare: BTreeMap<String, BTreeSet<String>>,
    offered: BTreeSet<String>,
    /// All names that are known, also of what is off, and the APIs' names alone: no call means any of these.
    known: BTreeSet<String>,
    known_bare: BTreeSet<String>,
}

impl Names {
    /// The names of these manifests, which are on, and of what was offered: tools of theirs, and plain ones.
    #[must_use]
    pub fn new<'m>(
        on: impl IntoIterator<Item = &'m Manifest>,
        offered: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let mut names = Self { offered: offered.into_iter().map(Into::into).collect(), ..Self::default() };
        for (manifest, api, name) in named(on) {
            names.bare.entry(api.name.clone()).or_default().insert(name.clone());
            names.bare.entry(api_part(&name).to_owned()).or_default().insert(name.clone());
            let (identifier, kind) = (manifest.identifier.clone(), manifest.kind.clone());
            names.on.entry(name).or_default().insert(Target { identifier, api: api.name.clone(), kind });
        }
        names
    }

    /// The same, where these are known too, on or off. A call never means one that is off: it is told apart from a tool
    /// that there is not.
    #[must_use]
    pub fn with_known<'m>(mut self, manifests: impl IntoIterator<Item = &'m Manifest>) -> Self {
        for (_, api, name) in named(manifests) {
            self.known_bare.extend([api.name.clone(), api_part(&name).to_owned()]);
            self.known.insert(name);
        }
        self
    }

    /// What the name of a call means.
    ///
    /// A name that was offered means what it was made of. The bare name of an API, which models sometimes write, means the
    /// one tool **among those that were offered** whose API has that name: so no guess calls a tool that is off, and one
    /// that is off makes none that is on ambiguous.
    ///
    /// # Errors
    /// [`NameError`]: why it may not run.
    pub fn decode(&self, name: &str) -> Result<&Target, NameError> {
        if self.offered.contains(name) {
            return self.made_of(name);
        }
        if self.on.contains_key(name) || self.known.contains(name) {
            // An API whose own name is the whole name of another must not catch its calls.
            return Err(NameError::NotOffered { name: name.to_owned() });
        }
        let bare = self.bare.get(name);
        let mut candidates: Vec<&String> =
            bare.into_iter().flatten().filter(|name| self.offered.contains(*name)).collect();
        match (candidates.pop(), candidates.is_empty()) {
            (Some(only), true) => self.made_of(only),
            (Some(last), false) => {
                candidates.push(last);
                let candidates = candidates.into_iter().cloned().collect();
                Err(NameError::Ambiguous { name: name.to_owned(), candidates })
            }
            (None, _) if bare.is_some() || self.known_bare.contains(name) => {
                Err(NameError::NotOffered { name: name.to_owned() })
            }
            (None, _) => Err(NameError::Unknown { name: name.to_owned() }),
        }
    }

    /// What a name that was offered was made of.
    fn made_of(&self, name: &str) -> Result<&Target, NameError> {
        let targets = self.on.get(name);
        let mut targets = targets.into_iter().flatten();
        match (targets.next(), targets.next()) {
            (Some(only), None) => Ok(only),
            // Two hashes have met, or an application hands in two manifests of one identifier.
            (Some(_), Some(_)) => {
                Err(NameError::Ambiguous { name: name.to_owned(), candidates: vec![name.to_owned()] })
            }
            (None, _) => Err(NameError::NoManifest { name: name.to_owned() }),
        }
    }
}

/// Each API of these manifests with its name.
fn named<'m>(
    manifests: impl IntoIterator<Item = &'m Manifest>,
) -> impl Iterator<Item = (&'m Manifest, &'m Api, String)> {
    let apis = |manifest: &'m Manifest| manifest.apis.iter().map(move |api| (manifest, api));
    manifests
        .into_iter()
        .flat_map(apis)
        .map(|(manifest, api)| (manifest, api, encode(&manifest.identifier, &api.name, manifest.kind.as_deref())))
}
