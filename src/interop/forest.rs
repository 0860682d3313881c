//! A forest given by parents: an order in which parents come first, and who is above whom.

use crate::interop::work::Work;

/// Nodes 0..n, each with a parent or none.
#[derive(Debug)]
pub(super) struct Forest {
    /// Every node that hangs on a root, parents first, children in the order of their numbers.
    pub(super) order: Vec<usize>,
    /// What hangs on the node and has the lowest number.
    pub(super) first_child: Vec<Option<usize>>,
    enter: Vec<usize>,
    leave: Vec<usize>,
}

impl Forest {
    /// The parents must make no circle.
    pub(super) fn new(parents: &[Option<usize>], work: &mut Work) -> Self {
        let count = parents.len();
        let (mut first, mut next) = (vec![None; count], vec![None; count]);
        let mut root = None;
        for node in (0..count).rev() {
            let list = match parents[node] {
                Some(parent) => &mut first[parent],
                None => &mut root,
            };
            next[node] = list.replace(node);
        }
        let mut forest = Self {
            order: Vec::with_capacity(count),
            first_child: Vec::new(),
            enter: vec![0; count],
            leave: vec![0; count],
        };
        let mut open: Vec<usize> = Vec::new();
        let mut turn = root;
        loop {
            work.step();
            if let Some(node) = turn {
                forest.enter[node] = forest.order.len();
                forest.order.push(node);
                open.push(node);
                turn = first[node];
            } else if let Some(done) = open.pop() {
                forest.leave[done] = forest.order.len();
                turn = next[done];
            } else {
                break;
            }
        }
        forest.first_child = first;
        forest
    }

    /// Whether `above` is `below` or one of its ancestors.
    pub(super) fn is_above(&self, above: usize, below: usize) -> bool {
        self.enter[above] <= self.enter[below] && self.enter[below] < self.leave[above]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_first_and_ancestry_is_known() {
        let parents = [Some(3), None, Some(0), None, Some(3), Some(2)];
        let forest = Forest::new(&parents, &mut Work::default());
        assert_eq!(forest.order, [1, 3, 0, 2, 5, 4]);
        for below in 0..parents.len() {
            let mut line = vec![below];
            while let Some(parent) = parents[line[line.len() - 1]] {
                line.push(parent);
            }
            for above in 0..parents.len() {
                assert_eq!(forest.is_above(above, below), line.contains(&above), "{above} over {below}");
            }
        }
    }
}
