//! The model view: what the model is to read. The compact view is the same for a summariser.

use std::collections::BTreeSet;

use super::model_build::Builder;
use super::model_made::Made;
use super::model_order;
use super::options::Options;
use super::{ProjectedMessage, Projection, View};
use crate::event::Uuid;
use crate::session::State;

/// Projects the current chain for the model.
///
/// The order is that of the chain, but: the results of a message's calls stand right behind it, in the order of the
/// calls, and an attachment to a call stands before that call's result where only results and other attachments lie
/// between. Nothing depends on the distance from the end.
pub(super) fn project(state: &State, view: View, options: &Options) -> Projection {
    let made = build(state, view, &options_for(view, options.clone()));
    Projection { messages: made.messages, diagnostics: made.diagnostics }
}

/// The options of a view: who sums up is not shown pictures and files.
pub(super) fn options_for(view: View, mut options: Options) -> Options {
    if view == View::Compact {
        options.media = Some(BTreeSet::new());
    }
    options
}

/// Builds the whole view.
pub(super) fn build(state: &State, view: View, options: &Options) -> Made {
    let uncompacted;
    let state = if options.apply_compact_boundary || !state.is_complete() {
        state
    } else {
        uncompacted = state.uncompacted();
        &uncompacted
    };
    let mut made = Made::default();
    let mut builder = Builder::new(state, view, options, state.pairing(), &mut made);
    for entry in state.chain_head() {
        builder.add_to_head(entry);
    }
    for (place, entry) in model_order::since(state, 0) {
        builder.add(place, entry);
    }
    made
}

/// What building on a view took back and put in.
pub(super) struct Rebuilt {
    /// The messages that stood at the end before.
    pub(super) taken_back: Vec<ProjectedMessage>,
    /// Where the first of them stood.
    pub(super) from: usize,
    /// A message before those that something was put before: where it stood, and what it came from.
    pub(super) moved: Option<(usize, Vec<Uuid>)>,
}

/// Takes the view back to before this place and builds it anew from there. None if that can't be: the whole view has
/// to be built then.
pub(super) fn rebuild(made: &mut Made, state: &State, view: View, options: &Options, place: usize) -> Option<Rebuilt> {
    let (from, taken_back) = made.cut_at(place)?;
    let kept = made.messages.len();
    let mut builder = Builder::new(state, view, options, state.pairing_since(from), made);
    for (place, entry) in model_order::since(state, from) {
        builder.add(place, entry);
    }
    Some(Rebuilt { taken_back, from: kept, moved: builder.moved() })
}
