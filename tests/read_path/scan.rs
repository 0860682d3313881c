//! A look at the whole file reads each byte once.

use std::path::Path;

use seslog::event::{Message, Uuid, decode};
use seslog::log::{Durability, LogReader, RealFs, Verdict, survey, survey_with};
use seslog::session::{Gathering, NewEvent, Session, SessionOptions, SessionReader, State, Store};

use crate::disk::{Watched, watched};
use crate::write;

/// The header page, and the tail that says where the data ends.
const TWICE_MAX: u64 = (4 + 16) << 10;

#[test]
fn a_survey_reads_each_byte_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 1_000, 200);
    let size = std::fs::metadata(&path).unwrap().len();
    let disk = watched();
    let found = survey(disk.clone(), &path).unwrap();
    assert!(found.frames.len() > 1_000 && found.damage.is_empty());
    let seen = disk.take();
    assert!(seen.bytes() >= size);
    assert!(seen.bytes_again() <= TWICE_MAX, "{} bytes twice of {size}", seen.bytes_again());
    assert!(seen.calls() as u64 <= 4 + 2 * size.div_ceil(256 << 10), "{} calls for {size} bytes", seen.calls());
}

#[test]
fn a_survey_of_a_long_file_reads_each_byte_once_in_two_halves() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 8_000, 200);
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size > 6 << 20, "two threads come in at 4 MiB");
    let disk = watched();
    let found = survey(disk.clone(), &path).unwrap();
    assert_eq!(found.verdict, Verdict::Clean);
    let (again, calls) = {
        let seen = disk.take();
        (seen.bytes_again(), seen.calls() as u64)
    };
    // What the place in the middle is found by, its own first piece, and large frames' trailers and hints.
    assert!(again <= TWICE_MAX + (1 << 20), "{again} bytes twice of {size}");
    assert!(calls <= 40 + 2 * size.div_ceil(256 << 10) + 3 * 80, "{calls} calls");
    let mut shown = Vec::new();
    let one = survey_with(disk, &path, &mut |frame| shown.push(*frame.head())).unwrap();
    assert!(found.frames == one.frames, "two threads see what one sees");
    assert!(shown.iter().eq(found.frames.iter().map(|frame| &frame.head)));
}

/// Whatever is wrong, and wherever: nothing may be told otherwise because a second thread began behind it.
#[test]
fn two_halves_tell_of_a_damaged_file_what_one_pass_tells() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 5_000, 200);
    let whole = std::fs::read(&path).unwrap();
    let middle = whole.len() / 2;
    let hit = dir.path().join("hit.seslog");
    let check = |bytes: &[u8], what: &str| {
        std::fs::write(&hit, bytes).unwrap();
        let two = survey(RealFs::shared(), &hit).unwrap();
        let one = survey_with(RealFs::shared(), &hit, &mut |_| {}).unwrap();
        assert!(two.frames == one.frames, "frames, {what}");
        assert_eq!((two.verdict, &two.damage, &two.set_aside), (one.verdict, &one.damage, &one.set_aside), "{what}");
    };
    for at in [5_000, middle / 2, middle - 5_000, middle - 300, middle, middle + 300, middle + 5_000, whole.len() - 300]
    {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        check(&bytes, &format!("a bit at {at}"));
        bytes[at & !7..][..64].fill(0);
        check(&bytes, &format!("zeros at {at}"));
    }
    let place = |n: usize| {
        let found = survey(RealFs::shared(), &path).unwrap();
        let frame = found.frames.iter().filter(|frame| frame.at as usize > middle).nth(n).unwrap();
        frame.at as usize..(frame.at + frame.head.total_len()) as usize
    };
    for n in 0..3 {
        check(&[&whole[..place(n).start], &whole[place(n).end..]].concat(), "a frame taken out behind the middle");
        check(&[&whole[..place(n).start], &whole[place(n)], &whole[place(n).start..]].concat(), "one doubled");
    }
    check(&[&whole[..middle - 4_000], &whole[middle..]].concat(), "bytes taken out before the middle");
    check(&whole[..whole.len() - 100], "the end cut off");
    check(&[&whole[..middle & !7], &vec![0; whole.len() - middle][..]].concat(), "a second half of zeros");
}

/// The state that a survey shows on its way.
fn gathered(disk: std::sync::Arc<Watched>, path: &Path) -> (State, Verdict) {
    let mut gathering = Gathering::default();
    let found = survey_with(disk, path, &mut |frame| {
        if !frame.frame_type().is_own() {
            gathering.add(decode(frame.payload()).unwrap(), frame.head(), frame.offset());
        }
    });
    (gathering.into_state(), found.unwrap().verdict)
}

#[test]
fn a_survey_shows_every_event_while_it_reads_each_byte_once_also_where_a_second_thread_reads_ahead() {
    let dir = tempfile::tempdir().unwrap();
    // The second thread comes in at 4 MiB.
    for count in [300, 5_000] {
        let path = dir.path().join(format!("{count}.seslog"));
        write(&path, count, 200);
        let disk = watched();
        let (state, verdict) = gathered(disk.clone(), &path);
        let again = disk.take().bytes_again();
        // Of a large frame the trailer is read first.
        assert!(again <= TWICE_MAX + 8 * count as u64 / 50, "{again} bytes twice");
        assert_eq!(verdict, Verdict::Clean);
        let found = survey(disk.clone(), &path).unwrap();
        assert!(state == State::of_survey(&path, &found).unwrap(), "what was shown is what is there");
        assert!(state == SessionReader::open(&path, disk).unwrap().whole_state().unwrap());
    }
}

/// A frame or a batch of more than 8 MiB is read by who asks for it, and the second thread begins again behind it.
#[test]
fn a_long_walk_shows_every_frame_once_also_around_what_no_second_thread_may_hold() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    let session = Session::create(&path, SessionOptions::default()).unwrap();
    let say = |len: usize| NewEvent::from(Message::user("x".repeat(len)));
    let six_mib = || (0..1_500).for_each(|_| drop(session.append(say(4 << 10), Durability::Os).unwrap()));
    six_mib();
    let _ = session.append(say(9 << 20), Durability::Os).unwrap();
    six_mib();
    let _ = session.append_batch((0..5).map(|_| say(2 << 20)).collect(), Durability::Os).unwrap();
    let _ = session.append(say(9 << 20), Durability::Os).unwrap();
    six_mib();
    session.close().unwrap();

    let disk = watched();
    let (log, _) = LogReader::open(disk.clone(), &path).unwrap();
    disk.take();
    let heads: Vec<_> = log.frames(0).map(|frame| *frame.unwrap().head()).collect();
    let again = disk.take().bytes_again();
    // At each of the three the second thread ends within a piece, and the first one begins with one.
    assert!(again <= 3 * (512 << 10), "{again} bytes twice");
    let found = survey(RealFs::shared(), &path).unwrap();
    assert!(heads.iter().eq(found.frames.iter().map(|frame| &frame.head)), "each frame once, in order");
    let mut shown = Vec::new();
    let one = survey_with(RealFs::shared(), &path, &mut |frame| shown.push(*frame.head())).unwrap();
    assert!(shown == heads && one.frames == found.frames);
}

/// The second thread reads the file itself, which has zeros where the writer's held bytes will stand.
#[test]
fn a_replay_of_everything_sees_what_its_writer_holds_back_in_front_of_zeros() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 3_000, 200);
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let size = file.metadata().unwrap().len();
    assert!(size > 4 << 20);
    file.set_len(size + (1 << 20)).unwrap();
    let session = Session::open(&path, SessionOptions::default()).unwrap();
    let _ = session.append(Message::user("written"), Durability::Os).unwrap();
    let id = session.append(Message::user("held back"), Durability::Buffered).unwrap().id;
    let state = session.whole_state().unwrap();
    assert_eq!(state.leaf().unwrap().event.id, id);
}

#[test]
fn a_walk_and_a_replay_of_everything_read_each_byte_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 1_000, 200);
    let disk = watched();
    let (log, _) = LogReader::open(disk.clone(), &path).unwrap();
    disk.take();
    assert!(log.frames(0).filter(Result::is_ok).count() > 1_000);
    assert_eq!(disk.take().bytes_again(), 0, "a walk");
    let reader = SessionReader::open(&path, disk.clone()).unwrap();
    disk.take();
    assert!(reader.whole_state().unwrap().entries().len() > 1_000);
    assert_eq!(disk.take().bytes_again(), 0, "a replay");
}

/// A second thread is ahead of the replay, and meets what lies behind the point that is asked for first.
#[test]
fn a_long_replay_ends_where_it_is_told_to_and_where_the_file_is_hit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 5_000, 200);
    let (log, _) = LogReader::open(RealFs::shared(), &path).unwrap();
    let mut events: Vec<(u64, u64, Uuid)> = Vec::new();
    for frame in log.frames(0).map(Result::unwrap).filter(|frame| !frame.frame_type().is_own()) {
        events.push((frame.offset(), frame.head().total_len(), decode(frame.payload()).unwrap().id));
    }
    let (hit, len, _) = events[4_000];
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[(hit + len / 2) as usize] ^= 1;
    std::fs::write(&path, bytes).unwrap();

    let store = Store::at(dir.path(), SessionOptions::default());
    let reader = store.read(path.to_str().unwrap()).unwrap();
    let ids = |state: &State| state.entries().iter().map(|entry| entry.event.id).collect::<Vec<_>>();
    let expected = |to: usize| events[..to].iter().map(|(_, _, id)| *id).collect::<Vec<_>>();
    let history = store.history(&reader).unwrap();
    assert_eq!(ids(&history.state), expected(4_000), "what stands before the damage");
    assert_eq!(history.damage.iter().map(|damage| damage.offset).collect::<Vec<_>>(), [hit]);
    for at in [0, 1_500, 3_990, 3_999] {
        let history = store.history_at(&reader, events[at].2).unwrap();
        assert_eq!(ids(&history.state), expected(at + 1), "up to event {at}");
        assert!(history.damage.is_empty(), "damage behind event {at} is no matter of its");
    }
}
