//! Times as programs read them (RFC 3339, UTC), and as people read and write them (local time).

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};
use seslog::event::date_of;
pub(crate) use seslog::interop::rfc3339_seconds;

use crate::exit::{Outcome, Told};

/// The time, with microseconds: `2026-11-29T08:05:03.000120Z`. None for a year that RFC 3339 has no digits for.
pub(crate) fn rfc3339(micros: i64) -> Option<String> {
    if !(0..=9999).contains(&date_of(micros).0) {
        return None;
    }
    let seconds = rfc3339_seconds(micros);
    Some(format!("{}.{:06}Z", seconds.trim_end_matches('Z'), micros.rem_euclid(1_000_000)))
}

/// The time where the reader is, by TZ or the system's zone: `2026-11-29 09:05:03`.
pub(crate) fn local(micros: i64) -> String {
    local_as(micros, "%Y-%m-%d %H:%M:%S")
}

/// The same without seconds.
pub(crate) fn local_minutes(micros: i64) -> String {
    local_as(micros, "%Y-%m-%d %H:%M")
}

fn local_as(micros: i64, form: &str) -> String {
    match Timestamp::from_microsecond(micros) {
        Ok(time) => time.to_zoned(TimeZone::system()).strftime(form).to_string(),
        // Whatever wrote that, it is told as it is.
        Err(_) => rfc3339_seconds(micros),
    }
}

/// Which end of a day is meant by a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    First,
    Last,
}

/// The time that a person names: RFC 3339, a local date, or so long ago (`2d`, `3h`).
pub(crate) fn named(text: &str, end: End) -> Outcome<i64> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.as_microsecond());
    }
    // A time in the last day of the calendar, which no time zone has whole.
    if text.strip_suffix('Z').is_some_and(|text| text.parse::<DateTime>().is_ok_and(|time| time.year() == 9999)) {
        return Ok(Timestamp::MAX.as_microsecond());
    }
    let day = text.parse::<Date>().ok().filter(|_| text.len() == "2026-11-29".len());
    let time = match day {
        Some(day) => on(day, end),
        None => ago(text),
    };
    time.ok_or_else(|| {
        let forms = "a date (2026-11-29), a time (2026-11-29T08:05:03Z), or so long ago (30m, 3h, 2d, 1w)";
        Told::usage(format!("`{text}` is no time; give {forms}")).into()
    })
}

fn on(day: Date, end: End) -> Option<i64> {
    let start = |day: Date| Some(day.to_zoned(TimeZone::system()).ok()?.timestamp().as_microsecond());
    let time = match end {
        End::First => start(day),
        End::Last => day.tomorrow().ok().and_then(start).map(|next| next - 1),
    };
    // The calendar's first and last days are not whole in every time zone: then they mean the first and the last time.
    let edge = if day.year() > 0 { Timestamp::MAX } else { Timestamp::MIN };
    Some(time.unwrap_or(edge.as_microsecond()))
}

fn ago(text: &str) -> Option<i64> {
    let (count, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let count: i64 = count.parse().ok().filter(|count| (0..100_000).contains(count))?;
    let span = match unit {
        "m" => count.minutes(),
        "h" => count.hours(),
        "d" => count.days(),
        "w" => count.weeks(),
        _ => return None,
    };
    Some(Zoned::now().checked_sub(span).ok()?.timestamp().as_microsecond())
}

/// So many microseconds, as people say it: `3 h 5 min`.
pub(crate) fn span(micros: i64) -> String {
    let seconds = micros.max(0) / 1_000_000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, _) if micros < 10_000_000 => format!("{:.1} s", micros.max(0) as f64 / 1e6),
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339_says() {
        let check = |micros, expected: &str| assert_eq!(rfc3339(micros).as_deref(), Some(expected));
        check(0, "1970-01-01T00:00:00.000000Z");
        check(-1, "1969-12-31T23:59:59.999999Z");
        check(951_827_696_000_000, "2000-02-29T12:34:56.000000Z");
        check(1_709_251_199_999_999, "2024-02-29T23:59:59.999999Z");
        check(4_107_542_399_000_000, "2100-02-28T23:59:59.000000Z");
        check(4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z");
        check(253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z");
        check(-62_167_219_200_000_000, "0000-01-01T00:00:00.000000Z");
        for beyond in [253_402_300_800_000_000, -62_167_219_200_000_001, i64::MAX, i64::MIN] {
            assert_eq!(rfc3339(beyond), None, "{beyond}");
        }
        assert_eq!(rfc3339_seconds(1_000_000_000_999_999), "2001-09-09T01:46:40Z");
    }

    #[test]
    fn what_is_no_time_is_refused_and_far_times_are_told() {
        for text in ["", "d", "-1d", "2y", "2026-13-01", "tomorrow", "99999999999999999999d", "ü", "1ü"] {
            assert!(named(text, End::First).is_err(), "{text}");
        }
        assert_eq!(named("1970-01-01T00:00:01Z", End::Last).ok(), Some(1_000_000));
        let day = |end| named("2026-11-29", end).ok().unwrap();
        assert!((22..=26).contains(&((day(End::Last) - day(End::First)) / 3_600_000_000 + 1)));
        for last in ["9999-12-31", "9999-12-30", "9999-12-31T23:59:59Z"] {
            assert!(named(last, End::First).ok() > day(End::First).into(), "{last}");
            assert!(named(last, End::Last).ok() > day(End::Last).into(), "{last}");
        }
        assert!(named("-9999-01-01", End::First).is_err(), "a minus is no part of a date here");
        let ago = named("2h", End::First).ok().unwrap();
        assert!((7_200_000_000..7_260_000_000).contains(&(Timestamp::now().as_microsecond() - ago)));
        for far in [i64::MIN, i64::MAX] {
            assert!(!local(far).is_empty());
        }
    }
}
