//! A file that is imported again after it has grown.

use std::path::Path;

use seslog::interop::pi::{Options, read};
use seslog::session::{Session, SessionOptions, Store};

use super::made::random_file;
use super::support::{assert_context, said, samples};

/// Imports the file up to each of these ends, one after the other. Gives the session, how much was written in all, and
/// how much of it under another name.
fn grow(bytes: &[u8], ends: &[usize], dir: &Path) -> (Session, usize, usize) {
    let session = Store::at(dir, SessionOptions::default()).create().unwrap();
    let (mut written, mut renamed) = (0, 0);
    for &end in ends {
        let imported = read(&bytes[..end], &Options::default()).unwrap();
        let (report, found) = imported.feed(&session, "s").unwrap();
        assert!(report.refused.is_empty() && report.missing.is_empty(), "{report:?}");
        written += report.written;
        renamed += report.renamed.len();
        assert_context(&format!("up to {end}"), &session, &found);
    }
    (session, written, renamed)
}

fn line_ends(bytes: &[u8]) -> Vec<usize> {
    (1..=bytes.len()).filter(|&end| bytes[end - 1] == b'\n' || end == bytes.len()).collect()
}

#[test]
fn every_prefix_of_a_sample_then_the_whole_is_the_whole_at_once() {
    for (sample, bytes) in samples() {
        let dir = tempfile::tempdir().unwrap();
        let (whole, written_at_once, _) = grow(&bytes, &[bytes.len()], dir.path());
        let wanted = said(&whole);
        for end in line_ends(&bytes) {
            let (grown, written, renamed) = grow(&bytes, &[end, bytes.len()], dir.path());
            assert_eq!(said(&grown), wanted, "{sample} from {end}");
            assert_eq!((written, renamed), (written_at_once, 0), "{sample} from {end}: only what is new is written");
        }
        let (grown, written, renamed) = grow(&bytes, &line_ends(&bytes), dir.path());
        assert_eq!((said(&grown), written, renamed), (wanted.clone(), written_at_once, 0), "{sample} line by line");
        // A line of which a part was on the disk when it was read first.
        for end in (0..bytes.len()).step_by(211) {
            let (grown, _, _) = grow(&bytes, &[end, bytes.len()], dir.path());
            assert_eq!(said(&grown), wanted, "{sample} cut at {end}");
        }
    }
}

#[test]
fn a_tree_that_grows_line_by_line_is_the_tree_at_once() {
    for seed in 0..30 {
        let made = random_file(seed);
        let bytes = made.text.as_bytes();
        let dir = tempfile::tempdir().unwrap();
        let (whole, at_once, _) = grow(bytes, &[bytes.len()], dir.path());
        let (grown, written, renamed) = grow(bytes, &line_ends(bytes), dir.path());
        assert_eq!((said(&grown), written, renamed), (said(&whole), at_once, 0), "seed {seed}");
    }
}
