//! What several tests share.
#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

pub mod bodies;
pub mod broken;
pub mod cases;
pub mod picture;
pub mod story;
pub mod texts;
