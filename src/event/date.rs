//! The day that an instant falls on.

/// Microseconds of a day.
pub const MICROS_A_DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// Year, month and day of an instant (µs since the epoch, UTC) in the Gregorian calendar, also before it was in use.
///
/// ```
/// assert_eq!(seslog::event::date_of(-1), (1969, 12, 31));
/// ```
#[must_use]
pub fn date_of(micros: i64) -> (i64, i64, i64) {
    const DAYS_TO_1970: i64 = 719_468;
    const DAYS_IN_400_YEARS: i64 = 146_097;
    // Counted from 1 March of year 0, so that the day that some years lack is the last one.
    let days = micros.div_euclid(MICROS_A_DAY) + DAYS_TO_1970;
    let era = days.div_euclid(DAYS_IN_400_YEARS);
    let day_of_era = days.rem_euclid(DAYS_IN_400_YEARS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Five months from March on have 153 days, and so have the next five.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}
