//! Choices taken from the front of a fuzzer's bytes. Where they end, every further choice is zero.

/// The bytes that are left.
#[derive(Debug)]
pub struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        if count <= 1 {
            return 0;
        }
        let wide = if count > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (wide | usize::from(self.byte())) % count
    }

    /// True once in so many.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 1
    }
}
