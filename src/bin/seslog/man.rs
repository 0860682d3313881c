//! `seslog man`: the manual's pages.

use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;
use serde::Serialize;

use crate::Context;
use crate::completions::shown;
use crate::exit::{Exit, Outcome, Told};

/// Write the manual: a page for the program, and one for each command
///
/// Without a folder the page of the program goes to standard output.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seslog man | man -l -                       read it
  seslog man -o ~/.local/share/man/man1       install all pages
  man -M ~/.local/share/man seslog-show       read one (no -M where ~/.local/bin is in PATH)")]
pub(crate) struct Args {
    /// Write every page into this folder, which is made if it is not there
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Document {
    pages: Vec<Page>,
}

/// A page: where it was written, or what it says.
#[derive(Debug, Serialize)]
struct Page {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let mut root = shown().disable_help_subcommand(true);
    root.build();
    let out = &mut context.out;
    let Some(dir) = &args.output else {
        let text = rendered(&root)?;
        if out.json {
            out.document(&Document { pages: vec![Page { name: "seslog.1".into(), path: None, text: Some(text) }] })?;
        } else {
            out.line(text.trim_end())?;
        }
        return Ok(Exit::Fine);
    };
    std::fs::create_dir_all(dir).map_err(|error| failed(dir, &error))?;
    let mut pages = Vec::new();
    for command in std::iter::once(&root).chain(root.get_subcommands()) {
        let name = format!("{}.1", command.get_display_name().unwrap_or_else(|| command.get_name()));
        let path = dir.join(&name);
        std::fs::write(&path, rendered(command)?).map_err(|error| failed(&path, &error))?;
        pages.push(Page { name, path: Some(path.display().to_string()), text: None });
    }
    if out.json {
        out.document(&Document { pages })?;
    } else {
        out.field("written", &format!("{} pages in {}", pages.len(), dir.display()))?;
    }
    Ok(Exit::Fine)
}

fn rendered(command: &Command) -> Outcome<String> {
    let mut bytes = Vec::new();
    let source = concat!("seslog ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(source).manual("Seslog").render(&mut bytes)?;
    let page = String::from_utf8_lossy(&bytes);
    // What stands behind the help of a command is its examples; the program's tells of more. Its lines stay lines.
    let heading = if command.has_subcommands() { ".SH NOTES" } else { ".SH EXAMPLES" };
    let Some((before, after)) = page.split_once(".SH EXTRA\n") else { return Ok(page.into_owned()) };
    let end = after.find("\n.SH ").map_or(after.len(), |at| at + 1);
    Ok(format!("{before}{heading}\n.nf\n{}.fi\n{}", ended(&after[..end]), &after[end..]))
}

/// Lines, the last one ended too.
fn ended(lines: &str) -> String {
    if lines.ends_with('\n') { lines.to_owned() } else { format!("{lines}\n") }
}

fn failed(path: &Path, error: &std::io::Error) -> Told {
    Told::io(format!("can't write `{}`; name another folder with -o", path.display()), error)
}
