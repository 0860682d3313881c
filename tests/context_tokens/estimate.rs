//! The estimate by itself; how near it comes to an exact count is told in `exact.rs`.

use std::sync::Arc;

use proptest::prelude::*;
use seslog::context::tokens::{Estimate, TokenCounter};

#[test]
fn an_empty_text_costs_nothing_and_any_other_something() {
    assert_eq!(Estimate.count(""), 0);
    for text in ["a", " ", "\n", "1", "!", "好", "🎉", "\u{0}", "\u{300}", "\u{10ffff}"] {
        assert!(Estimate.count(text) >= 1, "{text:?}");
    }
}

#[test]
fn one_word_is_one_token_and_a_few_texts_come_out_as_known() {
    let cases = [("Hello", 2), (" the", 1), ("\n\n    ", 2), ("123456", 2), ("12345678", 3), ("fn main() {\n}\n", 6)];
    for (text, expected) in cases {
        let counted = Estimate.count(text);
        assert!(counted.abs_diff(expected) <= 1, "{text:?}: {counted}, about {expected}");
    }
}

#[test]
fn a_counter_can_be_handed_on_in_any_way() {
    let shared: Arc<dyn TokenCounter> = Arc::new(Estimate);
    let boxed: Box<dyn TokenCounter> = Box::new(shared.clone());
    assert_eq!((boxed.count("some text"), boxed.name()), (Estimate.count("some text"), "estimate"));
}

#[test]
fn a_long_run_of_anything_is_not_taken_for_a_few_tokens() {
    for (text, least) in [("a", 1000), ("A", 1000), ("7", 2000), ("好", 4000), ("\u{1f600}", 5000), ("é", 1000)] {
        let counted = Estimate.count(&text.repeat(10_000));
        assert!(counted >= least, "{text}: {counted}");
    }
}

proptest! {
    #[test]
    fn two_texts_joined_cost_about_as_much_as_both(one in ".{0,40}", other in "\\PC{0,40}") {
        let joined = Estimate.count(&format!("{one}\n{other}"));
        let both = Estimate.count(&one) + Estimate.count(&other);
        // The break may take a space away from a word, and each number is rounded up.
        prop_assert!(joined <= both + 4 && both <= joined + 4, "{joined} {both}");
    }
}
