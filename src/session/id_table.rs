//! Ids to the numbers of what bears them, in a few bytes each: the ids themselves are not kept, whoever asks compares.

use std::hash::{BuildHasher, RandomState};

use crate::event::Uuid;

/// A slot that nobody has taken.
const EMPTY: u32 = u32::MAX;
/// Slots of the smallest table.
const SLOTS_MIN: usize = 16;

/// Which number bears an id. Numbers are given from 0 on, one with each insertion.
#[derive(Debug, Default)]
pub(super) struct IdTable {
    /// An id's search begins where its print points to, and goes on to the next empty one.
    slots: Vec<u32>,
    /// By number: 32 bits of the id's hash.
    prints: Vec<u32>,
    hasher: RandomState,
}

impl IdTable {
    /// Makes room for so many ids in all, so that it need not grow on the way.
    pub(super) fn reserve(&mut self, count: usize) {
        self.prints.reserve_exact(count.saturating_sub(self.prints.len()));
        let slots = (count + 1).saturating_mul(8) / 7 + SLOTS_MIN;
        if slots > self.slots.len() {
            self.resize(slots);
        }
    }

    /// The number that bears this id. `bears` tells whether a number really does.
    pub(super) fn find<E>(&self, id: Uuid, bears: impl FnMut(u32) -> Result<bool, E>) -> Result<Option<u32>, E> {
        if self.slots.is_empty() {
            return Ok(None);
        }
        let slot = self.slot_of(self.print(id), bears)?;
        Ok(Some(self.slots[slot]).filter(|number| *number != EMPTY))
    }

    /// Gives the next number to this id; an earlier one that bears it is forgotten.
    pub(super) fn insert<E>(&mut self, id: Uuid, bears: impl FnMut(u32) -> Result<bool, E>) -> Result<(), E> {
        // One slot in eight stays empty, so that a search soon ends.
        if (self.prints.len() + 1) * 8 > self.slots.len() * 7 {
            self.resize((self.slots.len() * 2).max(SLOTS_MIN));
        }
        let print = self.print(id);
        let slot = self.slot_of(print, bears)?;
        self.slots[slot] = self.prints.len() as u32;
        self.prints.push(print);
        Ok(())
    }

    fn print(&self, id: Uuid) -> u32 {
        self.hasher.hash_one(id) as u32
    }

    fn first_slot(&self, print: u32) -> usize {
        ((u64::from(print) * self.slots.len() as u64) >> 32) as usize
    }

    /// The slot of the number that bears the id of this print, or the empty one where it belongs.
    fn slot_of<E>(&self, print: u32, mut bears: impl FnMut(u32) -> Result<bool, E>) -> Result<usize, E> {
        let mut slot = self.first_slot(print);
        loop {
            let number = self.slots[slot];
            if number == EMPTY || (self.prints[number as usize] == print && bears(number)?) {
                return Ok(slot);
            }
            slot = (slot + 1) % self.slots.len();
        }
    }

    fn resize(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; slots]);
        for number in old.into_iter().filter(|number| *number != EMPTY) {
            let mut slot = self.first_slot(self.prints[number as usize]);
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) % slots;
            }
            self.slots[slot] = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn each_id_is_found_under_its_latest_number_and_no_other_is() {
        let mut table = IdTable::default();
        let mut ids: Vec<Uuid> = Vec::new();
        let mut expected = HashMap::new();
        for n in 0..5_000_u128 {
            if n == 2_000 {
                table.reserve(4_000);
            }
            let id = Uuid::from_u128(n % 3_000);
            let Ok(()) = table.insert::<Infallible>(id, |number| Ok(ids[number as usize] == id));
            expected.insert(id, n as u32);
            ids.push(id);
        }
        for n in 0..4_000 {
            let id = Uuid::from_u128(n);
            let Ok(found) = table.find::<Infallible>(id, |number| Ok(ids[number as usize] == id));
            assert_eq!(found, expected.get(&id).copied());
        }
    }
}
