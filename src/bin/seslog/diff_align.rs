//! Which messages of two views belong together: those with the same key, where they stand in the same order.

use std::collections::HashMap;
use std::hash::Hash;

/// One step through both lists, by places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// In both, and at the same place among the others.
    Both(usize, usize),
    /// In both, but elsewhere.
    Moved(usize, usize),
    /// In the first only.
    OnlyA(usize),
    /// In the second only.
    OnlyB(usize),
}

/// The steps through two lists in which no key stands twice: as few as possible are moved. Takes n log n.
pub(crate) fn align<K: Hash + Eq>(a: &[K], b: &[K]) -> Vec<Step> {
    let in_b: HashMap<&K, usize> = b.iter().enumerate().map(|(place, key)| (key, place)).collect();
    let partners: Vec<Option<usize>> = a.iter().map(|key| in_b.get(key).copied()).collect();
    let mut partner_of_b: Vec<Option<usize>> = vec![None; b.len()];
    for (place, partner) in partners.iter().enumerate() {
        if let Some(partner) = *partner {
            partner_of_b[partner] = Some(place);
        }
    }
    let mut steps = Vec::with_capacity(a.len() + b.len());
    let (mut at_a, mut at_b) = (0, 0);
    let ends = (a.len(), b.len());
    for (end_a, end_b) in longest_rising(&partners).into_iter().chain([ends]) {
        steps.extend((at_a..end_a).filter(|&place| partners[place].is_none()).map(Step::OnlyA));
        steps.extend((at_b..end_b).map(|place| match partner_of_b[place] {
            None => Step::OnlyB(place),
            Some(partner) => Step::Moved(partner, place),
        }));
        if (end_a, end_b) != ends {
            steps.push(Step::Both(end_a, end_b));
        }
        (at_a, at_b) = (end_a + 1, end_b + 1);
    }
    steps
}

/// The longest run of pairs that rises on both sides.
fn longest_rising(partners: &[Option<usize>]) -> Vec<(usize, usize)> {
    // Of each length, the pair with the smallest end that a run of that length has; and of each pair, the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; partners.len()];
    let end_of = |place: usize| partners[place].unwrap_or(usize::MAX);
    for (place, partner) in partners.iter().enumerate() {
        let Some(partner) = *partner else { continue };
        let len = ends.partition_point(|&end| end_of(end) < partner);
        before[place] = len.checked_sub(1).map(|before| ends[before]);
        match ends.get_mut(len) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let mut run: Vec<(usize, usize)> = std::iter::successors(ends.last().copied(), |&place| before[place])
        .map(|place| (place, end_of(place)))
        .collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: &str, b: &str, expected: &str) {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let word = |step: &Step| match *step {
            Step::Both(place, _) => format!("{}", a[place]),
            Step::Moved(place, _) => format!("~{}", a[place]),
            Step::OnlyA(place) => format!("-{}", a[place]),
            Step::OnlyB(place) => format!("+{}", b[place]),
        };
        let steps = align(&a, &b).iter().map(word).collect::<Vec<_>>().join(" ");
        assert_eq!(steps, expected);
    }

    #[test]
    fn what_stands_in_both_is_found_and_the_rest_is_in_one_of_them() {
        check("", "", "");
        check("abc", "abc", "a b c");
        check("abc", "abd", "a b -c +d");
        check("abc", "", "-a -b -c");
        check("", "xy", "+x +y");
        check("abcd", "xbyd", "-a +x b -c +y d");
    }

    #[test]
    fn as_few_as_possible_are_moved() {
        check("abcde", "bcdea", "b c d e ~a");
        check("abcde", "eabcd", "~e a b c d");
        check("ab", "ba", "b ~a");
    }

    #[test]
    fn long_lists_that_share_nothing_or_are_turned_round_take_a_moment() {
        let a: Vec<usize> = (0..200_000).collect();
        let b: Vec<usize> = (200_000..400_000).collect();
        assert_eq!(align(&a, &b).len(), 400_000);
        let turned: Vec<usize> = a.iter().rev().copied().collect();
        assert_eq!(align(&a, &turned).len(), 200_000);
    }
}
