//! When a window is too full.

use seslog::context::tokens::{Account, BySource, Limits, LimitsError, Source, needs_compaction};

fn account(content: u64, reported: u64) -> Account {
    Account { counted: BySource { content, ..BySource::default() }, reported, source: Source::Mixed }
}

#[test]
fn half_of_128_000_tokens_is_the_threshold_where_nothing_else_is_said() {
    let limits = Limits::default();
    assert_eq!((limits.window(), limits.threshold(), limits.drift()), (128_000, 64_000, 1.25));
    assert_eq!(serde_json::from_str::<Limits>("{}").unwrap(), limits);
}

#[test]
fn the_adjusted_number_decides_and_the_raw_one_is_shown() {
    let limits = Limits::default();
    let cases = [
        (51_200, 0, 51_200, 64_000, false),
        (51_201, 0, 51_201, 64_002, true),
        (0, 64_000, 64_000, 64_000, false),
        (0, 64_001, 64_001, 64_001, true),
        (4, 63_996, 64_000, 64_001, true),
        (u64::MAX, u64::MAX, u64::MAX, u64::MAX, true),
    ];
    for (content, reported, raw, adjusted, needed) in cases {
        let verdict = needs_compaction(&account(content, reported), &limits);
        assert_eq!((verdict.raw, verdict.adjusted, verdict.needed), (raw, adjusted, needed), "{content} {reported}");
        assert_eq!((verdict.threshold, verdict.source), (64_000, Source::Mixed));
    }
}

#[test]
fn a_threshold_is_a_whole_number_of_tokens_up_to_the_window() {
    let cases = [(3, 0.5, 1), (1, 0.5, 0), (200_000, 0.835, 167_000), (u64::MAX, 1.0, u64::MAX), (7, 1.0, 7)];
    for (window, ratio, expected) in cases {
        assert_eq!(Limits::new(window, ratio, 1.0).unwrap().threshold(), expected, "{window} {ratio}");
    }
    assert_eq!(Limits::new(1000, f64::MIN_POSITIVE, 10.0).unwrap().threshold(), 0);
}

#[test]
fn limits_that_make_no_sense_are_refused_in_json_too() {
    for ratio in [0.0, -0.5, 1.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(Limits::new(1000, ratio, 1.0), Err(LimitsError::Ratio { .. })), "{ratio}");
    }
    for drift in [0.99, 0.0, -1.0, 10.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(Limits::new(1000, 0.5, drift), Err(LimitsError::Drift { .. })), "{drift}");
    }
    assert_eq!(Limits::new(0, 0.5, 1.0), Err(LimitsError::Window));
    let read = |json| serde_json::from_str::<Limits>(json);
    assert_eq!(read(r#"{"window": 200000, "ratio": 0.8}"#).unwrap(), Limits::new(200_000, 0.8, 1.25).unwrap());
    for (json, word) in [
        (r#"{"ratio": 7}"#, "ratio"),
        (r#"{"drift": 0.1}"#, "drift"),
        (r#"{"window": 0}"#, "window"),
        (r#"{"windows": 1}"#, "windows"),
    ] {
        assert!(read(json).unwrap_err().to_string().contains(word), "{json}");
    }
}
