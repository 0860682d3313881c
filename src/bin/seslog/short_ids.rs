//! Beginnings of ids that fit no other event of a session.

use seslog::event::Uuid;

/// Digits of the shortest beginning.
const DIGITS_MIN: usize = 8;

/// The ids of a session's events, in order.
#[derive(Debug)]
pub(crate) struct ShortIds {
    sorted: Vec<u128>,
}

impl ShortIds {
    pub(crate) fn of(ids: impl Iterator<Item = Uuid>) -> Self {
        let mut sorted: Vec<u128> = ids.map(|id| id.as_u128()).collect();
        sorted.sort_unstable();
        sorted.dedup();
        Self { sorted }
    }

    /// The beginning of this id that no other one has.
    pub(crate) fn short(&self, id: Uuid) -> String {
        let whole = id.as_u128();
        let place = self.sorted.partition_point(|&other| other < whole);
        let above = self.sorted.get(place).filter(|&&other| other != whole).or_else(|| self.sorted.get(place + 1));
        let below = place.checked_sub(1).and_then(|below| self.sorted.get(below));
        let shared = |other: &u128| (whole ^ other).leading_zeros() as usize / 4;
        let digits = above.into_iter().chain(below).map(shared).max().map_or(0, |shared| shared + 1).max(DIGITS_MIN);
        let text = id.to_string();
        let end = text.char_indices().filter(|(_, c)| *c != '-').nth(digits).map_or(text.len(), |(at, _)| at);
        text[..end].trim_end_matches('-').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_as_long_as_it_has_to_be() {
        let ids = [
            "01a22d80-6dfd-7000-8000-57cb04c6ad76",
            "01a22d80-6dfd-7000-8001-57cb04c6ad76",
            "f2c0a7ba-f6ee-5af0-a02a-25fc8d8cbc9e",
        ];
        let ids: Vec<Uuid> = ids.iter().map(|id| id.parse().unwrap()).collect();
        let short = ShortIds::of(ids.iter().copied());
        let shown: Vec<String> = ids.iter().map(|&id| short.short(id)).collect();
        assert_eq!(shown, ["01a22d80-6dfd-7000-8000", "01a22d80-6dfd-7000-8001", "f2c0a7ba"]);
    }
}
