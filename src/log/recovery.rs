//! The table of decisions at an open. Pure: it reads no file, so that every row is a test. FORMAT.md section 8.

use super::report::{Cause, Verdict};

/// What lies at and behind the end of the accepted frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Nothing but zeros behind, and the last frame is a MARK with nothing unsynced, or there is no frame at all.
    Closed,
    /// Nothing but zeros behind. Whether the last sync came back nobody knows.
    Whole,
    /// Bytes without a whole frame.
    Torn,
    /// Whole frames, none of which knew of durable data behind the end.
    Hole,
    /// A batch without its end.
    HalfBatch,
    /// Something that had been durable is damaged or missing.
    Damaged,
}

/// What a writer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Writes nothing until the first append.
    Keep,
    /// Writes the unsynced window again and an OPEN behind all data, which names what it steps over; then one sync.
    Reopen(Cause),
    /// Is refused; readers get what is valid.
    Refuse,
}

/// Decides. Each row says why nothing that was acknowledged can be lost by it.
pub(crate) fn plan(tail: Tail) -> Plan {
    match tail {
        Tail::Closed => Plan::Keep, // the MARK vouches for all records; it is itself written again with the first append
        Tail::Whole => Plan::Reopen(Cause::None), // the last sync may have failed: only an own sync makes the window durable
        Tail::Torn => Plan::Reopen(Cause::TornTail), // no later frame vouches for it: an unfinished append
        Tail::Hole => Plan::Reopen(Cause::UnsyncedHole), // the frames behind the hole knew of nothing durable behind it
        Tail::HalfBatch => Plan::Reopen(Cause::IncompleteBatch), // a batch is acknowledged only as a whole
        Tail::Damaged => Plan::Refuse,            // history is hit: reported, never cut or stepped over
    }
}

/// What the report calls it.
pub(crate) fn verdict(tail: Tail) -> Verdict {
    match tail {
        Tail::Closed | Tail::Whole => Verdict::Clean,
        Tail::Torn | Tail::Hole | Tail::HalfBatch => Verdict::Recovered,
        Tail::Damaged => Verdict::Damaged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tail_has_its_row_and_only_damage_refuses_a_writer() {
        let rows = [
            (Tail::Closed, Plan::Keep, Verdict::Clean),
            (Tail::Whole, Plan::Reopen(Cause::None), Verdict::Clean),
            (Tail::Torn, Plan::Reopen(Cause::TornTail), Verdict::Recovered),
            (Tail::Hole, Plan::Reopen(Cause::UnsyncedHole), Verdict::Recovered),
            (Tail::HalfBatch, Plan::Reopen(Cause::IncompleteBatch), Verdict::Recovered),
            (Tail::Damaged, Plan::Refuse, Verdict::Damaged),
        ];
        for (tail, expected_plan, expected_verdict) in rows {
            assert_eq!((plan(tail), verdict(tail)), (expected_plan, expected_verdict), "{tail:?}");
        }
    }
}
