//! The newest sessions, without a look at all the others.

use seslog::event::Message;
use seslog::log::Durability;
use seslog::sim::Call;

use crate::world::{World, truth};

fn is_quick(world: &World, count: usize) -> bool {
    let listing = world.store.newest(count).unwrap();
    let mut truth = truth(&world.disk);
    truth.truncate(count);
    assert_eq!(listing.sessions, truth);
    !listing.report.every_stamp
}

#[test]
fn the_newest_cost_as_many_stamps_as_are_told_however_many_there_are() {
    let world = World::listed(200);
    for count in [0, 1, 5, 50] {
        let before = world.disk.calls(Call::Stamp);
        let (listing, opens) = world.opens(|| world.store.newest(count).unwrap());
        assert_eq!(world.disk.calls(Call::Stamp) - before, 1 + count as u64);
        assert_eq!((opens, listing.report.taken, listing.report.every_stamp), (1, count, false));
        assert!(is_quick(&world, count));
    }
    // More than the front holds.
    assert!(is_quick(&world, 100) && is_quick(&world, 200) && is_quick(&world, 1000));
}

#[test]
fn a_session_of_ours_that_was_written_since_is_among_the_newest() {
    let world = World::listed(100);
    assert!(is_quick(&world, 5));
    world.say(&world.paths[0], "more");
    assert!(!is_quick(&world, 5));
    world.later();
    // The first one looks at all and keeps it.
    assert!(!is_quick(&world, 5));
    assert!(is_quick(&world, 5));
}

#[test]
fn a_session_that_is_being_written_is_read_each_time() {
    let world = World::listed(100);
    let session = world.open(&world.paths[0]);
    for round in 0..4 {
        let id = session.append(Message::user(format!("{round}")), Durability::Os).unwrap().id;
        assert_eq!(world.store.newest(5).unwrap().sessions[0].last_event, Some(id));
    }
    world.disk.kill();
    drop(session);
    world.later();
    assert!(!is_quick(&world, 5));
    assert!(is_quick(&world, 5));
    assert_eq!(world.store.newest(5).unwrap().report.unsettled, 1);
}

#[test]
fn a_session_that_comes_goes_or_is_replaced_is_noticed() {
    let mut world = World::listed(20);
    world.add(20);
    assert!(!is_quick(&world, 5));
    let settle = |world: &World| {
        world.later();
        is_quick(world, 5);
        assert!(is_quick(world, 5));
    };
    settle(&world);
    world.disk.fs().remove(&world.paths[20]).unwrap();
    assert!(!is_quick(&world, 5));
    settle(&world);
    let bytes = world.said_elsewhere(&world.paths[0], "more");
    world.disk.put(&world.paths[0], &bytes);
    assert!(!is_quick(&world, 5));
    settle(&world);
    // In place, but among those that are told.
    let bytes = world.said_elsewhere(&world.paths[19], "more");
    world.disk.change(&world.paths[19], |file| *file = bytes);
    assert!(!is_quick(&world, 5));
}

#[test]
fn what_another_program_writes_in_place_is_noticed_by_the_next_whole_list() {
    let world = World::listed(20);
    let bytes = world.said_elsewhere(&world.paths[0], "more");
    world.disk.change(&world.paths[0], |file| *file = bytes);
    world.later();
    // Documented: it is not told yet. What is told is true.
    let truth = truth(&world.disk);
    let told = world.store.newest(5).unwrap().sessions;
    assert!(told.iter().all(|listed| truth.contains(listed)) && told[0] != truth[0]);
    assert_eq!(world.checked().changed, 1);
    world.later();
    drop(world.checked());
    assert_eq!(world.store.newest(5).unwrap().sessions, truth[..5]);
}

#[test]
fn a_writer_tells_the_directory_now_and_then_and_not_at_each_append() {
    let world = World::listed(2);
    let session = world.open(&world.paths[0]);
    let before = world.disk.calls(Call::TouchDir);
    let append = || drop(session.append(Message::user("x"), Durability::Os).unwrap());
    (0..100).for_each(|_| append());
    assert_eq!(world.disk.calls(Call::TouchDir) - before, 1);
    world.disk.advance(std::time::Duration::from_millis(600));
    (0..100).for_each(|_| append());
    assert_eq!(world.disk.calls(Call::TouchDir) - before, 2);
}

#[test]
fn a_directory_that_cannot_be_told_fails_no_append() {
    let world = World::listed(2);
    let session = world.open(&world.paths[0]);
    world.disk.fail(Call::TouchDir, 0, seslog::sim::Fault::Errno(1));
    drop(session.append(Message::user("x"), Durability::Os).unwrap());
    session.close().unwrap();
    assert_eq!(world.checked().changed, 1);
}
