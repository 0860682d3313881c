//! How a tree of messages is laid out, line by line: no line is deeper than the number of messages has binary digits, and
//! nothing is recursive.
//!
//! Where branches part, one goes on in its column: that of the current leaf, else the largest. The others are set in
//! beneath. So each step inwards at least halves what is left, but for the one that leaves the current chain.

/// A message, as far as the shape goes. What it hangs on comes before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// The number of what it hangs on.
    pub(crate) parent: Option<usize>,
    /// It counts as a message.
    pub(crate) counts: bool,
    /// It was not taken back.
    pub(crate) living: bool,
    /// It holds more than results: those alone are no branch.
    pub(crate) says: bool,
    /// It has a line in any case.
    pub(crate) stops: bool,
}

/// A line: a message, with those before it in its column that have no line of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    /// The message.
    pub(crate) at: usize,
    /// The first of those before it, or itself.
    pub(crate) first: usize,
    /// The line that it hangs on.
    pub(crate) above: Option<usize>,
    /// Columns that run past it on the left.
    pub(crate) depth: usize,
    /// It begins in a column that is set in.
    pub(crate) is_side: bool,
    /// Messages of the line.
    pub(crate) messages: usize,
    /// Those of them that were taken back.
    pub(crate) taken_back: usize,
    /// Messages with results that hang beside one of these, and have no line.
    pub(crate) beside: usize,
    /// Columns that go on from here.
    pub(crate) branches: usize,
    /// It is on the current chain.
    pub(crate) live: bool,
}

/// The tree as lists of children, in the order of the file.
struct Tree {
    first_child: Vec<Option<usize>>,
    next: Vec<Option<usize>>,
    roots: Vec<usize>,
    size: Vec<usize>,
    says: Vec<bool>,
    live: Vec<bool>,
}

impl Tree {
    fn of(nodes: &[Node], leaf: Option<usize>) -> Self {
        let count = nodes.len();
        let mut tree = Self {
            first_child: vec![None; count],
            next: vec![None; count],
            roots: Vec::new(),
            size: vec![1; count],
            says: nodes.iter().map(|node| node.says).collect(),
            live: vec![false; count],
        };
        for (index, node) in nodes.iter().enumerate().rev() {
            match node.parent.filter(|&parent| parent < index) {
                Some(parent) => {
                    tree.next[index] = tree.first_child[parent].replace(index);
                    tree.size[parent] += tree.size[index];
                    tree.says[parent] |= tree.says[index];
                }
                None => tree.roots.push(index),
            }
        }
        tree.roots.reverse();
        let mut at = leaf;
        while let Some(index) = at.filter(|&index| index < count && !tree.live[index]) {
            tree.live[index] = true;
            at = nodes[index].parent;
        }
        tree
    }

    fn children(&self, index: usize) -> Vec<usize> {
        std::iter::successors(self.first_child[index], |&child| self.next[child]).collect()
    }

    /// Which of these goes on in the column.
    fn main(&self, of: &[usize]) -> Option<usize> {
        of.iter().copied().max_by_key(|&index| (self.live[index], self.says[index], self.size[index]))
    }
}

/// The lines of a tree: with `all` one for each message, else one where branches part, where one ends, and at each message that
/// stops in any case.
pub(crate) fn lines(nodes: &[Node], leaf: Option<usize>, all: bool) -> Vec<Line> {
    let tree = Tree::of(nodes, leaf);
    let mut lines: Vec<Line> = Vec::new();
    // Where a column begins: its first message, its depth, whether it is set in, the line that it hangs on.
    let mut waiting: Vec<(usize, usize, bool, Option<usize>)> = Vec::new();
    let main_root = tree.main(&tree.roots);
    waiting.extend(main_root.map(|root| (root, 0, false, None)));
    let sides = tree.roots.iter().rev().filter(|&&root| Some(root) != main_root);
    waiting.extend(sides.map(|&root| (root, 1, true, None)));
    while let Some((first, depth, is_side, above)) = waiting.pop() {
        let mut line = Line {
            at: first,
            first,
            above,
            depth,
            is_side,
            messages: 0,
            taken_back: 0,
            beside: 0,
            branches: 0,
            live: tree.live[first],
        };
        loop {
            let node = nodes[line.at];
            line.messages += usize::from(node.counts);
            line.taken_back += usize::from(node.counts && !node.living);
            let children = tree.children(line.at);
            let main = tree.main(&children);
            let mut sides: Vec<usize> = children.into_iter().filter(|&child| Some(child) != main).collect();
            if !all {
                sides.retain(|&side| {
                    line.beside += if tree.says[side] { 0 } else { tree.size[side] };
                    tree.says[side]
                });
            }
            // The chain may end in the middle of a line: at its leaf another line begins.
            let ends_here = main.is_none_or(|main| tree.live[line.at] && !tree.live[main]);
            if let Some(main) = main
                && sides.is_empty()
                && !(all || node.stops || ends_here)
            {
                line.at = main;
                continue;
            }
            line.branches = sides.len() + usize::from(main.is_some());
            let number = Some(lines.len());
            waiting.extend(main.map(|main| (main, depth, false, number)));
            waiting.extend(sides.into_iter().rev().map(|side| (side, depth + 1, true, number)));
            break;
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(parent: Option<usize>) -> Node {
        Node { parent, counts: true, living: true, says: true, stops: false }
    }

    /// Each line as its depth, its last message and how many messages it has.
    fn shape(parents: &[Option<usize>], leaf: usize, all: bool) -> Vec<(usize, usize, usize)> {
        let nodes: Vec<Node> = parents.iter().map(|&parent| node(parent)).collect();
        lines(&nodes, Some(leaf), all).iter().map(|line| (line.depth, line.at, line.messages)).collect()
    }

    #[test]
    fn the_current_branch_goes_on_in_its_column() {
        let parents = [None, Some(0), Some(1), Some(2), Some(1), Some(4)];
        assert_eq!(shape(&parents, 5, false), [(0, 1, 2), (1, 3, 2), (0, 5, 2)]);
        assert_eq!(shape(&parents, 3, false), [(0, 1, 2), (1, 5, 2), (0, 3, 2)]);
        assert_eq!(shape(&parents, 5, true).len(), 6);
    }

    #[test]
    fn a_leaf_that_went_back_has_a_line_and_several_beginnings_are_several_columns() {
        assert_eq!(shape(&[None, Some(0), Some(1)], 1, false), [(0, 1, 2), (0, 2, 1)]);
        assert_eq!(shape(&[None, None, Some(1)], 0, false), [(1, 2, 2), (0, 0, 1)]);
    }

    #[test]
    fn results_alone_are_no_branch() {
        let mut nodes = vec![node(None), node(Some(0)), node(Some(0)), node(Some(2))];
        nodes[1].says = false;
        let lines = lines(&nodes, Some(3), false);
        assert_eq!((lines.len(), lines[0].messages, lines[0].beside), (1, 3, 1));
    }

    #[test]
    fn deep_and_wide_trees_take_time_that_is_linear_and_few_columns() {
        const COUNT: usize = 200_000;
        // One chain; a comb whose teeth all leave the chain before; a star; and a comb that grows at its teeth.
        let chain: Vec<_> = (0..COUNT).map(|index| index.checked_sub(1)).collect();
        let comb: Vec<_> =
            (0..COUNT).map(|index| if index % 2 == 1 { Some(index - 1) } else { index.checked_sub(2) }).collect();
        let star: Vec<_> = (0..COUNT).map(|index| (index > 0).then_some(0)).collect();
        let heap: Vec<_> = (0..COUNT).map(|index: usize| index.checked_sub(1).map(|index| index / 2)).collect();
        for parents in [chain, comb, star, heap] {
            for all in [false, true] {
                let nodes: Vec<Node> = parents.iter().map(|&parent| node(parent)).collect();
                let lines = lines(&nodes, Some(7), all);
                assert!(lines.iter().all(|line| line.depth <= 19));
                assert_eq!(lines.iter().map(|line| line.messages).sum::<usize>(), COUNT);
            }
        }
    }
}
