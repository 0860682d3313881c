//! A pager between the program and a terminal.

#[cfg(unix)]
use std::ffi::OsStr;
#[cfg(unix)]
use std::path::Path;

#[cfg(unix)]
use crate::output::tell;

/// What shows standard output page by page, until this is dropped.
#[derive(Debug)]
pub(crate) struct Pager {
    #[cfg(unix)]
    child: std::process::Child,
}

/// `SESLOG_PAGER`, else `PAGER`, else `less`; none where that is empty or `cat`, or where the terminal can't do it.
#[cfg(unix)]
fn chosen() -> Option<std::ffi::OsString> {
    if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return None;
    }
    let named = ["SESLOG_PAGER", "PAGER"].into_iter().find_map(std::env::var_os);
    let is_there = |dir: std::path::PathBuf| dir.join("less").is_file();
    let usual = || std::env::split_paths(&std::env::var_os("PATH")?).any(is_there).then(|| "less".into());
    named.or_else(usual).filter(|pager| !pager.is_empty() && pager != "cat")
}

impl Pager {
    /// Sends standard output through the pager, if it is a terminal and there is a pager. Without one it stays as it is.
    #[cfg(unix)]
    pub(crate) fn start() -> Option<Self> {
        use std::io::IsTerminal;
        use std::process::{Command, Stdio};
        if !std::io::stdout().is_terminal() {
            return None;
        }
        let pager = chosen()?;
        if let Some(program) = missing_program(&pager) {
            tell(&format!("there is no pager `{program}` (SESLOG_PAGER, PAGER); shown without one"));
            return None;
        }
        let mut command = Command::new("sh");
        // What is named is a command line.
        command.arg("-c").arg(pager).stdin(Stdio::piped());
        for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
            if std::env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        let mut child = command.spawn().ok()?;
        let pipe = child.stdin.take()?;
        if rustix::stdio::dup2_stdout(&pipe).is_err() {
            // It sees the end of its input and goes.
            drop(pipe);
            _ = child.wait();
            return None;
        }
        Some(Self { child })
    }

    #[cfg(not(unix))]
    pub(crate) fn start() -> Option<Self> {
        None
    }

    /// Ends the output and waits until it has been looked at. False: the shell could not run the pager, and nobody has seen
    /// the output.
    #[cfg(unix)]
    pub(crate) fn end(mut self) -> bool {
        // What a shell ends with where the program is not there, or can't be run.
        !matches!(self.wait(), Some(126 | 127))
    }

    #[cfg(not(unix))]
    pub(crate) fn end(self) -> bool {
        true
    }

    #[cfg(unix)]
    fn wait(&mut self) -> Option<i32> {
        if let Ok(nothing) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
            _ = rustix::stdio::dup2_stdout(&nothing);
        }
        self.child.wait().ok()?.code()
    }
}

/// The program that a command line begins with, if it is not there. What only a shell can tell is taken to be there.
#[cfg(unix)]
fn missing_program(line: &OsStr) -> Option<String> {
    let program = line.to_str()?.split_whitespace().next()?;
    if program.contains(|c: char| !c.is_ascii_alphanumeric() && !"/._+-".contains(c)) {
        return None;
    }
    let is_there = match program.contains('/') {
        true => Path::new(program).is_file(),
        false => std::env::split_paths(&std::env::var_os("PATH")?).any(|dir| dir.join(program).is_file()),
    };
    (!is_there).then(|| program.to_owned())
}

#[cfg(unix)]
impl Drop for Pager {
    fn drop(&mut self) {
        _ = self.wait();
    }
}
