//! The steps that add text and clean up, the slots that they write into, and what a hostile text can do to them.

mod added_texts;
mod cleanup;
#[path = "../common/mod.rs"]
mod common;
mod documents;
#[path = "../common/faults.rs"]
mod faults;
mod media;
mod placeholders;
#[allow(unreachable_pub, reason = "other tests have it in a module of their own")]
#[path = "../common/random.rs"]
mod random;
mod side_by_side;
mod slots;
mod support;
mod together;
mod tool_pairing;
mod topics;
#[path = "../wire_rules/mod.rs"]
mod wire_rules;
