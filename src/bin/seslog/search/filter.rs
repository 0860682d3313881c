//! Which messages are wanted besides their words: those of some sessions, of a time, of a role.

use std::ffi::OsString;
use std::path::PathBuf;

use seslog::session::{Listed, Store};

use crate::exit::{Outcome, Told};
use crate::time::{End, named};
use crate::whose::{Whose, WhoseArgs};

/// The role under which a session's title is found.
pub(super) const TITLE: &str = "title";

/// The filters as a person gives them; those of sessions are `list`'s.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Wanted {
    /// Said at this time or later: a date, RFC 3339, or so long ago (3h, 2d, 1w)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Said at this time or earlier; a date: in that day or earlier
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    #[command(flatten)]
    whose: WhoseArgs,
    /// In this session: its id, the beginning of it, or a path
    #[arg(long, value_name = "SESSION")]
    session: Option<OsString>,
    /// Said by this role
    #[arg(long, value_enum)]
    role: Option<Role>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Role {
    User,
    Assistant,
    Tool,
    System,
    /// A session's title and labels
    Title,
}

/// The same for the index.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// µs since the epoch.
    pub(super) since: Option<i64>,
    pub(super) until: Option<i64>,
    pub(super) role: Option<&'static str>,
    /// The names of the files of the sessions that are wanted; none: all.
    pub(super) files: Option<Vec<String>>,
}

impl Filter {
    /// Whether any message is wanted.
    pub(super) fn takes_all(&self) -> bool {
        let Self { since, until, role, files } = self;
        since.is_none() && until.is_none() && role.is_none() && files.is_none()
    }
}

impl Wanted {
    /// # Errors
    /// If a time is none, or the session is not in the store.
    pub(super) fn filter(&self, store: &Store, sessions: &[Listed]) -> Outcome<Filter> {
        let time = |text: &Option<String>, end| text.as_deref().map(|text| named(text, end)).transpose();
        let role = self.role.map(|role| match role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::System => "system",
            Role::Title => TITLE,
        });
        let (since, until) = (time(&self.since, End::First)?, time(&self.until, End::Last)?);
        Ok(Filter { since, until, role, files: self.files(store, sessions)? })
    }

    fn files(&self, store: &Store, sessions: &[Listed]) -> Outcome<Option<Vec<String>>> {
        let (whose, session) = (Whose::of(&self.whose)?, &self.session);
        if whose.takes_all() && session.is_none() {
            return Ok(None);
        }
        let path = |name: &OsString| name.to_str().map_or_else(|| Ok(name.into()), |text| store.resolve(text));
        let named: Option<PathBuf> = session.as_ref().map(path).transpose()?;
        let of_name = |listed: &Listed| named.as_ref().is_none_or(|path| path.file_name() == listed.path.file_name());
        if let Some(name) = session.as_ref().filter(|_| !sessions.iter().any(of_name)) {
            let message =
                format!("no session `{}` in `{}`; a search looks at those only", name.display(), store.dir().display());
            return Err(Told::not_found("noSuchSession", message).into());
        }
        let wanted = sessions.iter().filter(|listed| of_name(listed) && whose.takes(listed));
        let file = |listed: &Listed| Some(listed.path.file_name()?.to_string_lossy().into_owned());
        Ok(Some(wanted.filter_map(file).collect()))
    }
}
