//! Which messages the program injected itself, and which of all begin a turn that can be rolled back.

use crate::event::Value;

/// How the texts begin that the program writes in a user's place.
const OF_USER: [&str; 14] = [
    "<environment_context>",
    "<user_instructions>",
    "# agents.md instructions",
    "<skill>",
    "<skills_instructions>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<recommended_plugins>",
    "<user_action>",
    "<goal_context>",
    "<hook_prompt",
    "<apps_instructions>",
    "<plugins_instructions>",
];

/// How the texts of a developer begin that the program writes anew for each turn.
const OF_DEVELOPER: [&str; 18] = [
    "<permissions instructions>",
    "approved command prefix saved:",
    "<model_switch>",
    "<collaboration_mode>",
    "<multi_agent_role>",
    "<multi_agent_mode>",
    "<realtime_conversation>",
    "<personality_spec>",
    "<role_spec>",
    "<token_budget>",
    "<rollout_budget>",
    "<context_window>",
    "<context_window_guidance>",
    "<environments_instructions>",
    "<git_attribution>",
    "<apps_instructions>",
    "<skills_instructions>",
    "<plugins_instructions>",
];

/// Whether a message was injected as context. One text that was suffices.
pub(super) fn is_contextual(role: &str, content: &[Value]) -> bool {
    let beginnings = match role {
        "user" => &OF_USER[..],
        "developer" => &OF_DEVELOPER[..],
        _ => return false,
    };
    texts(content).any(|text| begins_with_one(text, beginnings))
}

/// Whether a message of the user's is a command that a person ran beside the model: context, yet a person's.
pub(super) fn is_persons_command(content: &[Value]) -> bool {
    texts(content).any(|text| begins_with_one(text, &["<user_shell_command>"]))
}

/// Whether a message of the model's is an instruction from one agent to another.
pub(super) fn is_instruction(content: &[Value]) -> bool {
    let [block] = content else { return false };
    let Some(text) = block.get("text").and_then(Value::as_text).filter(|text| text.starts_with('{')) else {
        return false;
    };
    let Ok((value, _)) = Value::parse_json(text) else { return false };
    let has = |name: &str| value.get(name).and_then(Value::as_text).is_some();
    has("author") && has("recipient") && has("content") && value.get("trigger_turn").and_then(Value::as_bool).is_some()
}

/// The texts of a message's blocks.
pub(super) fn texts(content: &[Value]) -> impl Iterator<Item = &str> {
    content.iter().filter_map(|block| block.get("text").and_then(Value::as_text))
}

fn begins_with_one(text: &str, beginnings: &[&str]) -> bool {
    let text = text.trim_start().as_bytes();
    let begins = |with: &&str| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()));
    beginnings.iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(texts: &[&str]) -> Vec<Value> {
        texts.iter().map(|text| Value::from([("type", "input_text".into()), ("text", (*text).into())])).collect()
    }

    #[test]
    fn what_the_program_wrote_is_told_from_what_a_person_wrote() {
        for injected in ["<environment_context>\n</environment_context>", " # AGENTS.md instructions for /x", "<Skill>"]
        {
            assert!(is_contextual("user", &content(&[injected])), "{injected}");
            assert!(!is_contextual("assistant", &content(&[injected])), "{injected}");
        }
        assert!(is_contextual("user", &content(&["<recommended_plugins>", "words"])));
        for typed in ["# Context from my IDE setup:\n", "<image name=[Image #1]>", "Fix <skill> tags", "", "<"] {
            assert!(!is_contextual("user", &content(&[typed])), "{typed}");
        }
        assert!(is_contextual("developer", &content(&["<permissions instructions>ask</permissions instructions>"])));
        assert!(!is_contextual("developer", &content(&["Stay inside."])));
    }

    #[test]
    fn an_instruction_between_agents_is_one_text_of_json() {
        let said =
            r#"{"author":"/root","recipient":"/root/a","other_recipients":[],"content":"go","trigger_turn":true}"#;
        assert!(is_instruction(&content(&[said])));
        assert!(!is_instruction(&content(&[said, "more"])));
        assert!(!is_instruction(&content(&[r#"{"author":"/root"}"#])));
    }
}
