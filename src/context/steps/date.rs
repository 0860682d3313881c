//! The day, for a model that has no clock.

use serde::Deserialize;

use crate::context::slots::Slot;
use crate::context::{BoxError, Context, Inject, Source};
use crate::event::date_of;

/// The step's name.
pub const NAME: &str = "date";

/// When it is; nothing here reads a clock, so that the same input gives the same prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Date {
    /// The instant, µs since the epoch. None: that of the last message.
    pub now: Option<i64>,
    /// How far the person's clock is ahead of UTC, in minutes. Default 0.
    pub offset_minutes: i32,
    /// The name of the person's time zone, such as `Europe/Berlin`. Default: `UTC`, with the offset if there is one.
    pub zone: Option<String>,
}

/// A step that writes the date into the system slot: the day only, since each change there costs a provider's cache.
#[must_use]
pub fn step(date: Option<Date>) -> Inject<Option<Date>> {
    Inject::new(NAME, Slot::System, date)
}

impl Source for Date {
    fn content(&self, context: &Context<'_>) -> Result<Option<String>, BoxError> {
        let Some(now) = self.instant(context) else { return Ok(None) };
        let (year, month, day) = date_of(self.local(now));
        let zone = self.zone.clone().unwrap_or_else(|| offset(self.offset_minutes));
        Ok(Some(format!("Current date: {year:04}-{month:02}-{day:02} ({zone})")))
    }
}

impl Date {
    /// When the prompt is made; none if nothing tells.
    pub(super) fn instant(&self, context: &Context<'_>) -> Option<i64> {
        let recorded = context.input().iter().rev().filter(|message| message.kind.is_recorded());
        self.now.or_else(|| recorded.map(|message| message.at).next())
    }

    /// What the person's clock shows at this instant, as an instant that reads so in UTC.
    pub(super) fn local(&self, instant: i64) -> i64 {
        const MICROS_A_MINUTE: i64 = 60_000_000;
        instant.saturating_add(i64::from(self.offset_minutes) * MICROS_A_MINUTE)
    }
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
