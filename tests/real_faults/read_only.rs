//! File systems and directories that may not be written to.

use std::error::Error as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use seslog::event::{Message, Uuid};
use seslog::log::{Durability, LogError, RealFs};
use seslog::session::{Session, SessionError, SessionOptions, SessionReader, Store};

use crate::small_disk::{mount, names, on_disk_of};

fn forbidden(error: &SessionError) {
    assert!(matches!(error, SessionError::Log(LogError::Io { .. })), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("cannot ") && text.contains("or use another place"), "{text}");
    assert!(error.source().is_some(), "the system's own words are there too");
}

/// What wants to write is refused with the cure; what reads works; nothing changes.
fn all_refused(dir: &Path, name: &str) {
    let store = Store::at(dir, SessionOptions::default());
    let path = store.resolve(name).unwrap();
    let (before, bytes) = (names(dir), std::fs::read(&path).unwrap());
    forbidden(&Session::create(&dir.join("new.seslog"), SessionOptions::default()).unwrap_err());
    forbidden(&store.create().unwrap_err());
    forbidden(&store.open(name).unwrap_err());
    let reader = store.read(name).unwrap();
    let last = reader.whole_state().unwrap().entries().last().unwrap().event.id;
    forbidden(&store.fork(name, last).unwrap_err());
    forbidden(&Session::salvage(&path, &dir.join("salvaged.seslog"), &SessionOptions::default()).unwrap_err());
    forbidden(&store.open_or_create(Uuid::from_u128(7)).unwrap_err());
    let deeper = Store::at(dir.join("deeper"), SessionOptions::default());
    forbidden(&deeper.create().unwrap_err());
    let listed = store.list().unwrap();
    assert!(listed.iter().any(|listed| listed.path == path && listed.problem.is_none()));
    assert_eq!(names(dir), before);
    assert!(std::fs::read(&path).unwrap() == bytes);
}

fn hello(session: &Session) {
    drop(session.append(Message::user("hello"), Durability::Sync).unwrap().receipt);
}

#[test]
fn on_a_read_only_file_system_what_writes_is_refused_and_what_reads_works() {
    on_disk_of(256, "read-only");
}

pub(crate) fn remounted(dir: &Path) {
    let store = Store::at(dir, SessionOptions::default());
    let session = store.create().unwrap();
    hello(&session);
    let name = session.id().to_string();
    // And one as a killed writer leaves it, which an open would have to recover.
    let killed = Uuid::from_u128(9).to_string();
    std::fs::copy(session.path(), dir.join(format!("{killed}.seslog"))).unwrap();
    session.close().unwrap();
    mount(&["-o", "remount,ro"], &[dir]);
    all_refused(dir, &name);
    all_refused(dir, &killed);
    mount(&["-o", "remount,rw"], &[dir]);
    for name in [name, killed] {
        let session = store.open(&name).unwrap();
        hello(&session);
        session.close().unwrap();
    }
}

#[test]
fn a_writer_goes_on_while_another_path_to_its_directory_is_read_only() {
    on_disk_of(256, "read-only by another path");
}

pub(crate) fn bound(dir: &Path) {
    let (here, there) = (dir.join("here"), dir.join("there"));
    std::fs::create_dir_all(&here).unwrap();
    std::fs::create_dir_all(&there).unwrap();
    let store = Store::at(&here, SessionOptions::default());
    let session = store.create().unwrap();
    hello(&session);
    mount(&["--bind"], &[&here, &there]);
    mount(&["-o", "remount,bind,ro"], &[&there]);
    let name = session.id().to_string();
    all_refused(&there, &name);
    let path = there.join(session.path().file_name().unwrap());
    let mut reader = SessionReader::open(&path, RealFs::shared()).unwrap();
    hello(&session);
    assert_eq!(reader.follow().unwrap(), 1);
    session.close().unwrap();
    all_refused(&there, &name);
}

#[test]
fn an_open_session_needs_its_directory_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("store");
    let store = Store::at(&inner, SessionOptions::default());
    let session = store.create().unwrap();
    let name = session.id().to_string();
    hello(&session);
    let set = |mode| std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o555);
    hello(&session);
    session.close().unwrap();
    let session = store.open(&name).unwrap();
    hello(&session);
    session.close().unwrap();
    match std::fs::File::create(inner.join("probe")) {
        Ok(_) => {
            crate::say!(
                "left out, since permissions do not bind who runs this: making a session in a read-only directory"
            )
        }
        Err(_) => forbidden(&store.create().unwrap_err()),
    }
    set(0o755);
    assert_eq!(store.read(&name).unwrap().state().entries().len(), 3);
}
