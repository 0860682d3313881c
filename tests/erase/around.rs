//! Who else is there while a session is erased: readers, writers, forks, caches, links.

use seslog::event::{Body, HungOn, Message, Part, SessionMeta, Uuid, Value};
use seslog::log::{Durability, LogError, LogOptions, RealFs};
use seslog::session::{Compaction, Redaction, Session, SessionError, SessionReader, Store, Vacuum};

use super::world::{SECRET, closed, events, file_holds, literal, options, others, redact};

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::at(dir.path(), options());
    (dir, store)
}

fn say(session: &Session, text: &str) -> Uuid {
    session.append(Message::user(text), Durability::Os).unwrap().id
}

fn with_secret(session: &Session) {
    say(session, "hello");
    say(session, &format!("the key is {SECRET}, and again {SECRET}"));
}

#[test]
fn a_reader_of_the_old_file_keeps_it_and_is_told_that_it_was_replaced() {
    let (_dir, store) = store();
    let path = closed(&store, with_secret);
    let mut reader = SessionReader::open(&path, RealFs::shared()).unwrap();
    let before: Vec<_> = reader.events().collect::<Result<_, _>>().unwrap();
    let report = redact(&path).unwrap();
    assert_eq!((report.matches, report.changed.len(), report.events), (2, 1, 2));
    assert_eq!(reader.events().collect::<Result<Vec<_>, _>>().unwrap(), before);
    assert!(matches!(reader.follow(), Err(SessionError::Log(LogError::Replaced { .. }))));
    assert_eq!(reader.events().collect::<Result<Vec<_>, _>>().unwrap(), before);
    assert!(SessionReader::open(&path, RealFs::shared()).unwrap().events().all(|event| event.unwrap() != before[1]));
}

#[test]
fn a_session_that_is_being_written_is_left_alone() {
    let (dir, store) = store();
    let session = store.create().unwrap();
    with_secret(&session);
    session.sync().unwrap();
    let path = session.path().to_owned();
    assert!(matches!(redact(&path), Err(SessionError::Log(LogError::Locked { .. }))));
    let vacuumed = Session::vacuum(&path, Vacuum::new(), &options());
    assert!(matches!(vacuumed, Err(SessionError::Log(LogError::Locked { .. }))));
    // To look does no harm.
    let would = Session::would_redact(&path, &literal(SECRET), &options()).unwrap();
    assert_eq!((would.rewritten, would.matches, would.bytes_after), (false, 2, None));
    session.close().unwrap();
    assert!(file_holds(&path, SECRET));
    assert!(others(dir.path()).is_empty());
}

#[test]
fn a_damaged_session_is_refused_untouched_with_the_cure() {
    let (dir, store) = store();
    let path = closed(&store, |session| {
        for _ in 0..50 {
            with_secret(session);
        }
    });
    let whole = std::fs::read(&path).unwrap();
    for at in [4096 + 80, whole.len() / 2, whole.len() - 20] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        std::fs::write(&path, &bytes).unwrap();
        let refused = redact(&path).unwrap_err();
        let is_damage = matches!(refused, SessionError::Log(LogError::Damaged { .. } | LogError::NoFrame { .. }));
        assert!(is_damage, "{refused:?}");
        assert!(refused.to_string().contains("salvage"), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        assert!(others(dir.path()).is_empty());
    }
}

#[test]
fn nothing_that_matches_leaves_the_same_file() {
    use std::os::unix::fs::MetadataExt;
    let (_dir, store) = store();
    let path = closed(&store, with_secret);
    let inode = std::fs::metadata(&path).unwrap().ino();
    let bytes = std::fs::read(&path).unwrap();
    for nothing in [literal("nowhere"), Redaction::new().pattern("x*|^").unwrap()] {
        let report = Session::redact(&path, &nothing, &options()).unwrap();
        assert_eq!((report.rewritten, report.matches, report.changed.len()), (false, 0, 0));
    }
    assert_eq!((std::fs::metadata(&path).unwrap().ino(), std::fs::read(&path).unwrap()), (inode, bytes));
    assert!(redact(&path).unwrap().rewritten);
    let inode = std::fs::metadata(&path).unwrap().ino();
    assert!(!redact(&path).unwrap().rewritten, "once is enough");
    assert_eq!(std::fs::metadata(&path).unwrap().ino(), inode);
}

#[test]
fn nothing_to_go_and_no_such_event_are_refused() {
    let (_dir, store) = store();
    let path = closed(&store, with_secret);
    let refused = |redaction: &Redaction| Session::redact(&path, redaction, &options()).unwrap_err();
    assert!(matches!(refused(&Redaction::new()), SessionError::Refused { .. }));
    let unknown = Uuid::from_u128(7);
    assert!(matches!(refused(&Redaction::new().event(unknown)), SessionError::NoSuchEvent { id, .. } if id == unknown));
    assert!(matches!(Redaction::new().pattern("("), Err(SessionError::Refused { .. })));
    assert!(matches!(Redaction::new().literal(""), Err(SessionError::Refused { .. })));
}

#[test]
fn forks_and_parents_that_hold_the_same_are_named_and_not_changed() {
    let (_dir, store) = store();
    let parent = store.create().unwrap();
    say(&parent, "hello");
    let secret = say(&parent, &format!("the key is {SECRET}"));
    let harmless = store.fork(&parent.id().to_string(), parent.state().unwrap().history()[0].event.id).unwrap();
    let fork = store.fork(&parent.id().to_string(), secret).unwrap();
    let grandchild = store.fork(&fork.id().to_string(), secret).unwrap();
    let stranger = store.create().unwrap();
    say(&stranger, SECRET);
    let paths = [&parent, &fork, &grandchild, &harmless, &stranger].map(|session| session.path().to_owned());
    let mut expected = [parent.id(), grandchild.id()];
    expected.sort();
    for session in [parent, fork, grandchild, harmless, stranger] {
        session.close().unwrap();
    }
    let bytes = paths.each_ref().map(|path| std::fs::read(path).unwrap());
    let report = redact(&paths[1]).unwrap();
    let found: Vec<Uuid> = report.elsewhere.iter().map(|one| one.session).collect();
    assert_eq!(found, expected);
    assert!(report.elsewhere.iter().all(|one| one.events == 1 && one.problem.is_none()));
    for (index, path) in paths.iter().enumerate() {
        assert_eq!(std::fs::read(path).unwrap() == bytes[index], index != 1, "{index}");
    }
    let of_event = Session::redact(&paths[0], &Redaction::new().event(secret), &options()).unwrap();
    // The fork's own is gone by now, which leaves the event with other words in it.
    assert_eq!(of_event.elsewhere.len(), 2);
}

#[test]
fn a_link_to_the_session_elsewhere_is_seen_and_a_symbolic_one_followed() {
    let (dir, store) = store();
    let path = closed(&store, with_secret);
    let link = dir.path().join("a link.seslog");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let report = redact(&link).unwrap();
    assert!(report.rewritten && !report.old_file_named);
    assert!(!file_holds(&path, SECRET));
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());

    let path = closed(&store, with_secret);
    let other = dir.path().join("other.seslog");
    std::fs::hard_link(&path, &other).unwrap();
    let report = redact(&path).unwrap();
    assert!(report.old_file_named, "its old bytes are still to be found");
    assert!(file_holds(&other, SECRET) && !file_holds(&path, SECRET));
}

/// What a file of this name in the cache begins with.
fn beginning(name: &str) -> Vec<u8> {
    match name {
        "catalogue" => b"SLcat\0\0\x04".to_vec(),
        "search.db" => {
            let mut head = b"SQLite format 3\0".to_vec();
            head.resize(68, 1);
            head.extend_from_slice(&0x5e51_0601_u32.to_be_bytes());
            head
        }
        _ => Vec::new(),
    }
}

/// A session may lie in a home, whose `.cache` is everybody's.
#[test]
fn what_others_keep_under_the_names_of_a_cache_stays() {
    let (_, store) = store();
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("mine.seslog");
    let named = closed(&store, with_secret);
    std::fs::copy(&named, &path).unwrap();
    let cache = home.path().join(".cache");
    std::fs::create_dir(&cache).unwrap();
    let mut foreign = beginning("search.db");
    foreign[68..].fill(0);
    let theirs: [(&str, &[u8]); 4] =
        [("catalogue", b"mine"), ("search.db", &foreign), ("search.db-wal", b"mine"), ("search.db-journal", b"mine")];
    for (name, content) in theirs {
        std::fs::write(cache.join(name), content).unwrap();
    }
    assert!(redact(&path).unwrap().rewritten);
    assert_eq!(Session::delete(&path, &options()).unwrap().cache_left, None);
    for (name, content) in theirs {
        assert_eq!(std::fs::read(cache.join(name)).unwrap(), content, "{name}");
    }
    assert_eq!(std::fs::read_dir(&cache).unwrap().count(), theirs.len());
}

#[test]
fn the_caches_forget_it_and_the_next_list_is_right() {
    let (dir, store) = store();
    let path = closed(&store, |session| {
        with_secret(session);
        let meta = SessionMeta {
            title: Some(format!("about {SECRET}")),
            cwd: Some(format!("/home/{SECRET}")),
            tags: vec![SECRET.into()],
            ..SessionMeta::default()
        };
        let _ = session.append(meta, Durability::Os).unwrap();
    });
    let cache = dir.path().join(".cache");
    std::fs::create_dir(&cache).unwrap();
    for name in ["catalogue", "search.db", "search.db-wal", "search.db-shm", ".catalogue.0123456789abcdef.tmp"] {
        std::fs::write(cache.join(name), [&beginning(name)[..], SECRET.as_bytes()].concat()).unwrap();
    }
    std::fs::write(cache.join("somebody else's"), "stays").unwrap();
    assert_eq!(redact(&path).unwrap().cache_left, None);
    let left: Vec<_> = std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["somebody else's"]);
    let listed = &store.list().unwrap()[0];
    assert_eq!(listed.title.as_deref(), Some("about [redacted]"));
    assert_eq!(
        (listed.cwd.as_deref(), listed.tags.as_slice()),
        (Some("/home/[redacted]"), ["[redacted]".to_owned()].as_slice())
    );
}

#[test]
fn the_new_file_is_its_owners_alone_and_nothing_is_left_beside_it() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, store) = store();
    let path = closed(&store, with_secret);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let _ = redact(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(others(dir.path()).is_empty(), "{:?}", others(dir.path()));
}

#[test]
fn header_link_and_compression_stay() {
    let dir = tempfile::tempdir().unwrap();
    let mut with = options();
    with.log = LogOptions::default().compress(true);
    let store = Store::at(dir.path(), with.clone());
    let words: String = (0..3000).map(|n| format!("word {n}, ")).collect();
    let long = format!("{words} {SECRET} {words}");
    let parent = store.create().unwrap();
    let at = say(&parent, "hello");
    let fork = store.fork(&parent.id().to_string(), at).unwrap();
    say(&fork, &long);
    let (path, info) = (fork.path().to_owned(), *fork.info());
    fork.close().unwrap();
    let report = Session::redact(&path, &literal(SECRET), &options()).unwrap();
    assert_eq!((report.matches, report.rewritten), (1, true));
    let reader = SessionReader::open(&path, RealFs::shared()).unwrap();
    let now = *reader.info();
    assert_eq!((now.log_id, now.parent, now.created_at), (info.log_id, info.parent, info.created_at));
    assert_eq!((now.max_record, now.is_compressed()), (info.max_record, true));
    assert!(std::fs::metadata(&path).unwrap().len() < long.len() as u64 / 2, "it is compressed again");
    let texts: Vec<_> = events(&path);
    assert!(texts.iter().any(|event| matches!(&event.body, Body::Message(message) if message.content[0].as_text().unwrap().contains("[redacted]"))));
}

#[test]
fn matches_in_ids_stay_and_are_told() {
    let (_dir, store) = store();
    let path = closed(&store, |session| {
        let call = format!("call-{SECRET}");
        let _ = session
            .append(
                Message::assistant_calls(vec![Part::tool_call(&call, "run", Value::from([("a", SECRET.into())]))]),
                Durability::Os,
            )
            .unwrap();
        let _ = session.append(Message::tool_result(&call, SECRET, false), Durability::Os).unwrap();
    });
    let report = redact(&path).unwrap();
    assert_eq!((report.matches, report.changed.len()), (2, 2));
    let left: Vec<(&str, u64)> = report.left.iter().map(|left| (left.field.as_str(), left.matches)).collect();
    assert_eq!(
        left,
        [("call_id", 1), ("id", 1), ("source_tool_assistant_id", 0)]
            .into_iter()
            .filter(|(_, n)| *n > 0)
            .collect::<Vec<_>>()
    );
    let state = Session::open(&path, options()).unwrap().state().unwrap();
    assert_eq!(state.pairing().dangling().count(), 0, "call and result still find each other");
    let again = redact(&path).unwrap();
    assert_eq!((again.rewritten, again.left.len()), (false, 2));
}

#[test]
fn an_event_that_is_taken_out_takes_its_amends_along() {
    let (_dir, store) = store();
    let mut target = Uuid::nil();
    let path = closed(&store, |session| {
        target = say(session, "first words");
        let other = say(session, "other words");
        let patch = |text: &str| seslog::event::patch_between(&Message::user("x"), &Message::user(text)).unwrap();
        session.amend(target, patch("second thoughts"), Durability::Os).unwrap().wait().unwrap();
        session.amend(other, patch("other later words"), Durability::Os).unwrap().wait().unwrap();
    });
    let report = Session::redact(&path, &Redaction::new().event(target), &options()).unwrap();
    assert_eq!(report.changed.len(), 2);
    assert!(!file_holds(&path, "first words") && !file_holds(&path, "second thoughts"));
    let state = Session::open(&path, options()).unwrap().state().unwrap();
    let texts: Vec<String> = state
        .chain()
        .iter()
        .map(|entry| entry.event.message().unwrap().content[0].as_text().unwrap().to_owned())
        .collect();
    assert_eq!(texts, ["[redacted]", "other later words"]);
}

#[test]
fn a_vacuum_leaves_out_what_was_taken_back_a_compaction_too_and_bytes_that_count_for_nothing() {
    let (_dir, store) = store();
    let path = closed(&store, |session| {
        let dead = say(session, &format!("dead {SECRET}"));
        say(session, "living");
        let compacted = session.compact(Compaction::new(format!("sums up {SECRET}")), Durability::Os).unwrap();
        session.tombstone(&[dead, compacted.boundary], None, Durability::Sync).unwrap().wait().unwrap();
    });
    // What a crash has left behind the end.
    let mut bytes = std::fs::read(&path).unwrap();
    let len = bytes.len();
    bytes.extend_from_slice(&[0x55; 3000]);
    std::fs::write(&path, bytes).unwrap();
    let plain = Session::vacuum(&path, Vacuum::new(), &options()).unwrap();
    assert!(plain.rewritten && plain.bytes_after.unwrap() <= len as u64, "{plain:?}");
    assert!(file_holds(&path, SECRET));
    let again = Session::vacuum(&path, Vacuum::new(), &options()).unwrap();
    assert!(!again.rewritten, "nothing is left to gain: {again:?}");
    let report = Session::vacuum(&path, Vacuum::new().tombstoned(true), &options()).unwrap();
    assert_eq!(report.changed.len(), 2, "the message and the summary");
    assert!(!file_holds(&path, SECRET));
    let session = Session::open(&path, options()).unwrap();
    assert_eq!(session.report().open, seslog::session::Opened::Clean);
    assert!(events(&path).iter().all(|event| event.hung_on == HungOn::Named));
}

#[test]
fn an_event_that_grows_too_large_leaves_the_old_file() {
    use seslog::log::{LogWriter, NewLog};
    let (dir, _) = store();
    let id = Uuid::from_u128(0x0193_a000_0000_7000_8000_0000_0000_0001);
    let path = dir.path().join(format!("{id}.seslog"));
    let new = NewLog::new(id, 1).max_record(4096);
    LogWriter::create(RealFs::shared(), &path, new, LogOptions::default()).unwrap().close().unwrap();
    let session = Session::open(&path, options()).unwrap();
    say(&session, &"k.".repeat(1500));
    session.close().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let refused = Session::redact(&path, &literal("k"), &options()).unwrap_err();
    assert!(matches!(refused, SessionError::Log(LogError::RecordTooLarge { .. })), "{refused:?}");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert!(others(dir.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn the_caches_and_forks_beside_a_link_are_seen_to_as_well() {
    let (dir, store) = store();
    let path = closed(&store, with_secret);
    let named = tempfile::tempdir().unwrap();
    let link = named.path().join(path.file_name().unwrap());
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let last = events(&path).last().unwrap().id;
    let linked = Store::at(named.path(), options());
    let fork = linked.fork(link.file_stem().unwrap().to_str().unwrap(), last).unwrap();
    let id = fork.id();
    fork.close().unwrap();
    for at in [dir.path(), named.path()] {
        std::fs::create_dir_all(at.join(".cache")).unwrap();
        std::fs::write(at.join(".cache/search.db"), [&beginning("search.db")[..], SECRET.as_bytes()].concat()).unwrap();
    }
    let report = redact(&link).unwrap();
    assert!(
        report.rewritten && report.elsewhere.iter().any(|one| one.session == id) && link.is_symlink(),
        "{report:?}"
    );
    for at in [dir.path(), named.path()] {
        assert!(!at.join(".cache/search.db").exists());
    }
    assert!(!file_holds(&path, SECRET));
}
