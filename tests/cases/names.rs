//! The short words of a case and the ids that stand for them.

use std::collections::HashMap;

use seslog::event::{Event, Uuid};

/// Which word means which id. One word may mean several records; the latest counts.
#[derive(Debug, Clone, Default)]
pub struct Names {
    ids: HashMap<String, Uuid>,
    words: HashMap<Uuid, String>,
}

/// The fixed id of a word.
pub fn fixed(word: &str) -> Uuid {
    Uuid::new_v5(&Uuid::from_u128(0x7a6e_0c5d_31b2_4f4e_9d61_0000_c0de_0001), word.as_bytes())
}

impl Names {
    /// The id that a word means: the latest record of it, or an id that no record has.
    pub fn id(&self, word: &str) -> Uuid {
        self.ids.get(word).copied().unwrap_or_else(|| fixed(word))
    }

    /// From now on the word means this id.
    pub fn learn(&mut self, word: &str, id: Uuid) {
        self.ids.insert(word.to_owned(), id);
        self.words.insert(id, word.to_owned());
    }

    /// The word for an id; the id itself if it has none.
    pub fn word(&self, id: Uuid) -> String {
        self.words.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// The word for an event, if it has one.
    pub fn word_of(&self, event: &Event) -> Option<String> {
        self.words.get(&event.id).cloned().or_else(|| event.original_id.clone())
    }

    /// The words for ids; ids that have none are left out.
    pub fn words(&self, ids: impl IntoIterator<Item = Uuid>) -> Vec<String> {
        ids.into_iter().filter_map(|id| self.words.get(&id).cloned()).collect()
    }
}
