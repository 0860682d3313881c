//! A catalogue that is not whole, not of this version or not of this store is made anew, and nothing of it is told.

use std::path::Path;

use seslog::session::{CatalogueFound, CatalogueKept};
use seslog::sim::{Crashes, Fault, SimDisk, persistence};

use crate::random::Random;
use crate::world::{CATALOGUE, World, store_on, truth_of};

/// Lists with this in the place of the catalogue: the list is true, and the catalogue is made anew.
fn rebuilt(world: &World, bytes: &[u8], found: &CatalogueFound, what: &str) {
    world.disk.put(Path::new(CATALOGUE), bytes);
    let listing = world.store.listing().unwrap();
    assert_eq!(&listing.report.found, found, "{what}");
    assert_eq!((listing.report.taken, listing.report.new), (0, world.paths.len()), "{what}");
    assert_eq!(listing.report.kept, CatalogueKept::Written, "{what}");
    let again = world.store.listing().unwrap();
    assert_eq!((again.report.taken, &again.sessions), (world.paths.len(), &listing.sessions), "{what}");
}

/// What bytes that are no catalogue are found to be. An empty file is none yet: a first list makes it so, and may be killed then.
fn found_in(bytes: &[u8]) -> CatalogueFound {
    if bytes.is_empty() { CatalogueFound::Missing } else { CatalogueFound::Damaged }
}

#[test]
fn a_catalogue_that_is_cut_at_any_byte_is_made_anew() {
    let world = World::listed(3);
    let whole = world.disk.bytes(Path::new(CATALOGUE));
    for len in 0..whole.len() {
        rebuilt(&world, &whole[..len], &found_in(&whole[..len]), &format!("cut at {len}"));
    }
    assert_eq!(world.checked().taken, 3);
}

#[test]
fn a_catalogue_with_any_byte_changed_is_made_anew() {
    let world = World::listed(3);
    let whole = world.disk.bytes(Path::new(CATALOGUE));
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        let other = (5..8).contains(&at);
        let found = if other { CatalogueFound::OtherVersion } else { CatalogueFound::Damaged };
        rebuilt(&world, &bytes, &found, &format!("byte {at}"));
        world.disk.put(Path::new(CATALOGUE), &bytes);
        let newest = world.store.newest(2).unwrap();
        assert_eq!(newest.sessions, world.store.list().unwrap()[..2], "byte {at}");
    }
    assert_eq!(world.checked().taken, 3);
}

#[test]
fn noise_in_the_place_of_a_catalogue_is_made_anew() {
    let world = World::listed(2);
    let whole = world.disk.bytes(Path::new(CATALOGUE));
    let mut random = Random::new(6);
    for round in 0..500 {
        let len = random.below(3000);
        let mut bytes = random.bytes(len);
        if round % 2 == 0 {
            let head = len.min(8);
            bytes[..head].copy_from_slice(&whole[..head]);
        }
        rebuilt(&world, &bytes, &found_in(&bytes), &format!("round {round}"));
    }
    rebuilt(&world, &[], &found_in(&[]), "empty");
    let twice = [whole.clone(), whole].concat();
    rebuilt(&world, &twice, &CatalogueFound::Damaged, "twice");
}

#[test]
fn a_catalogue_of_another_store_says_nothing_about_this_one() {
    let (here, there) = (World::listed(5), World::listed(9));
    let bytes = there.disk.bytes(Path::new(CATALOGUE));
    let fewer = there.paths[3].clone();
    let other = there.said_elsewhere(&fewer, "another text");
    here.disk.put(&here.paths[3], &other);
    here.disk.put(Path::new(CATALOGUE), &bytes);
    assert_eq!(here.checked().found, CatalogueFound::Whole);
    assert_eq!(here.store.newest(3).unwrap().sessions, here.store.list().unwrap()[..3]);
}

#[test]
fn a_catalogue_that_cannot_be_read_is_told() {
    let world = World::listed(3);
    world.disk.fail(seslog::sim::Call::Read, 0, Fault::Errno(5));
    let report = world.checked();
    assert!(matches!(report.found, CatalogueFound::Unreadable(_)), "{report:?}");
    assert_eq!((report.taken, report.new), (0, 3));
}

#[test]
fn a_power_cut_at_any_moment_of_a_list_that_writes_changes_no_list() {
    let mut world = World::listed(2);
    world.say(&world.paths[0], "more");
    world.add(2);
    world.later();
    // What was closed is durable; what is in doubt is the catalogue alone.
    world.disk.record();
    assert_eq!(world.checked().kept, CatalogueKept::Written);
    let trace = world.disk.trace();
    assert!(!trace.is_empty());
    for model in persistence::ALL {
        let count = Crashes::of(&trace, model).for_each(|crash| {
            let disk = SimDisk::holding(&crash.image);
            let store = store_on(&disk, 2);
            disk.advance(std::time::Duration::from_secs(100));
            assert_eq!(store.list().unwrap(), truth_of(crash.image.clone()));
            assert_eq!(store.newest(1).unwrap().sessions, store.list().unwrap()[..1]);
        });
        assert!(count.distinct > 3);
    }
}

#[test]
fn a_list_is_right_whichever_of_its_calls_fails() {
    let world = World::listed(4);
    let before = world.disk.all_calls();
    world.say(&world.paths[1], "more");
    world.later();
    let start = world.disk.all_calls();
    assert!(start > before);
    let expected = world.store.list().unwrap();
    let calls = world.disk.all_calls() - start;
    let mut right = 0;
    for nth in 0..calls + 5 {
        world.disk.fail_any(nth, Fault::Errno(5));
        // The directory or a session that can't be read is told as it always was; the catalogue never is an error.
        if let Ok(listed) = world.store.list() {
            let unreadable = listed.iter().filter(|listed| listed.problem.is_some()).count();
            assert!(listed == expected || unreadable == 1, "call {nth}: {listed:?}");
            right += u64::from(listed == expected);
        }
        world.disk.heal();
        assert_eq!(world.store.list().unwrap(), expected, "after call {nth}");
    }
    assert!(right > calls / 2);
}
