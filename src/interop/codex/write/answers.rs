//! The items of a message, and beside them who made it and what that cost.

use super::Rollout;
use crate::event::{Fields, Message, Role, StopReason, Uuid, Value};
use crate::interop::codex::write_foreign::{PROVIDER, foreign_items, shown};
use crate::interop::codex::write_own::own_item;
use crate::interop::codex::write_turn::{says_all, settings, thread_name};
use crate::interop::fields::put;
use crate::interop::leaving_source::is_hidden;
use crate::interop::leaving_told::{Told, lost};

impl Rollout<'_, '_> {
    pub(super) fn items(&mut self, index: usize, told: &mut Told) {
        let entry = self.source.entry(index);
        let Some(message) = entry.event.message() else { return };
        let is_own = self.is_own(index);
        let at = entry.event.at;
        self.tell_of_time(&entry.event, told);
        let is_the_models = message.role == Role::Assistant;
        if is_the_models {
            self.made_by(message, entry.event.id, at, is_own, told);
        }
        if is_own && !message.metadata.visible_in_transcript {
            told.note(lost::SHOWN, entry.event.id);
        }
        let items = match is_own {
            true => vec![own_item(message)],
            false => {
                let event = self.cut.get(&index).unwrap_or(&entry.event);
                let items = foreign_items(event, &self.source.tools, &self.free, told);
                items.into_iter().map(|item| ("response_item", item)).collect()
            }
        };
        for (kind, item) in items {
            // Who is not to see it in a list of sessions, or on the screen, is told nothing of it there.
            let screen = shown(&item).filter(|_| !is_hidden(message));
            self.push(kind, at, item);
            self.lines[index].get_or_insert(self.records.len());
            if let Some((event, text)) = screen {
                self.screen(event, text, at);
            }
        }
        let is_last = message.message_id.as_deref().is_none_or(|id| self.last_blocks.get(id) == Some(&index));
        if let Some(usage) = message.usage.as_ref().filter(|_| is_the_models && is_last) {
            if !says_all(usage) {
                told.note(lost::USAGE, entry.event.id);
            }
            if let Some(event) = self.totals.add(usage, message.provider.as_deref()) {
                self.push("event_msg", at, event);
            }
        }
    }

    /// What people see: without it the program has no name for the session in its list.
    fn screen(&mut self, event: &str, text: String, at: i64) {
        if event == "user_message" && self.said_first.is_none() {
            self.said_first = text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
        }
        let mut payload: Fields = vec![("type".to_owned(), event.into()), ("message".to_owned(), text.into())];
        if event == "user_message" {
            put(&mut payload, "images", Value::List(Vec::new()));
        }
        self.push("event_msg", at, Value::Map(payload));
    }

    /// Says who made what follows.
    fn made_by(&mut self, message: &Message, id: Uuid, at: i64, is_own: bool, told: &mut Told) {
        match (&message.model, &self.model) {
            (Some(model), old) if old.as_ref() != Some(model) => self.settings(model.clone(), at),
            (None, Some(_)) => told.note(lost::MODEL_UNKNOWN, id),
            _ => {}
        }
        if is_own {
            return;
        }
        if !message.provider.as_deref().is_some_and(|provider| provider.starts_with(PROVIDER)) {
            told.note(lost::PROVIDERS, id);
            if message.model.is_some() {
                told.note(lost::MODELS, id);
            }
        }
        if message.stop_reason != StopReason::NotSaid {
            told.note(lost::STOP_REASONS_UNSAID, id);
        }
    }

    pub(super) fn settings(&mut self, model: String, at: i64) {
        let cwd = self.source.meta().cwd.as_deref().unwrap_or("/");
        self.push("turn_context", at, settings(cwd, &model));
        self.model = Some(model);
    }

    /// The session's title. The program (seen in 0.171) reads it from a file beside the rollouts, and else lists a session
    /// by what a person said first.
    pub(super) fn title(&mut self, title: Option<&str>, of: Uuid, at: i64, told: &mut Told) {
        if let Some(title) = title.filter(|title| !title.trim().is_empty()) {
            if self.said_first.as_deref() != Some(title) {
                told.note(lost::TITLE, of);
            }
            let event = thread_name(&self.session.to_string(), title);
            self.push("event_msg", at, event);
        }
    }
}
