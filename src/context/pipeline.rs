//! The ordered list of steps, and a run through it.

use std::time::Instant;

use serde::Serialize;

use super::error::{PipelineError, Problem};
use super::metadata::Metadata;
use super::order::MUST_FOLLOW;
use super::processor::{Context, Processor, Stopped};
use super::stats::{Stats, StepStats};
use super::tool::Tool;
use crate::projection::{Diagnostic, ProjectedMessage};

/// An ordered list of steps.
#[derive(Debug, Default)]
pub struct Pipeline {
    steps: Vec<Box<dyn Processor>>,
}

/// What is sent, and how it came about.
#[derive(Debug)]
#[must_use]
pub struct Prompt {
    /// The messages, for [`wire::payload`](crate::wire::payload).
    pub messages: Vec<ProjectedMessage>,
    /// The tools that the model is offered.
    pub tools: Vec<Tool>,
    /// What steps left behind.
    pub metadata: Metadata,
    /// What was left out, changed or put in, and why, in the order of the steps.
    pub diagnostics: Vec<Diagnostic>,
    /// The steps that ran.
    pub stats: Stats,
    /// The step that ended the run before the last one.
    pub stopped: Option<Stopped>,
}

/// A pipeline has no step of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("there is no step `{name}`; there are: {}", names.join(", "))]
pub struct NoSuchStep {
    /// The name that was asked for.
    pub name: String,
    /// Those that there are, in order.
    pub names: Vec<String>,
}

impl Pipeline {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The names of the steps, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(|step| step.name())
    }

    /// Adds a step at the end.
    pub fn push(&mut self, step: impl Processor + 'static) -> &mut Self {
        self.steps.push(Box::new(step));
        self
    }

    /// Puts a step before the one of this name.
    ///
    /// # Errors
    /// [`NoSuchStep`] if there is none.
    pub fn insert_before(&mut self, name: &str, step: impl Processor + 'static) -> Result<&mut Self, NoSuchStep> {
        let at = self.find(name)?;
        self.steps.insert(at, Box::new(step));
        Ok(self)
    }

    /// Puts a step behind the one of this name.
    ///
    /// # Errors
    /// [`NoSuchStep`] if there is none.
    pub fn insert_after(&mut self, name: &str, step: impl Processor + 'static) -> Result<&mut Self, NoSuchStep> {
        let at = self.find(name)?;
        self.steps.insert(at + 1, Box::new(step));
        Ok(self)
    }

    /// Puts a step in the place of the one of this name, which is given back.
    ///
    /// # Errors
    /// [`NoSuchStep`] if there is none.
    pub fn replace(&mut self, name: &str, step: impl Processor + 'static) -> Result<Box<dyn Processor>, NoSuchStep> {
        let at = self.find(name)?;
        Ok(std::mem::replace(&mut self.steps[at], Box::new(step)))
    }

    /// Takes the step of this name out.
    ///
    /// # Errors
    /// [`NoSuchStep`] if there is none.
    pub fn remove(&mut self, name: &str) -> Result<Box<dyn Processor>, NoSuchStep> {
        let at = self.find(name)?;
        Ok(self.steps.remove(at))
    }

    /// Moves the step of this name directly before another.
    ///
    /// # Errors
    /// [`NoSuchStep`] if either is not there; nothing was moved then.
    pub fn move_before(&mut self, name: &str, before: &str) -> Result<&mut Self, NoSuchStep> {
        self.find(before)?;
        let from = self.find(name)?;
        if name != before {
            let step = self.steps.remove(from);
            let to = self.find(before)?;
            self.steps.insert(to, step);
        }
        Ok(self)
    }

    /// Moves the step of this name directly behind another.
    ///
    /// # Errors
    /// [`NoSuchStep`] if either is not there; nothing was moved then.
    pub fn move_after(&mut self, name: &str, after: &str) -> Result<&mut Self, NoSuchStep> {
        self.find(after)?;
        let from = self.find(name)?;
        if name != after {
            let step = self.steps.remove(from);
            let to = self.find(after)?;
            self.steps.insert(to + 1, step);
        }
        Ok(self)
    }

    /// What is wrong with the list; nothing, if it is empty.
    #[must_use]
    pub fn validate(&self) -> Vec<Problem> {
        let names: Vec<&str> = self.names().collect();
        let mut problems = Vec::new();
        if names.is_empty() {
            problems.push(Problem::Empty);
        }
        for (index, name) in names.iter().enumerate() {
            let count = names.iter().filter(|other| *other == name).count();
            if name.trim().is_empty() {
                problems.push(Problem::Unnamed { index });
            } else if count > 1 && !names[..index].contains(name) {
                problems.push(Problem::Duplicate { name: (*name).to_owned(), count });
            }
        }
        let place = |name: &str| names.iter().position(|other| *other == name);
        for rule in MUST_FOLLOW {
            for &step in rule.steps {
                if place(step).zip(place(rule.after)).is_some_and(|(step, after)| step < after) {
                    problems.push(Problem::OutOfOrder { step, must_follow: rule.after, reason: rule.reason });
                }
            }
        }
        problems
    }

    /// Runs the steps, in order, over messages of a model's view. The same messages and steps give the same prompt.
    ///
    /// # Errors
    /// [`PipelineError`] if a step fails. A step that stops the run is no error.
    pub fn run(&self, messages: &[ProjectedMessage]) -> Result<Prompt, PipelineError> {
        let mut context = Context::new(messages);
        let mut stats = Stats { steps: Vec::with_capacity(self.steps.len()) };
        let mut stopped = None;
        for step in &self.steps {
            let (begun, messages_before) = (Instant::now(), context.messages.len());
            let outcome = step.process(&mut context);
            let (name, messages_after) = (step.name().to_owned(), context.messages.len());
            stats.steps.push(StepStats { name, time: begun.elapsed(), messages_before, messages_after });
            if let Err(cause) = outcome {
                return Err(PipelineError { step: step.name().to_owned(), cause, stats });
            }
            stopped = context.take_stopped(step.name());
            if stopped.is_some() {
                break;
            }
        }
        let Context { messages, tools, metadata, diagnostics, .. } = context;
        Ok(Prompt { messages, tools, metadata, diagnostics, stats, stopped })
    }

    fn find(&self, name: &str) -> Result<usize, NoSuchStep> {
        self.steps
            .iter()
            .position(|step| step.name() == name)
            .ok_or_else(|| NoSuchStep { name: name.to_owned(), names: self.names().map(str::to_owned).collect() })
    }
}
