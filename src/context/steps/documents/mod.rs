//! Documents that an agent carries: which are loaded, and where each goes.
//!
//! [`Documents`] runs first and judges the rules, once; a [`DocumentsAt`] for each position writes what was loaded there,
//! at the place in the pipeline that its position needs:
//!
//! | position | where | its step must follow |
//! | --- | --- | --- |
//! | `before-system` | a system message of its own in front of all | |
//! | `system-append` | the system slot | the system role |
//! | `system-replace` | in the place of all that the system slot holds | every other step of the system slot |
//! | `before-first-user` | the slot of that name | |
//! | `after-first-user` | the wrapper at the end of the first user message | |
//! | `context-end` | the virtual last user message | |
//! | `manual`, `on-demand` | nowhere by themselves: a person or a tool asks for them | |

mod places;
mod rules;

use serde::{Deserialize, Serialize};

pub use places::DocumentsAt;
pub use rules::{Daily, Rule, TimeOfDay};

use crate::context::steps::date::Date;
use crate::context::words::{is_input, words};
use crate::context::{BoxError, Context, Entry, Processor, code, tagged};
use crate::projection::Diagnostic;
use rules::{Verdict, Window};

/// The step's name.
pub const NAME: &str = "documents";

/// The documents of an agent, and when it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DocumentsConfig {
    /// The documents.
    pub documents: Vec<Document>,
    /// When it is, for rules of time; without it those load nothing.
    pub date: Option<Date>,
}

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Document {
    /// Its title, for the model.
    pub title: String,
    /// Its text.
    pub text: String,
    /// Where it goes.
    pub position: Position,
    /// When it is loaded. Default: always.
    #[serde(default)]
    pub rule: Rule,
    /// Smaller ones stand first at a position; equal ones in the order of the list. Default 0.
    #[serde(default)]
    pub order: i64,
}

/// Where a document goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Position {
    /// A system message of its own in front of all.
    BeforeSystem,
    /// The end of the system slot.
    SystemAppend,
    /// In the place of all that the system slot holds.
    SystemReplace,
    /// Before the first user message.
    BeforeFirstUser,
    /// The end of the first user message.
    AfterFirstUser,
    /// The end of all.
    ContextEnd,
    /// Nowhere, until a person puts it in.
    Manual,
    /// Nowhere, until the model asks for it.
    OnDemand,
}

/// Judges the rules of documents, by what the person said last and the given instant. It writes nothing itself.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    config: DocumentsConfig,
}

/// What [`Documents`] decided.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadedDocuments {
    /// The documents that are loaded, sorted.
    pub loaded: Vec<LoadedDocument>,
    /// Those that are not, each with the reason.
    pub not_loaded: Vec<DocumentNotLoaded>,
}

/// A document that is not loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentNotLoaded {
    /// Its title.
    pub title: String,
    /// Why.
    pub reason: String,
}

/// A document whose rule was met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadedDocument {
    /// Its title.
    pub title: String,
    /// Where it goes.
    pub position: Position,
    /// What the model is to read: its text in a tag with its title.
    #[serde(skip)]
    pub tag: String,
}

impl Entry for LoadedDocuments {
    const NAME: &'static str = NAME;
}

impl Documents {
    /// A step with these documents.
    #[must_use]
    pub fn new(config: DocumentsConfig) -> Self {
        Self { config }
    }
}

impl Documents {
    /// The instant, and what the person's clock shows then.
    fn now(&self, context: &Context<'_>) -> Option<(i64, i64)> {
        let date = self.config.date.as_ref()?;
        let instant = date.instant(context)?;
        Some((instant, date.local(instant)))
    }
}

impl Processor for Documents {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        if self.config.documents.is_empty() {
            return Ok(());
        }
        let last = context.messages.iter().rev().find(|message| is_input(message));
        let said = last.map(|message| words(message).collect::<Vec<_>>().join("\n")).unwrap_or_default();
        let window = Window::new(&said, self.now(context));
        let mut sorted: Vec<&Document> = self.config.documents.iter().collect();
        sorted.sort_by_key(|document| document.order);
        let mut judged = LoadedDocuments::default();
        for document in sorted {
            let Document { title, text, position, rule, .. } = document;
            let reason = match rule.judge(&window) {
                Verdict::Met if text.trim().is_empty() => "it has no text".to_owned(),
                Verdict::Met if matches!(position, Position::Manual | Position::OnDemand) => {
                    "a person or a tool has to ask for it".to_owned()
                }
                Verdict::Met => {
                    let tag = tagged("document", &[("title", title)], text);
                    judged.loaded.push(LoadedDocument { title: title.clone(), position: *position, tag });
                    continue;
                }
                Verdict::NotMet => "its rule is not met".to_owned(),
                Verdict::Unclear(why) => {
                    let reason = format!("the document {title:?} is not loaded: {why}");
                    context.diagnostics.push(Diagnostic::new(code::DOCUMENT_LEFT_OUT, [], reason));
                    why
                }
            };
            judged.not_loaded.push(DocumentNotLoaded { title: title.clone(), reason });
        }
        context.metadata.insert(judged);
        Ok(())
    }
}
