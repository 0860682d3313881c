//! The signs that trees are drawn with: box characters where the locale is UTF-8, ASCII elsewhere.

/// What a tree is drawn with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Glyphs {
    /// A column that runs past.
    pub(crate) past: &'static str,
    /// Where a column is set in.
    pub(crate) side: &'static str,
    /// A message of the current chain.
    pub(crate) live: &'static str,
    /// One of another branch.
    pub(crate) other: &'static str,
    /// One that was taken back.
    pub(crate) dead: &'static str,
    /// A compaction.
    pub(crate) compaction: &'static str,
    /// Where the current chain ends.
    pub(crate) here: &'static str,
    /// A session that was forked from here.
    pub(crate) fork: &'static str,
    /// Between the first and the last of some messages.
    pub(crate) to: &'static str,
}

const BOXES: Glyphs = Glyphs {
    past: "│ ",
    side: "├─",
    live: "●",
    other: "○",
    dead: "×",
    compaction: "◇",
    here: "◀ current",
    fork: "⇢",
    to: "…",
};

const ASCII: Glyphs = Glyphs {
    past: "| ",
    side: "|-",
    live: "*",
    other: "o",
    dead: "x",
    compaction: "=",
    here: "<- current",
    fork: "->",
    to: "...",
};

impl Glyphs {
    /// Those that the locale can show: the first of these that is set says which it is.
    pub(crate) fn of_locale() -> Self {
        let set = ["LC_ALL", "LC_CTYPE", "LANG"].iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
        let name = set.map(|value| value.to_string_lossy().to_lowercase()).unwrap_or_default();
        // Where there is no such variable at all, as on Windows, terminals take UTF-8 by now.
        let is_utf8 = name.contains("utf-8") || name.contains("utf8") || (cfg!(windows) && name.is_empty());
        if is_utf8 { BOXES } else { ASCII }
    }
}
