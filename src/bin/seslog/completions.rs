//! `seslog completions`: what a shell needs to complete command lines.

use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

use crate::exit::{Exit, Outcome};
use crate::{Cli, Context};

/// Write a script that makes a shell complete commands, options and sessions
///
/// Where a session is asked for, bash, zsh and fish offer those of the store, with their titles, the one that went on last first.
/// The script is made from this version's own commands: write it again after an update.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mkdir -p ~/.local/share/bash-completion/completions &&
    seslog completions bash > ~/.local/share/bash-completion/completions/seslog
  mkdir -p ~/.zfunc && seslog completions zsh > ~/.zfunc/_seslog
    (with `fpath+=(~/.zfunc)` before `compinit` in ~/.zshrc)
  mkdir -p ~/.config/fish/completions &&
    seslog completions fish > ~/.config/fish/completions/seslog.fish
  seslog completions powershell > ~/seslog-completions.ps1
    (with `. ~/seslog-completions.ps1` in $PROFILE)
  mkdir -p ~/.config/elvish &&
    seslog completions elvish > ~/.config/elvish/seslog-completions.elv
    (with `eval (slurp < ~/.config/elvish/seslog-completions.elv)` in ~/.config/elvish/rc.elv)")]
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
    let script = with_sessions(args.shell, &String::from_utf8_lossy(&script));
    let out = &mut context.out;
    if out.json {
        out.document(&Document { shell: args.shell.to_string(), script: &script })?;
    } else {
        out.line(script.trim_end())?;
    }
    Ok(Exit::Fine)
}

/// Asks for the sessions beside what the generator knows.
const BASH: &str = r#"
_seslog_or_sessions() {
    _seslog "$@"
    local line word name
    local -a found=() given=()
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        # A variable of the shell need not be one of the environment.
        if [[ $word =~ ^(--store=)?\"?\$\{?([A-Za-z_][A-Za-z_0-9]*)\}?(.*)$ ]]; then
            name=${BASH_REMATCH[2]}
            word=${BASH_REMATCH[1]}${!name}${BASH_REMATCH[3]}
        fi
        given+=("$word")
    done
    while IFS= read -r line; do
        found+=("$line")
    done < <("$1" __sessions -- "${given[@]}" 2>/dev/null)
    if [[ ${#found[@]} -eq 0 ]]; then
        return
    elif [[ ${#found[@]} -eq 1 || "$COMP_TYPE" -eq 37 || "$COMP_TYPE" -eq 42 ]]; then
        COMPREPLY=( "${found[@]%%$'\t'*}" )
    else
        COMPREPLY=( "${found[@]//$'\t'/  }" )
    fi
}

"#;
const ZSH: &str = r#"
(( $+functions[_seslog_sessions] )) ||
_seslog_sessions() {
    local word name MATCH MBEGIN MEND
    local -a found given match mbegin mend
    # The generator's words begin at the command: what is before that names the store.
    local -a line=("${(@Q)${(z)LBUFFER}}")
    [[ $LBUFFER == *[[:space:]] ]] && line+=('')
    local from=${line[(I)(*/|)seslog]}
    for word in "${(@)line[from,-1]}"; do
        # A variable of the shell need not be one of the environment.
        if [[ $word =~ '^(--store=)?"?\$\{?([A-Za-z_][A-Za-z_0-9]*)\}?(.*)$' ]]; then
            name=$match[2]
            word="$match[1]${(P)name}$match[3]"
        fi
        given+=("$word")
    done
    found=(${(f)"$(seslog __sessions -- "${(@)given}" 2>/dev/null)"})
    found=("${(@)found/$'\t'/:}")
    if (( $#found )); then
        _describe -V session found
    else
        _default
    fi
}

"#;
const FISH: &str = r#"
function __seslog_sessions
    set -l given
    for word in (commandline -opc) (commandline -ct)
        # A variable of the shell need not be one of the environment.
        set -l parts (string match -r '^((?:--store=)?)"?\$([A-Za-z_][A-Za-z_0-9]*)(.*)$' -- $word)
        if set -q parts[1]
            set -l name $parts[3]
            set word $parts[2]"$$name"$parts[4]
        end
        set -a given "$word"
    end
    seslog __sessions -- $given 2>/dev/null
end
complete -c seslog -n "not __fish_seslog_needs_command" -k -a "(__seslog_sessions)"
"#;

/// The generator's script, with what offers sessions in it.
fn with_sessions(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => match script.rsplit_once("\nif [[ \"${BASH_VERSINFO[0]}\"") {
            Some((functions, end)) => {
                let end = end.replace("complete -F _seslog ", "complete -F _seslog_or_sessions ");
                format!("{functions}{BASH}if [[ \"${{BASH_VERSINFO[0]}}\"{end}")
            }
            None => script.to_owned(),
        },
        Shell::Zsh => {
            let is_session = |line: &str| {
                let name = line.trim_start_matches("'").trim_start_matches(':').split(" -- ").next();
                line.starts_with("':") && name.is_some_and(|name| matches!(name, "session" | "a" | "b"))
            };
            let line = |line: &str| match is_session(line) {
                true => line.replace(":_default'", ":_seslog_sessions'"),
                false => line.to_owned(),
            };
            let lines: Vec<String> = script.lines().map(line).collect();
            let script = lines.join("\n");
            match script.rsplit_once("\nif [ \"$funcstack[1]\"") {
                Some((functions, end)) => format!("{functions}{ZSH}if [ \"$funcstack[1]\"{end}\n"),
                None => script,
            }
        }
        Shell::Fish => format!("{}{FISH}", script.trim_end()),
        _ => script.to_owned(),
    }
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
