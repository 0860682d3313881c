//! What a case expects of tokens: those of the whole session, and those of the window.

use serde_json::{Map, Value as Json};
use seslog::context::tokens::{Estimate, Reported, usage_total, window_tokens};
use seslog::event::Usage;

use super::expect::compare;
use super::look::Look;

/// The sum of what the providers reported, each request once.
pub fn usage(look: &Look, expected: &Json) {
    let Usage { input, output, .. } = usage_total(&look.whole);
    assert_eq!(serde_json::json!({ "input": input, "output": output }), *expected, "usage_total");
}

/// The tokens of the window, and where the number comes from.
pub fn window(key: &str, look: &Look, expected: &Json) {
    let reported = Reported::latest(&look.state);
    let account = window_tokens(&look.model().messages, &[], reported.as_ref(), &Estimate);
    let mut limits: Map<String, Json> = expected.as_object().expect("limits and a source").clone();
    limits.remove("event");
    let source = limits.remove("source").expect("a source");
    assert_eq!(Some(account.source.name()), source.as_str(), "{key}: {account:?}");
    assert!(!limits.is_empty(), "{key}");
    compare(key, &account.raw().into(), &limits.into());
}
