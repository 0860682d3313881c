//! The sessions of sub-agents, by the calls that started them.

use std::collections::BTreeMap;

use seslog::event::SessionMeta;

/// Where a session's meta has them.
pub(crate) const SUB_AGENTS: &str = "subAgents";

/// The session of the agent that each call started, as far as an import has found it.
pub(crate) fn sub_agents(meta: &SessionMeta) -> BTreeMap<String, String> {
    let map = meta.extra.iter().find(|(name, _)| name == SUB_AGENTS).and_then(|(_, value)| value.as_map());
    let pairs = map.unwrap_or_default().iter();
    pairs.filter_map(|(call, session)| Some((call.clone(), session.as_text()?.to_owned()))).collect()
}

/// What is said at such a call.
pub(crate) fn note(session: &str) -> String {
    format!("its agent's session: {session}")
}

#[cfg(test)]
mod tests {
    use seslog::event::Value;

    use super::*;

    #[test]
    fn only_texts_name_sessions() {
        let map = Value::from([("c1", "s1".into()), ("c2", Value::Int(1))]);
        let meta = SessionMeta { extra: vec![(SUB_AGENTS.to_owned(), map)], ..SessionMeta::default() };
        assert_eq!(sub_agents(&meta), BTreeMap::from([("c1".to_owned(), "s1".to_owned())]));
    }
}
