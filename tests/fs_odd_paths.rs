//! Paths that name no regular file.
#![cfg(unix)]

use seslog::log::RealFs;
use seslog::session::{Session, SessionOptions, SessionReader, Store};

/// To open a pipe for reading waits for somebody who writes: a list of sessions would hang for ever.
#[test]
fn a_pipe_or_a_directory_in_a_store_is_told_and_never_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("0193a000-0000-7000-8000-000000000001.seslog");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let directory = dir.path().join("0193a000-0000-7000-8000-000000000002.seslog");
    std::fs::create_dir(&directory).unwrap();
    for path in [&pipe, &directory, &std::path::PathBuf::from("/dev/zero")] {
        let error = |error: seslog::session::SessionError| format!("{error:?}");
        for found in [
            SessionReader::open(path, RealFs::shared()).map(drop).map_err(error),
            Session::open(path, SessionOptions::default()).map(drop).map_err(error),
        ] {
            assert!(found.as_ref().is_err_and(|error| error.contains("not a regular file")), "{path:?}: {found:?}");
        }
    }
    let listed = Store::at(dir.path(), SessionOptions::default()).list().unwrap();
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|listed| listed.problem.is_some()));
}
