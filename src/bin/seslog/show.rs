//! `seslog show`: a session as a person or the model reads it.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde::Serialize;
use seslog::event::Uuid;
use seslog::projection::{Diagnostics, Options, Placeholders, ProjectedMessage, Redact, View, code};
use seslog::session::DamagedRange;

use crate::Context;
use crate::beside::{Branching, Hidden, Points, tell_hidden};
use crate::exit::{Exit, Outcome, Told};
use crate::output::{Output, plural, tell};
use crate::render::Renderer;
use crate::rules::Watched;
use crate::transcript;
use crate::views::{Look, Looked, look};

/// Show a session as a person or the model reads it
///
/// The transcript is the whole story of the current chain, through compactions and back into the session that this
/// one was forked from. The model's view begins at the compaction that counts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seslog show 0192                                  the transcript
  seslog show 0192 --branch 0192f3                  that of another branch
  seslog show 0192 --view model --at 0192f3 --json
  seslog show 0192 --view export --redact s3cret --placeholders drop --json")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// For whom
    #[arg(long, value_enum, default_value_t)]
    view: For,
    /// As it was once this event was in: its id, the beginning of it, or the id that it had where it came from
    #[arg(long, value_name = "EVENT")]
    at: Option<String>,
    /// The branch that this event is on, up to it, in the place of the current one
    #[arg(long, value_name = "EVENT")]
    branch: Option<String>,
    /// Show long results whole; without it their first lines
    #[arg(long)]
    full: bool,
    /// Take this text out of an export, wherever it stands; can be given several times
    #[arg(long, value_name = "TEXT")]
    redact: Vec<String>,
    /// What becomes of placeholders in an export: texts put in for something that never came
    #[arg(long, value_enum, value_name = "WHAT")]
    placeholders: Option<Put>,
    /// Leave signatures, encrypted reasoning and parts of a provider's own form out of an export
    #[arg(long)]
    no_provider_data: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum For {
    /// A person: the whole story of a branch
    #[default]
    Transcript,
    /// The model: what its next request is made of
    Model,
    /// A model that sums the session up: the model's view without pictures and files
    Compact,
    /// A developer: every event, and what becomes of it in the other views
    Debug,
    /// Others: without the runtime's noise (`seslog export` writes the transcript)
    Export,
    /// A screen: one part a message, what belongs to a call behind it
    Ui,
}

impl For {
    /// The view that it is.
    pub(crate) fn view(self) -> View {
        match self {
            Self::Transcript => View::Transcript,
            Self::Model => View::Model,
            Self::Compact => View::Compact,
            Self::Debug => View::Debug,
            Self::Export => View::Export,
            Self::Ui => View::Ui,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Put {
    /// They stay
    Keep,
    /// They go, and calls without another result with them
    Drop,
    /// There is no export with one; ends with 1
    Refuse,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    session: String,
    view: View,
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    missing_parent: Option<String>,
    damage: &'a [DamagedRange],
    #[serde(skip_serializing_if = "Option::is_none")]
    branch_points: Option<Vec<Branching>>,
    messages: &'a [ProjectedMessage],
    diagnostics: &'a Diagnostics,
    /// The ids that events named outside the messages had where they came from.
    original_ids: BTreeMap<Uuid, String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let view = args.view.view();
    let texts = Watched::texts(&args.redact);
    let options = options(args, view, &texts)?;
    if view == View::Transcript && args.branch.is_none() {
        return transcript::show(&args.session, args.at.as_deref(), args.full, context);
    }
    let (at, branch) = (args.at.as_deref(), args.branch.as_deref());
    let looked = look(&args.session, &Look { at, branch, view, options: &options }, context)?;
    if context.out.json {
        document(view, &texts, &looked, &mut context.out)?;
    } else {
        human(args, view, &looked, &context.place.as_option(), &mut context.out)?;
    }
    texts.tell_of_the_idle();
    let diagnostics = &looked.projection.diagnostics;
    let refused = diagnostics.items.iter().filter(|item| item.code == code::PLACEHOLDER_REFUSED).count();
    if refused > 0 {
        tell(&format!("refused: it has {}; --placeholders drop leaves them out", plural(refused, "placeholder")));
        return Ok(Exit::Found);
    }
    Ok(looked.exit())
}

fn options(args: &Args, view: View, texts: &Watched) -> Outcome<Options> {
    let is_for_export = !args.redact.is_empty() || args.placeholders.is_some() || args.no_provider_data;
    if is_for_export && view != View::Export {
        let message = "--redact, --placeholders and --no-provider-data are for --view export";
        return Err(Told::usage(message).into());
    }
    let mut options = Options::default();
    if !args.redact.is_empty() {
        options.export.rules.push(texts.clone());
    }
    options.export.placeholders = match args.placeholders {
        None | Some(Put::Keep) => Placeholders::Keep,
        Some(Put::Drop) => Placeholders::Drop,
        Some(Put::Refuse) => Placeholders::Refuse,
    };
    options.export.provider_data = !args.no_provider_data;
    Ok(options)
}

fn document(view: View, texts: &Watched, looked: &Looked, out: &mut Output) -> Outcome<()> {
    let diagnostics = &looked.projection.diagnostics;
    let named = diagnostics.items.iter().flat_map(|item| item.ids.iter().copied());
    let named = named.chain(looked.at).chain(looked.branch);
    // What they were called elsewhere may hold what is to be taken out.
    let original_ids =
        looked.originals(named).into_iter().map(|(id, original)| (id, texts.redact(original).into_owned())).collect();
    let branch_points = (view == View::Transcript).then(|| looked.branch_points.iter().map(Branching::from).collect());
    out.document(&Document {
        session: looked.reader.id().to_string(),
        view,
        at: looked.at.map(|id| id.to_string()),
        branch: looked.branch.map(|id| id.to_string()),
        missing_parent: looked.missing_parent.map(|id| id.to_string()),
        damage: &looked.damage,
        branch_points,
        messages: &looked.projection.messages,
        diagnostics,
        original_ids,
    })
}

fn human(args: &Args, view: View, looked: &Looked, store: &str, out: &mut Output) -> Outcome<()> {
    let projection = &looked.projection;
    if projection.messages.is_empty() && projection.diagnostics.hidden_message_ids.is_empty() {
        tell("no messages yet");
    }
    let mut renderer = Renderer::new(args.full);
    let points = if view == View::Transcript { looked.branch_points.as_slice() } else { &[] };
    let mut points = Points::new(points);
    points.beginning(out)?;
    for message in &looked.projection.messages {
        renderer.message(message, out)?;
        points.behind(&message.source_message_ids, out)?;
    }
    points.rest(out)?;
    let mut hidden = Hidden::default();
    hidden.add(&looked.projection.diagnostics.hidden_message_ids);
    tell_hidden(looked.reader.id(), store, &hidden, out)
}
