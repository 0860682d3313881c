//! Who made a part: what a provider signed or numbered goes back to it and to no other.

use super::message::ProjectedMessage;
use crate::event::Part;

/// A provider whose own data can be sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Anthropic's own interface.
    Anthropic,
    /// OpenAI's interfaces.
    OpenAi,
    /// Google's Gemini interface.
    Google,
    /// Amazon Bedrock. What it signed for a model of Anthropic's is no good at Anthropic's own interface.
    Bedrock,
}

impl Owner {
    /// The provider of this name; none if it takes nothing back, or is not known here.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "anthropic" => Some(Self::Anthropic),
            "openai" | "openai-responses" | "openai_responses" | "openai.responses" => Some(Self::OpenAi),
            "google" | "gemini" | "google-generative-ai" | "google.generative-ai" => Some(Self::Google),
            "bedrock" | "amazon-bedrock" | "amazon_bedrock" | "amazonbedrock" => Some(Self::Bedrock),
            _ => None,
        }
    }

    /// The provider that made this part of this message.
    pub(crate) fn of(source: &ProjectedMessage, part: &Part) -> Option<Self> {
        maker(source.provider.as_deref(), part).and_then(Self::named)
    }
}

/// Who made this part of a message of this provider's, by name.
pub(crate) fn maker<'a>(provider: Option<&'a str>, part: &'a Part) -> Option<&'a str> {
    part.provider.as_deref().or(provider)
}

/// Whether two names are of one provider.
pub(crate) fn is_same_provider(one: &str, other: &str) -> bool {
    match (Owner::named(one), Owner::named(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one.eq_ignore_ascii_case(other),
    }
}

/// Whether what one model signed is for the other: they are the same but for the date or version behind the name.
///
/// Where either is not known, they count as the same: the provider alone decides then.
pub(crate) fn is_same_model(made_by: Option<&str>, wanted: Option<&str>) -> bool {
    match (made_by, wanted) {
        (Some(made_by), Some(wanted)) => base_name(made_by) == base_name(wanted),
        _ => true,
    }
}

/// A model's name without the route in front (`us.anthropic.`, `models/`) and the date or version behind.
fn base_name(model: &str) -> String {
    let name = model.to_ascii_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.split_once("anthropic.").map_or(name, |(_, name)| name);
    let name = name.split(['@', ':']).next().unwrap_or_default();
    let mut words: Vec<&str> = name.split('-').collect();
    let is_date = |word: &str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_version =
        |word: &str| word.len() > 1 && word.starts_with('v') && word[1..].bytes().all(|b| b.is_ascii_digit());
    while words.len() > 1 && words.last().is_some_and(|word| is_date(word) || is_version(word) || *word == "latest") {
        words.pop();
    }
    // A date in three words, as in `2025-08-07`.
    let is_number = |word: &&str, len: usize| word.len() == len && word.bytes().all(|byte| byte.is_ascii_digit());
    if let [name @ .., year, month, day] = words.as_slice()
        && !name.is_empty()
        && is_number(year, 4)
        && is_number(month, 2)
        && is_number(day, 2)
    {
        words.truncate(words.len() - 3);
    }
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_known_by_each_of_its_names_in_either_case() {
        for (owner, names) in [
            (Owner::Anthropic, ["anthropic", "Anthropic"].as_slice()),
            (Owner::OpenAi, &["openai", "openai-responses", "openai_responses", "openai.responses", "OpenAI"]),
            (Owner::Google, &["google", "gemini", "google-generative-ai", "google.generative-ai", "Gemini"]),
            (Owner::Bedrock, &["bedrock", "amazon-bedrock", "amazon_bedrock", "amazonBedrock"]),
        ] {
            for name in names {
                assert_eq!(Owner::named(name), Some(owner), "{name}");
            }
        }
        assert_eq!(Owner::named("mistral"), None);
    }

    #[test]
    fn a_model_is_the_same_whatever_its_route_and_date() {
        for (one, other) in [
            ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
            ("claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5-latest"),
            ("gpt-5", "gpt-5-2025-08-07"),
            ("gemini-3-pro", "models/gemini-3-pro"),
        ] {
            assert!(is_same_model(Some(one), Some(other)), "{one} and {other}");
        }
    }

    #[test]
    fn another_family_or_version_is_another_model() {
        for (one, other) in [
            ("claude-sonnet-4-5", "claude-opus-4-5"),
            ("claude-sonnet-4-5", "claude-sonnet-4"),
            ("gpt-5", "gpt-5-mini"),
            ("gemini-3-pro", "gemini-2.5-pro"),
        ] {
            assert!(!is_same_model(Some(one), Some(other)), "{one} and {other}");
        }
        assert!(is_same_model(None, Some("gpt-5")) && is_same_model(Some("gpt-5"), None));
    }
}
