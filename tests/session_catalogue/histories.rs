//! Random histories of a store: after each step every list is the one that knows no catalogue.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seslog::event::Message;
use seslog::log::Durability;
use seslog::session::ListReport;

use crate::random::Random;
use crate::world::{CATALOGUE, World, path_of, store_on, truth};

/// What a step may do that no quick list can notice.
fn in_place(world: &World, random: &mut Random) {
    let files = files(world);
    let (from, to) = (&files[random.below(files.len())], &files[random.below(files.len())]);
    let bytes = if random.below(2) == 0 { world.disk.bytes(from) } else { world.said_elsewhere(to, "elsewhere") };
    let keeps_time = random.below(2) == 0;
    world.disk.change(to, |file| *file = bytes);
    if keeps_time {
        world.disk.set_modified(to, Duration::from_secs(random.below(20) as u64));
    }
}

fn step(world: &mut World, random: &mut Random, number: usize) {
    let files = files(world);
    let pick = files[random.below(files.len())].clone();
    let fs = world.disk.fs();
    match random.below(9) {
        0 | 1 => world.add(number),
        2 | 3 => {
            if let Ok(session) = world.store.open(pick.file_stem().unwrap().to_str().unwrap()) {
                drop(session.append(Message::user(format!("step {number}")), Durability::Os).unwrap());
                if random.below(3) > 0 {
                    session.close().unwrap();
                } else {
                    world.disk.kill();
                }
            }
        }
        4 if files.len() > 3 => fs.remove(&pick).unwrap(),
        5 => fs.replace(&pick, &path_of(1 + random.below(6) as u128)).unwrap(),
        6 => world.disk.put(&path_of(1 + random.below(6) as u128), &world.disk.bytes(&pick)),
        7 => world.disk.move_to_new_inode(&pick),
        _ => {
            let mut bytes = world.disk.bytes(std::path::Path::new(CATALOGUE));
            if !bytes.is_empty() {
                let at = random.below(bytes.len());
                bytes.truncate(at);
                world.disk.put(std::path::Path::new(CATALOGUE), &bytes);
            }
        }
    }
}

fn files(world: &World) -> Vec<PathBuf> {
    let image = world.disk.image();
    image.files.into_keys().filter(|path| path.extension().is_some_and(|extension| extension == "seslog")).collect()
}

fn total(report: &ListReport) -> usize {
    report.taken + report.new + report.changed + report.unsettled
}

#[test]
fn every_list_in_a_random_history_is_true() {
    let (mut taken, mut quick) = (0, 0);
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut world = World::with(4);
        let others = store_on(&world.disk, 300 + seed);
        let mut was_in_place = false;
        for number in 0..30 {
            if random.below(4) == 0 {
                in_place(&world, &mut random);
                was_in_place = true;
            } else {
                step(&mut world, &mut random, number);
            }
            if random.below(2) == 0 {
                world.disk.advance(Duration::from_millis(random.below(5000) as u64));
            }
            let truth = truth(&world.disk);
            // A quick list can't notice what was done in place; a whole list can, and the quick ones behind it.
            if !was_in_place && random.below(2) == 0 {
                let listing = others.newest(3).unwrap();
                assert_eq!(listing.sessions, truth[..truth.len().min(3)], "seed {seed}, step {number}");
                quick += usize::from(!listing.report.every_stamp);
            }
            if random.below(3) > 0 {
                let store = if random.below(2) == 0 { &world.store } else { &others };
                let listing = store.listing().unwrap();
                assert_eq!(listing.sessions, truth, "seed {seed}, step {number}");
                assert_eq!(total(&listing.report), truth.len());
                taken += listing.report.taken;
                was_in_place = false;
            }
            if random.below(3) == 0 {
                world.later();
                drop(world.checked());
                let listing = others.newest(3).unwrap();
                assert_eq!(listing.sessions, truth[..truth.len().min(3)], "seed {seed}, step {number}");
                quick += usize::from(!listing.report.every_stamp);
                was_in_place = false;
            }
        }
    }
    assert!(taken > 1000 && quick > 100, "the catalogue was of use: {taken} taken, {quick} quick");
}

#[test]
fn lists_at_the_same_time_as_each_other_and_as_a_writer_end_in_a_true_one() {
    let mut world = World::listed(40);
    let (disk, is_over) = (world.disk.clone(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for seed in 0..3 {
            let (store, is_over) = (store_on(&disk, 500 + seed), &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let listed = store.list().unwrap();
                    assert!(listed.len() >= 40 && listed.iter().all(|listed| listed.problem.is_none()));
                    assert!(store.newest(10).unwrap().sessions.len() == 10);
                }
            });
        }
        for number in 0..60 {
            world.say(&world.paths[number % 40].clone(), "more");
            world.add(number);
            world.disk.advance(Duration::from_millis(900));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    world.later();
    drop(world.checked());
    assert_eq!(world.checked().taken, 100);
    let left: Vec<PathBuf> =
        world.disk.image().files.into_keys().filter(|path| path.to_string_lossy().ends_with(".tmp")).collect();
    assert!(left.is_empty(), "{left:?}");
}
