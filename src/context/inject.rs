//! Steps that only add text: what they say is theirs, where it goes and how it joins others is shared.

use std::fmt::Debug;
use std::panic::resume_unwind;
use std::thread::Builder;

use super::error::BoxError;
use super::processor::{Context, Processor, code};
use super::slots::{self, Slot};
use crate::projection::Diagnostic;

/// Where the text of an [`Inject`] comes from. It reads and changes nothing.
pub trait Source: Debug + Send + Sync {
    /// The text; none: nothing is written.
    ///
    /// # Errors
    /// As [`Processor::process`].
    fn content(&self, context: &Context<'_>) -> Result<Option<String>, BoxError>;
}

/// A fixed text.
impl Source for String {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        Ok(Some(self.clone()))
    }
}

/// Nothing, or what is there.
impl<S: Source> Source for Option<S> {
    fn content(&self, context: &Context<'_>) -> Result<Option<String>, BoxError> {
        self.as_ref().map_or(Ok(None), |source| source.content(context))
    }
}

impl Source for Box<dyn Source> {
    fn content(&self, context: &Context<'_>) -> Result<Option<String>, BoxError> {
        (**self).content(context)
    }
}

/// A step that writes what a source says into a slot.
#[derive(Debug)]
pub struct Inject<S = Box<dyn Source>> {
    name: String,
    slot: Slot,
    source: S,
}

impl<S: Source> Inject<S> {
    /// A step of this name.
    #[must_use]
    pub fn new(name: impl Into<String>, slot: Slot, source: S) -> Self {
        Self { name: name.into(), slot, source }
    }

    /// The same without the type of its source, as [`SideBySide`] wants it.
    #[must_use]
    pub fn boxed(self) -> Inject
    where
        S: 'static,
    {
        Inject { name: self.name, slot: self.slot, source: Box::new(self.source) }
    }

    fn apply(&self, context: &mut Context<'_>, text: Option<String>) {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return };
        slots::write(&mut context.messages, self.slot, &text);
        let reason = format!("{} wrote {} bytes into the slot {}", self.name, text.len(), self.slot.name());
        context.say(Diagnostic::new(code::INJECTED, [], reason));
    }
}

impl<S: Source> Processor for Inject<S> {
    fn name(&self) -> &str {
        &self.name
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let text = self.source.content(context)?;
        self.apply(context, text);
        Ok(())
    }
}

/// Several sources that wait for something, such as a search or a service: they are asked at the same time, each in a
/// thread of its own, and written in the order of the list, so that the result does not depend on who was first.
///
/// They see the messages as they were before the first of them wrote. If several fail, the first of the list is told.
#[derive(Debug)]
pub struct SideBySide {
    name: String,
    sources: Vec<Inject>,
}

impl SideBySide {
    /// A step of this name.
    #[must_use]
    pub fn new(name: impl Into<String>, sources: Vec<Inject>) -> Self {
        Self { name: name.into(), sources }
    }
}

/// One of several sources failed.
#[derive(Debug, thiserror::Error)]
#[error("`{name}`: {cause}")]
struct SourceFailed {
    name: String,
    #[source]
    cause: BoxError,
}

impl Processor for SideBySide {
    fn name(&self) -> &str {
        &self.name
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let read_only: &Context<'_> = context;
        let texts: Vec<Result<Option<String>, BoxError>> = std::thread::scope(|scope| {
            let mut asked = Vec::with_capacity(self.sources.len());
            for inject in &self.sources {
                // The name of a thread holds no NUL.
                let named = Builder::new().name(inject.name.replace('\0', " "));
                asked.push(named.spawn_scoped(scope, move || inject.source.content(read_only)));
            }
            let ended = asked.into_iter().map(|thread| thread?.join().unwrap_or_else(|panic| resume_unwind(panic)));
            ended.collect()
        });
        let mut told = Vec::with_capacity(texts.len());
        for (inject, text) in self.sources.iter().zip(texts) {
            told.push((inject, text.map_err(|cause| SourceFailed { name: inject.name.clone(), cause })?));
        }
        for (inject, text) in told {
            inject.apply(context, text);
        }
        Ok(())
    }
}
