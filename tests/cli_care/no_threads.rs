//! A machine that gives no thread: what can be done without is done, the rest is refused in words.

use crate::cli_support::{Home, Ran, run, user};

/// A stack of this size is nowhere to be had, so no thread begins.
fn without_threads(home: &Home, args: &[&str], input: &str) -> Ran {
    let mut command = home.command(args);
    command.env("RUST_MIN_STACK", (1_u64 << 47).to_string());
    run(command, input)
}

#[test]
fn without_threads_a_store_is_counted_and_a_home_taken_in_all_the_same() {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/pi");
    let (home, other) = (Home::new(), Home::new());
    let with = home.run(&["import", samples, "--json"]).json();
    let without = without_threads(&other, &["import", samples, "--json"], "").json();
    for field in ["files", "messages"] {
        assert!(with[field].as_u64() > Some(1), "{with}");
        assert_eq!(with[field], without[field]);
    }
    let counted = without_threads(&home, &["stat", "--json"], "").ends_with(0).json();
    assert_eq!(counted, home.run(&["stat", "--json"]).ends_with(0).json());
}

#[test]
fn what_needs_a_thread_says_so_and_leaves_nothing_behind() {
    let home = Home::new();
    let ran = without_threads(&home, &["append", "--new"], &user("a", "one")).ends_with(3);
    assert!(ran.stderr.contains("can't start the thread"), "{ran:?}");
    assert_eq!(home.run(&["list", "--json"]).ends_with(0).json()["sessions"], serde_json::json!([]));
    let session = home.session(&[&user("a", "one")]);
    let copy = home.write("copy.seslog", std::fs::read(home.file(&session)).unwrap());
    let ran = without_threads(&home, &["import", &copy], "").ends_with(3);
    assert!(ran.stderr.contains("can't start the thread"), "{ran:?}");
}
