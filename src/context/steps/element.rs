//! Texts in tags, as the steps write them.

use crate::context::tag::{attribute, tagged};

/// The text in a tag of this name; none if there is no text.
pub(super) fn in_tag(name: &str, text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| tagged(name, &[], text))
}

/// The text in a tag, or the tag alone where there is no text.
pub(super) fn element(name: &str, attributes: &[(&str, &str)], text: Option<&str>) -> String {
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => tagged(name, attributes, text),
        None => {
            let attributes: String =
                attributes.iter().map(|(name, value)| format!(" {name}=\"{}\"", attribute(value))).collect();
            format!("<{name}{attributes} />")
        }
    }
}

/// Texts below each other.
pub(super) fn lines(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().collect::<Vec<_>>().join("\n")
}
