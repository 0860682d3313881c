//! `seslog doctor`: whether a store is in order, and what to do where it is not.

mod place;
mod sessions;

use std::path::{Path, PathBuf};

use anstyle::AnsiColor;
use serde::Serialize;

use crate::Context;
use crate::columns::size;
use crate::exit::{Exit, Outcome};
use crate::output::{Output, plural};
use crate::sanitize::{Layout, visible};

/// Check the whole store
///
/// Looks at the directory (who can reach it, free space, whether locks and syncs hold there), the cache, files that were left
/// over, who writes which session, damaged sessions, forks without their parent, second copies of a session, and names that do
/// not fit. Header and end of each
/// session are read, and what no list has counted yet; `seslog verify` looks at every byte of one. Exits with 1 if something was
/// found that is not mended.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  seslog doctor\n  seslog doctor --fix       mend what can be mended without risk")]
pub(crate) struct Args {
    /// Mend what is safe to mend: who can reach the files, left-over temporary files that nobody holds, a cache that is not
    /// whole. Each is told
    #[arg(long)]
    fix: bool,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    /// Its name for programs.
    code: &'static str,
    /// A note is no fault.
    is_note: bool,
    path: Option<String>,
    /// What is there.
    what: String,
    /// What to do next.
    next: Option<String>,
    fixed: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    store: String,
    sessions: usize,
    bytes: u64,
    free_bytes: Option<u64>,
    file_system: Option<String>,
    findings: &'a [Finding],
    /// Findings that are no notes and not mended.
    open_faults: usize,
}

/// One check of a store.
struct Check {
    dir: PathBuf,
    /// What names the store in a command that is shown.
    option: String,
    fix: bool,
    findings: Vec<Finding>,
}

impl Check {
    fn fault(&mut self, code: &'static str, path: &Path, what: impl Into<String>, next: impl Into<String>) {
        let (path, next) = (Some(path.display().to_string()), Some(next.into()));
        self.findings.push(Finding { code, is_note: false, path, what: what.into(), next, fixed: false });
    }

    fn note(&mut self, code: &'static str, path: &Path, what: impl Into<String>, next: Option<String>) {
        let path = Some(path.display().to_string());
        self.findings.push(Finding { code, is_note: true, path, what: what.into(), next, fixed: false });
    }

    /// A fault that is mended, if that is wanted; if it can't be, why.
    fn mend(
        &mut self,
        code: &'static str,
        path: &Path,
        what: String,
        next: String,
        mend: impl FnOnce() -> std::io::Result<()>,
    ) {
        self.fault(code, path, what, next);
        let outcome = if self.fix { mend().map(|()| true) } else { Ok(false) };
        let Some(last) = self.findings.last_mut() else { return };
        match outcome {
            Ok(fixed) => last.fixed = fixed,
            Err(error) => last.what.push_str(&format!("; it could not be mended: {error}")),
        }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let store = context.place.store()?;
    let option = context.place.as_option();
    let mut check = Check { dir: store.dir().to_owned(), option, fix: args.fix, findings: Vec::new() };
    let out = &mut context.out;
    if !check.dir.is_dir() {
        return nowhere(&check.dir, out);
    }
    if check.is_store() {
        check.permissions();
        check.left_over();
    }
    let free_bytes = check.free_space();
    let file_system = check.file_system();
    check.locks_and_syncs();
    let (sessions, bytes) = check.sessions(&store)?;
    let open_faults = check.findings.iter().filter(|finding| !finding.is_note && !finding.fixed).count();
    if out.json {
        let (store, findings) = (check.dir.display().to_string(), check.findings.as_slice());
        out.document(&Document { store, sessions, bytes, free_bytes, file_system, findings, open_faults })?;
    } else {
        check.findings.iter().try_for_each(|finding| line(finding, out))?;
        let kind = file_system.map_or_else(String::new, |kind| format!(" on {kind}"));
        let free = free_bytes.map_or_else(String::new, |free| format!(", {} free", size(free)));
        let dir = check.dir.display();
        let summary = match open_faults {
            0 => "in order".to_owned(),
            1 => "1 fault".to_owned(),
            count => format!("{count} faults"),
        };
        let summary = format!("{dir}: {}, {}{kind}{free}: {summary}", plural(sessions, "session"), size(bytes));
        out.line(&visible(&summary, Layout::Line))?;
    }
    Ok(if open_faults == 0 { Exit::Fine } else { Exit::Found })
}

fn nowhere(dir: &Path, out: &mut Output) -> Outcome {
    if out.json {
        let store = dir.display().to_string();
        let (free_bytes, file_system) = (None, None);
        let findings = &[];
        out.document(&Document { store, sessions: 0, bytes: 0, free_bytes, file_system, findings, open_faults: 0 })?;
    } else {
        let text = format!("there is no store at {} yet; the first session makes it", dir.display());
        out.line(&visible(&text, Layout::Line))?;
    }
    Ok(Exit::Fine)
}

fn line(finding: &Finding, out: &mut Output) -> Outcome<()> {
    let (word, colour) = match (finding.is_note, finding.fixed) {
        (true, _) => ("note ", AnsiColor::Cyan),
        (false, true) => ("fixed", AnsiColor::Green),
        (false, false) => ("fault", AnsiColor::Red),
    };
    let word = out.paint(colour.on_default(), word);
    let path = finding.path.as_ref().map_or_else(String::new, |path| format!("{path}: "));
    out.line(&format!("{word}  {}", visible(&format!("{path}{}", finding.what), Layout::Line)))?;
    match finding.next.as_ref().filter(|_| !finding.fixed) {
        Some(next) => out.line(&format!("       next: {}", visible(next, Layout::Line))),
        None => Ok(()),
    }
}
