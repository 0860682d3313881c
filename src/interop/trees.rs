//! Which tree each record is in, while trees that have lost their parents are hung on one another.

/// Which tree a node is in, while trees are hung on one another.
pub(super) struct Trees(Vec<usize>);

impl Trees {
    pub(super) fn new(link: &[Option<usize>]) -> Self {
        Self(link.iter().enumerate().map(|(index, above)| above.unwrap_or(index)).collect())
    }

    pub(super) fn root(&mut self, node: usize) -> usize {
        let mut root = node;
        while self.0[root] != root {
            root = self.0[root];
        }
        // Every node on the way now names the root: the next walk is short.
        let mut at = node;
        while self.0[at] != root {
            at = std::mem::replace(&mut self.0[at], root);
        }
        root
    }

    /// `root` must be the root of its tree.
    pub(super) fn hang(&mut self, root: usize, on: usize) {
        self.0[root] = self.root(on);
    }
}
