//! What is counted: the same everywhere, also once it was amended.

use serde_json::{Value, json};

use crate::cli_support::{Home, user};

fn amend(target: &str, patch: Value) -> String {
    json!({"type": "amend", "target": target, "patch": patch}).to_string()
}

/// An application's own message.
fn custom(id: &str, display: bool, metadata: Value) -> String {
    json!({"type": "message", "id": id, "role": "user", "kind": "custom", "customType": "note", "display": display,
        "content": "a note", "metadata": metadata})
    .to_string()
}

/// Whoever hid a message in one step and changed something else of it in the next had it counted by `list` and `stat`, and not
/// by `tree`: each amend was put into the message as it was first written.
#[test]
fn two_amends_of_one_message_add_up_wherever_messages_are_counted() {
    let hide = || json!({"display": false});
    let show = || json!({"display": true});
    let named = || json!({"metadata": {"agentName": "z"}});
    let meta = || json!({"metadata": {"meta": true}});
    let cases = [
        (custom("m", true, json!({})), vec![hide()], 0),
        (custom("m", true, json!({})), vec![hide(), named()], 0),
        (custom("m", true, json!({})), vec![hide(), named(), show()], 1),
        (custom("m", false, json!({"meta": true})), vec![named(), show()], 1),
        (custom("m", false, json!({})), vec![meta(), show()], 0),
        (custom("m", false, json!({})), vec![show(), meta(), named()], 1),
        (user("m", "said"), vec![meta(), hide()], 0),
        (user("m", "said"), vec![meta(), named()], 1),
    ];
    for (message, patches, expected) in cases {
        let home = Home::new();
        let session = home.session(&[&message]);
        for (step, patch) in patches.iter().enumerate() {
            home.run_with(&["append", &session], &amend("m", patch.clone())).ends_with(0);
            // Each list goes on from where the one before has counted.
            let listed = home.run(&["list", "--json"]).ends_with(0).json()["sessions"][0]["messages"].clone();
            let tree = home.run(&["tree", &session, "--json"]).ends_with(0).json()["messages"].clone();
            let stat = home.run(&["stat", &session, "--json"]).ends_with(0).json();
            let roles: u64 = stat["roles"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
            let all = [&listed, &tree, &stat["messages"], &json!(roles)];
            assert!(all.iter().all(|count| **count == tree), "{message} {patches:?}, step {step}: {all:?}");
        }
        let tree = home.run(&["tree", &session, "--json"]).ends_with(0).json();
        assert_eq!(tree["messages"], json!(expected), "{message} {patches:?}");
    }
}
