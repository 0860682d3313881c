//! What steps tell each other and the caller: a map with one entry a type.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Something that a step leaves behind. The type belongs to the step, so no list of all of them is needed.
pub trait Entry: Any + Debug + Serialize + Send + Sync {
    /// The name that it has in JSON: the step's, where it leaves one thing.
    const NAME: &'static str;
}

/// Typed entries, each under its own type.
#[derive(Debug, Default)]
pub struct Metadata {
    entries: BTreeMap<TypeId, Held>,
}

#[derive(Debug)]
struct Held {
    name: &'static str,
    entry: Box<dyn Stored>,
}

/// An entry without its type.
trait Stored: Any + Debug + Send + Sync {
    fn json(&self) -> Result<Box<serde_json::value::RawValue>, serde_json::Error>;
}

impl<T: Entry> Stored for T {
    fn json(&self) -> Result<Box<serde_json::value::RawValue>, serde_json::Error> {
        serde_json::value::to_raw_value(self)
    }
}

impl Metadata {
    /// Puts an entry in; one of this type that was there is given back.
    pub fn insert<T: Entry>(&mut self, entry: T) -> Option<T> {
        let held = Held { name: T::NAME, entry: Box::new(entry) };
        let before: Box<dyn Any> = self.entries.insert(TypeId::of::<T>(), held)?.entry;
        before.downcast().ok().map(|before| *before)
    }

    /// The entry of this type.
    #[must_use]
    pub fn get<T: Entry>(&self) -> Option<&T> {
        let entry: &dyn Any = &*self.entries.get(&TypeId::of::<T>())?.entry;
        entry.downcast_ref()
    }

    /// The entry of this type, to be changed.
    pub fn get_mut<T: Entry>(&mut self) -> Option<&mut T> {
        let entry: &mut dyn Any = &mut *self.entries.get_mut(&TypeId::of::<T>())?.entry;
        entry.downcast_mut()
    }

    /// Takes the entry of this type out.
    pub fn remove<T: Entry>(&mut self) -> Option<T> {
        let entry: Box<dyn Any> = self.entries.remove(&TypeId::of::<T>())?.entry;
        entry.downcast().ok().map(|entry| *entry)
    }
}

/// An object, sorted by name, so that the same run gives the same bytes.
impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut held: Vec<&Held> = self.entries.values().collect();
        held.sort_by_key(|held| held.name);
        let mut map = serializer.serialize_map(Some(held.len()))?;
        for Held { name, entry } in held {
            map.serialize_entry(name, &entry.json().map_err(serde::ser::Error::custom)?)?;
        }
        map.end()
    }
}
