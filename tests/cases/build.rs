//! Makes the sessions that a case begins with, kills their writer and damages their files.

use serde_json::{Value as Json, json};
use seslog::event::SessionMeta;
use seslog::interop::{import_events, read_events};
use seslog::log::Durability;
use seslog::projection::Diagnostic;

use super::case::{filled, list};
use super::disk::{self, extent};
use super::draft::record;
use super::look::log_events;
use super::world::{MAIN, Member, World};

impl World {
    /// Makes the sessions, kills and damages them.
    pub fn build(&mut self) {
        if let Some(sessions) = self.case.given["store"]["sessions"].as_object().cloned() {
            return self.build_store(&sessions);
        }
        self.create(MAIN);
        let by_session = self.case.given.get("clock").is_some();
        let raw = match self.case.given["via"].as_str() {
            None | Some("append") => false,
            Some("raw") => true,
            Some(other) => panic!("via {other}"),
        };
        let events: Vec<(u64, Json)> = self.case.events().into_iter().map(|(n, event)| (n, event.clone())).collect();
        let mut lines = Vec::new();
        for (times, event) in events {
            for number in 0..times {
                let event = self.with_also(filled(&event, number));
                if raw {
                    lines.push(event.to_string());
                    continue;
                }
                // A sync for each of thousands would take minutes; the last one makes all of them durable.
                let durability = if number + 1 < times { Durability::Os } else { Durability::Sync };
                let outcome = self.tell(MAIN, &event, by_session, durability);
                assert_eq!(outcome, "ok", "{event}");
            }
        }
        lines.extend(self.case.list("importJson").iter().map(|line| line.as_str().unwrap().to_owned()));
        if !lines.is_empty() {
            self.import(&lines);
        }
        if self.case.expect.contains_key("fuzz") {
            self.base = Some(std::fs::read(&self.member(MAIN).path).unwrap());
        }
        let damage = self.case.list("damage").to_vec();
        if !damage.is_empty() {
            let member = self.members.get_mut(MAIN).unwrap();
            disk::kill(member.session.take().unwrap());
            for one in &damage {
                disk::damage(&member.path, &member.names, one);
            }
        }
    }

    fn build_store(&mut self, sessions: &serde_json::Map<String, Json>) {
        for (name, given) in sessions {
            self.create(name);
            if let Some(cwd) = given["cwd"].as_str() {
                let meta = SessionMeta { cwd: Some(cwd.to_owned()), ..SessionMeta::default() };
                drop(self.member(name).session.as_ref().unwrap().set_meta(meta, Durability::Sync).unwrap());
            }
            for event in list(&given["events"]) {
                assert_eq!(self.tell(name, event, false, Durability::Sync), "ok", "{event}");
            }
            disk::kill(self.member_mut(name).session.take().unwrap());
        }
        let damage = list(&self.case.given["store"]["damage"]).to_vec();
        for one in &damage {
            match one["op"].as_str().unwrap() {
                // There is no catalogue: everything that is there is a session's own file.
                "delete_catalogue" => assert_eq!(disk::files(self.store.dir()).len(), sessions.len()),
                "stray_file" => {
                    let name =
                        one["name"].as_str().unwrap().replace("of-the-same-extension", seslog::session::EXTENSION);
                    std::fs::write(self.store.dir().join(name), one["bytes"].as_str().unwrap()).unwrap();
                }
                _ => {
                    let member = self.member(one["session"].as_str().unwrap());
                    disk::damage(&member.path, &member.names, one);
                }
            }
        }
        let files = disk::files(self.store.dir());
        self.files_after_damage = files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    }

    fn create(&mut self, name: &str) {
        let session = self.store.create().unwrap();
        let member = Member { path: session.path().to_owned(), session: Some(session), ..Member::default() };
        self.members.insert(name.to_owned(), member);
    }

    /// Puts lines into the main session through the import, which takes what the append would refuse.
    fn import(&mut self, lines: &[String]) {
        for line in lines {
            self.remember(&serde_json::from_str(line).unwrap_or_default());
        }
        let member = self.members.get_mut(MAIN).unwrap();
        let session = member.session.as_ref().unwrap();
        let report = import_events(session, &self.case.id, read_events(lines.join("\n").as_bytes())).unwrap();
        assert_eq!((report.read, report.refused.len(), report.bad_lines.len()), (lines.len(), 0, 0), "{report:#?}");
        member.told = i64::try_from(lines.len()).unwrap();
        for event in log_events(session.log()) {
            if let Some(word) = &event.original_id {
                member.names.learn(word, event.id);
            }
        }
        let renamed = report.renamed.iter().map(|renamed| ("duplicate_id", renamed.event.parse().unwrap()));
        self.said_at_import.extend(renamed.map(|(code, id)| Diagnostic::new(code, [id], "other content has its id")));
        // The report counts what was replaced; which line it was in, a look at each one tells.
        if report.replaced_surrogates + report.replaced_bytes > 0 {
            let is_lossy = |line: &&String| {
                let mut reader = read_events(line.as_bytes());
                reader.by_ref().for_each(drop);
                !reader.lossy().is_none()
            };
            let words = lines.iter().filter(is_lossy).filter_map(|line| record(line).id);
            let ids = words.map(|word| member.names.id(&word));
            self.said_at_import.extend(ids.map(|id| Diagnostic::new("invalid_unicode_replaced", [id], "half a pair")));
        }
    }

    pub fn remember(&mut self, event: &Json) {
        let wanted = list(self.case.expect.get("round_trip").unwrap_or(&Json::Null));
        if wanted.contains(&event["id"]) {
            self.told.insert(event["id"].as_str().unwrap().to_owned(), event.clone());
        }
    }

    /// What stands under `also`: a text with the bytes of a whole frame, put behind an event's output.
    fn with_also(&self, mut event: Json) -> Json {
        let also = &self.case.given["also"];
        if also.is_null() || event["id"] != also["in_event"] {
            return event;
        }
        assert_eq!(also["encoded_as"], "latin-1");
        let member = self.member(MAIN);
        let id = member.names.id(also["append_text_part_with_bytes_of_frame"].as_str().unwrap());
        let extent = extent(&member.path, id);
        let bytes = &std::fs::read(&member.path).unwrap()[extent.from..extent.to];
        let text: String = bytes.iter().copied().map(char::from).collect();
        let output = event["content"][0]["output"].as_array_mut().expect("an output of parts");
        output.push(json!({"type": "text", "text": text}));
        event
    }
}
