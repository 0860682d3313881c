//! A table for people: as wide as the terminal, sizes they can read.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::sanitize::{Layout, visible};

const GAP: usize = 2;

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// Numbers stand at the right.
    pub(crate) is_number: bool,
    /// Its cells are cut to this width, in terminal cells.
    pub(crate) width_max: usize,
    /// Columns of higher ranks are left out first where the width does not do; those of rank 0 stay.
    pub(crate) rank: u8,
}

/// The columns that fit, by their places, with the width of each; the last one takes what is left, at least `rest_min` where
/// leaving out others makes room for it.
pub(crate) fn fitting(columns: &[Column], rows: &[Vec<String>], width: usize, rest_min: usize) -> Vec<(usize, usize)> {
    let last = columns.len().saturating_sub(1);
    let natural = |place: usize| {
        let cells = rows.iter().filter_map(|row| row.get(place)).map(|cell| cell.width());
        cells.max().unwrap_or(0).max(columns[place].name.width()).min(columns[place].width_max)
    };
    // A column that says nothing in any row takes no room.
    let says_something = |place: &usize| rows.iter().any(|row| row.get(*place).is_some_and(|cell| !cell.is_empty()));
    let places = (0..last).filter(|place| columns[*place].rank == 0 || says_something(place));
    let mut chosen: Vec<(usize, usize)> = places.map(|place| (place, natural(place))).collect();
    let taken = |chosen: &[(usize, usize)]| chosen.iter().map(|(_, width)| width + GAP).sum::<usize>();
    while taken(&chosen) + rest_min > width {
        let Some(widest) = chosen.iter().map(|(place, _)| columns[*place].rank).max().filter(|rank| *rank > 0) else {
            break;
        };
        chosen.retain(|(place, _)| columns[*place].rank != widest);
    }
    let rest = width.saturating_sub(taken(&chosen)).max(1);
    chosen.push((last, rest));
    chosen
}

/// One cell of so many terminal cells, cut or filled up.
pub(crate) fn cell(text: &str, width: usize, is_number: bool) -> String {
    let text = cut(text, width);
    let fill = " ".repeat(width.saturating_sub(text.width()));
    if is_number { format!("{fill}{text}") } else { format!("{text}{fill}") }
}

/// The text in one line and in so many terminal cells, with a mark where something follows. Wide characters take two.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let text = visible(text, Layout::Line);
    if text.width() <= width {
        return text.into_owned();
    }
    let mut shown = String::new();
    let mut taken = 1;
    for c in text.chars() {
        taken += c.width().unwrap_or(0);
        if taken > width {
            break;
        }
        shown.push(c);
    }
    shown.push('…');
    shown
}

/// Bytes as people read them.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let (mut value, mut unit) = (bytes as f64 / 1000.0, 0);
    // As it will be rounded: no `1000 KB`.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1000.0, unit + 1);
    }
    let digits = usize::from(value < 9.95);
    format!("{value:.digits$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short_and_never_a_thousand() {
        let check = |bytes, expected: &str| assert_eq!(size(bytes), expected);
        check(0, "0 B");
        check(999, "999 B");
        check(1000, "1.0 KB");
        check(9_949, "9.9 KB");
        check(9_950, "10 KB");
        check(999_499, "999 KB");
        check(999_500, "1.0 MB");
        check(u64::MAX, "18447 PB");
    }

    #[test]
    fn wide_characters_take_two_cells_and_control_characters_are_shown() {
        assert_eq!(cut("日本語の題", 10), "日本語の題");
        assert_eq!(cut("日本語の題", 9), "日本語の…");
        assert_eq!(cut("日本語の題", 8), "日本語…");
        assert_eq!(cell("ab", 4, true), "  ab");
        assert_eq!(cell("日本", 5, false), "日本 ");
        assert!(!cut("a\u{1b}[31m\nb", 40).contains(['\u{1b}', '\n']));
        assert_eq!(cut("abc", 0), "…");
    }

    #[test]
    fn columns_that_do_not_fit_are_left_out_by_rank() {
        let column = |name, rank| Column { name, is_number: false, width_max: 10, rank };
        let columns = [column("ID", 0), column("AGENT", 2), column("MODEL", 1), column("TITLE", 0)];
        let row: Vec<String> = ["01920000", "claude", "opus", "a title"].map(str::to_owned).into();
        let places = |width| {
            fitting(&columns, std::slice::from_ref(&row), width, 20).iter().map(|(place, _)| *place).collect::<Vec<_>>()
        };
        assert_eq!(places(80), [0, 1, 2, 3]);
        assert_eq!(places(40), [0, 2, 3]);
        assert_eq!(places(30), [0, 3]);
        let silent = vec!["01920000".to_owned(), String::new(), String::new(), "t".to_owned()];
        assert_eq!(fitting(&columns, &[silent], 80, 20).len(), 2);
    }
}
