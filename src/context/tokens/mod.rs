//! Tokens: how many a message, a window and its tools cost, and where the number comes from.

mod counter;

pub use counter::TokenCounter;
