//! What a person typed, put into an application's template.

use serde::{Deserialize, Serialize};

use crate::context::slots::is_wrapper;
use crate::context::words::is_input;
use crate::context::{BoxError, Context, Entry, Processor, code};
use crate::event::{Part, Uuid};
use crate::projection::{Diagnostic, ProjectedMessage, Shared, is_blank};

/// The step's name.
pub const NAME: &str = "input_template";

/// The name that stands for the person's text, in `{{text}}`; blanks inside the braces are allowed.
pub const TEXT: &str = "text";

/// The template.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct InputTemplateConfig {
    /// A text with `{{text}}` in it. Any other `{{…}}` stays, for [`placeholders`](super::placeholders). None, or a blank
    /// one: messages stay as they are.
    pub template: Option<String>,
}

/// Puts the recorded text of each user input into the template. Several texts of one message become one, a line break
/// between them, at the place of the first. A message without words stays as it is.
///
/// The text in the template is a part of the application's; what the person typed stays in the log as it was. It is put
/// in as it is: a `{{text}}` in it is not looked at again. A template without `{{text}}` would lose what was typed, so
/// it is reported and not used.
///
/// It runs before whatever writes into user messages.
#[derive(Debug, Clone, Default)]
pub struct InputTemplate {
    config: InputTemplateConfig,
}

/// The template that was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Templated {
    /// Its text.
    pub template: String,
    /// How many messages it was used on.
    pub messages: usize,
}

impl Entry for Templated {
    const NAME: &'static str = NAME;
}

impl InputTemplate {
    /// A step with this template.
    #[must_use]
    pub fn new(config: InputTemplateConfig) -> Self {
        Self { config }
    }
}

impl Processor for InputTemplate {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let Some(text) = self.config.template.as_deref().filter(|text| !text.trim().is_empty()) else { return Ok(()) };
        let Some(template) = Template::of(text) else {
            let reason = "the template has no `{{text}}`, so the messages stay as they are";
            context.say(Diagnostic::new(code::TEMPLATE_BROKEN, [], reason));
            return Ok(());
        };
        let inputs = context.messages.iter_mut().filter(|message| is_input(message));
        let changed: Vec<Uuid> = inputs.filter_map(|message| apply(&template, message)).collect();
        if !changed.is_empty() {
            context.metadata.insert(Templated { template: text.to_owned(), messages: changed.len() });
            context.say(Diagnostic::new(code::TEMPLATE_APPLIED, changed, "the application has a template for inputs"));
        }
        Ok(())
    }
}

/// Puts the texts of a message into the template; gives the message's id if it has any.
fn apply(template: &Template<'_>, message: &mut ProjectedMessage) -> Option<Uuid> {
    let texts = message.content.iter().filter(|part| part.is_recorded()).filter_map(|part| part.as_text());
    let made = Shared::from(Part::text(template.filled(&joined(texts).filter(|text| !is_blank(text))?)));
    // A person who types a wrapper's marks must not get one that steps write into.
    let mut made = Some(made).filter(|made| !is_wrapper(made));
    made.as_ref()?;
    message.content.retain_mut(|part| {
        if !part.is_recorded() || part.as_text().is_none() {
            return true;
        }
        match made.take() {
            Some(made) => *part = made,
            None => return false,
        }
        true
    });
    Some(message.id)
}

/// Texts of one message as one; none if there are none.
pub(super) fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> Option<String> {
    texts.map(str::to_owned).reduce(|all, text| all + "\n" + &text)
}

/// A template, cut at each `{{text}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template<'a> {
    first: &'a str,
    /// What stands behind each `{{text}}`.
    rest: Vec<&'a str>,
}

impl<'a> Template<'a> {
    /// The template of this text; none if nothing in it stands for the person's text.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let mut pieces = Vec::new();
        let (mut from, mut at) = (0, 0);
        while let Some(open) = text[at..].find("{{").map(|open| at + open) {
            match behind_name(&text[open + 2..]) {
                Some(rest) => {
                    pieces.push(&text[from..open]);
                    at = text.len() - rest.len();
                    from = at;
                }
                // The second brace may be the first of two.
                None => at = open + 1,
            }
        }
        pieces.push(&text[from..]);
        let first = pieces.remove(0);
        (!pieces.is_empty()).then_some(Self { first, rest: pieces })
    }

    /// The template with this text in it.
    pub(super) fn filled(&self, text: &str) -> String {
        let pieces: usize = self.pieces().map(str::len).sum();
        // A person's text may be long, and a string that grows takes twice its room.
        let mut filled = String::with_capacity(pieces.saturating_add(text.len().saturating_mul(self.rest.len())));
        filled.push_str(self.first);
        for piece in &self.rest {
            filled.push_str(text);
            filled.push_str(piece);
        }
        filled
    }

    /// The pieces around the person's text.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &'a str> {
        std::iter::once(self.first).chain(self.rest.iter().copied())
    }
}

/// What stands behind `text}}`, if the text begins so.
fn behind_name(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix(TEXT)?.trim_start().strip_prefix("}}")
}
