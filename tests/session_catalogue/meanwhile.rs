//! A list beside an erasure keeps nothing of what is erased, whichever of its calls the other one comes before, and wherever
//! a process is killed. What broke: a list that had read a session before it was redacted wrote the old title into the
//! catalogue after that had been cleared.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seslog::event::{Message, SessionMeta};
use seslog::log::{Durability, Fs};
use seslog::session::{CatalogueKept, Redaction, Session, SessionOptions, Store};
use seslog::sim::{Image, SimDisk};

use crate::even_clock::EvenClock;
use crate::hooked::{Hooked, Seam};
use crate::world::{CATALOGUE, DIR, World, truth};

const SECRET: &str = "xyzzy-4711";

fn holds(bytes: &[u8]) -> bool {
    bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
}

/// A store of a session with the secret as title and first words, closed or left by a crash, and of one without; with a
/// catalogue that tells of both, or without one.
fn start(is_closed: bool, is_listed: bool) -> (Image, PathBuf, String) {
    let world = World::with(1);
    let secret = SessionMeta { title: Some(format!("about {SECRET}")), ..SessionMeta::default() };
    let session = world.store.create().unwrap();
    drop(session.append(secret, Durability::Os).unwrap());
    drop(session.append(Message::user(format!("say {SECRET}")), Durability::Os).unwrap());
    let path = session.path().to_owned();
    if is_closed {
        session.close().unwrap();
    } else {
        world.disk.kill();
    }
    world.later();
    if is_listed {
        drop(world.store.counted(None).unwrap());
        assert!(holds(&world.disk.bytes(Path::new(CATALOGUE))));
    }
    (world.disk.image(), path, format!("closed: {is_closed}, listed: {is_listed}"))
}

fn disk_of(image: &Image, seed: u64) -> SimDisk {
    let disk = SimDisk::holding(image).seeded(seed);
    disk.advance(Duration::from_secs(100));
    disk
}

fn options(fs: Arc<dyn Fs>) -> SessionOptions {
    SessionOptions { fs, clock: Arc::new(EvenClock::since(7_000_000_000)), ..SessionOptions::default() }
}

fn list(fs: Arc<dyn Fs>) -> CatalogueKept {
    Store::at(DIR, options(fs)).counted(None).unwrap().report.kept
}

/// What an erasure is to a list: the words are gone from the session, or the session is gone. Whether it says that they are
/// gone from the cache; it may not have the lock, or be killed.
type Erase = fn(Arc<dyn Fs>, &Path) -> bool;

fn redact(fs: Arc<dyn Fs>, path: &Path) -> bool {
    let redaction = Redaction::new().literal(SECRET).unwrap();
    Session::redact(path, &redaction, &options(fs)).is_ok_and(|report| report.cache_left.is_none())
}

fn delete(fs: Arc<dyn Fs>, path: &Path) -> bool {
    Session::delete(path, &options(fs)).is_ok_and(|deleted| deleted.cache_left.is_none())
}

/// The file is removed by somebody, who then has the store forget it, and again where that is refused.
fn forget(fs: Arc<dyn Fs>, path: &Path) -> bool {
    let id = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let _ = fs.remove(path);
    Store::at(DIR, options(fs)).forget(id).is_ok()
}

/// What no session says any more, no cache says.
fn is_kept_in_no_cache(disk: &SimDisk, what: &str) {
    let kept = kept_of_what_is_gone(disk);
    assert!(kept.is_none(), "{what}: {kept:?}");
}

/// A cache that says what no session says any more.
fn kept_of_what_is_gone(disk: &SimDisk) -> Option<String> {
    let image = disk.image();
    let (caches, sessions): (Vec<_>, Vec<_>) =
        image.files.iter().partition(|(path, _)| path.starts_with(Path::new(DIR).join(".cache")));
    let is_said = sessions.iter().any(|(_, bytes)| holds(bytes));
    let kept = caches.iter().find(|(_, bytes)| holds(bytes));
    kept.filter(|_| !is_said).map(|(path, _)| path.display().to_string())
}

fn starts() -> Vec<(Image, PathBuf, String)> {
    [(true, true), (true, false), (false, true), (false, false)].map(|(closed, listed)| start(closed, listed)).into()
}

/// After all that a list works as ever: it is true, and kept in the end.
fn is_kept_again(disk: &SimDisk, what: &str) {
    for _ in 0..3 {
        disk.advance(Duration::from_secs(100));
        drop(list(disk.fs()));
        is_kept_in_no_cache(disk, what);
    }
    let mut listing = Store::at(DIR, options(disk.fs())).counted(None).unwrap();
    let report = &listing.report;
    assert_eq!(report.taken + report.unsettled, listing.sessions.len(), "{what}: {report:?}");
    for listed in &mut listing.sessions {
        // A list that knows no catalogue counts nothing.
        (listed.messages, listed.branches, listed.first_words, listed.first_at) = (None, None, None, None);
    }
    assert_eq!(listing.sessions, truth(disk), "{what}");
}

#[test]
fn a_list_keeps_nothing_of_what_was_erased_while_it_ran() {
    for (name, erase) in [("redact", redact as Erase), ("delete", delete), ("forget", forget)] {
        for (image, path, what) in starts() {
            for nth in 0.. {
                let disk = disk_of(&image, nth + 10);
                let (other, target) = (disk.clone(), path.clone());
                let is_done = Arc::new(AtomicBool::new(true));
                let done = is_done.clone();
                let hook = move || done.store(erase(Seam::of(Hooked::of(&other)), &target), Ordering::Relaxed);
                let hooked = Arc::new(Hooked::of(&disk).before(nth, hook));
                drop(list(Arc::new(Seam(hooked.clone()))));
                // While the list puts its catalogue there it can't be: in earnest it would wait.
                assert!(is_done.load(Ordering::Relaxed) || erase(disk.fs(), &path), "{name} before call {nth}, {what}");
                let what = format!("{name} before call {nth}, {what}");
                is_kept_in_no_cache(&disk, &what);
                if hooked.calls() <= nth {
                    assert!(nth > 20, "{what}: {nth} calls");
                    break;
                }
                is_kept_again(&disk, &what);
            }
        }
    }
}

#[test]
fn an_erasure_leaves_nothing_that_lists_have_kept_while_it_ran() {
    for (name, erase) in [("redact", redact as Erase), ("delete", delete), ("forget", forget)] {
        for (image, path, what) in starts() {
            for nth in 0.. {
                let disk = disk_of(&image, nth + 10);
                let what = format!("list before call {nth} of {name}, {what}");
                let (other, watched) = (disk.clone(), disk.clone());
                let hooked = Hooked::of(&disk).before(nth, move || drop(list(Seam::of(Hooked::of(&other)))));
                // A kill at any of its calls leaves what is seen here. (Who removes a file by hand has it forgotten later.)
                let is_watched = name != "forget" && what.contains("listed: true");
                let watch = move || if is_watched { kept_of_what_is_gone(&watched) } else { None };
                let hooked = Arc::new(hooked.watched(watch));
                let is_done = erase(Arc::new(Seam(hooked.clone())), &path);
                assert!(is_done && hooked.seen().is_none(), "{what}: {:?}", hooked.seen());
                is_kept_in_no_cache(&disk, &what);
                if hooked.calls() <= nth {
                    break;
                }
                is_kept_again(&disk, &what);
            }
        }
    }
}

#[test]
fn a_list_keeps_nothing_of_what_an_erasure_that_was_killed_has_erased() {
    for (name, erase) in [("redact", redact as Erase), ("delete", delete)] {
        for (image, path, what) in starts().into_iter().filter(|(.., what)| what.contains("listed: true")) {
            let calls = |dies_at| {
                let hooked = Arc::new(Hooked::of(&disk_of(&image, 3)).dying_at(dies_at));
                let _ = erase(Arc::new(Seam(hooked.clone())), &path);
                hooked.calls()
            };
            let (all, mut nth) = (calls(u64::MAX), 0);
            // Of what comes before the catalogue is touched, every third call.
            let deaths: Vec<u64> = (0..all).filter(|call| call % 3 == 0 || call + 40 > all).collect();
            loop {
                let mut is_over = false;
                for &death in &deaths {
                    let disk = disk_of(&image, nth + 10);
                    let (other, target) = (disk.clone(), path.clone());
                    let hooked = Hooked::of(&disk)
                        .before(nth, move || _ = erase(Seam::of(Hooked::of(&other).dying_at(death)), &target));
                    let hooked = Arc::new(hooked);
                    drop(list(Arc::new(Seam(hooked.clone()))));
                    let what = format!("{name} killed at call {death}, before call {nth}, {what}");
                    is_kept_in_no_cache(&disk, &what);
                    is_over |= hooked.calls() <= nth;
                    if death % 16 == 0 {
                        is_kept_again(&disk, &what);
                    }
                }
                if is_over {
                    break;
                }
                nth += 1;
            }
        }
    }
}

#[test]
fn two_lists_and_a_forgetting_end_without_what_is_to_be_forgotten() {
    for (image, path, what) in starts() {
        for nth in 0.. {
            let mut is_over = false;
            for inner in 0..40 {
                let disk = disk_of(&image, nth * 100 + inner + 10);
                let (other, third, target) = (disk.clone(), disk.clone(), path.clone());
                let is_done = Arc::new(AtomicBool::new(true));
                let done = is_done.clone();
                // A list; before one of its calls a forgetting; before one of its calls another list.
                let forgetting = move || {
                    let second = Hooked::of(&other).before(inner, move || drop(list(Seam::of(Hooked::of(&third)))));
                    done.store(forget(Seam::of(second), &target), Ordering::Relaxed);
                };
                let hooked = Arc::new(Hooked::of(&disk).before(nth, forgetting));
                drop(list(Arc::new(Seam(hooked.clone()))));
                assert!(is_done.load(Ordering::Relaxed) || forget(disk.fs(), &path), "{what}");
                is_kept_in_no_cache(&disk, &format!("{what}, forget before call {nth}, list before call {inner}"));
                is_over |= hooked.calls() <= nth;
            }
            if is_over {
                break;
            }
        }
    }
}

#[test]
fn an_erasure_that_cannot_have_the_lock_says_so_and_erases_nothing() {
    let (image, path, _) = starts().remove(0);
    let disk = disk_of(&image, 3);
    let held = disk.fs().open(Path::new(CATALOGUE), seslog::log::Access::Write).unwrap();
    assert!(held.try_lock().unwrap());
    let redaction = Redaction::new().literal(SECRET).unwrap();
    let before = disk.bytes(&path);
    let refused = Session::redact(&path, &redaction, &options(Seam::of(Hooked::of(&disk)))).unwrap_err();
    let why = std::error::Error::source(&refused).map(ToString::to_string).unwrap_or_default();
    assert!(format!("{refused}: {why}").contains("keeps the catalogue's lock"), "{refused}: {why}");
    assert_eq!(disk.bytes(&path), before);
    drop(held);
    assert!(redact(disk.fs(), &path));
    assert!(!holds(&disk.bytes(&path)));
}

#[test]
fn who_asks_for_a_moment_whether_somebody_writes_keeps_no_writer_out() {
    let (image, path, _) = starts().remove(0);
    let disk = disk_of(&image, 3);
    drop(Session::open(&path, options(Seam::of(Hooked::of(&disk).busy(5)))).unwrap());
    assert!(Session::open(&path, options(Seam::of(Hooked::of(&disk).busy(1000)))).is_err());
}
