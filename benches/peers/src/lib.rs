//! The same session in Seslog and in what people use today, behind one trait, and what damage and power cuts leave of it.

pub mod closed;
pub mod crash;
pub mod damage;
pub mod jsonl;
pub mod message;
pub mod peer;
pub mod raft;
mod raft_fs;
#[path = "../../session/random.rs"]
#[allow(dead_code, reason = "the generator of a session uses the rest")]
mod random;
pub mod seslog;
pub mod sqlite;
mod sqlite_vfs;
