//! Names in double braces, replaced by what the application knows.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use super::expansion::{Expansion, TooLong};
pub use super::expansion::{Generate, PlaceholderReport};
use super::input_template::{Template, Templated, joined};
use crate::context::slots::is_wrapper;
use crate::context::words::{is_input, words};
use crate::context::{BoxError, Context, Entry, Processor, code};
use crate::event::{Kind, Part, Role, Uuid};
use crate::projection::{Diagnostic, ProjectedMessage, Shared};

/// The step's name.
pub const NAME: &str = "placeholders";

/// How deep values may hold names by default.
pub const DEPTH: usize = 2;

/// The deepest that can be asked for.
pub const DEPTH_MAX: usize = 16;

/// How many bytes longer than before a text may become by default.
pub const GROWTH_MAX: usize = 1024 * 1024;

/// What can be put in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PlaceholdersConfig {
    /// Values by their names. Names are letters, digits, `_`, `-` and `.`.
    pub values: BTreeMap<String, String>,
    /// So deep are names replaced: 1 those of the text, 2 (the default) those in their values too. At most 16.
    pub depth: usize,
    /// So many bytes longer may a text become; one that would becomes no longer at all. Default 1 MiB.
    pub growth_max: usize,
    /// Names in what a person typed are replaced too. Default false: their words go out as they typed them, and a text
    /// that they pasted gets nothing out of the application.
    pub in_user_input: bool,
}

impl Default for PlaceholdersConfig {
    fn default() -> Self {
        Self { values: BTreeMap::new(), depth: DEPTH, growth_max: GROWTH_MAX, in_user_input: false }
    }
}

/// Replaces `{{name}}` in the application's own texts: system messages, what steps wrote into slots, and the template of
/// user inputs (not what is put into it). Texts of tools, models and persons stay.
///
/// A name that nothing is known of stays and is told in [`PlaceholderReport`]; so does one whose generator fails. A value
/// that names itself ends at the depth.
///
/// It runs behind all steps whose texts may hold names. What others wrote, such as a page or another session, is safe
/// from it if the step that brings it runs later.
#[derive(Clone, Default)]
pub struct Placeholders {
    config: PlaceholdersConfig,
    generators: BTreeMap<String, Generate>,
}

impl Entry for PlaceholderReport {
    const NAME: &'static str = NAME;
}

impl Placeholders {
    /// A step with these values.
    #[must_use]
    pub fn new(config: PlaceholdersConfig) -> Self {
        let constant = |(name, value): (&String, &String)| {
            let value = value.clone();
            let generate: Generate = Arc::new(move || Ok(value.clone()));
            (name.clone(), generate)
        };
        Self { generators: config.values.iter().map(constant).collect(), config }
    }

    /// The same with a value more, which is made when it is needed.
    #[must_use]
    pub fn with<F>(mut self, name: impl Into<String>, generate: F) -> Self
    where
        F: Fn() -> Result<String, BoxError> + Send + Sync + 'static,
    {
        self.generators.insert(name.into(), Arc::new(generate));
        self
    }
}

impl Processor for Placeholders {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        if self.generators.is_empty() || self.config.depth == 0 {
            return Ok(());
        }
        let templated = context.metadata.get::<Templated>().cloned();
        let mut filling = Filling {
            expansion: Expansion::new(&self.generators, self.config.growth_max),
            depth: self.config.depth.min(DEPTH_MAX),
            template: templated.as_ref().and_then(|templated| Template::of(&templated.template)),
            in_user_input: self.config.in_user_input,
        };
        let (mut changed, mut too_long) = (Texts::default(), Texts::default());
        for message in &mut context.messages {
            for at in 0..message.content.len() {
                match filling.fill(message, at) {
                    Ok(None) => {}
                    Ok(Some(text)) => {
                        let filled = Part::text(text);
                        let is_wrapper = is_wrapper(&message.content[at]);
                        message.content[at] = if is_wrapper { Shared::put_in(filled) } else { filled.into() };
                        changed.add(message);
                    }
                    Err(TooLong) => too_long.add(message),
                }
            }
        }
        let report = filling.expansion.report;
        self.tell(context, report, changed, too_long);
        Ok(())
    }
}

impl Placeholders {
    fn tell(&self, context: &mut Context<'_>, report: PlaceholderReport, changed: Texts, too_long: Texts) {
        if changed.count > 0 {
            let reason = format!("names were replaced in {} texts", changed.count);
            context.say(Diagnostic::new(code::PLACEHOLDERS_FILLED, changed.ids, reason));
        }
        if too_long.count > 0 {
            let (count, most) = (too_long.count, self.config.growth_max);
            let reason = format!("{count} texts would become more than {most} bytes longer, so they stay as they are");
            context.say(Diagnostic::new(code::PLACEHOLDER_FAILED, too_long.ids, reason));
        }
        for (name, why) in &report.failed {
            context.say(Diagnostic::new(code::PLACEHOLDER_FAILED, [], format!("`{name}` has no value: {why}")));
        }
        let lists = [
            (&report.unresolved, code::PLACEHOLDER_UNRESOLVED, "nothing is known of"),
            (&report.too_deep, code::PLACEHOLDER_UNRESOLVED, "too deep in other values:"),
        ];
        for (names, code, what) in lists {
            if !names.is_empty() {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                context.diagnostics.push(Diagnostic::new(code, [], format!("{what} {}", names.join(", "))));
            }
        }
        if report != PlaceholderReport::default() {
            context.metadata.insert(report);
        }
    }
}

/// Texts that something is to be said about, and the recorded messages that they are of.
#[derive(Default)]
struct Texts {
    count: usize,
    ids: Vec<Uuid>,
}

impl Texts {
    fn add(&mut self, message: &ProjectedMessage) {
        self.count += 1;
        self.ids.extend(&message.source_message_ids);
    }
}

struct Filling<'a> {
    expansion: Expansion<'a>,
    depth: usize,
    template: Option<Template<'a>>,
    in_user_input: bool,
}

impl Filling<'_> {
    /// The text of this part with its names replaced; none if nothing is to be replaced.
    fn fill(&mut self, message: &ProjectedMessage, at: usize) -> Result<Option<String>, TooLong> {
        let part = &message.content[at];
        let is_own = match message.role {
            Role::System => is_of_the_system(message),
            Role::User => is_wrapper(part) || is_the_applications(message),
            Role::Assistant | Role::Tool => return Ok(None),
        };
        let is_whole = is_own || (self.in_user_input && is_input(message));
        let template = self.template.clone().filter(|_| !is_whole && !part.is_recorded() && is_input(message));
        let may_be_filled = is_whole || template.is_some();
        let Some(text) = part.as_text().filter(|text| may_be_filled && text.contains("{{")) else { return Ok(None) };
        let Some(template) = template else { return self.expansion.of(text, self.depth) };
        match joined(words(message)).filter(|words| template.filled(words) == text) {
            Some(words) => self.around(&template, &words),
            None => Ok(None),
        }
    }

    /// The template with its own names replaced, and a person's text in it as it is.
    fn around(&mut self, template: &Template<'_>, words: &str) -> Result<Option<String>, TooLong> {
        let mut pieces = Vec::new();
        let mut is_changed = false;
        for piece in template.pieces() {
            let filled = self.expansion.of(piece, self.depth)?;
            is_changed |= filled.is_some();
            pieces.push(filled.unwrap_or_else(|| piece.to_owned()));
        }
        Ok(is_changed.then(|| pieces.join(words)))
    }
}

/// Whether this system message is the application's: not a summary of a model's that was recorded in that role.
fn is_of_the_system(message: &ProjectedMessage) -> bool {
    !message.kind.is_recorded() || matches!(*message.kind, Kind::SystemNote | Kind::RuntimeReminder)
}

/// Whether the application made this user message: no event records it, and it is not handed in as a person's.
fn is_the_applications(message: &ProjectedMessage) -> bool {
    message.source_message_ids.is_empty() && !matches!(*message.kind, Kind::UserInput)
}

impl fmt::Debug for Placeholders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.generators.keys().collect();
        f.debug_struct("Placeholders").field("config", &self.config).field("generators", &names).finish()
    }
}
