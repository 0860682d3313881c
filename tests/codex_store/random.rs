//! Random histories against a plain model of the rules: a list of what the model sees, and a copy of it for each turn.

use serde_json::{Value as Json, json};
use seslog::interop::codex::{Options, read};

use crate::hostile::Dice;
use crate::odd::{File, message};
use crate::{feed, model, shown, with_session};

/// What the model sees of one item.
#[derive(Clone)]
struct Seen {
    said: String,
    item: Json,
    is_persons: bool,
    is_context: bool,
}

impl Seen {
    fn new(role: &str, text: &str) -> Self {
        let is_context = text.starts_with('<');
        let is_persons = role == "user" && !is_context;
        let said = format!("{}: {text}", if role == "developer" { "system" } else { role });
        Self { said, item: message(role, text), is_persons, is_context }
    }
}

/// The rules, as plainly as they can be said.
#[derive(Default)]
struct Plain {
    seen: Vec<Seen>,
    /// What was seen before each turn.
    turns: Vec<Vec<Seen>>,
    /// What was seen before the compaction in a turn in which nobody has spoken yet.
    early: Option<Vec<Seen>>,
    is_opened: bool,
}

impl Plain {
    fn say(&mut self, seen: Seen) {
        if seen.is_persons {
            let before = self.early.take().unwrap_or_else(|| self.seen.clone());
            self.turns.push(before);
            self.is_opened = false;
        }
        self.seen.push(seen);
    }

    fn leave(&mut self, left: Vec<Seen>) {
        if self.is_opened && self.early.is_none() && !self.turns.is_empty() {
            self.early = Some(self.seen.clone());
        }
        if self.turns.is_empty() {
            let begins = |place: &usize| left[*place].said.starts_with("user: ") && !left[*place].is_context;
            self.turns = (0..left.len()).filter(begins).map(|place| left[..place].to_vec()).collect();
        }
        self.seen = left;
    }

    fn back(&mut self, count: usize) {
        let first = self.turns.len().saturating_sub(count);
        self.opened(false);
        let Some(before) = self.turns.get(first).cloned() else { return };
        self.turns.truncate(first);
        self.seen = before;
        if self.seen.iter().any(|seen| seen.said.starts_with("user: ") && !seen.is_context) {
            while self.seen.last().is_some_and(|seen| seen.is_context) {
                self.seen.pop();
            }
        }
    }

    fn opened(&mut self, is_opened: bool) {
        self.is_opened = is_opened;
        self.early = None;
    }
}

#[test]
fn random_histories_are_what_a_plain_model_of_the_rules_says() {
    let mut seen_in_all = 0;
    for seed in 0..250 {
        let mut dice = Dice(seed);
        let (mut file, mut plain) = (File::begun(), Plain::default());
        for step in 0..4 + dice.below(40) {
            match dice.below(12) {
                0 => {
                    file.event("task_started");
                    plain.opened(true);
                }
                1 => {
                    file.event("task_complete");
                    plain.opened(false);
                }
                2 | 3 => {
                    let seen = Seen::new("user", &format!("Ask {step}."));
                    file.item(&seen.item);
                    plain.say(seen);
                }
                4 | 5 => {
                    let seen = Seen::new("assistant", &format!("Answer {step}."));
                    file.item(&seen.item);
                    plain.say(seen);
                }
                6 => {
                    let role = ["user", "developer"][dice.below(2)];
                    let text = if role == "user" { "<environment_context>" } else { "<model_switch>" };
                    let seen = Seen::new(role, text);
                    file.item(&seen.item);
                    plain.say(seen);
                }
                7 => {
                    let mut left: Vec<Seen> = plain.seen.iter().filter(|_| dice.below(3) > 0).cloned().collect();
                    if dice.below(2) == 0 {
                        left.insert(dice.below(left.len() + 1), Seen::new("user", &format!("Left {step}.")));
                    }
                    // What stood there without being a person's own words is one's in a list.
                    left.iter_mut()
                        .for_each(|seen| seen.is_persons = seen.said.starts_with("user: ") && !seen.is_context);
                    file.left(&left.iter().map(|seen| seen.item.clone()).collect::<Vec<_>>());
                    plain.leave(left);
                }
                8 => {
                    let text = format!("Sum {step}.");
                    let mut left: Vec<Seen> = plain.seen.iter().filter(|seen| seen.is_persons).cloned().collect();
                    left.push(Seen { is_persons: false, ..Seen::new("user", &text) });
                    file.put("compacted", &json!({"message": text}));
                    plain.leave(left);
                }
                _ => {
                    let count = dice.below(4);
                    file.back(count as u32);
                    if count > 0 {
                        plain.back(count);
                    } else {
                        plain.opened(false);
                    }
                }
            }
        }
        let imported = read(file.0.as_bytes(), &Options::default()).unwrap();
        let expected: Vec<String> = plain.seen.iter().map(|seen| seen.said.clone()).collect();
        with_session(|session| {
            feed(session, &imported);
            for state in [session.state().unwrap(), session.whole_state().unwrap()] {
                assert_eq!(shown(&model(&state)), expected, "seed {seed}\n{}", file.0);
            }
        });
        assert_eq!(imported.report.context.len(), expected.len(), "seed {seed}");
        seen_in_all += expected.len();
    }
    assert!(seen_in_all > 500, "{seen_in_all}");
}
