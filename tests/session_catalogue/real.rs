//! On the real file system.
#![cfg(unix)]

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use seslog::event::Uuid;
use seslog::session::{CatalogueFound, CatalogueKept, SessionOptions, Store};

/// A session that was written long ago: a link to one that came with the sources.
fn old_session(dir: &Path) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec/vectors/every_type.seslog");
    symlink(file, dir.join(format!("{}.seslog", Uuid::from_u128(5)))).unwrap();
}

#[test]
fn the_catalogue_is_for_its_owner_alone_and_no_session() {
    let dir = tempfile::tempdir().unwrap();
    old_session(dir.path());
    let store = Store::at(dir.path(), SessionOptions::default());
    let first = store.listing().unwrap();
    assert_eq!((&first.report.found, &first.report.kept), (&CatalogueFound::Missing, &CatalogueKept::Written));
    let mode = |path: &str| std::fs::metadata(dir.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(".cache"), mode(".cache/catalogue")), (0o700, 0o600));
    assert_eq!(std::fs::read_dir(dir.path().join(".cache")).unwrap().count(), 1);
    let again = store.listing().unwrap();
    assert_eq!((again.report.taken, &again.sessions), (1, &first.sessions));
    // A store without sessions keeps nothing.
    let empty = Store::at(dir.path().join(".cache"), SessionOptions::default());
    assert_eq!(empty.listing().unwrap().sessions, []);
    assert_eq!(std::fs::read_dir(dir.path().join(".cache")).unwrap().count(), 1);
}

#[test]
fn a_store_that_does_not_exist_is_empty_and_is_not_made() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::at(dir.path().join("none"), SessionOptions::default());
    assert_eq!((store.list().unwrap().len(), store.newest(5).unwrap().sessions.len()), (0, 0));
    assert!(!store.dir().exists());
}

#[test]
fn a_directory_in_the_place_of_the_catalogue_is_told_and_no_error() {
    let dir = tempfile::tempdir().unwrap();
    old_session(dir.path());
    std::fs::create_dir_all(dir.path().join(".cache/catalogue")).unwrap();
    let store = Store::at(dir.path(), SessionOptions::default());
    for _ in 0..2 {
        let listing = store.listing().unwrap();
        assert!(matches!(listing.report.found, CatalogueFound::Unreadable(_)), "{:?}", listing.report);
        assert!(matches!(listing.report.kept, CatalogueKept::Failed(_)), "{:?}", listing.report);
        assert_eq!(listing.sessions.len(), 1);
    }
    assert_eq!(std::fs::read_dir(dir.path().join(".cache")).unwrap().count(), 1);
}

#[test]
fn through_a_link_no_catalogue_is_read_or_written() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    old_session(dir.path());
    let store = Store::at(dir.path(), SessionOptions::default());
    assert_eq!(store.listing().unwrap().report.kept, CatalogueKept::Written);
    std::fs::rename(dir.path().join(".cache"), elsewhere.path().join("cache")).unwrap();
    symlink(elsewhere.path().join("cache"), dir.path().join(".cache")).unwrap();
    let whole = std::fs::read(elsewhere.path().join("cache/catalogue")).unwrap();
    for is_empty in [false, true] {
        let listing = store.listing().unwrap();
        assert!(matches!(listing.report.found, CatalogueFound::Unreadable(_)), "{:?}", listing.report);
        assert!(matches!(listing.report.kept, CatalogueKept::Failed(_)), "{:?}", listing.report);
        assert_eq!((listing.sessions.len(), listing.report.taken), (1, 0));
        assert_eq!(store.newest(1).unwrap().sessions, listing.sessions);
        assert_eq!(std::fs::read(elsewhere.path().join("cache/catalogue")).ok(), (!is_empty).then(|| whole.clone()));
        let _ = std::fs::remove_file(elsewhere.path().join("cache/catalogue"));
    }
}

#[test]
fn a_directory_is_told_by_whoever_may_write_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let fs = SessionOptions::default().fs;
    // The temporary directory is often somebody else's: only its owner may set its time.
    for dir in [dir.path(), &std::env::temp_dir()] {
        let before = fs.stamp(dir).unwrap();
        // The clock of the file system may be a few milliseconds coarse.
        let told = (0..100_000).any(|_| {
            fs.touch_dir(dir).unwrap();
            fs.stamp(dir).unwrap() != before
        });
        assert!(told, "{}", dir.display());
    }
}
