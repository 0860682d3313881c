//! A list of a store: what is taken from the catalogue, and what is looked at.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::cache_lock::Pin;
use super::catalogue::{Catalogue, Seen, Unsettled, decode, decode_front};
use super::error::SessionError;
use super::file_name::id_in;
use super::keeping::{Keeping, front_of, remove, remove_mark};
use super::list_report::{CatalogueFound, CatalogueKept, ListReport};
use super::listed::{Listed, look, newest_first};
use super::spread::{beside, spread};
use super::tally::Tally;
use crate::event::Uuid;
use crate::log::{FileStamp, Fs, LogError};

/// So many files to look at, or to ask for their stamps, are worth a thread, and are one piece of its work.
const LOOKS_PIECE: usize = 16;
const STAMPS_PIECE: usize = 256;
/// A session whose title and the like are longer than this, in bytes, is read each time: the front of a catalogue stays short.
const TEXTS_KEPT_MAX: usize = 16 << 10;
/// A thread is worth so many bytes of a catalogue.
const DECODE_LEAST: usize = 128 << 10;

/// The sessions of a store, and how they were found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Listing {
    /// The last written first.
    pub sessions: Vec<Listed>,
    /// What the list found and did.
    pub report: ListReport,
}

/// One list.
pub(super) struct Lister<'a> {
    fs: &'a Arc<dyn Fs>,
    dir: &'a Path,
    /// What was not counted yet is counted.
    counts: bool,
}

/// Why a session is looked at, or not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Taken,
    New,
    Changed,
    Unsettled,
    Uncounted,
}

impl<'a> Lister<'a> {
    pub(super) fn of(fs: &'a Arc<dyn Fs>, dir: &'a Path) -> Self {
        Self { fs, dir, counts: false }
    }

    pub(super) fn counting(fs: &'a Arc<dyn Fs>, dir: &'a Path) -> Self {
        Self { counts: true, ..Self::of(fs, dir) }
    }

    /// It is known as it is, but not how much is in it.
    fn is_uncounted(&self, listed: &Listed) -> bool {
        self.counts && listed.messages.is_none() && listed.problem.is_none()
    }

    /// The files that are named like sessions, in no order.
    pub(super) fn names(&self) -> Result<Vec<(Uuid, String)>, SessionError> {
        let entries = match self.fs.list_dir(self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                let op = "list the directory";
                return Err(LogError::Io { path: self.dir.to_path_buf(), op, offset: 0, source }.into());
            }
        };
        let session = |name: String| Some((id_in(&name)?, name));
        Ok(entries.into_iter().filter_map(|entry| entry.name.into_string().ok().and_then(session)).collect())
    }

    /// All of them: every stamp is looked at.
    pub(super) fn all(&self) -> Result<Listing, SessionError> {
        // In this order: what changes between two of these steps has another stamp the next time.
        let began = self.fs.monotonic();
        let dir_stamp = self.fs.stamp(self.dir).ok().flatten();
        let pin = Pin::open(&**self.fs, self.dir);
        let bytes = pin.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string())).and_then(Pin::read);
        let is_large = bytes.as_ref().is_ok_and(|bytes| bytes.len() >= DECODE_LEAST);
        let (catalogue, listed) = beside(
            is_large,
            || self.decoded(&bytes),
            || {
                let names = self.names()?;
                let stamps = spread(&names, STAMPS_PIECE, |(_, name)| self.stamp(name));
                Ok::<_, SessionError>((names, stamps))
            },
        );
        let ((catalogue, found), (names, stamps)) = (catalogue, listed?);
        // Before a session is looked at: what is erased from now on takes away what the list goes by.
        let pin = match pin {
            Err(_) if found == CatalogueFound::Missing && !names.is_empty() => Pin::make(&**self.fs, self.dir),
            other => other.map(Some),
        };

        // By name, not by id: two names may spell the same one.
        let mut places: HashMap<&str, usize> = names.iter().map(|(_, name)| name.as_str()).zip(0..).collect();
        let mut ways = vec![Way::New; names.len()];
        // How far those that are looked at had been counted.
        let mut tallies: Vec<Option<Tally>> = vec![None; names.len()];
        for Unsettled { name, tally } in catalogue.unsettled {
            let Some(place) = places.get(name) else { continue };
            (ways[*place], tallies[*place]) = (Way::Unsettled, tally);
        }
        let mut seen: Vec<Seen<'_>> = catalogue.settled;
        seen.retain_mut(|entry| {
            // A name that the directory has not is of a session that is gone. Each place is taken once.
            let Some(place) = places.remove(entry.name) else { return false };
            ways[place] = match stamps[place] == entry.stamp {
                true if self.is_uncounted(&entry.listed) => Way::Uncounted,
                true => Way::Taken,
                false => Way::Changed,
            };
            let is_taken = ways[place] == Way::Taken;
            if !is_taken {
                tallies[place] = entry.tally.take();
            }
            is_taken
        });
        let to_look: Vec<usize> = (0..names.len()).filter(|place| ways[*place] != Way::Taken).collect();
        let looked = spread(&to_look, LOOKS_PIECE, |place| {
            let (id, name) = &names[*place];
            look(self.fs, *id, self.dir.join(name), tallies[*place].as_ref(), self.counts)
        });
        seen.extend(to_look.into_iter().zip(looked).map(|(place, looked)| {
            let is_kept = looked.is_settled && looked.listed.texts_len() <= TEXTS_KEPT_MAX;
            let ((_, name), stamp) = (&names[place], stamps[place].filter(|_| is_kept));
            Seen { name, stamp, is_new: true, listed: looked.listed, tally: looked.tally }
        }));
        seen.sort_by(|a, b| newest_first(&a.listed, &b.listed));

        let count = |wanted: Way| ways.iter().filter(|way| **way == wanted).count();
        let (fs, dir, known) = (self.fs, self.dir, catalogue.dir);
        let is_refuted = dir_stamp.is_some() && dir_stamp == known && count(Way::New) + count(Way::Changed) > 0;
        let has_counted = count(Way::Uncounted) > 0;
        let keeping = Keeping { fs, dir, pin: &pin, seen: &seen, dir_stamp, known, is_refuted, has_counted, began };
        let kept = match &pin {
            Ok(Some(pin)) if names.is_empty() || found == CatalogueFound::Erasing => {
                let removed = match found {
                    CatalogueFound::Erasing => remove_mark(fs, dir, pin),
                    _ => remove(fs, dir, pin),
                };
                removed.map(|removed| if removed { CatalogueKept::Removed } else { CatalogueKept::AsItWas })
            }
            Err(_) if found == CatalogueFound::Missing && names.is_empty() => Ok(CatalogueKept::AsItWas),
            _ => keeping.keep(),
        };
        let kept = kept.unwrap_or_else(|error| CatalogueKept::Failed(error.to_string()));
        let report = ListReport {
            found,
            kept,
            every_stamp: true,
            taken: count(Way::Taken),
            new: count(Way::New),
            changed: count(Way::Changed),
            unsettled: count(Way::Unsettled),
            uncounted: count(Way::Uncounted),
        };
        Ok(Listing { sessions: seen.into_iter().map(|seen| seen.listed).collect(), report })
    }

    /// The catalogue in these bytes, or an empty one with the reason.
    fn decoded<'b>(&self, bytes: &'b io::Result<Vec<u8>>) -> (Catalogue<'b>, CatalogueFound) {
        match bytes.as_ref().map(|bytes| decode(bytes, self.dir)) {
            // A first list has just made it, or was killed.
            _ if bytes.as_ref().is_ok_and(Vec::is_empty) => (Catalogue::default(), CatalogueFound::Missing),
            Ok(Ok(catalogue)) => (catalogue, CatalogueFound::Whole),
            Ok(Err(unusable)) => (Catalogue::default(), unusable.into()),
            Err(error) => (Catalogue::default(), error.into()),
        }
    }

    /// The last written ones, by the catalogue's front if all is as that says, or else by a list of all.
    pub(super) fn newest(&self, count: usize) -> Result<Listing, SessionError> {
        if let Some(listing) = self.quick(count) {
            return Ok(listing);
        }
        let mut listing = self.all()?;
        listing.sessions.truncate(count);
        Ok(listing)
    }

    fn quick(&self, count: usize) -> Option<Listing> {
        let dir_stamp = self.fs.stamp(self.dir).ok()??;
        let mut bytes = front_of(&**self.fs, self.dir, false).ok()?;
        let mut catalogue = decode_front(&bytes, self.dir).ok().filter(|front| front.dir == Some(dir_stamp))?;
        if count > catalogue.settled.len() && catalogue.settled.len() < catalogue.settled_count {
            bytes = front_of(&**self.fs, self.dir, true).ok()?;
            catalogue = decode(&bytes, self.dir).ok().filter(|whole| whole.dir == Some(dir_stamp))?;
        }
        catalogue.settled.truncate(count);
        if catalogue.settled.iter().any(|entry| self.stamp(entry.name) != entry.stamp) {
            return None;
        }
        // What would be counted here could not be kept.
        let is_to_be_counted = catalogue.settled.iter().any(|entry| self.is_uncounted(&entry.listed))
            || self.counts && catalogue.unsettled.iter().any(|unsettled| unsettled.tally.is_none());
        if is_to_be_counted {
            return None;
        }
        let looked = spread(&catalogue.unsettled, LOOKS_PIECE, |Unsettled { name, tally }| {
            id_in(name).map(|id| look(self.fs, id, self.dir.join(name), tally.as_ref(), self.counts).listed)
        });
        let (taken, unsettled) = (catalogue.settled.len(), looked.len());
        let mut sessions: Vec<Listed> = catalogue.settled.into_iter().map(|entry| entry.listed).collect();
        sessions.extend(looked.into_iter().flatten());
        sessions.sort_by(newest_first);
        sessions.truncate(count);
        let (found, kept) = (CatalogueFound::Whole, CatalogueKept::AsItWas);
        let report = ListReport { found, kept, every_stamp: false, taken, new: 0, changed: 0, unsettled, uncounted: 0 };
        Some(Listing { sessions, report })
    }

    fn stamp(&self, name: &str) -> Option<FileStamp> {
        self.fs.stamp(&self.dir.join(name)).ok().flatten()
    }
}
