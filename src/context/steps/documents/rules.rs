//! When a document is loaded.

use regex_lite::RegexBuilder;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::event::MICROS_A_DAY;

/// Most bytes that a compiled expression may take.
const REGEX_BYTES_MAX: usize = 1024 * 1024;

/// When a document is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub enum Rule {
    /// With every request.
    #[default]
    Always,
    /// If what the person said last holds one of these words, in upper or lower case.
    Keywords {
        /// The words, or several in a row.
        words: Vec<String>,
    },
    /// If what the person said last matches.
    Regex {
        /// A regular expression in the syntax of the crate `regex-lite`: that of `regex`, with classes of ASCII. It
        /// looks for its match anywhere and takes case as it is (`(?i)` changes that).
        pattern: String,
    },
    /// At certain times; what is not said does not limit.
    Time {
        /// Not before this instant, µs since the epoch.
        #[serde(default)]
        from: Option<i64>,
        /// Before this instant, µs since the epoch.
        #[serde(default)]
        until: Option<i64>,
        /// Between these times of the person's day.
        #[serde(default)]
        daily: Option<Daily>,
    },
}

/// A part of each day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Daily {
    /// Where it begins.
    pub from: TimeOfDay,
    /// Where it ends, and is no more part of it. Earlier than the beginning: on the next day. The same: a whole day.
    pub until: TimeOfDay,
}

/// A time of day, as `HH:MM`, from `00:00` to `23:59`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay(u16);

impl TimeOfDay {
    /// Minutes since midnight.
    #[must_use]
    pub fn minutes(self) -> u16 {
        self.0
    }
}

impl<'de> Deserialize<'de> for TimeOfDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = |text: &str| text.parse::<u16>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        let parts = text.split_once(':').filter(|(hour, minute)| hour.len() == 2 && minute.len() == 2);
        let parts = parts.and_then(|(hour, minute)| digits(hour).zip(digits(minute)));
        let time = parts.filter(|(hour, minute)| *hour < 24 && *minute < 60);
        let (hour, minute) =
            time.ok_or_else(|| D::Error::custom(format!("expected a time as HH:MM, found {text:?}")))?;
        Ok(Self(hour * 60 + minute))
    }
}

/// What rules are judged by.
#[derive(Debug)]
pub(super) struct Window<'a> {
    said: &'a str,
    said_lower: String,
    /// The instant, and what the person's clock shows then.
    now: Option<(i64, i64)>,
}

impl<'a> Window<'a> {
    pub(super) fn new(said: &'a str, now: Option<(i64, i64)>) -> Self {
        Self { said, said_lower: said.to_lowercase(), now }
    }
}

/// What a rule says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Met,
    NotMet,
    /// It can't be judged, for this reason.
    Unclear(String),
}

impl Verdict {
    fn of(is_met: bool) -> Self {
        if is_met { Self::Met } else { Self::NotMet }
    }
}

impl Rule {
    pub(super) fn judge(&self, window: &Window<'_>) -> Verdict {
        match self {
            Self::Always => Verdict::Met,
            Self::Keywords { words } => {
                let mut words = words.iter().map(|word| word.trim().to_lowercase()).filter(|word| !word.is_empty());
                Verdict::of(words.any(|word| window.said_lower.contains(&word)))
            }
            Self::Regex { pattern } => match RegexBuilder::new(pattern).size_limit(REGEX_BYTES_MAX).build() {
                Ok(regex) => Verdict::of(regex.is_match(window.said)),
                Err(error) => Verdict::Unclear(format!("its expression is wrong: {error}")),
            },
            Self::Time { from, until, daily } => {
                let Some((now, local)) = window.now else {
                    return Verdict::Unclear("its rule asks for the time, and none is given".to_owned());
                };
                let is_met = from.is_none_or(|from| now >= from)
                    && until.is_none_or(|until| now < until)
                    && daily.is_none_or(|daily| daily.holds(local));
                Verdict::of(is_met)
            }
        }
    }
}

impl Daily {
    /// Whether this instant of the person's clock is in it.
    fn holds(self, local: i64) -> bool {
        const MICROS_A_MINUTE: i64 = 60_000_000;
        let minute = local.rem_euclid(MICROS_A_DAY) / MICROS_A_MINUTE;
        let (from, until) = (i64::from(self.from.0), i64::from(self.until.0));
        if from < until { (from..until).contains(&minute) } else { minute >= from || minute < until }
    }
}
