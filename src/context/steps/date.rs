//! The day, for a model that has no clock.

use serde::Deserialize;

use crate::context::slots::Slot;
use crate::context::{BoxError, Context, Inject, Source};
use crate::event::date_of;

/// The step's name.
pub const NAME: &str = "date";

/// When it is, as the application says; nothing here reads a clock, so that the same input gives the same prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Date {
    /// The instant, µs since the epoch.
    pub now: i64,
    /// How far the person's clock is ahead of UTC, in minutes. Default 0.
    #[serde(default)]
    pub offset_minutes: i32,
    /// The name of the person's time zone, such as `Europe/Berlin`. Default: `UTC`, with the offset if there is one.
    #[serde(default)]
    pub zone: Option<String>,
}

/// A step that writes the date into the system slot: the day only, since each change there costs a provider's cache.
#[must_use]
pub fn step(date: Option<Date>) -> Inject<Option<Date>> {
    Inject::new(NAME, Slot::System, date)
}

impl Source for Date {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        let (year, month, day) = date_of(local(self.now, self.offset_minutes));
        let zone = self.zone.clone().unwrap_or_else(|| offset(self.offset_minutes));
        Ok(Some(format!("Current date: {year:04}-{month:02}-{day:02} ({zone})")))
    }
}

/// What a clock shows that is so many minutes ahead of UTC, as an instant that reads so in UTC.
pub(super) fn local(now: i64, offset_minutes: i32) -> i64 {
    const MICROS_A_MINUTE: i64 = 60_000_000;
    now.saturating_add(i64::from(offset_minutes) * MICROS_A_MINUTE)
}

fn offset(minutes: i32) -> String {
    match minutes {
        0 => "UTC".to_owned(),
        _ => {
            let (sign, minutes) = (if minutes < 0 { '-' } else { '+' }, minutes.unsigned_abs());
            format!("UTC{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
    }
}
