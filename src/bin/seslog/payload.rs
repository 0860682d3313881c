//! `seslog payload`: the body that the model is sent next.

use std::collections::BTreeMap;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use seslog::event::Uuid;
use seslog::projection::{Diagnostic, View};
use seslog::wire::{Options, Payload, Provider, Renamed, payload};

use crate::Context;
use crate::exit::Outcome;
use crate::output::tell;
use crate::views::{Look, look};

/// Write the body of the next request to a provider
///
/// The body is on standard output, what was left out or changed on standard error; with --json both are in one
/// document, and which calls and tools go out under another name than the recorded one. Tools and a system prompt that are
/// not in the log are the application's to add.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seslog payload 0192 --provider ai-sdk --upstream anthropic > body.json
  seslog payload 0192 --provider anthropic --model claude-opus-4-8 --at 0192f3
  seslog payload 0192 --provider gemini --branch 0192f3 --json")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: String,
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
    body: &'a Payload<'a>,
    renamed: Names<'a>,
    diagnostics: Vec<&'a Diagnostic>,
    /// The ids that events named by the diagnostics had where they came from.
    original_ids: BTreeMap<Uuid, &'a str>,
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
    let view_options = seslog::projection::Options::default();
    let wanted =
        Look { at: args.at.as_deref(), branch: args.branch.as_deref(), view: View::Model, options: &view_options };
    let looked = look(&args.session, &wanted, context)?;
    let mut options = Options::default();
    options.upstream.clone_from(&args.upstream);
    options.model.clone_from(&args.model);
    let payload = payload(&looked.projection.messages, args.provider, &options);
    let diagnostics: Vec<&Diagnostic> =
        looked.projection.diagnostics.items.iter().chain(&payload.diagnostics).collect();
    if context.out.json {
        let named = diagnostics.iter().flat_map(|item| item.ids.iter().copied());
        let original_ids = looked.originals(named);
        context.out.document(&Document {
            body: &payload,
            renamed: (&payload.renamed).into(),
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

/// A provider by its name.
fn providers() -> impl TypedValueParser<Value = Provider> {
    PossibleValuesParser::new(Provider::ALL.map(Provider::name)).try_map(|name| {
        let named = Provider::ALL.into_iter().find(|provider| provider.name() == name);
        named.ok_or("no provider has this name")
    })
}
