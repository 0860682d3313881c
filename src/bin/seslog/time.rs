//! Times as people and programs read them: RFC 3339, UTC.

pub(crate) use seslog::interop::rfc3339_seconds;

/// The time, with microseconds: `2026-11-29T08:05:03.000120Z`.
pub(crate) fn rfc3339(micros: i64) -> String {
    let seconds = rfc3339_seconds(micros);
    format!("{}.{:06}Z", seconds.trim_end_matches('Z'), micros.rem_euclid(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339_says() {
        let check = |micros, expected: &str| assert_eq!(rfc3339(micros), expected);
        check(0, "1970-01-01T00:00:00.000000Z");
        check(-1, "1969-12-31T23:59:59.999999Z");
        check(951_827_696_000_000, "2000-02-29T12:34:56.000000Z");
        check(1_709_251_199_999_999, "2024-02-29T23:59:59.999999Z");
        check(4_107_542_399_000_000, "2100-02-28T23:59:59.000000Z");
        check(4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z");
        assert_eq!(rfc3339_seconds(1_000_000_000_999_999), "2001-09-09T01:46:40Z");
    }
}
