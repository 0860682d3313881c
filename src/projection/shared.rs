//! Contents of a view, shared with the state that they come from.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::event::{Event, Kind, Part};

/// A part or kind of a recorded event, shared with the state that holds it, or one that a view made.
///
/// It reads like what it holds. A view copies no contents: only what it shortens or puts in is its own.
pub struct Shared<T>(Held<T>);

enum Held<T> {
    Recorded { event: Arc<Event>, index: usize, find: fn(&Event, usize) -> Option<&T> },
    Made(Arc<T>),
    PutIn(Arc<T>),
}

impl Shared<Part> {
    /// The parts of a recorded message, in order. None if the event is no message.
    pub fn parts_of(event: &Arc<Event>) -> impl Iterator<Item = Self> + '_ {
        let count = event.message().map_or(0, |message| message.content.len());
        (0..count).map(|index| Self(Held::Recorded { event: event.clone(), index, find: part }))
    }

    /// The part at this place of a recorded message.
    pub(super) fn part_of(event: &Arc<Event>, index: usize) -> Option<Self> {
        part(event, index)?;
        Some(Self(Held::Recorded { event: event.clone(), index, find: part }))
    }
}

impl Shared<Part> {
    /// Its place among the parts of the recorded message; none if a view made it.
    fn place(&self) -> Option<usize> {
        match self.0 {
            Held::Recorded { index, .. } => Some(index),
            Held::Made(_) | Held::PutIn(_) => None,
        }
    }
}

/// The parts of the recorded message of this kind that are not among these parts of a view, each with the place among
/// them before which it stood. None can be told if the view made any of them.
pub(crate) fn left_out<'a>(kind: &'a Shared<Kind>, shown: &[Shared<Part>]) -> Vec<(usize, &'a Part)> {
    let Held::Recorded { event, .. } = &kind.0 else { return Vec::new() };
    let Some(mut places) = shown.iter().map(Shared::place).collect::<Option<Vec<usize>>>() else { return Vec::new() };
    let recorded = event.message().map_or(&[][..], |message| &message.content);
    if recorded.len() == shown.len() {
        return Vec::new();
    }
    places.sort_unstable();
    let before = |index: usize| places.partition_point(|place| *place < index);
    let left_out = recorded.iter().enumerate().filter(|(index, _)| places.get(before(*index)) != Some(index));
    left_out.map(|(index, part)| (before(index), part)).collect()
}

impl<T> Shared<T> {
    /// The recorded event that this belongs to; none if a view, or prompt assembly, made it.
    #[must_use]
    pub fn event(&self) -> Option<&Arc<Event>> {
        match &self.0 {
            Held::Recorded { event, .. } => Some(event),
            Held::Made(_) | Held::PutIn(_) => None,
        }
    }

    /// What prompt assembly put in on behalf of the application. A view's own text may hold what a tool said, so by its
    /// looks alone it would not be told from this.
    pub(crate) fn put_in(own: T) -> Self {
        Self(Held::PutIn(Arc::new(own)))
    }

    /// Whether [`Shared::put_in`] made it.
    pub(crate) fn is_put_in(&self) -> bool {
        matches!(self.0, Held::PutIn(_))
    }

    /// Whether it stands like this in a recorded event.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.event().is_some()
    }
}

impl Shared<Kind> {
    /// The kind of a recorded message; none if the event is no message.
    #[must_use]
    pub fn kind_of(event: &Arc<Event>) -> Option<Self> {
        event.message()?;
        Some(Self(Held::Recorded { event: event.clone(), index: 0, find: kind }))
    }
}

fn part(event: &Event, index: usize) -> Option<&Part> {
    event.message()?.content.get(index)
}

fn kind(event: &Event, _index: usize) -> Option<&Kind> {
    Some(&event.message()?.kind)
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Held::Recorded { event, index, find } => {
                find(event, *index).expect("it was found when this was made, and events never change")
            }
            Held::Made(own) | Held::PutIn(own) => own,
        }
    }
}

impl<T> From<T> for Shared<T> {
    fn from(own: T) -> Self {
        Self(Held::Made(Arc::new(own)))
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Held::Recorded { event, index, find } => {
                Held::Recorded { event: event.clone(), index: *index, find: *find }
            }
            Held::Made(own) => Held::Made(own.clone()),
            Held::PutIn(own) => Held::PutIn(own.clone()),
        })
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl PartialEq<Part> for Shared<Part> {
    fn eq(&self, other: &Part) -> bool {
        **self == *other
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
