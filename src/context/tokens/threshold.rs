//! Whether a window has grown so far that its history is to be compacted.

use serde::{Deserialize, Serialize};

use super::account::{Account, Source};

/// How far a window may grow.
///
/// In JSON `{ "window": 128000, "ratio": 0.5, "drift": 1.25 }`, each of which may be left out; numbers that
/// [`Limits::new`] refuses are an error there too.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "Plain")]
pub struct Limits {
    window: u64,
    ratio: f64,
    drift: f64,
}

/// Limits that make no sense.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// A window without any tokens.
    #[error("the window holds 0 tokens; give the size of the model's window")]
    Window,
    /// A ratio that is no part of a window.
    #[error("the ratio is {found}; give a number above 0 and up to 1")]
    Ratio {
        /// What was given.
        found: f64,
    },
    /// A drift that makes less of what was counted, or no number.
    #[error("the drift is {found}; give a number from 1 to 10")]
    Drift {
        /// What was given.
        found: f64,
    },
}

impl Limits {
    /// Tokens of a window, where nothing else is said.
    pub const WINDOW: u64 = 128_000;
    /// The part of it that may be full, where nothing else is said.
    pub const RATIO: f64 = 0.5;
    /// What counted tokens are multiplied with, where nothing else is said.
    pub const DRIFT: f64 = 1.25;

    /// A window of so many tokens, of which this part (above 0, up to 1) may be full, by what was counted times `drift`
    /// (1 to 10; 1 for a counter that is exact for the model).
    ///
    /// # Errors
    /// [`LimitsError`] if a number is out of its range or none.
    pub fn new(window: u64, ratio: f64, drift: f64) -> Result<Self, LimitsError> {
        if window == 0 {
            return Err(LimitsError::Window);
        }
        if !(ratio > 0.0 && ratio <= 1.0) {
            return Err(LimitsError::Ratio { found: ratio });
        }
        if !(1.0..=10.0).contains(&drift) {
            return Err(LimitsError::Drift { found: drift });
        }
        Ok(Self { window, ratio, drift })
    }

    /// Tokens of the window.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The part of it that may be full.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// What counted tokens are multiplied with.
    #[must_use]
    pub fn drift(&self) -> f64 {
        self.drift
    }

    /// The tokens that may be used, `window` times `ratio` without its fraction.
    #[must_use]
    pub fn threshold(&self) -> u64 {
        // Both are valid, so the product is a number from 0 to the window.
        ((self.window as f64 * self.ratio).floor() as u64).min(self.window)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { window: Self::WINDOW, ratio: Self::RATIO, drift: Self::DRIFT }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Plain {
    window: u64,
    ratio: f64,
    drift: f64,
}

impl Default for Plain {
    fn default() -> Self {
        let Limits { window, ratio, drift } = Limits::default();
        Self { window, ratio, drift }
    }
}

impl TryFrom<Plain> for Limits {
    type Error = LimitsError;

    fn try_from(plain: Plain) -> Result<Self, LimitsError> {
        Self::new(plain.window, plain.ratio, plain.drift)
    }
}

/// Whether a window is to be compacted before it is sent, and the numbers behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
pub struct Verdict {
    /// The tokens as counted and reported: the number to show.
    pub raw: u64,
    /// The tokens that the verdict goes by.
    pub adjusted: u64,
    /// What they may be at most.
    pub threshold: u64,
    /// They are more.
    pub needed: bool,
    /// Where the number comes from.
    pub source: Source,
}

/// Whether a window that costs this is to be compacted.
pub fn needs_compaction(account: &Account, limits: &Limits) -> Verdict {
    let (raw, adjusted, threshold) = (account.raw(), account.adjusted(limits.drift), limits.threshold());
    Verdict { raw, adjusted, threshold, needed: adjusted > threshold, source: account.source }
}
