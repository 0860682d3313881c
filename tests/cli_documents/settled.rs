//! What differs from run to run, put the same: the home, ids and times of now.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use regex_lite::{Captures, Regex};

use crate::cli_support::Home;

const DAY: u64 = 86_400;

/// The text with a home of Ada's, new ids numbered in their order, and new times at the beginning of 2026.
pub(crate) fn settled(text: &str, home: &Home) -> String {
    let text = text.replace(home.path().to_str().unwrap(), "/home/ada");
    let text = text.replace(concat!("seslog ", env!("CARGO_PKG_VERSION")), "seslog VERSION");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let uuid = Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap();
    let mut new = HashMap::new();
    let text = uuid.replace_all(&text, |found: &Captures<'_>| {
        let id = found[0].to_owned();
        let seconds = u64::from_str_radix(&id.replace('-', "")[..12], 16).unwrap() / 1000;
        if seconds.abs_diff(now) > DAY {
            return id;
        }
        let next = new.len() + 1;
        let number: &mut usize = new.entry(id).or_insert(next);
        format!("019b7600-0000-7000-8000-{number:012}")
    });
    let days = [now - DAY, now, now + DAY].map(date);
    let time = Regex::new(r"(\d{4}-\d\d-\d\d)([T ])\d\d:\d\d(:\d\d)?(\.\d{6})?").unwrap();
    let text = time.replace_all(&text, |found: &Captures<'_>| {
        if !days.contains(&found[1].to_owned()) {
            return found[0].to_owned();
        }
        let seconds = found.get(3).map_or("", |_| ":00");
        let micros = found.get(4).map_or("", |_| ".000000");
        format!("2026-01-01{}00:00{seconds}{micros}", &found[2])
    });
    let others = [
        // The process that holds a lock, where the system tells.
        (r"(process \d+|another process) writes", "process 42 writes"),
        (r#""micros":\d+"#, r#""micros":7"#),
        (r#""freeBytes":\d+"#, r#""freeBytes":64000000000"#),
        (r#""fileSystem":(null|"[^"]*")"#, r#""fileSystem":"ext4""#),
        // Where Codex looks for a file: by the time at which the session was made.
        (r"/\d{4}/\d\d/\d\d/rollout-[0-9T-]{19}-", "/2026/01/01/rollout-2026-01-01T00-00-00-"),
        (r"( on [^,:]+)?, [0-9.]+ .?B free", " on ext4, 64.0 GB free"),
    ];
    others.iter().fold(text.into_owned(), |text, (varies, same)| {
        Regex::new(varies).unwrap().replace_all(&text, *same).into_owned()
    })
}

/// What a demo says, without what depends on the moment of its kills.
pub(crate) fn settled_demo(text: &str) -> String {
    let numbers = Regex::new(r"\b\d+( of \d+)?( events| acknowledged| bytes$)|\b\d+$").unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("    set aside") && !line.starts_with("        event"));
    let lines = lines.map(|line| match line {
        _ if line.starts_with("  Done:") => "  Done: …\n".to_owned(),
        _ if line.starts_with("state ") => "state      …\n".to_owned(),
        line => format!("{}\n", numbers.replace_all(line, "N$2")),
    });
    lines.collect()
}

/// The day of a time, as a person writes it.
fn date(seconds: u64) -> String {
    let micros = i64::try_from(seconds).unwrap() * 1_000_000;
    let mut days = micros / 1_000_000 / 86_400;
    let mut year = 1970;
    loop {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let len = if leap { 366 } else { 365 };
        if days < len {
            let months = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            let mut month = 0;
            while days >= months[month] {
                days -= months[month];
                month += 1;
            }
            return format!("{year:04}-{:02}-{:02}", month + 1, days + 1);
        }
        days -= len;
        year += 1;
    }
}
