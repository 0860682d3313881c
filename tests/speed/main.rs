//! What a session costs, in counts: bytes and calls that read, flushes, allocations, bytes on the disk. The same sessions
//! as in the benches (`benches/run.sh`, PERFORMANCE.md), where the times are; here none is measured.

#[path = "../common/counting.rs"]
mod counting;
#[path = "../common/even_clock.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use the rest")]
mod even_clock;
#[path = "../concurrency/odd_disk.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod odd_disk;
#[path = "../../benches/session/mod.rs"]
mod session;
#[path = "../common/wrapped_fs.rs"]
#[allow(unreachable_pub, reason = "other tests share it")]
mod wrapped_fs;

mod appends;
mod bytes;
mod made;
mod openings;
