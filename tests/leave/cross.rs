//! Started in one agent, gone on with in another: the model sees the same but for what the report names.

use seslog::event::Role;
use seslog::projection::{COMPACT_SUMMARY_PREFIX, COMPACT_SUMMARY_SUFFIX, View};

use crate::check;
use crate::shown::{Shown, comparable, shown};
use crate::world::{AGENTS, World, named, samples, whole};

fn summed_up(one: &Shown) -> Option<String> {
    let Shown::Text(Role::User, text) = one else { return None };
    text.strip_prefix(COMPACT_SUMMARY_PREFIX)?.strip_suffix(COMPACT_SUMMARY_SUFFIX).map(str::to_owned)
}

#[test]
fn a_report_names_all_that_the_next_agents_model_sees_otherwise() {
    let mut differ: Vec<String> = Vec::new();
    for (from, _) in AGENTS {
        for (name, bytes) in samples(from) {
            for (to, of) in AGENTS.into_iter().filter(|(to, _)| *to != from) {
                let (here, there) = (World::new(), World::new());
                let session = here.import(from, &bytes);
                let (file, report) = here.export(&session, to);
                check::check(to, &file, &format!("{name} to {of}"));
                let again = there.import(to, &file);
                let names = named(&report);
                let is = shown(&whole(&again), View::Model);
                let mut was = shown(&whole(&session), View::Model);
                // What a summary for people said to the model too stands in the summary that both see.
                let summaries: Vec<String> = is.iter().filter_map(summed_up).collect();
                was.retain(|one| {
                    let is_again = |text| names.contains(&"summaries") && summaries.contains(text);
                    !matches!(one, Shown::Text(Role::User, text) if is_again(text))
                });
                let (was, is) = (comparable(was, &names), comparable(is, &names));
                if was != is {
                    differ.push(format!(
                        "{name} to {of}: {names:?}\n was {was:#?}\n is  {is:#?}\n{}\n",
                        String::from_utf8_lossy(&file)
                    ));
                }
            }
        }
    }
    if let Ok(file) = std::env::var("LEAVE_DIFF") {
        std::fs::write(file, differ.concat()).unwrap();
    }
    assert!(differ.is_empty(), "{} differ, the first: {}", differ.len(), differ[0]);
}
