//! Random histories of a session.

use seslog::event::{Attachment, Kind, Message, Part, Role, SystemEvent, Usage, Uuid, Value};
use seslog::log::Durability;
use seslog::session::{Compaction, NewEvent, Parent, Session};

use crate::place::{append, leaf, user};
use crate::random::Random;

/// Writes so many random steps into a session. What the session refuses does nothing.
pub fn write(session: &Session, random: &mut Random, steps: usize) {
    let mut open: Vec<String> = Vec::new();
    for step in 0..steps {
        let text = "word ".repeat(1 + random.below(30));
        match random.below(20) {
            0..=3 => {
                user(session, &text);
            }
            4..=6 => {
                let mut answer = Message::assistant(text);
                if random.below(2) == 0 {
                    answer.request_id = Some(format!("q{}", step / 4));
                    let usage = Usage { input: 100 * step as u64, output: 10, ..Usage::default() };
                    answer.usage = Some(usage);
                }
                append(session, answer);
            }
            7..=10 => {
                // Few ids, so that some are used again.
                let ids: Vec<String> = (0..=random.below(3)).map(|_| format!("c{}", random.below(6))).collect();
                let part = |id: &String| Part::tool_call(id, "tool", Value::Map(Vec::new()));
                append(session, Message::assistant_calls(ids.iter().map(part).collect()));
                open.extend(ids);
            }
            11..=15 if !open.is_empty() => {
                let id = open.remove(random.below(open.len()));
                append(session, Message::tool_result(id, text, random.below(5) == 0));
            }
            16 if !open.is_empty() => {
                let id = &open[random.below(open.len())];
                append(session, Message::approval_request(id, None));
                if random.below(2) == 0 {
                    append(session, Message::approval_response(id, random.below(2) == 0, None));
                }
            }
            17 => beside(session, random, &open, step),
            18 => {
                append(session, Message::system_note(format!("note {step}")));
            }
            19 if random.below(3) == 0 => move_away(session, random),
            _ => {}
        }
    }
}

/// An attachment, a system event, or a result that hangs on another message than the leaf.
fn beside(session: &Session, random: &mut Random, open: &[String], step: usize) {
    let chain = crate::place::chain(session);
    let on: Option<Uuid> = (!chain.is_empty()).then(|| chain[random.below(chain.len())]);
    let call = (!open.is_empty()).then(|| open[random.below(open.len())].clone());
    let message = match random.below(3) {
        0 => {
            let kind = Kind::Attachment(Attachment { tool_use_id: call, ..Attachment::default() });
            Message::new(Role::User, kind, vec![Part::text(format!("attached {step}"))])
        }
        1 => {
            let kind = Kind::SystemEvent(SystemEvent { subtype: "local_command".into(), ..SystemEvent::default() });
            Message::new(Role::System, kind, vec![Part::text(format!("printed {step}"))])
        }
        _ => Message::tool_result(call.unwrap_or_else(|| "c0".into()), "late", false),
    };
    let event = on.map_or_else(
        || NewEvent::from(message.clone()),
        |on| NewEvent::from(message.clone()).with_parent(Parent::Of(on)),
    );
    let _ = session.append(event, Durability::Os);
}

fn move_away(session: &Session, random: &mut Random) {
    let chain = crate::place::chain(session);
    if chain.is_empty() {
        return;
    }
    let at = chain[random.below(chain.len())];
    match random.below(4) {
        0 => drop(session.rewind(Some(at), Durability::Os)),
        1 => drop(session.prune(&[at], Durability::Os)),
        2 if Some(at) != leaf(session) => drop(session.tombstone(&[at], None, Durability::Os)),
        _ => drop(session.compact(Compaction::new("summed up by chance").keep_from(at), Durability::Os)),
    }
}
