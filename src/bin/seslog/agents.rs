//! The sessions of sub-agents, by the calls that started them.

use std::collections::BTreeMap;

use serde::Serialize;
use seslog::event::{SessionMeta, Value};

/// Where a session's meta has them.
pub(crate) const SUB_AGENTS: &str = "subAgents";

/// The sessions of the agents that one call started, in the order in which they were found. In JSON one stands alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Sessions {
    One(String),
    Several(Vec<String>),
}

impl Sessions {
    fn of(value: &Value) -> Option<Self> {
        if let Some(one) = value.as_text() {
            return Some(Self::One(one.to_owned()));
        }
        let several = value.as_list()?.iter().filter_map(|session| Some(session.as_text()?.to_owned()));
        Some(several.collect()).filter(|several: &Vec<String>| !several.is_empty()).map(Self::Several)
    }

    pub(crate) fn names(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(several) => several,
        }
    }
}

/// The sessions of the agents that each call started, as far as an import has found them.
pub(crate) fn sub_agents(meta: &SessionMeta) -> BTreeMap<String, Sessions> {
    let map = meta.extra.iter().find(|(name, _)| name == SUB_AGENTS).and_then(|(_, value)| value.as_map());
    let pairs = map.unwrap_or_default().iter();
    pairs.filter_map(|(call, session)| Some((call.clone(), Sessions::of(session)?))).collect()
}

/// What is said at such a call.
pub(crate) fn note(session: &str) -> String {
    format!("its agent's session: {session}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_name_sessions() {
        let map = Value::from([
            ("c1", "s1".into()),
            ("c2", Value::Int(1)),
            ("c3", Value::List(vec!["s2".into(), "s3".into()])),
        ]);
        let meta = SessionMeta { extra: vec![(SUB_AGENTS.to_owned(), map)], ..SessionMeta::default() };
        let one = ("c1".to_owned(), Sessions::One("s1".to_owned()));
        let two = ("c3".to_owned(), Sessions::Several(vec!["s2".to_owned(), "s3".to_owned()]));
        assert_eq!(sub_agents(&meta), BTreeMap::from([one, two]));
    }
}
