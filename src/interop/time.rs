//! Instants as agents write them: ISO 8601, UTC, milliseconds; and as people read them.

use crate::event::date_of;

/// The time, to the second: `2026-11-29T08:05:03Z`. The instant is in µs since the epoch.
#[must_use]
pub fn rfc3339_seconds(micros: i64) -> String {
    const DAY: i64 = 24 * 60 * 60;
    let seconds = micros.div_euclid(1_000_000);
    let (year, month, day) = date_of(seconds.saturating_mul(1_000_000));
    let second = seconds.rem_euclid(DAY);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The time as agents write it: `2026-11-29T08:05:03.120Z`, with six digits where milliseconds do not say all of it.
pub(super) fn iso_millis(micros: i64) -> String {
    let seconds = rfc3339_seconds(micros);
    let fraction = micros.rem_euclid(1_000_000);
    let fraction = if fraction % 1000 == 0 { format!("{:03}", fraction / 1000) } else { format!("{fraction:06}") };
    format!("{}.{fraction}Z", seconds.trim_end_matches('Z'))
}

/// The same to the millisecond, for records that no agent has written before.
pub(super) fn iso_cut(micros: i64) -> String {
    iso_millis(micros.div_euclid(1000).saturating_mul(1000))
}

/// µs since the epoch, or none if the text is no such instant. An offset other than `Z` is taken into account.
pub(super) fn micros(text: &str) -> Option<i64> {
    let text = text.trim();
    let (date, time) = text.split_once(['T', ' '])?;
    let (year, month, day) = three(date, '-')?;
    let (time, offset) = split_offset(time)?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let (hour, minute, second) = three(clock, ':')?;
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second)
        && (0..=9999).contains(&year);
    if !in_range || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction: i64 = format!("{fraction:0<6}")[..6].parse().ok()?;
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset;
    Some(seconds * 1_000_000 + fraction)
}

fn three(text: &str, between: char) -> Option<(i64, i64, i64)> {
    let mut parts = text.split(between).map(|part| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse::<i64>().ok()).flatten()
    });
    let all = (parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then_some(all)
}

/// The time of day and its distance from UTC in seconds.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(at) = time.rfind(['+', '-']) else { return Some((time, 0)) };
    let sign = if time.as_bytes()[at] == b'-' { -1 } else { 1 };
    let (hours, minutes) = time[at + 1..].split_once(':')?;
    let two_digits = |text: &str| text.parse::<i64>().ok().filter(|_| text.len() == 2 && !text.starts_with(['+', '-']));
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    let offset = hours * 3_600 + minutes * 60;
    (hours < 24 && minutes < 60).then_some((&time[..at], sign * offset))
}

/// Days from 1970-01-01 in the Gregorian calendar; a year begins in March, so that a leap day is its last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month_of_year = (month + 9) % 12;
    let day_of_year = (153 * month_of_year + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::{iso_millis, micros};

    #[test]
    fn an_instant_is_written_as_it_is_read() {
        for text in ["2026-06-02T08:00:07.037Z", "1969-12-31T23:59:59.999Z", "2026-06-02T08:00:07.037512Z"] {
            assert_eq!(micros(text).map(iso_millis).as_deref(), Some(text));
        }
    }

    #[test]
    fn an_instant_is_read_to_the_microsecond() {
        assert_eq!(micros("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(micros("1970-01-01T00:00:01.5Z"), Some(1_500_000));
        assert_eq!(micros("2000-02-29T12:00:00.000Z"), Some(951_825_600_000_000));
        assert_eq!(micros("2026-06-02T08:00:07.037Z"), Some(1_780_387_207_037_000));
        assert_eq!(micros("2026-06-02T10:00:07.037+02:00"), Some(1_780_387_207_037_000));
        assert_eq!(micros("1969-12-31T23:59:59.999999Z"), Some(-1));
    }

    #[test]
    fn what_is_no_instant_gives_none() {
        for text in [
            "",
            "yesterday",
            "2026-06-02",
            "2026-13-02T00:00:00Z",
            "2026-06-02T00:00Z",
            "2026-06-02T+1:00:00Z",
            "2026-06-02T10:00:00+9999999999999999:00",
            "2026-06-02T10:00:00+24:00",
        ] {
            assert_eq!(micros(text), None, "{text}");
        }
    }
}
