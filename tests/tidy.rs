//! The house rules, held against the source: imports point down, the operating system is named in one place, files stay
//! readable in one sitting.

use std::path::{Path, PathBuf};

/// The floors from the bottom. A module may name those before it; `log` and `event` do not name each other.
const FLOORS: [(&str, &[&str]); 8] = [
    ("log", &[]),
    ("event", &[]),
    ("session", &["log", "event"]),
    ("projection", &["event", "session"]),
    ("context", &["event", "session", "projection"]),
    ("wire", &["event", "projection", "context"]),
    ("interop", &["event", "session", "projection"]),
    ("sim", &["log"]),
];

struct Source {
    /// From `src/`, with `/`.
    name: String,
    text: String,
}

impl Source {
    /// The lines that are code: no comments, nothing of the file's own tests.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.text.lines().enumerate().map(|(index, line)| (index + 1, line));
        numbered.take_while(|(_, line)| !line.contains("#[cfg(test)]")).filter(|(_, line)| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with("//")
        })
    }

    fn is_in(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.name.starts_with(place))
    }
}

fn sources() -> Vec<Source> {
    fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => collect(&path, files),
                false => files.push(path),
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let read = |path: PathBuf| Source {
        name: path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"),
        text: std::fs::read_to_string(&path).unwrap(),
    };
    files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")).map(read).collect()
}

/// Fails with every line that breaks the rule, and the cure.
fn hold(rule: &str, cure: &str, broken: Vec<String>) {
    assert!(broken.is_empty(), "{rule}:\n  {}\n{cure}", broken.join("\n  "));
}

#[test]
fn imports_point_downwards_only() {
    let mut broken = Vec::new();
    for source in sources() {
        let Some((floor, below)) = FLOORS.iter().find(|(floor, _)| source.name.starts_with(&format!("{floor}/")))
        else {
            continue;
        };
        for (number, line) in source.code() {
            for (named, _) in FLOORS.iter().filter(|(named, _)| named != floor && !below.contains(named)) {
                if line.contains(&format!("crate::{named}")) {
                    broken.push(format!("src/{}:{number} names `{named}`: {}", source.name, line.trim()));
                }
            }
        }
    }
    hold("a floor names one that is not below it", "move what is shared down, or hand it in as a value", broken);
}

#[test]
fn the_binary_uses_the_public_interface_only() {
    let bin = sources().into_iter().filter(|source| source.is_in(&["bin/"]));
    let broken = bin.flat_map(|source| {
        let name = source.name.clone();
        let inside = source.code().filter(|(_, line)| line.contains("#[path"));
        inside.map(move |(number, _)| format!("src/{name}:{number}")).collect::<Vec<_>>()
    });
    hold("the binary takes a library's file in", "make what it needs public", broken.collect());
}

#[test]
fn files_clocks_and_randomness_are_named_in_one_place_each() {
    let rules: [(&[&str], &[&str]); 3] = [
        (
            &["std::fs", "fs2::", "memmap2", "OpenOptions"],
            &["log/fs.rs", "log/real_fs.rs", "log/lock.rs", "log/map.rs", "bin/"],
        ),
        (
            &["SystemTime", "Instant::now", "thread::sleep"],
            // A pipeline measures its steps; what it sends knows no time but what it is given.
            &["log/fs.rs", "log/real_fs.rs", "session/clock.rs", "context/pipeline.rs", "bin/"],
        ),
        (&["getrandom", "new_v4", "now_v7"], &["log/fs.rs", "log/real_fs.rs", "session/clock.rs", "bin/"]),
    ];
    let mut broken = Vec::new();
    for source in sources() {
        for (words, places) in rules.iter().filter(|(_, places)| !source.is_in(places)) {
            for (number, line) in source.code() {
                if let Some(word) = words.iter().find(|word| line.contains(**word)) {
                    broken.push(format!("src/{}:{number} names `{word}`, allowed in {places:?}", source.name));
                }
            }
        }
    }
    hold("the operating system is named outside of its seam", "go through `log::Fs` or `session::Clock`", broken);
}

#[test]
fn unsafe_code_stays_in_the_one_file_that_maps_memory() {
    let mut broken = Vec::new();
    for source in sources().into_iter().filter(|source| source.name != "log/map.rs") {
        for (number, line) in source.code() {
            if line.contains("unsafe ") || line.contains("unsafe_code") {
                broken.push(format!("src/{}:{number}", source.name));
            }
        }
    }
    hold("unsafe code", "find a safe way", broken);
}

#[test]
fn every_file_can_be_read_in_one_sitting_and_says_what_it_is() {
    const LINES: usize = 500;
    let mut broken = Vec::new();
    for source in sources() {
        let lines = source.text.lines().take_while(|line| !line.contains("#[cfg(test)]")).count();
        if lines > LINES {
            broken.push(format!("src/{} has {lines} lines", source.name));
        }
        if !source.text.starts_with("//!") && !source.text.starts_with("#!") {
            broken.push(format!("src/{} does not begin with what it is", source.name));
        }
    }
    hold("a file is too long or says nothing", "one role a file, at most 500 lines without its tests", broken);
}

#[test]
fn nothing_unfinished_is_left() {
    let words = ["todo!", "unimplemented!", "TODO", "FIXME", "XXX", "dbg!"];
    let mut broken = Vec::new();
    for source in sources() {
        for (index, line) in source.text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                broken.push(format!("src/{}:{}", source.name, index + 1));
            }
        }
    }
    hold("a mark of unfinished work", "finish it, or take it out", broken);
}
