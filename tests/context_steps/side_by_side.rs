//! Sources that are asked at the same time.

use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Barrier, Mutex};
use std::{panic::AssertUnwindSafe, panic::catch_unwind};

use seslog::context::slots::Slot;
use seslog::context::{BoxError, Context, Inject, Pipeline, SideBySide, Source};
use seslog::event::Message;

use crate::support::{codes, lines, run, session};

/// A source that does what it is told.
struct Ask<F>(F);

impl<F> fmt::Debug for Ask<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ask")
    }
}

impl<F: Fn(usize) -> Result<Option<String>, BoxError> + Send + Sync> Source for Ask<F> {
    fn content(&self, context: &Context<'_>) -> Result<Option<String>, BoxError> {
        (self.0)(context.messages.len())
    }
}

fn ask<F>(name: &str, slot: Slot, answer: F) -> Inject
where
    F: Fn(usize) -> Result<Option<String>, BoxError> + Send + Sync + 'static,
{
    Inject::new(name, slot, Ask(answer)).boxed()
}

/// A source that answers once the one before in `order` has, and tells the next.
fn in_turn(name: &'static str, wait: Option<Receiver<()>>, tell: Option<Sender<()>>) -> Inject {
    let (wait, tell) = (Mutex::new(wait), Mutex::new(tell));
    ask(name, Slot::System, move |_| {
        if let Some(wait) = &*wait.lock().unwrap() {
            wait.recv()?;
        }
        if let Some(tell) = &*tell.lock().unwrap() {
            tell.send(())?;
        }
        Ok(Some(name.to_owned()))
    })
}

#[test]
fn the_order_is_that_of_the_list_whoever_answers_first() {
    const NAMES: [&str; 3] = ["a", "b", "c"];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let (mut waits, mut tells) = ([const { None }; 3], [const { None }; 3]);
        for pair in order.windows(2) {
            let (tell, wait) = channel();
            (tells[pair[0]], waits[pair[1]]) = (Some(tell), Some(wait));
        }
        let sources = (0..3).map(|n| in_turn(NAMES[n], waits[n].take(), tells[n].take())).collect();
        let prompt = run(SideBySide::new("search", sources), &session([Message::user("u")]));
        assert_eq!(lines(&prompt), ["system: a\n\nb\n\nc", "user: u"], "{order:?}");
        assert_eq!(codes(&prompt), ["injected"; 3]);
    }
}

#[test]
fn all_are_asked_at_once_and_see_the_messages_as_they_were() {
    static ALL: Barrier = Barrier::new(4);
    let source = |slot| {
        ask("s", slot, |count| {
            ALL.wait(); // Nobody passes before all are there.
            Ok(Some(count.to_string()))
        })
    };
    let slots = [Slot::System, Slot::BeforeFirstUser, Slot::System, Slot::VirtualLastUser];
    let prompt = run(SideBySide::new("search", slots.map(source).into()), &session([Message::assistant("a")]));
    assert_eq!(lines(&prompt)[..3], ["system: 1\n\n1", "user: 1", "assistant: a"]);
}

#[test]
fn the_first_error_of_the_list_is_told_and_nothing_is_written() {
    let sources = vec![
        ask("one", Slot::System, |_| Ok(Some("text".into()))),
        ask("two", Slot::System, |_| Err("no access".into())),
        ask("three", Slot::System, |_| Err("no disk".into())),
    ];
    let mut pipeline = Pipeline::new();
    pipeline.push(SideBySide::new("search", sources));
    let error = pipeline.run(&session([Message::user("u")])).unwrap_err();
    assert_eq!(error.to_string(), "step `search` failed: `two`: no access");
    assert_eq!(error.cause.source().map(ToString::to_string).as_deref(), Some("no access"));
}

#[test]
fn nothing_and_blanks_are_not_written() {
    let sources = vec![ask("one", Slot::System, |_| Ok(None)), ask("two", Slot::System, |_| Ok(Some(" ".into())))];
    let messages = session([Message::user("u")]);
    let prompt = run(SideBySide::new("search", sources), &messages);
    assert_eq!((prompt.messages, prompt.diagnostics.len()), (messages.clone(), 0));
    assert_eq!(run(SideBySide::new("search", Vec::new()), &messages).messages, messages);
}

#[test]
fn a_panic_of_one_comes_out_once_all_have_ended() {
    let (tell, wait) = channel();
    let (tell, wait) = (Mutex::new(tell), Mutex::new(wait));
    let (ended_tell, ended) = channel();
    let ended_tell = Mutex::new(ended_tell);
    let sources = vec![
        ask("one", Slot::System, move |_| {
            let tell = tell.lock().unwrap().clone();
            tell.send(())?;
            std::panic::panic_any("out of order");
        }),
        ask("two", Slot::System, move |_| {
            wait.lock().unwrap().recv()?;
            ended_tell.lock().unwrap().send(())?;
            Ok(None)
        }),
    ];
    let step = SideBySide::new("search", sources);
    let outcome = catch_unwind(AssertUnwindSafe(|| run(step, &session([Message::user("u")]))));
    assert_eq!(outcome.unwrap_err().downcast_ref::<&str>(), Some(&"out of order"));
    ended.recv().unwrap();
}
