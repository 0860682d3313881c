//! Beginnings of ids that fit no other one, of events in a session or of sessions in a store.

use seslog::event::Uuid;

/// Digits of the shortest beginning.
const DIGITS_MIN: usize = 8;

/// Ids that are to be told apart, in order.
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
        cut(id, self.digits(id)).trim_end_matches('-').to_owned()
    }

    /// How many characters of an id tell each of these apart from all others.
    pub(crate) fn len_of(&self, shown: impl Iterator<Item = Uuid>) -> usize {
        shown.map(|id| cut(id, self.digits(id)).len()).max().unwrap_or(DIGITS_MIN)
    }

    /// Digits of the shortest beginning that no other id has.
    fn digits(&self, id: Uuid) -> usize {
        let whole = id.as_u128();
        let place = self.sorted.partition_point(|&other| other < whole);
        let above = self.sorted.get(place).filter(|&&other| other != whole).or_else(|| self.sorted.get(place + 1));
        let below = place.checked_sub(1).and_then(|below| self.sorted.get(below));
        let shared = |other: &u128| (whole ^ other).leading_zeros() as usize / 4;
        above.into_iter().chain(below).map(shared).max().map_or(0, |shared| shared + 1).max(DIGITS_MIN)
    }
}

/// So many digits of an id, with what stands between them.
fn cut(id: Uuid, digits: usize) -> String {
    let mut text = id.to_string();
    let end = text.char_indices().filter(|(_, c)| *c != '-').nth(digits.saturating_sub(1));
    text.truncate(end.map_or(text.len(), |(at, _)| at + 1));
    text
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

    #[test]
    fn a_column_of_ids_is_as_wide_as_it_must_be() {
        let id = |text: &str| text.parse::<Uuid>().unwrap();
        let len = |shown: &[Uuid], all: &[Uuid]| ShortIds::of(all.iter().copied()).len_of(shown.iter().copied());
        let one = id("01920000-0000-7000-8000-000000000001");
        let near = id("01920000-0000-7000-8000-000000000002");
        let far = id("f1920000-0000-7000-8000-000000000002");
        assert_eq!(len(&[far], &[one, near, far]), 8);
        assert_eq!(len(&[one], &[one, near, far]), 36);
        assert_eq!(len(&[one], &[one]), 8);
        assert_eq!(len(&[one], &[one, id("01920000-1000-7000-8000-000000000001")]), 10);
    }
}
