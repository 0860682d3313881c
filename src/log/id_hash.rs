//! Hashing of ids for tables in memory. An append looks ids up several times; the standard hash, made for keys of any length,
//! costs more than the tables themselves.

use std::hash::{BuildHasher, Hasher, RandomState};

/// The hash of one table. It is keyed at random, so that nobody can choose ids that meet in one place.
#[derive(Clone)]
pub(crate) struct IdHash {
    start: u64,
    key: u64,
}

impl Default for IdHash {
    fn default() -> Self {
        let random = RandomState::new();
        Self { start: random.hash_one(0_u8), key: random.hash_one(1_u8) | 1 }
    }
}

impl std::fmt::Debug for IdHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IdHash")
    }
}

impl BuildHasher for IdHash {
    type Hasher = IdHasher;

    fn build_hasher(&self) -> IdHasher {
        IdHasher { state: self.start, key: self.key }
    }
}

/// One hash that is being made.
#[derive(Debug)]
pub(crate) struct IdHasher {
    state: u64,
    key: u64,
}

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.state = folded(self.state ^ u64::from_le_bytes(word), self.key);
        }
    }

    fn finish(&self) -> u64 {
        folded(self.state, self.key)
    }
}

/// Both halves of the product, one over the other: each bit of it depends on many of both factors.
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use uuid::Uuid;

    use super::*;

    #[test]
    fn ids_that_differ_in_a_few_bits_spread_over_the_table() {
        let hash = IdHash::default();
        for shift in [0, 24, 48, 64, 80, 112] {
            let places: HashSet<u64> =
                (0..4096_u128).map(|n| hash.hash_one(Uuid::from_u128(n << shift)) % 65_536).collect();
            assert!(places.len() > 3_800, "{} places of 4,096 ids that differ from bit {shift} on", places.len());
        }
    }
}
