//! What a session costs, in Seslog and in what people use today, beside what the machine takes for the same bytes: Markdown
//! tables for `PERFORMANCE.md`. `benches/run.sh` builds and runs it.

mod append;
mod child;
mod crash;
mod growth;
mod limits;
mod list;
mod lookup;
mod measure;
mod peer;
mod request;
mod resume;
mod scan;
mod scene;
mod search;
#[path = "../../../../session/mod.rs"]
mod session;
mod size;
mod task;

use std::process::ExitCode;

use scene::Scene;

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Result<T, E = Failure> = std::result::Result<T, E>;

/// A part of the tables.
type Part = (&'static str, fn(&Scene) -> Result<()>);

/// All of them, in the order in which they are printed.
const PARTS: [Part; 10] = [
    ("append", append::run),
    ("resume", resume::run),
    ("lookup", lookup::run),
    ("scan", scan::run),
    ("list", list::run),
    ("search", search::run),
    ("request", request::run),
    ("size", size::run),
    ("growth", growth::run),
    // Comes last, since it appends to the sessions of the others.
    ("crash", crash::run),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.split_first() {
        Some((first, rest)) if first == "child" => child::run(rest),
        _ => tables(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("speed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tables(args: &[String]) -> Result<()> {
    let (options, names): (Vec<&String>, Vec<&String>) = args.iter().partition(|arg| arg.starts_with("--"));
    if let Some(unknown) = options.iter().find(|option| **option != "--quick") {
        return Err(format!("{unknown} is not known; there is --quick").into());
    }
    if let Some(unknown) = names.iter().find(|name| PARTS.iter().all(|(part, _)| part != *name)) {
        let known: Vec<&str> = PARTS.iter().map(|(part, _)| *part).collect();
        return Err(format!("{unknown} is no part; there are {}", known.join(", ")).into());
    }
    let scene = Scene::new(!options.is_empty())?;
    scene.describe();
    for (name, run) in PARTS {
        if names.is_empty() || names.iter().any(|wanted| *wanted == name) {
            run(&scene)?;
        }
    }
    scene.print_goals();
    Ok(())
}
