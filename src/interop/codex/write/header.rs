//! The header of a rollout, and what its records say of the session as a whole.

use super::{Rollout, VERSION};
use crate::event::{Fields, Value};
use crate::interop::fields::{field, put, put_new};
use crate::interop::leaving_told::{Agent, Told};
use crate::interop::time::iso_cut;

impl Rollout<'_, '_> {
    /// The header, and numbers where records are numbered.
    pub(super) fn finish(&mut self, told: &mut Told) {
        let source = self.source;
        let is_header = |record: &Value| record.get("type").and_then(Value::as_text) == Some("session_meta");
        if !self.records.first().is_some_and(is_header) {
            let payload = Value::Map(Fields::new());
            let timestamp = iso_cut(source.begun_at()).into();
            let header = [("timestamp", timestamp), ("type", "session_meta".into()), ("payload", payload)];
            self.records.insert(0, Value::from(header));
        }
        let is_numbered = self.records[0].get("ordinal").is_some();
        let old = self.records[0].get("payload").and_then(|payload| payload.get("id")).cloned();
        for (number, record) in self.records.iter_mut().enumerate() {
            let Value::Map(fields) = record else { continue };
            if is_numbered {
                put(fields, "ordinal", number as u64);
            }
            let is_own = number == 0
                || (old.is_some()
                    && fields.iter().any(|(name, value)| name == "payload" && value.get("id") == old.as_ref())
                    && field(fields, "type").and_then(Value::as_text) == Some("session_meta"));
            if !is_own {
                continue;
            }
            let at = field(fields, "timestamp").cloned().unwrap_or_default();
            let Some((_, Value::Map(payload))) = fields.iter_mut().find(|(name, _)| name == "payload") else {
                continue;
            };
            put(payload, "id", self.session.to_string());
            if field(payload, "session_id").is_some() {
                put(payload, "session_id", self.session.to_string());
            }
            if let Some(parent) = source.forked_from().filter(|_| number == 0) {
                put(payload, "forked_from_id", parent.to_string());
            }
            if source.origin != Some(Agent::Codex) {
                if let Some(agent) = source.agent() {
                    put_new(payload, "agent_nickname", agent);
                }
                if let Some(branch) = source.noted("gitBranch") {
                    put_new(payload, "git", Value::from([("branch", branch.into())]));
                }
            }
            put_new(payload, "timestamp", at);
            if field(payload, "cwd").is_none() {
                source.tell_of_no_folder(told);
            }
            put_new(payload, "cwd", source.meta().cwd.clone().unwrap_or_else(|| "/".to_owned()));
            put_new(payload, "originator", "seslog");
            put_new(payload, "cli_version", VERSION);
        }
    }
}
