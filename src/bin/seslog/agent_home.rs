//! Where the programs of agents keep what they have.

use std::path::{Path, PathBuf};

use seslog::interop::Agent;

/// An agent's own directory, as its program finds it.
#[derive(Debug, Clone)]
pub(crate) struct AgentHome {
    /// The directory; none where no home is known to look in.
    pub(crate) dir: Option<PathBuf>,
    /// How it is told: below `~`, where no variable says otherwise.
    pub(crate) shown: String,
}

impl AgentHome {
    /// Where the agent's variable says, else below the home.
    pub(crate) fn of(agent: Agent) -> Self {
        let (variable, usual) = match agent {
            Agent::ClaudeCode => (Some("CLAUDE_CONFIG_DIR"), ".claude"),
            Agent::Codex => (Some("CODEX_HOME"), ".codex"),
            _ => (None, ".pi/agent"),
        };
        match variable.and_then(std::env::var_os).filter(|dir| !dir.is_empty()) {
            Some(dir) => Self { shown: Path::new(&dir).display().to_string(), dir: Some(dir.into()) },
            None => Self { dir: etcetera::home_dir().ok().map(|home| home.join(usual)), shown: format!("~/{usual}") },
        }
    }
}
