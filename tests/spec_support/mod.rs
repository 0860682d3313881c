//! What the tests of the format share: stories that become logs, the golden vectors, random logs, and what each of the two
//! readers says about a file as one JSON document.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

pub mod bend;
pub mod document;
pub mod python;
pub mod random;
pub mod story;
pub mod vectors;
