//! Whatever happens to a session behind the catalogue's back, the next list tells it.

use std::time::Duration;

use seslog::event::Message;
use seslog::log::Durability;
use seslog::session::{CatalogueFound, CatalogueKept};
use seslog::sim::Call;

use crate::world::{CATALOGUE, World, path_of, truth};

#[test]
fn a_warm_list_of_closed_sessions_opens_the_catalogue_and_no_session() {
    let world = World::listed(40);
    let (report, opens) = world.opens(|| world.store.listing().unwrap().report);
    assert_eq!((opens, report.taken), (1, 40));
    assert_eq!((report.new, report.changed, report.unsettled), (0, 0, 0));
    assert_eq!((report.found, report.kept, report.every_stamp), (CatalogueFound::Whole, CatalogueKept::AsItWas, true));
}

#[test]
fn of_changed_sessions_exactly_those_are_read_again() {
    let mut world = World::listed(40);
    for number in [3, 17, 39] {
        world.say(&world.paths[number], "more");
    }
    world.add(40);
    world.disk.fs().remove(&world.paths[5]).unwrap();
    world.later();
    let (listing, opens) = world.opens(|| world.store.listing().unwrap());
    assert_eq!(opens, 1 + 3 + 1);
    let report = listing.report;
    assert_eq!((report.taken, report.changed, report.new, report.unsettled), (36, 3, 1, 0));
    assert_eq!(report.kept, CatalogueKept::Written);
    assert_eq!(listing.sessions, truth(&world.disk));
    assert_eq!(world.checked().taken, 40);
}

#[test]
fn an_append_by_a_writer_that_knows_no_catalogue_is_seen() {
    let world = World::listed(8);
    let bytes = world.said_elsewhere(&world.paths[2], "more");
    world.disk.change(&world.paths[2], |file| *file = bytes);
    assert_eq!(world.checked().changed, 1);
}

#[test]
fn a_file_that_is_replaced_by_another_of_the_same_size_is_seen_however_old_it_looks() {
    let world = World::with(8);
    let (path, before) = (world.paths[2].clone(), world.said_elsewhere(&world.paths[2], "aaaa"));
    let after = world.said_elsewhere(&world.paths[2], "bbbb");
    assert!(before.len() == after.len() && before != after);
    let put = |file: &[u8]| world.disk.put(&path, file);
    let change = |file: &[u8]| world.disk.change(&path, |bytes| file.clone_into(bytes));
    let restore = |file: &[u8]| {
        world.disk.change(&path, |bytes| file.clone_into(bytes));
        world.disk.set_modified(&path, Duration::from_secs(1));
    };
    // Renamed into its place, copied over it, and copied over it with the time of the old one.
    for replace in [&put as &dyn Fn(&[u8]), &change, &restore] {
        restore(&before);
        world.later();
        drop(world.checked());
        world.later();
        assert_eq!(world.checked().taken, 8);
        replace(&after);
        assert_eq!(world.checked().changed, 1);
        world.later();
        // What changed a moment ago is looked at once more.
        assert_eq!((world.checked().taken, world.checked().taken), (7, 8));
    }
}

#[test]
fn a_change_within_the_same_tick_of_the_clock_as_the_look_is_seen() {
    let world = World::with(8);
    let path = &world.paths[2];
    let (before, after) = (world.said_elsewhere(path, "aaaa"), world.said_elsewhere(path, "bbbb"));
    world.disk.change(path, |file| *file = before);
    // The clock stands: what is written now has the time of what is looked at here.
    assert_eq!(world.checked().new, 8);
    world.disk.change(path, |file| *file = after);
    assert_eq!((world.checked().unsettled, world.checked().taken), (1, 7));
}

#[test]
fn a_file_from_the_future_is_read_each_time() {
    let world = World::with(4);
    world.disk.set_modified(&world.paths[1], Duration::from_secs(1 << 30));
    world.later();
    for _ in 0..3 {
        let report = world.checked();
        assert_eq!(report.taken + report.new + report.unsettled, 4);
        assert!(report.taken <= 3);
        world.later();
    }
}

#[test]
fn a_session_that_is_being_written_is_read_each_time() {
    let world = World::listed(8);
    let session = world.open(&world.paths[4]);
    for number in 0..5 {
        let id = session.append(Message::user(format!("{number}")), Durability::Os).unwrap().id;
        let listed = world.store.list().unwrap();
        assert_eq!(listed[0].last_event, Some(id));
    }
    // Killed: no end is marked, and what was not durable may be gone after a power cut with the same stamp.
    world.disk.kill();
    drop(session);
    world.later();
    for _ in 0..3 {
        let report = world.checked();
        assert_eq!((report.taken, report.changed + report.unsettled), (7, 1));
    }
}

#[test]
fn zeroed_space_behind_the_end_keeps_a_session_unsettled() {
    let world = World::with(3);
    world.disk.change(&world.paths[0], |bytes| bytes.resize(bytes.len() + 4096, 0));
    world.later();
    drop(world.checked());
    assert_eq!((world.checked().taken, world.checked().unsettled), (2, 1));
}

#[test]
fn a_session_that_is_gone_or_renamed_is_gone_or_renamed() {
    let world = World::listed(8);
    world.disk.fs().remove(&world.paths[0]).unwrap();
    world.disk.fs().replace(&world.paths[1], &world.paths[2]).unwrap();
    world.disk.fs().publish(&world.paths[3], &path_of(7)).unwrap();
    let report = world.checked();
    assert_eq!(world.store.list().unwrap().len(), 6);
    assert_eq!((report.changed, report.new), (1, 1));
}

#[test]
fn two_files_that_spell_one_id_differently_are_two_sessions_and_settle_like_any_other() {
    let world = World::listed(3);
    let bytes = world.disk.bytes(&world.paths[0]);
    let name = world.paths[0].file_stem().unwrap().to_str().unwrap();
    for spelled in [name.replace('-', ""), format!("{{{name}}}"), name.to_uppercase()] {
        let path = world.paths[0].with_file_name(format!("{spelled}.seslog"));
        if path != world.paths[0] {
            world.disk.put(&path, &bytes);
        }
    }
    world.later();
    assert_eq!(world.checked().kept, CatalogueKept::Written);
    world.later();
    let report = world.checked();
    assert_eq!((report.taken, report.new, report.kept), (6, 0, CatalogueKept::AsItWas));
}

#[test]
fn a_catalogue_that_cannot_be_written_is_told_and_no_error() {
    for call in [Call::Create, Call::Write, Call::Publish, Call::Random] {
        let world = World::with(8);
        world.disk.fail(call, 0, seslog::sim::Fault::Errno(28));
        let report = world.checked();
        assert!(matches!(&report.kept, CatalogueKept::Failed(why) if !why.is_empty()), "{call:?}: {report:?}");
        let left = world.disk.image().files.len();
        assert_eq!(left, 8, "{call:?}: nothing half made is left");
        assert_eq!(world.checked().kept, CatalogueKept::Written);
        assert_eq!(world.checked().taken, 8);
    }
}

#[test]
fn a_short_write_is_gone_on_with() {
    let world = World::with(8);
    world.disk.fail(Call::Write, 0, seslog::sim::Fault::Short(100));
    assert_eq!(world.checked().kept, CatalogueKept::Written);
    assert_eq!(world.checked().taken, 8);
}

#[test]
fn what_killed_lists_have_left_is_removed() {
    let world = World::with(8);
    let left = std::path::Path::new(CATALOGUE).with_file_name(".catalogue.0123456789abcdef.tmp");
    world.disk.put(&left, b"half");
    drop(world.checked());
    assert!(!world.disk.image().files.contains_key(&left));
}

#[test]
fn one_changed_session_of_many_writes_no_new_catalogue() {
    let world = World::listed(120);
    world.say(&world.paths[3], "more");
    let report = world.checked();
    // The directory was told of the writer a moment ago, so it may not vouch yet either.
    assert_eq!((report.changed, report.kept), (1, CatalogueKept::AsItWas));
}

#[test]
fn rebuilt_in_parallel_the_order_is_the_same() {
    let world = World::with(2);
    let bytes = world.disk.bytes(&world.paths[0]);
    (1..400).for_each(|number| world.disk.put(&path_of(number * 7919 % 4001), &bytes));
    world.later();
    let first = world.store.list().unwrap();
    assert_eq!(first.len(), 401);
    assert_eq!(world.checked().taken, 401);
    world.disk.fs().remove(std::path::Path::new(CATALOGUE)).unwrap();
    assert_eq!(world.store.list().unwrap(), first);
}

#[test]
fn a_store_without_sessions_keeps_nothing_of_those_it_had() {
    let world = World::listed(3);
    world.paths.iter().for_each(|path| world.disk.fs().remove(path).unwrap());
    assert_eq!(world.checked().kept, CatalogueKept::Removed);
    assert!(world.disk.image().files.is_empty(), "{:?}", world.disk.image().files.keys());
    let report = world.checked();
    assert_eq!((report.found, report.kept), (seslog::session::CatalogueFound::Missing, CatalogueKept::AsItWas));
}

#[test]
fn a_title_of_a_megabyte_makes_no_long_catalogue() {
    let world = World::with(3);
    let session = world.open(&world.paths[0]);
    let title = seslog::event::SessionMeta { title: Some("t".repeat(1 << 20)), ..Default::default() };
    drop(session.append(title, seslog::log::Durability::Os).unwrap());
    session.close().unwrap();
    world.later();
    assert_eq!(world.checked().kept, CatalogueKept::Written);
    assert!(world.disk.bytes(std::path::Path::new(CATALOGUE)).len() < 4096);
    let report = world.checked();
    assert_eq!((report.taken, report.unsettled), (2, 1));
}
