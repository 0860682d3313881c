//! Names of tools as providers take them: of two different names no one name is made.

use std::collections::{HashMap, HashSet};

use super::leaving_told::{Told, lost};
use crate::event::{Uuid, foreign_id};

/// The longest name that is taken, in characters.
const LEN_MAX: usize = 64;

/// What becomes of the names of a session's tools.
#[derive(Debug, Default)]
pub(super) struct ToolNames(HashMap<String, Fit>);

#[derive(Debug)]
struct Fit {
    name: String,
    /// Another name would have become the same.
    is_apart: bool,
}

impl ToolNames {
    /// Of these names, in the order in which the session has them: the first one that becomes a name keeps it.
    pub(super) fn of<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut seen = HashSet::new();
        let names: Vec<&str> = names.filter(|name| seen.insert(*name)).collect();
        let is_fine = |name: &&&str| fit(name).is_none();
        let mut taken: HashSet<String> = names.iter().filter(is_fine).map(|name| (*name).to_owned()).collect();
        let mut made = HashMap::new();
        for name in names {
            let Some(fit) = fit(name) else { continue };
            let is_apart = taken.contains(&fit);
            let fit = if is_apart { apart(&fit, name) } else { fit };
            taken.insert(fit.clone());
            made.insert(name.to_owned(), Fit { name: fit, is_apart });
        }
        Self(made)
    }

    /// The name as providers take it; what is changed is told.
    pub(super) fn fit(&self, name: &str, event: Uuid, told: &mut Told) -> String {
        let Some(fit) = self.0.get(name) else { return name.to_owned() };
        told.note(lost::TOOL_NAMES, event);
        if fit.is_apart {
            told.note(lost::TOOL_NAMES_APART, event);
        }
        fit.name.clone()
    }
}

/// None: it is fine as it is.
fn fit(name: &str) -> Option<String> {
    let is_taken = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= LEN_MAX && name.chars().all(is_taken) {
        return None;
    }
    let name: String = name.chars().take(LEN_MAX).map(|c| if is_taken(c) { c } else { '_' }).collect();
    Some(if name.is_empty() { "unnamed".to_owned() } else { name })
}

/// With an end that follows from the whole name.
fn apart(fit: &str, name: &str) -> String {
    let end = foreign_id("tools", "", name, 1).simple().to_string();
    let kept: String = fit.chars().take(LEN_MAX - 1 - end.len()).collect();
    format!("{kept}_{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_become_the_same_stay_different() {
        let long = "x".repeat(70);
        let names = ["a.b", "a_b", "a/b", "fine", "", &long, &long[..65], "a.b"];
        let tools = ToolNames::of(names.into_iter());
        let mut told = Told::default();
        let fits: Vec<String> = names.iter().map(|name| tools.fit(name, Uuid::nil(), &mut told)).collect();
        assert!(fits.iter().all(|name| fit(name).is_none()), "{fits:?}");
        assert_eq!(fits.iter().collect::<HashSet<_>>().len(), 7, "{fits:?}");
        assert_eq!(
            (&fits[1], &fits[3], &fits[4], &fits[0]),
            (&"a_b".into(), &"fine".into(), &"unnamed".into(), &fits[7])
        );
        let again = ToolNames::of(names.into_iter());
        assert_eq!(again.fit("a/b", Uuid::nil(), &mut told), fits[2]);
    }
}
