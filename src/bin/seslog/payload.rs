//! `seslog payload`: the body that the model is sent next.

use std::collections::BTreeMap;

use serde::Serialize;
use seslog::event::Uuid;
use seslog::projection::{Diagnostic, View};
use seslog::wire::{Options, Payload, Provider, payload};

use crate::Context;
use crate::exit::Outcome;
use crate::output::tell;
use crate::views::{Look, look};

/// Write the body of the next request to a provider
///
/// The body is on standard output, what was left out or changed on standard error; with --json both are in one
/// document.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog payload 0192 --provider ai-sdk > body.json")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: String,
    /// Whose form the body has
    #[arg(long, value_parser = provider)]
    provider: Provider,
    /// The provider behind an interface that serves several (anthropic, openai, google, bedrock): it alone gets its
    /// own reasoning, signatures and ids back
    #[arg(long, value_name = "NAME")]
    upstream: Option<String>,
    /// The model that the request goes to: it alone gets its own reasoning back
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// As it was once this event was in
    #[arg(long, value_name = "EVENT")]
    at: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    body: &'a Payload<'a>,
    diagnostics: Vec<&'a Diagnostic>,
    /// The ids that events named by the diagnostics had where they came from.
    original_ids: BTreeMap<Uuid, &'a str>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let view_options = seslog::projection::Options::default();
    let wanted = Look { at: args.at.as_deref(), branch: None, view: View::Model, options: &view_options };
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
        context.out.document(&Document { body: &payload, diagnostics, original_ids })?;
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

/// The provider of this name.
fn provider(name: &str) -> Result<Provider, String> {
    let names = || Provider::ALL.map(Provider::name).join(", ");
    Provider::ALL
        .into_iter()
        .find(|provider| provider.name() == name)
        .ok_or_else(|| format!("choose one of: {}", names()))
}
