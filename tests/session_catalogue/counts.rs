//! What a list counts is what the session holds, whether it was counted at once or went on from an earlier count.

use std::path::Path;

use seslog::event::{Amend, Custom, Kind, Message, Part, Role, SessionMeta, Uuid, Value, patch_between};
use seslog::log::Durability;
use seslog::session::{Compaction, Entry, ListReport, Listed, NewEvent, Parent, Session, State};
use seslog::sim::{Call, SimDisk};

use crate::random::Random;
use crate::world::{DIR, World, store_on};

/// What a person said first, by its definition, from the whole state.
fn words_by_definition(state: &State) -> Option<String> {
    let said = state.entries().iter().filter(|entry| entry.takes_part() && entry.is_living());
    let said = said.filter_map(|entry| entry.event.message());
    let own = said.filter(|message| {
        matches!(message.kind, Kind::UserInput) && !message.metadata.synthetic && !message.metadata.meta
    });
    let mut texts = own.map(|message| message.content.iter().filter_map(Part::as_text).collect::<Vec<_>>().join(" "));
    let text = texts.find(|text| !text.trim().is_empty())?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect())
}

/// The model that the last answer names which names one, taken back or not.
fn last_model(state: &State) -> Option<String> {
    let said = state.entries().iter().rev().filter(|entry| entry.takes_part());
    said.filter_map(|entry| entry.event.message()?.model.clone()).next()
}

/// The numbers by their definition, from the whole state.
fn by_definition(state: &State) -> (u64, u64) {
    let living: Vec<&Entry> = state.entries().iter().filter(|entry| entry.takes_part() && entry.is_living()).collect();
    let messages = living.iter().filter(|entry| entry.event.message().unwrap().is_said()).count();
    let is_results = |part: &Part| part.as_tool_result().is_some();
    let speaks = |entry: &Entry| {
        let content = &entry.event.message().unwrap().content;
        entry.is_living() && (content.is_empty() || !content.iter().all(is_results))
    };
    let mut above: Vec<Uuid> = Vec::new();
    for entry in living.iter().filter(|entry| speaks(entry)) {
        let mut at = state.anchor(entry);
        while let Some(next) = at.filter(|at| !speaks(at)) {
            at = state.anchor(next);
        }
        above.extend(at.map(|at| at.event.id));
    }
    let ends = living.iter().filter(|entry| speaks(entry) && !above.contains(&entry.event.id)).count();
    (messages as u64, ends as u64)
}

/// The list that knows no catalogue, with what is counted.
fn truth(disk: &SimDisk) -> Vec<Listed> {
    let mut image = disk.image();
    image.files.retain(|path, _| !path.starts_with(Path::new(DIR).join(".cache")));
    store_on(&SimDisk::holding(&image), 999).counted(None).unwrap().sessions
}

fn numbers(listed: &Listed) -> (u64, u64) {
    (listed.messages.unwrap(), listed.branches.unwrap())
}

/// A list with counts, which must be true; what it found and did.
fn counted_anew(world: &World) -> ListReport {
    let listing = world.store.counted(None).unwrap();
    assert_eq!(listing.sessions, truth(&world.disk));
    listing.report
}

/// One thing that happens in a session.
fn happen(session: &Session, random: &mut Random, number: usize) {
    let (known, calls): (Vec<Uuid>, Vec<(Uuid, String)>) = session
        .with_state(|state| {
            let known = state.entries().iter().filter(|entry| entry.takes_part()).map(|entry| entry.event.id);
            let open = state.pairing().dangling().map(|call| (call.message.event.id, call.call.id.clone())).collect();
            (known.collect(), open)
        })
        .unwrap();
    let text = format!("{number} ").repeat(400);
    let some = |random: &mut Random| known[random.below(known.len())];
    let append = |event: NewEvent| drop(session.append(event, Durability::Os).unwrap());
    match random.below(18) {
        14 | 15 => {
            let custom = Custom { custom_type: "note".into(), display: random.below(2) == 0, details: None };
            let mut message = Message::new(Role::User, Kind::Custom(custom), vec![Part::text(&text)]);
            message.metadata.meta = random.below(3) == 0;
            append(message.into());
        }
        // One field at a time: what two of them make of a message hangs on both.
        16 | 17 if !known.is_empty() => {
            let target = some(random);
            let before =
                session.with_state(|state| state.entry(target).unwrap().event.message().unwrap().clone()).unwrap();
            let mut after = before.clone();
            match &mut after.kind {
                Kind::Custom(custom) if random.below(2) == 0 => custom.display = !custom.display,
                _ => after.metadata.meta = !after.metadata.meta,
            }
            if let Ok(amend) = patch_between(&before, &after).and_then(|patch| Amend::of(target, patch)) {
                let _ = session.append(amend, Durability::Os);
            }
        }
        12 | 13 if !known.is_empty() => {
            let part = match random.below(4) {
                0 => Part::tool_result("c0-0", "changed", false),
                1 => Part::tool_call(format!("c{number}-9"), "run", Value::Map(Vec::new())),
                _ => Part::text(format!("amended {number}")),
            };
            let target = some(random);
            let patch = session
                .with_state(|state| {
                    let before = state.entry(target).unwrap().event.message().unwrap().clone();
                    let mut after = before.clone();
                    after.content = vec![part];
                    after.metadata.meta ^= number.is_multiple_of(5);
                    patch_between(&before, &after)
                })
                .unwrap();
            if let Ok(amend) = patch.and_then(|patch| Amend::of(target, patch)) {
                let _ = session.append(amend, Durability::Os);
            }
        }
        0 if !known.is_empty() => drop(session.rewind(Some(some(random)), Durability::Os).unwrap()),
        1 => drop(session.rewind(None, Durability::Os).unwrap()),
        2 if !known.is_empty() && random.below(2) == 0 => {
            drop(session.tombstone(&[some(random)], None, Durability::Os).unwrap());
        }
        3 | 4 => {
            let names = 0..1 + random.below(3);
            let part = |call| Part::tool_call(format!("c{number}-{call}"), "run", Value::Map(Vec::new()));
            let mut answer = Message::assistant_calls(names.map(part).collect());
            answer.model = (random.below(3) == 0).then(|| format!("model-{number}"));
            append(answer.into());
        }
        5..=7 if !calls.is_empty() => {
            let (message, call) = &calls[random.below(calls.len())];
            let result = NewEvent::from(Message::tool_result(call, &text, false));
            append(if random.below(2) == 0 { result.with_parent(Parent::Of(*message)) } else { result });
        }
        8 if !known.is_empty() && random.below(3) == 0 => {
            drop(session.compact(Compaction::new(&text), Durability::Os).unwrap());
        }
        9 if !known.is_empty() => append(NewEvent::from(Message::user(&text)).with_parent(Parent::Of(some(random)))),
        _ => append(Message::user(&text).into()),
    }
}

#[test]
fn counts_are_those_of_the_whole_session_on_random_histories() {
    let mut most = 0;
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let world = World::listed(1);
        for round in 0..12 {
            let session = world.open(&world.paths[0]);
            (0..10).for_each(|number| happen(&session, &mut random, round * 10 + number));
            let state = session.whole_state().unwrap();
            if random.below(3) > 0 {
                session.close().unwrap();
            } else {
                world.disk.kill();
                drop(session);
            }
            world.later();
            let listing = world.store.counted(None).unwrap();
            assert_eq!(numbers(&listing.sessions[0]), by_definition(&state), "seed {seed}, round {round}");
            let counts = state.counts();
            assert_eq!((counts.messages, counts.branches), by_definition(&state), "seed {seed}, round {round}");
            let first = words_by_definition(&state);
            assert_eq!(listing.sessions[0].first_words, first, "seed {seed}, round {round}");
            let model = last_model(&state);
            assert_eq!(listing.sessions[0].model, model, "seed {seed}, round {round}");
            assert_eq!(listing.sessions, truth(&world.disk), "seed {seed}, round {round}");
            let points: usize = state.branch_points().iter().map(|point| point.leaves.len()).sum();
            let branches = listing.sessions[0].branches.unwrap() as usize;
            // Several results at the end of another branch are as many leaves there, and one branch here.
            assert!(branches <= points + 1, "seed {seed}: {branches} and {points}");
            most = most.max(branches);
            assert_eq!(world.store.counted(Some(1)).unwrap().sessions, listing.sessions);
        }
    }
    assert!(most > 5, "{most} branches");
}

#[test]
fn a_large_session_that_is_being_written_is_not_read_whole_by_each_list() {
    let world = World::listed(3);
    let session = world.open(&world.paths[0]);
    let say = |text: &str| drop(session.append(Message::user(text), Durability::Os).unwrap());
    (0..4000).for_each(|_| say(&"word ".repeat(800)));
    world.later();
    drop(world.store.counted(None).unwrap());
    world.later();
    assert_eq!(world.store.counted(None).unwrap().sessions[0].messages, Some(4001));
    for round in 0..4 {
        say("more");
        let before = world.disk.calls(Call::Read);
        let listing = world.store.counted((round % 2 == 1).then_some(2));
        assert_eq!(listing.unwrap().sessions[0].messages, Some(4002 + round));
        // 16 MB, of which one call reads 256 KiB at most.
        let reads = world.disk.calls(Call::Read) - before;
        assert!(reads < 20, "{reads} reads");
    }
}

#[test]
fn a_session_that_was_written_anew_is_counted_anew() {
    let world = World::listed(2);
    let write = |world: &World, count: usize| {
        let session = world.open(&world.paths[0]);
        for number in 0..count {
            drop(session.append(Message::user(format!("{number} ").repeat(1000)), Durability::Os).unwrap());
        }
        session.close().unwrap();
    };
    let small = world.disk.bytes(&world.paths[0]);
    write(&world, 60);
    world.later();
    assert_eq!(counted_anew(&world).changed, 1);
    world.later();
    // The same session, grown otherwise behind the same beginning, in the same file.
    world.disk.change(&world.paths[0], |bytes| *bytes = small);
    write(&world, 50);
    world.later();
    assert_eq!(counted_anew(&world).changed, 1);
    assert_eq!(world.store.counted(None).unwrap().sessions[0].messages, Some(51));
}

#[test]
fn the_first_words_are_a_persons_that_were_not_taken_back() {
    let mut world = World::with(0);
    world.add(7);
    let first = |world: &World| world.store.counted(None).unwrap().sessions[0].first_words.clone();
    assert_eq!(first(&world).as_deref(), Some("hello 7"));
    let session = world.open(&world.paths[0]);
    let id = session.state().unwrap().leaf().unwrap().event.id;
    drop(session.append(Message::assistant("no person"), Durability::Os).unwrap());
    drop(session.append(Message::user(format!("  two\n\twords{}", " x".repeat(500))), Durability::Os).unwrap());
    drop(session.tombstone(&[id], None, Durability::Os).unwrap());
    session.close().unwrap();
    let words = first(&world).unwrap();
    assert!(words.starts_with("two words x x") && words.chars().count() == 160, "{words}");
}

#[test]
fn the_first_words_are_those_of_an_edit_however_they_are_counted() {
    let mut world = World::with(0);
    world.add(7);
    let first = |world: &World| world.store.counted(None).unwrap().sessions[0].first_words.clone();
    let session = world.open(&world.paths[0]);
    let id = session.state().unwrap().leaf().unwrap().event.id;
    // So long that the next count goes on from where this one ended.
    (0..40).for_each(|_| drop(session.append(Message::user("word ".repeat(1000)), Durability::Os).unwrap()));
    for text in ["edited", "edited again"] {
        assert!(first(&world).is_some());
        let content = patch_between(&Message::user(""), &Message::user(text)).unwrap();
        drop(session.append(Amend::of(id, content).unwrap(), Durability::Os).unwrap());
        assert_eq!(first(&world).as_deref(), Some(text));
    }
    session.close().unwrap();
    world.later();
    assert_eq!(first(&world).as_deref(), Some("edited again"));
    drop(counted_anew(&world));
}

#[test]
fn an_answer_that_is_finished_by_an_amend_is_no_reason_to_count_all_anew() {
    let world = World::listed(1);
    let session = world.open(&world.paths[0]);
    (0..1000).for_each(|_| drop(session.append(Message::user("word ".repeat(800)), Durability::Os).unwrap()));
    let answer = session.append(Message::assistant("a beginning"), Durability::Os).unwrap().id;
    assert_eq!(world.store.counted(None).unwrap().sessions[0].messages, Some(1002));
    world.later();
    drop(world.store.counted(None).unwrap());
    let patch = patch_between(&Message::assistant("a beginning"), &Message::assistant("the whole")).unwrap();
    drop(session.append(Amend::of(answer, patch).unwrap(), Durability::Os).unwrap());
    let before = world.disk.calls(Call::Read);
    assert_eq!(world.store.counted(None).unwrap().sessions[0].messages, Some(1002));
    assert!(world.disk.calls(Call::Read) - before < 20, "{}", world.disk.calls(Call::Read) - before);
}

#[test]
fn a_list_tells_when_the_conversation_went_on_and_not_when_a_title_was_given() {
    let world = World::with(3);
    let order = |world: &World| {
        let listed = world.store.list().unwrap();
        listed.iter().map(|listed| listed.path.clone()).collect::<Vec<_>>()
    };
    let before = order(&world);
    let last = world.store.list().unwrap()[2].clone();
    let session = world.store.open(&last.id.unwrap().to_string()).unwrap();
    let title = SessionMeta { title: Some("later".into()), ..SessionMeta::default() };
    let id = session.append(title, Durability::Os).unwrap().id;
    session.close().unwrap();
    assert_eq!(order(&world), before);
    let listed = world.store.list().unwrap()[2].clone();
    assert_eq!((listed.last_at, listed.last_event, listed.title.as_deref()), (last.last_at, Some(id), Some("later")));
    // A fork is as new as its making, though all that it holds is older.
    let fork = store_on(&world.disk, 500).fork(&last.id.unwrap().to_string(), last.last_event.unwrap()).unwrap();
    let (id, path) = (fork.id(), fork.path().to_owned());
    fork.close().unwrap();
    assert_eq!(order(&world)[0], path);
    let listed = world.store.list().unwrap()[0].clone();
    assert_eq!(listed.id, Some(id));
    assert!(listed.last_at <= Some(listed.created_at) && listed.last_at > last.last_at);
}

/// `append --new` without a line left a session at the very end of the list, though it was the newest.
#[test]
fn an_empty_session_is_listed_by_its_beginning() {
    let world = World::with(3);
    let empty = store_on(&world.disk, 700).create().unwrap();
    let (id, path) = (empty.id(), empty.path().to_owned());
    empty.close().unwrap();
    let place = |world: &World| world.store.list().unwrap().iter().position(|listed| listed.id == Some(id)).unwrap();
    assert_eq!(place(&world), 0);
    assert_eq!(world.store.newest(1).unwrap().sessions[0].path, path);
    world.later();
    let other = world.paths[1].file_stem().unwrap().to_str().unwrap();
    let session = store_on(&world.disk, 800).open(other).unwrap();
    drop(session.append(Message::user("later"), Durability::Os).unwrap());
    session.close().unwrap();
    assert_eq!(place(&world), 1, "what went on since is newer");
    assert_eq!(world.store.newest(4).unwrap().sessions, world.store.list().unwrap());
}

#[test]
fn damage_further_back_leaves_the_counts_unknown_and_is_told() {
    let world = World::listed(2);
    let session = world.open(&world.paths[0]);
    for number in 0..300 {
        drop(session.append(Message::user(format!("{number} ").repeat(1000)), Durability::Os).unwrap());
    }
    session.close().unwrap();
    world.disk.change(&world.paths[0], |bytes| bytes[100_000] ^= 1);
    world.later();
    let listed = world.store.counted(None).unwrap().sessions;
    let row = listed.iter().find(|row| row.path == world.paths[0]).unwrap();
    assert_eq!((row.messages, row.branches), (None, None));
    assert!(row.problem.as_ref().unwrap().contains("damaged"), "{row:?}");
    world.later();
    assert_eq!(counted_anew(&world).changed, 0);
}

#[test]
fn a_plain_list_counts_nothing_and_forgets_no_count() {
    let world = World::listed(3);
    let session = world.open(&world.paths[0]);
    for number in 0..100 {
        drop(session.append(Message::user(format!("{number} ").repeat(20_000)), Durability::Os).unwrap());
    }
    session.close().unwrap();
    world.later();
    let messages = |sessions: Vec<Listed>| sessions.iter().map(|listed| listed.messages).collect::<Vec<_>>();
    assert_eq!(messages(world.store.list().unwrap()), [None, None, None]);
    world.later();
    let first = world.store.counted(None).unwrap();
    assert_eq!((first.report.uncounted, messages(first.sessions)), (3, vec![Some(101), Some(1), Some(1)]));
    world.later();
    assert_eq!(messages(world.store.newest(2).unwrap().sessions), [Some(101), Some(1)]);
    world.say(&world.paths[0], "more");
    world.later();
    assert_eq!(messages(world.store.list().unwrap()), [None, Some(1), Some(1)]);
    world.later();
    let before = world.disk.calls(Call::Read);
    assert_eq!(messages(world.store.counted(None).unwrap().sessions), [Some(102), Some(1), Some(1)]);
    // The catalogue, and header, end and new part of one session.
    assert!(world.disk.calls(Call::Read) - before < 20, "{}", world.disk.calls(Call::Read) - before);
}
