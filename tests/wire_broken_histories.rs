//! Whatever was recorded, however broken: no provider refuses the body, and nothing that a person said is lost in it.

mod common;
#[path = "common/faults.rs"]
mod faults;
mod wire_rules;

use common::bodies::made;
use common::broken::{cases, steps, tell, tools};
use common::picture::{pdf, png};
use common::story::Story;
use faults::{faults, options};
use proptest::prelude::*;
use seslog::event::{Kind, MediaSource, Message, Part, Role};
use seslog::wire::{Options, Provider};

proptest! {
    #![proptest_config(cases(800))]

    #[test]
    fn no_provider_refuses_the_body_and_nothing_that_a_person_said_is_lost(steps in steps(), tools in tools()) {
        let messages = tell(&steps).model().messages;
        for provider in Provider::ALL {
            for mut options in options(provider) {
                options.tools.clone_from(&tools);
                let faults = faults(&messages, provider, &options);
                if !faults.is_empty() {
                    let body = made(&messages, provider, &options).to_json();
                    prop_assert!(false, "{} for {options:?}: {faults:#?}\n{body}", provider.name());
                }
            }
        }
    }
}

#[test]
fn giants_of_every_kind_keep_the_body_within_its_providers_limits() {
    const MIB: usize = 1 << 20;
    let picture = |len| Part::image("image/png", MediaSource::Data(png(9, 9, len)));
    let document = |len| Part::file("application/pdf", MediaSource::Data(pdf(len)));
    let mut story = Story::new().user("u");
    // None is too large by itself; together they are.
    story = (0..8).fold(story, |story, at| {
        let parts = vec![picture(3 * MIB), document(3 * MIB)];
        story.say(&format!("some{at}"), Message::new(Role::User, Kind::UserInput, parts))
    });
    let parts = vec![picture(4 * MIB), picture(6 * MIB), picture(11 * MIB), document(5 * MIB), document(34 * MIB)];
    story = story.say("large", Message::new(Role::User, Kind::UserInput, parts.clone()));
    story = story.calls("c", &["c1"]).say("r", Message::tool_result_parts("c1", parts, false));
    story = story.say("words", Message::user("word ".repeat(MIB / 5)));
    let messages = story.model().messages;
    for provider in Provider::ALL {
        let faults = faults(&messages, provider, &Options::default());
        assert!(faults.is_empty(), "{}: {faults:#?}", provider.name());
    }
}
