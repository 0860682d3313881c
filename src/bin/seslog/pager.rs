//! A pager between the program and a terminal.

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
        let mut command = Command::new("sh");
        // What is named is a command line; of a program that is not there the shell says so, and the pipe closes.
        command.arg("-c").arg(chosen()?).stdin(Stdio::piped());
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
}

#[cfg(unix)]
impl Drop for Pager {
    /// Ends the output and waits until it has been looked at.
    fn drop(&mut self) {
        if let Ok(nothing) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
            _ = rustix::stdio::dup2_stdout(&nothing);
        }
        _ = self.child.wait();
    }
}
