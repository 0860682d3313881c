//! What became of a task, as an assistant's text.

use serde::Deserialize;

use super::retell::{Retold, without_view_text};
use crate::context::{BoxError, Context, Processor, agent_of};
use crate::event::{Kind, Part, Role, Task, Uuid};
use crate::projection::{ProjectedMessage, Shared};

/// The step's name.
pub const NAME: &str = "task";

/// How a task with an instruction is told, unless the configuration says otherwise.
pub const TEMPLATE: &str = "[Result of the task {{title}}]\n\nInstruction:\n{{instruction}}\n\nResult:\n{{result}}";

/// Stands in the place of a title where there is none.
const UNTITLED: &str = "without a title";

/// Stands in the place of a result where there is none.
const NO_RESULT: &str = "(no result)";

/// How tasks are told.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TaskConfig {
    /// The text of a task with an instruction. `{{title}}`, `{{instruction}}`, `{{status}}`, `{{agent}}` and `{{result}}`
    /// stand for what the task says; without `{{result}}`, the result stands behind the text. None: [`TEMPLATE`].
    pub template: Option<String>,
}

/// Tells each task as an assistant's text: a heading that names it, its instruction, its result. A task without an
/// instruction only changes its role.
///
/// The result's parts stay as they were recorded; what the template puts around them are parts of their own.
#[derive(Debug, Clone)]
pub struct TaskText {
    /// The template before the result, and behind it.
    around: (String, String),
}

impl TaskText {
    /// A step with this template.
    #[must_use]
    pub fn new(config: &TaskConfig) -> Self {
        let template = config.template.as_deref().unwrap_or(TEMPLATE);
        Self { around: around_result(template) }
    }

    fn tell(&self, task: &Task, message: &mut ProjectedMessage) {
        let agent = agent_of(message).unwrap_or_default().to_owned();
        let fill = |template: &str| -> Option<Shared<Part>> {
            let text = filled(template, |name| match name {
                "title" => Some(task.title.as_deref().unwrap_or(UNTITLED)),
                "instruction" => Some(task.instruction.as_deref().unwrap_or_default()),
                "status" => Some(task.status.as_deref().unwrap_or_default()),
                "agent" => Some(&agent),
                _ => None,
            });
            let text = text.trim_matches('\n');
            (!text.trim().is_empty()).then(|| Part::text(text).into())
        };
        without_view_text(message);
        let mut result = std::mem::take(&mut message.content);
        if result.is_empty() {
            result.push(Part::text(NO_RESULT).into());
        }
        message.content.extend(fill(&self.around.0));
        message.content.extend(result);
        message.content.extend(fill(&self.around.1));
    }
}

impl Processor for TaskText {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let mut retold = Retold::default();
        let mut last = Uuid::nil();
        for message in &mut context.messages {
            let Kind::Task(task) = &*message.kind else { continue };
            let task = task.clone();
            // Results of the calls that a task's message held stay a tool's.
            if message.role == Role::Tool {
                continue;
            }
            message.role = Role::Assistant;
            // What it said behind them is no task of its own.
            let is_first = std::mem::replace(&mut last, message.id) != message.id || message.id.is_nil();
            if is_first && task.instruction.as_deref().is_some_and(|instruction| !instruction.trim().is_empty()) {
                self.tell(&task, message);
            }
            retold.add(message);
        }
        retold.say(context, "a task is told as an assistant's text");
        Ok(())
    }
}

/// What stands before the result, and behind it.
fn around_result(template: &str) -> (String, String) {
    let mut at = 0;
    while let Some(begin) = template[at..].find("{{").map(|found| at + found) {
        let from = &template[begin + 2..];
        let inside = &from[..from.find("{{").unwrap_or(from.len())];
        if let Some(end) = inside.find("}}").filter(|end| inside[..*end].trim() == "result") {
            return (template[..begin].to_owned(), from[end + 2..].to_owned());
        }
        at = begin + 2;
    }
    (template.to_owned(), String::new())
}

/// The template with what stands for its names, in one pass: what is put in is not looked through again. A name that is
/// not known stays as it is.
fn filled<'v>(template: &str, value: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, from)) = rest.split_once("{{") {
        text.push_str(before);
        // No name holds two braces, so what opens again before its end is none; and no text is looked through twice.
        let inside = &from[..from.find("{{").unwrap_or(from.len())];
        let end = inside.find("}}");
        let known = end.and_then(|end| Some((value(from[..end].trim())?, &from[end + 2..])));
        match known {
            Some((value, behind)) => {
                text.push_str(value);
                rest = behind;
            }
            None => {
                text.push_str("{{");
                rest = from;
            }
        }
    }
    text.push_str(rest);
    text
}
