//! `seslog payload`: the body that the model is sent next.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use seslog::context::tokens::{self, CountTokens};
use seslog::context::{Config, Metadata, Pipeline, PipelineError, Prompt, Stats, Stopped};
use seslog::event::Uuid;
use seslog::projection::{Diagnostic, View};
use seslog::wire::{Options, Payload, Provider, Renamed, payload};

use crate::Context;
use crate::exit::{Exit, Outcome, Told};
use crate::output::tell;
use crate::views::{Look, Looked, look};

/// Write the body of the next request to a provider
///
/// The body is on standard output, what was left out or changed on standard error; with --json both are in one
/// document, and which calls and tools go out under another name than the recorded one. Tools and a system prompt that are
/// not in the log come from --config, with all else that an application puts into its prompts. The date in that is today's,
/// unless the file names one (`now`); with --at it is that of the last message. Exits with 1 if there is no message to send.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seslog payload 0192 --provider ai-sdk --upstream anthropic > body.json
  seslog payload 0192 --provider anthropic --model claude-opus-4-8 --at 0192f3
  seslog payload 0192 --provider openai-chat --config prompt.json
  seslog payload 0192 --provider gemini --branch 0192f3 --json")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// Whose form the body has
    #[arg(long, value_name = "NAME", value_parser = providers())]
    provider: Provider,
    /// With ai-sdk, the provider behind it (anthropic, openai, google, bedrock): it alone gets its own reasoning,
    /// signatures and ids back
    #[arg(long, value_name = "NAME")]
    upstream: Option<String>,
    /// The model that the request goes to: it alone gets its own reasoning back [default, but for ai-sdk: the
    /// provider's that answered last]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// What the application puts into its prompts, as JSON: the standard pipeline runs with it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// As it was once this event was in
    #[arg(long, value_name = "EVENT")]
    at: Option<String>,
    /// The branch that this event is on, up to it, in the place of the current one
    #[arg(long, value_name = "EVENT")]
    branch: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    session: String,
    body: &'a Payload<'a>,
    renamed: Names<'a>,
    /// What the pipeline did, where one ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    assembly: Option<Assembly<'a>>,
    diagnostics: Vec<&'a Diagnostic>,
    /// The ids that events named by the diagnostics had where they came from.
    original_ids: BTreeMap<Uuid, &'a str>,
}

/// What the steps of the pipeline say.
#[derive(Debug, Serialize)]
struct Assembly<'a> {
    metadata: &'a Metadata,
    stats: &'a Stats,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'a Stopped>,
}

impl<'a> From<&'a Prompt> for Assembly<'a> {
    fn from(prompt: &'a Prompt) -> Self {
        Self { metadata: &prompt.metadata, stats: &prompt.stats, stopped: prompt.stopped.as_ref() }
    }
}

/// What goes out under another name: by the name that is sent, the recorded one.
#[derive(Debug, Serialize)]
struct Names<'a> {
    calls: BTreeMap<&'a str, &'a str>,
    tools: BTreeMap<&'a str, &'a str>,
}

impl<'a> From<&'a Renamed> for Names<'a> {
    fn from(renamed: &'a Renamed) -> Self {
        let by_sent = |names: &'a [(String, String)]| names.iter().map(|(sent, own)| (&**sent, &**own)).collect();
        Self { calls: by_sent(&renamed.calls), tools: by_sent(&renamed.tools) }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    if args.upstream.is_some() && args.provider != Provider::AiSdk {
        let provider = args.provider.name();
        let message = format!("--upstream is for --provider ai-sdk; {provider} has no other provider behind it");
        return Err(Told::usage(message).into());
    }
    let view_options = seslog::projection::Options::default();
    let wanted =
        Look { at: args.at.as_deref(), branch: args.branch.as_deref(), view: View::Model, options: &view_options };
    let looked = look(&args.session, &wanted, context)?;
    let mut options = Options::default();
    options.upstream.clone_from(&args.upstream);
    options.model.clone_from(&args.model);
    let viewed = &looked.projection;
    if viewed.messages.is_empty() {
        return Err(nothing_to_send(&looked, context).into());
    }
    let prompt = args.config.as_deref().map(|file| assembled(&looked, file)).transpose()?;
    if let Some(prompt) = &prompt {
        options.tools.clone_from(&prompt.tools);
    }
    let messages = prompt.as_ref().map_or(&viewed.messages, |prompt| &prompt.messages);
    let payload = payload(messages, args.provider, &options);
    if payload.message_count() == 0 {
        return Err(nothing_to_send(&looked, context).into());
    }
    let said_by_steps = prompt.iter().flat_map(|prompt| &prompt.diagnostics);
    let diagnostics: Vec<&Diagnostic> =
        viewed.diagnostics.items.iter().chain(said_by_steps).chain(&payload.diagnostics).collect();
    if context.out.json {
        let named = diagnostics.iter().flat_map(|item| item.ids.iter().copied());
        let original_ids = looked.originals(named);
        context.out.document(&Document {
            session: looked.reader.id().to_string(),
            body: &payload,
            renamed: (&payload.renamed).into(),
            assembly: prompt.as_ref().map(Assembly::from),
            diagnostics,
            original_ids,
        })?;
    } else {
        context.out.json_line(&payload.to_json())?;
        for diagnostic in diagnostics {
            let ids: String = diagnostic.ids.iter().map(|id| format!(" {id}")).collect();
            let call = diagnostic.call.as_ref().map_or_else(String::new, |call| format!(" [{call}]"));
            tell(&format!("{}{call}{ids}: {}", diagnostic.code, diagnostic.reason));
        }
    }
    Ok(looked.exit())
}

/// Providers refuse a body without a message, so none is written.
fn nothing_to_send(looked: &Looked, context: &Context) -> Told {
    let (session, store) = context.place.to_paste(looked.reader.id(), looked.reader.path());
    let next = format!("`seslog append {session}{store}` adds one, `seslog show {session}{store}` shows what is there");
    Told::not_found("empty", format!("there is no message to send to a model; {next}"))
}

/// Minutes that a clock may be from UTC.
const OFFSET_MAX: u32 = 24 * 60;

/// The prompt that the standard pipeline makes of a view with the configuration in this file.
fn assembled(looked: &Looked, file: &Path) -> Outcome<Prompt> {
    let text = std::fs::read_to_string(file).map_err(|error| Told::reading(file, &error))?;
    let wrong = |what: &str| Told::usage(format!("{} is no configuration of a prompt: {what}", file.display()));
    // A list would be read as the fields in their order.
    if !text.trim_start().starts_with('{') {
        return Err(wrong("expected a JSON object").into());
    }
    let mut config: Config = serde_json::from_str(&text).map_err(|error| wrong(&error.to_string()))?;
    if config.date.as_ref().is_some_and(|date| date.offset_minutes.unsigned_abs() > OFFSET_MAX) {
        return Err(wrong("`date.offsetMinutes`: no clock is more than a day ahead or behind").into());
    }
    // What is sent next is sent now; an earlier point is asked as on the day of its last message.
    if let Some(date) = config.date.as_mut().filter(|_| looked.at.is_none()) {
        date.now.get_or_insert_with(|| jiff::Timestamp::now().as_microsecond());
    }
    let mut list = Pipeline::standard(&config);
    let counting = CountTokens::new(config.limits).with_report(looked.reported.clone());
    list.replace(tokens::NAME, counting).expect("the standard list counts");
    Ok(list.run(&looked.projection.messages).map_err(|error| failed(&error))?)
}

fn failed(error: &PipelineError) -> Told {
    Told { exit: Exit::Found, code: "assembly", message: error.to_string() }
}

/// A provider by its name.
fn providers() -> impl TypedValueParser<Value = Provider> {
    PossibleValuesParser::new(Provider::ALL.map(Provider::name)).try_map(|name| {
        let named = Provider::ALL.into_iter().find(|provider| provider.name() == name);
        named.ok_or("no provider has this name")
    })
}
