//! Records that stand for no event: what is said of the session, and the program's own notes.

use super::Writer;
use crate::event::{Fields, Message, Uuid, Value, foreign_id};
use crate::interop::claude_code::FORMAT;
use crate::interop::fields::{field, put};
use crate::interop::leaving_source::is_safe_name;
use crate::interop::leaving_told::{Told, lost};
use crate::interop::time::iso_cut;

impl Writer<'_, '_> {
    pub(super) fn title(&mut self, title: String) {
        self.note("custom-title", [("customTitle", title.into())]);
    }

    /// What is said of the session.
    pub(super) fn note<const N: usize>(&mut self, kind: &str, said: [(&str, Value); N]) {
        let mut fields: Fields = vec![("type".to_owned(), kind.into())];
        fields.extend(said.into_iter().map(|(name, value)| (name.to_owned(), value)));
        fields.push(("sessionId".to_owned(), self.session.as_str().into()));
        self.records.push(Value::Map(fields));
    }

    /// A note of the program's own that hangs in the conversation; its id follows from `seed`.
    pub(super) fn system<const N: usize>(
        &mut self,
        seed: (&str, u32),
        parent: Value,
        at: i64,
        said: [(&str, Value); N],
    ) {
        let uuid = foreign_id(FORMAT, &self.session, seed.0, seed.1).to_string();
        // The session's own file may have one, if it was written by us.
        self.records.retain(|record| record.get("uuid").and_then(Value::as_text) != Some(&uuid));
        let mut fields: Fields = Vec::with_capacity(N + 10);
        put(&mut fields, "parentUuid", parent);
        put(&mut fields, "isSidechain", false);
        put(&mut fields, "userType", "external");
        put(&mut fields, "cwd", self.cwd.as_str());
        put(&mut fields, "version", self.version.as_str());
        put(&mut fields, "sessionId", self.session.as_str());
        put(&mut fields, "type", "system");
        for (name, value) in said {
            put(&mut fields, name, value);
        }
        put(&mut fields, "isMeta", false);
        put(&mut fields, "uuid", uuid);
        put(&mut fields, "timestamp", iso_cut(at));
        self.put_agent(&mut fields);
        self.records.push(Value::Map(fields));
    }

    /// A record of the session that is no message, of this session now.
    pub(super) fn metadata(&mut self, mut payload: Value) {
        if let (Some(_), Value::Map(fields)) = (self.source.forked_from(), &mut payload)
            && field(fields, "sessionId").is_some()
        {
            put(fields, "sessionId", self.session.as_str());
        }
        self.records.push(payload);
    }

    /// Where a record names the session by what could be no file's name, it has the name of this file instead.
    pub(super) fn name_the_session(&mut self) {
        for record in &mut self.records {
            let Value::Map(fields) = record else { continue };
            let is_refused = |name: &&Value| name.as_text().is_some_and(|name| !is_safe_name(name));
            if field(fields, "sessionId").filter(is_refused).is_some() {
                put(fields, "sessionId", self.session.as_str());
            }
        }
    }

    /// Results that became a stub: the program's own light compaction says so.
    pub(super) fn prune(
        &mut self,
        id: Uuid,
        at: i64,
        targets: &[Uuid],
        above: Option<usize>,
        told: &mut Told,
        nth: usize,
    ) {
        let source = self.source;
        let messages = targets.iter().filter_map(|target| source.message(source.place(*target)?));
        let calls: Vec<Value> =
            messages.flat_map(Message::results).map(|result| result.call_id.as_str().into()).collect();
        let hangs_on = above.or_else(|| source.leaf());
        let (Some(hangs_on), false) = (hangs_on, calls.is_empty()) else { return told.note(lost::PRUNES, id) };
        let metadata = Value::from([
            ("trigger", "auto".into()),
            ("preTokens", Value::Int(0)),
            ("tokensSaved", Value::Int(0)),
            ("compactedToolIds", calls.into()),
            ("clearedAttachmentUUIDs", Value::List(Vec::new())),
        ]);
        let parent = self.node(hangs_on);
        let said = [
            ("subtype", "microcompact_boundary".into()),
            ("content", "Context microcompacted".into()),
            ("microcompactMetadata", metadata),
        ];
        self.system((&format!("{id}.prune"), u32::try_from(nth).unwrap_or(1)), parent, at, said);
    }
}
