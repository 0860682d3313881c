//! Call ids that every provider takes.

use std::collections::HashSet;

use crate::event::Uuid;

/// Longest id that every provider takes, in bytes.
const LEN_MAX: usize = 40;

/// The namespace of derived ids. It stands in request bodies that providers keep, so it never changes.
const DERIVED: Uuid = Uuid::from_u128(0x3b5c_9e17_4c0a_4f6e_8d21_70b4_93a6_c2f8);

/// Gives each call of a body an id that is legal and its own.
///
/// A legal id that no earlier call has is kept. Any other becomes a hash: of the id, or where it is empty or used
/// before, of its message's id and its place there. So a call's id depends on nothing that comes after it.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    used: HashSet<String>,
}

impl CallIds {
    /// The id for the `index`-th call of this message.
    pub(super) fn assign(&mut self, id: &str, message: Uuid, index: usize) -> String {
        let is_new = !id.is_empty() && !self.used.contains(id);
        let mut assigned = match (is_new, is_legal(id)) {
            (true, true) => id.to_owned(),
            (true, false) => derived(&format!("id:{id}")),
            (false, _) => derived(&format!("place:{message}:{index}")),
        };
        // Only an id that was made to look like one of these meets one.
        let mut turn = 0_u32;
        while self.used.contains(&assigned) {
            turn += 1;
            assigned = derived(&format!("again:{turn}:{message}:{index}"));
        }
        // The original is used as well, so that its next use is told apart.
        if !id.is_empty() {
            self.used.insert(id.to_owned());
        }
        self.used.insert(assigned.clone());
        assigned
    }
}

fn is_legal(id: &str) -> bool {
    (1..=LEN_MAX).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn derived(name: &str) -> String {
    format!("call_{}", Uuid::new_v5(&DERIVED, name.as_bytes()).simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legal_id_is_kept_and_its_second_use_gets_another() {
        let mut ids = CallIds::default();
        assert_eq!(ids.assign("call_0", Uuid::from_u128(1), 0), "call_0");
        let second = ids.assign("call_0", Uuid::from_u128(2), 0);
        assert_ne!(second, "call_0");
        assert!(is_legal(&second));
    }

    #[test]
    fn an_id_made_to_look_like_a_derived_one_does_not_meet_it() {
        let mut ids = CallIds::default();
        let fake = derived(&format!("place:{}:0", Uuid::from_u128(7)));
        assert_eq!(ids.assign(&fake, Uuid::from_u128(1), 0), fake);
        let empty = ids.assign("", Uuid::from_u128(7), 0);
        assert_ne!(empty, fake);
        assert!(is_legal(&empty));
    }
}
