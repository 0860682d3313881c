//! A look at a session at one moment: its events, its states, and the views and bodies made of them.

use seslog::context::{Config, Pipeline, Prompt};
use seslog::event::{Body, Event, Kind, Part, PartBody, Role, ToolOutput, Uuid, decode};
use seslog::log::{FrameType, LogView};
use seslog::projection::{Diagnostic, Options, ProjectedMessage, Projection, View, project};
use seslog::session::{ResumeReport, State};
use seslog::wire;

use super::names::Names;
use crate::bodies::{Made, ai_sdk, made};

/// What is looked at.
#[derive(Debug)]
pub struct Look {
    pub names: Names,
    /// All events that can be read, in file order.
    pub events: Vec<Event>,
    /// The state as a resume has it.
    pub state: State,
    /// The state from the very beginning, parents of a fork included.
    pub whole: State,
    /// How the open went: `clean`, `recovered`, `corrupt` or `error:` and the error by sense.
    pub opened: Option<String>,
    pub report: Option<ResumeReport>,
    /// What whoever read the events in had to say of them.
    pub said_at_import: Vec<Diagnostic>,
    /// What the case says of prompt assembly.
    pub config: Config,
    pub options: Options,
    /// Limits on pictures, in the place of the provider's own.
    pub limits: Option<wire::MediaLimits>,
}

/// The events of a log in file order, as far as they can be read.
pub fn log_events(log: &LogView) -> Vec<Event> {
    let frames = log.frames(0).map_while(Result::ok);
    let is_event = |frame: &seslog::log::Frame| {
        matches!(frame.frame_type(), FrameType::Event | FrameType::Boundary | FrameType::Change | FrameType::Head)
    };
    frames.filter(is_event).map(|frame| decode(frame.payload()).unwrap()).collect()
}

impl Look {
    /// Words of the events, in file order; events that the case gave no word are left out.
    pub fn event_words(&self) -> Vec<String> {
        self.events.iter().filter_map(|event| self.names.word_of(event)).collect()
    }

    /// The participants from the root to the leaf.
    pub fn chain(&self) -> Vec<String> {
        self.names.words(self.whole.history().into_iter().map(|entry| entry.event.id))
    }

    pub fn leaf(&self) -> Option<String> {
        self.state.leaf().map(|entry| self.names.word(entry.event.id))
    }

    pub fn model(&self) -> Projection {
        project(&self.state, View::Model, &self.options)
    }

    /// What prompt assembly makes of the model's view.
    pub fn prompt(&self) -> Prompt {
        Pipeline::standard(&self.config).run(&self.model().messages).unwrap()
    }

    /// Whether a picture or file is in what a summariser reads.
    pub fn compact_has_media(&self) -> bool {
        let compact = project(&self.state, View::Compact, &self.options);
        let is_media = |part: &Part| matches!(part.body, PartBody::Image(_) | PartBody::File(_));
        compact.messages.iter().flat_map(|message| &message.content).any(|part| match &part.body {
            PartBody::ToolResult(result) => match &result.output {
                ToolOutput::Parts(parts) => parts.iter().any(is_media),
                ToolOutput::Text(_) => false,
            },
            _ => is_media(part),
        })
    }

    pub fn transcript(&self) -> Projection {
        project(&self.whole, View::Transcript, &self.options)
    }

    /// Words of a view's messages; system and progress messages are left out, as the cases want it.
    pub fn words(&self, view: &Projection) -> Vec<String> {
        self.words_of(&view.messages)
    }

    /// The same of any messages.
    pub fn words_of(&self, messages: &[ProjectedMessage]) -> Vec<String> {
        let is_compared = |message: &&ProjectedMessage| {
            message.role != Role::System && !matches!(*message.kind, Kind::Progress(_) | Kind::SystemEvent(_))
        };
        let messages = messages.iter().filter(is_compared);
        messages.flat_map(|message| message.source_message_ids.iter().map(|id| self.names.word(*id))).collect()
    }

    /// The body for the AI SDK, for a request that goes to this provider.
    pub fn body(&self, provider: Option<&str>) -> Made {
        let options = provider.map_or_else(wire::Options::default, wire::Options::for_upstream);
        ai_sdk(&self.prompt().messages, &options)
    }

    /// The body of this form, for a request to whichever model answered last. The cases' Gemini is one that wants no
    /// signature of a call that has none, and they do not put in a last word of the user's.
    pub fn body_of(&self, provider: wire::Provider) -> Made {
        let mut options = wire::Options::default();
        options.media = self.limits;
        if provider == wire::Provider::Gemini {
            options.model = Some("gemini-2.5-pro".to_owned());
            options.last_user = false;
        }
        made(&self.prompt().messages, provider, &options)
    }

    /// The event of this id.
    pub fn event(&self, id: Uuid) -> Option<&Event> {
        self.events.iter().find(|event| event.id == id)
    }

    /// Whether the session was told a message of this word.
    pub fn message(&self, word: &str) -> Option<&Event> {
        self.event(self.names.id(word)).filter(|event| matches!(event.body, Body::Message(_)))
    }
}
