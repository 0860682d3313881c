//! A session file of pi's in a session: what is opened after the import is what the file says, on all of its branches.

#![expect(clippy::unwrap_used, reason = "a helper of tests stops where a test would")]

mod growth;
mod made;
mod odd;
mod opened;
mod support;
