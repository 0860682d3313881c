//! Which sessions are wanted, by where their agent worked and what it is called: asked alike of a list and of a search.

use std::path::{Path, PathBuf};

use seslog::session::Listed;

use crate::exit::{Outcome, Told};

/// The filters as a person gives them.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct WhoseArgs {
    /// Of sessions whose agent worked in this folder or below it
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Of sessions whose agent's name has this in it
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Of sessions whose model's name has this in it
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

/// What each session is held against.
pub(crate) struct Whose {
    cwd: Option<PathBuf>,
    agent: Option<String>,
    model: Option<String>,
}

impl Whose {
    /// # Errors
    /// If the folder is relative, and to what can't be told.
    pub(crate) fn of(args: &WhoseArgs) -> Outcome<Self> {
        let cwd = args.cwd.as_ref().map(|dir| {
            let dir = std::path::absolute(dir).map_err(|error| Told::io(dir.display(), &error))?;
            // `..` and links, where it is there.
            Ok::<_, Told>(dir.canonicalize().unwrap_or(dir))
        });
        let lower = |text: &Option<String>| text.as_ref().map(|text| text.to_lowercase());
        Ok(Self { cwd: cwd.transpose()?, agent: lower(&args.agent), model: lower(&args.model) })
    }

    pub(crate) fn takes_all(&self) -> bool {
        let Self { cwd, agent, model } = self;
        cwd.is_none() && agent.is_none() && model.is_none()
    }

    pub(crate) fn takes(&self, session: &Listed) -> bool {
        let is_in = |dir: &PathBuf| session.cwd.as_ref().is_some_and(|cwd| Path::new(cwd).starts_with(dir));
        self.cwd.as_ref().is_none_or(is_in)
            && has(self.agent.as_deref(), session.agent.as_deref())
            && has(self.model.as_deref(), session.model.as_deref())
    }
}

/// Whether a text has this in it, which is in small letters, if it is asked for.
pub(crate) fn has(wanted: Option<&str>, text: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| text.is_some_and(|text| text.to_lowercase().contains(wanted)))
}
