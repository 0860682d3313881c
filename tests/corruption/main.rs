//! Damage of every kind, done to small rich sessions, with the outcome stated and asserted.
//!
//! What must come of it is in one place, `oracle.rs`, and follows from the bytes that were hit alone: which records are lost,
//! which are whole, what is named, what a reader shows and what a writer does. The other modules only do the damage:
//!
//! | module | what is done |
//! | --- | --- |
//! | `flips` | each single bit of each byte |
//! | `blocks` | sectors and pages zeroed, 0xFF, random, doubled, swapped, fallen back to older content; cuts |
//! | `splices` | two logs, two ages of one log, stale tails put back |
//! | `shifts` | bytes put in and taken out |
//! | `quotes` | payloads that quote the log they are in, next to damage |
//! | `pointers` | pointers and INDEX frames that are wrong under a right checksum |
//! | `strangers` | flags, types and versions that nobody knows; files that are no logs |
//! | `places` | open, walk, list and survey name the same place |
//! | `round_trip` | any mixture of them, salvaged, resumed, appended to, verified |
//!
//! Survey and walk see every flipped bit of a closed session, and those of a killed one from shortly before where nothing vouches
//! on; a writer one of each byte (of the page's zeros one in sixteen), a salvage one of every third byte; with `SESLOG_DEEP=1` all
//! of them see every bit, and there are a hundred times as many mixtures.
#![allow(clippy::unwrap_used, unreachable_pub, reason = "a test may end at once; its modules share what they have")]

mod blocks;
#[path = "../common/even_clock.rs"]
mod even_clock;
mod flips;
#[path = "../log_support/mod.rs"]
mod log_support;
mod made;
mod oracle;
mod places;
mod pointers;
mod quotes;
#[path = "../common/random.rs"]
mod random;
mod round_trip;
mod shifts;
mod splices;
mod strangers;

/// Whether the long run is asked for.
fn deep() -> bool {
    std::env::var("SESLOG_DEEP").is_ok_and(|deep| deep != "0")
}
