//! `seslog completions`: what a shell needs to complete command lines.

use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

use crate::exit::{Exit, Outcome};
use crate::{Cli, Context};

/// Write a script that makes a shell complete this program's commands and options
///
/// The script is made from this version's own commands: write it again after an update.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mkdir -p ~/.local/share/bash-completion/completions &&
    seslog completions bash > ~/.local/share/bash-completion/completions/seslog
  mkdir -p ~/.zfunc && seslog completions zsh > ~/.zfunc/_seslog
    (with `fpath+=(~/.zfunc)` before `compinit` in ~/.zshrc)
  seslog completions fish > ~/.config/fish/completions/seslog.fish
  seslog completions powershell >> $PROFILE
  seslog completions elvish >> ~/.config/elvish/rc.elv")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    shell: String,
    script: &'a str,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut shown(), "seslog", &mut script);
    let script = String::from_utf8_lossy(&script);
    let out = &mut context.out;
    if out.json {
        out.document(&Document { shell: args.shell.to_string(), script: &script })?;
    } else {
        out.line(script.trim_end())?;
    }
    Ok(Exit::Fine)
}

/// The commands that people use: the generators know nothing of hidden ones.
pub(crate) fn shown() -> clap::Command {
    let whole = Cli::command();
    let commands: Vec<clap::Command> =
        whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect();
    let mut shown = clap::Command::new("seslog")
        .version(env!("CARGO_PKG_VERSION"))
        .args(whole.get_arguments().cloned())
        .subcommands(commands);
    if let Some(about) = whole.get_about() {
        shown = shown.about(about.clone());
    }
    if let Some(help) = whole.get_after_help() {
        shown = shown.after_help(help.clone());
    }
    shown
}
