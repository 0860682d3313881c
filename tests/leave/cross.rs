//! Started in one agent, gone on with in another: the model sees the same but for what the report names.

use seslog::projection::View;

use crate::check;
use crate::shown::{comparable, shown};
use crate::world::{AGENTS, World, named, samples, whole};

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
                let was = comparable(shown(&whole(&session), View::Model), &names);
                let is = comparable(shown(&whole(&again), View::Model), &names);
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
