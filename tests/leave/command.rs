//! `seslog export --format claude-code|codex|pi`.

use crate::cli_support::Home;

const STORY: [&str; 6] = [
    r#"{"type":"message","id":"u1","role":"user","kind":"user_input","content":"Count the bees."}"#,
    r#"{"type":"message","id":"a1","role":"assistant","kind":"tool_call","provider":"anthropic","model":"claude-x","content":[{"type":"reasoning","text":"Hm.","signature":"c2ln","provider":"anthropic"},{"type":"tool_call","id":"call_1","name":"count","input":{"what":"bees"}}]}"#,
    r#"{"type":"message","id":"r1","role":"tool","kind":"tool_result","content":[{"type":"tool_result","callId":"call_1","output":"twelve"}]}"#,
    r#"{"type":"message","id":"a2","role":"assistant","kind":"assistant_text","provider":"anthropic","model":"claude-x","content":"Twelve."}"#,
    r#"{"type":"message","id":"u2","role":"user","kind":"user_input","content":"And wasps?"}"#,
    r#"{"type":"meta","title":"Bees","cwd":"/home/dev/bees"}"#,
];

#[test]
fn a_file_for_another_agent_is_written_and_what_it_lacks_is_said() {
    for (format, place) in [
        ("claude-code", "~/.claude/projects/-home-dev-bees/"),
        ("codex", "~/.codex/sessions/"),
        ("pi", "~/.pi/agent/sessions/--home-dev-bees--/"),
    ] {
        let home = Home::new();
        let session = home.session(&STORY);
        let file = home.path().join("out.jsonl");
        let name = file.to_str().unwrap();
        let ran = home.run(&["export", &session, "--format", format, "-o", name]).ends_with(0);
        assert!(ran.stderr.contains(place), "{ran:?}");
        assert_eq!(ran.stderr.contains("reasoning"), format == "codex", "{ran:?}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        home.run(&["export", &session, "--format", format, "-o", name]).ends_with(2);
        let ran =
            home.run(&["export", &session, "--format", format, "-o", name, "--force", "--json"]).ends_with(0).json();
        // What is said there comes back beside the session, and does not get mixed with it.
        let named = ran["agent"]["session"].as_str().unwrap().to_owned();
        assert!(named != session && ran["agent"]["resume"].as_str().unwrap().ends_with(&named), "{ran}");
        let elsewhere = home.path().join("elsewhere");
        let there = elsewhere.to_str().unwrap();
        let again = home.run(&["--store", there, "import", name, "--json"]).ends_with(0).json();
        assert_eq!(again["session"], named, "the file is known by what it holds: {again}");
        let shown = home.run(&["--store", there, "show", &named, "--view", "model"]).ends_with(0).stdout;
        for text in ["Count the bees.", "twelve", "And wasps?"] {
            assert!(shown.contains(text), "{format}: {shown}");
        }
    }
}

#[test]
fn a_fork_takes_its_whole_story_along() {
    let home = Home::new();
    let session = home.session(&STORY);
    let all = home.run(&["export", &session]).ends_with(0).json_lines();
    let at = all[4]["id"].as_str().unwrap();
    let fork = home.run(&["fork", &session, "--at", at, "--json"]).ends_with(0).json();
    let fork = fork["session"].as_str().unwrap().to_owned();
    for format in ["claude-code", "codex", "pi"] {
        let file = home.run(&["export", &fork, "--format", format]).ends_with(0).stdout;
        assert!(file.contains("Count the bees.") && file.contains("Twelve.") && !file.contains("And wasps?"), "{file}");
        let of_parent = home.run(&["export", &session, "--format", format]).ends_with(0).stdout;
        assert_ne!(file.lines().next(), of_parent.lines().next(), "{format}: the file is of the fork\n{file}");
    }
}

#[test]
fn a_sub_agent_is_linked_to_the_call_that_started_it() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/claude-code");
    let read = |name: &str| std::fs::read(data.join(name)).unwrap();
    let parent = "5b1e0a10-0003-4000-8000-0000000000a3";
    let home = Home::new();
    let dir = home.path().join("projects/lighthouse");
    let agents = dir.join(parent).join("subagents");
    std::fs::create_dir_all(&agents).unwrap();
    // Agents come before their parents by name, and one names no call that is there.
    std::fs::write(agents.join("agent-a77c01.jsonl"), read("modern-2.1.agent-a77c01.jsonl")).unwrap();
    let lost = String::from_utf8(read("modern-2.1.agent-a77c01.jsonl")).unwrap().replace("a77c01", "b00000");
    std::fs::write(agents.join("agent-b00000.jsonl"), lost).unwrap();
    std::fs::write(dir.join(format!("{parent}.jsonl")), read("modern-2.1.jsonl")).unwrap();
    let root = dir.parent().unwrap().to_str().unwrap();
    let report = home.run(&["import", root, "--json"]).ends_with(0).json();
    assert_eq!(report["subAgents"]["linked"], 1, "{report}");
    let not_placed = report["subAgents"]["notPlaced"].as_array().unwrap();
    assert!(not_placed.len() == 1 && not_placed[0]["file"].as_str().unwrap().contains("b00000"), "{report}");
    let shown = home.run(&["show", parent]).ends_with(0).stdout;
    let place = shown.find("toolu_21").unwrap();
    let named = shown[place..].split("\n\n").next().unwrap();
    let named = named.lines().find(|line| line.contains("its agent's session: ")).unwrap();
    let agent = named.rsplit(' ').next().unwrap();
    let agents_own = home.run(&["show", agent]).ends_with(0).stdout;
    assert!(agents_own.contains("Read almanac.txt and report sunset."), "{agents_own}");
    let again = home.run(&["import", root, "--json"]).ends_with(0).json();
    assert_eq!((&again["written"], &again["subAgents"]["linked"]), (&0.into(), &1.into()), "{again}");
    let lines = home.run(&["export", agent]).ends_with(0).stdout;
    assert!(lines.contains("\"parentCall\":\"toolu_21\""), "{lines}");
    let back = home.run(&["export", agent, "--format", "claude-code"]).ends_with(0).stdout;
    assert!(back.lines().next().unwrap().contains(&format!("\"sessionId\":\"{parent}\"")), "{back}");
    let out = home.path().join("agent.jsonl");
    let out = out.to_str().unwrap();
    let ran = home.run(&["export", agent, "--format", "claude-code", "-o", out, "--json"]).ends_with(0).json();
    let place = ran["agent"]["place"].as_str().unwrap();
    assert!(place.ends_with(&format!("/{parent}/subagents/agent-a77c01.jsonl")), "{ran}");
    assert!(ran["agent"]["resume"].is_null(), "its parent's file stays what it is: {ran}");
    // Gone on with, and out and in once more: all of it is there.
    home.run_with(&["append", agent], r#"{"type":"message","role":"user","kind":"user_input","content":"Go on."}"#)
        .ends_with(0);
    home.run(&["export", agent, "--format", "claude-code", "-o", out, "--force"]).ends_with(0);
    let elsewhere = home.path().join("elsewhere");
    let there = elsewhere.to_str().unwrap();
    let again = home.run(&["--store", there, "import", out, "--json"]).ends_with(0).json();
    let shown = home.run(&["--store", there, "show", again["session"].as_str().unwrap()]).ends_with(0).stdout;
    assert!(shown.contains("Read almanac.txt and report sunset.") && shown.contains("Go on."), "{shown}");
}

#[test]
fn a_thread_of_codex_is_linked_to_the_call_that_names_it() {
    let home = Home::new();
    let meta = |id: &str, more: &str| {
        format!(
            r#"{{"timestamp":"2026-07-21T09:00:00.000Z","type":"session_meta","payload":{{"id":"{id}","timestamp":"2026-07-21T09:00:00.000Z","cwd":"/","originator":"x","cli_version":"1"{more}}}}}"#
        )
    };
    let item = |payload: &str| {
        format!(r#"{{"timestamp":"2026-07-21T09:00:01.000Z","type":"response_item","payload":{payload}}}"#)
    };
    let (parent, child) = ("019f0000-0000-7000-8000-0000000000c1", "019f0000-0000-7000-8000-0000000000c2");
    let dir = home.path().join("sessions");
    std::fs::create_dir_all(&dir).unwrap();
    let of_parent = [
        meta(parent, ""),
        item(r#"{"type":"function_call","name":"spawn_agent","arguments":"{}","call_id":"call_s"}"#),
        item(&format!(
            r#"{{"type":"function_call_output","call_id":"call_s","output":"{{\"agent_id\":\"{child}\"}}"}}"#
        )),
    ];
    let of_child = [
        meta(child, &format!(r#","parent_thread_id":"{parent}""#)),
        item(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Count."}]}"#),
    ];
    std::fs::write(dir.join("rollout-b.jsonl"), of_parent.join("\n")).unwrap();
    std::fs::write(dir.join("rollout-a.jsonl"), of_child.join("\n")).unwrap();
    let report = home.run(&["import", dir.to_str().unwrap(), "--json"]).ends_with(0).json();
    assert_eq!(report["subAgents"]["linked"], 1, "{report}");
    let shown = home.run(&["show", parent, "--json"]).ends_with(0).json();
    assert_eq!(shown["subAgents"]["call_s"], child, "{shown}");
    // A second thread of the same call stands beside the first.
    let second = "019f0000-0000-7000-8000-0000000000c3";
    let more = item(&format!(
        r#"{{"type":"function_call_output","call_id":"call_s","output":"{{\"agent_id\":\"{second}\"}}"}}"#
    ));
    std::fs::write(dir.join("rollout-b.jsonl"), [of_parent.join("\n"), more].join("\n")).unwrap();
    std::fs::write(dir.join("rollout-c.jsonl"), of_child.join("\n").replace(child, second)).unwrap();
    let report = home.run(&["import", dir.to_str().unwrap(), "--json"]).ends_with(0).json();
    assert_eq!(report["subAgents"]["linked"], 2, "{report}");
    let shown = home.run(&["show", parent, "--json"]).ends_with(0).json();
    assert_eq!(shown["subAgents"]["call_s"], serde_json::json!([child, second]), "{shown}");
    let text = home.run(&["show", parent]).ends_with(0).stdout;
    assert!(text.contains(child) && text.contains(&format!("its agent's session: {second}")), "{text}");
}

#[test]
fn what_the_model_sees_of_any_kind_goes_along_and_what_it_does_not_see_stays() {
    let home = Home::new();
    let session = home.session(&[
        r#"{"type":"message","id":"u1","role":"user","kind":"user_input","content":"Plan it."}"#,
        r#"{"type":"message","id":"a1","role":"assistant","kind":"task","title":"Paint the shed","instruction":"two coats","status":"done"}"#,
        r#"{"type":"message","id":"a2","role":"assistant","kind":"agent_council","content":"Hello.","members":[{"role":"assistant","kind":"assistant_text","content":"the member says blue","metadata":{"agentName":"bob"}}]}"#,
        r#"{"type":"message","id":"a3","role":"assistant","kind":"tool_approval_request","content":[{"type":"text","text":"May I mix?"},{"type":"tool_call","id":"q2","name":"mix","input":{"paint":"ochre"}},{"type":"tool_approval_request","callId":"q2","approvalId":"p1"}]}"#,
        r#"{"type":"message","id":"r1","role":"tool","kind":"tool_result","content":[{"type":"tool_result","callId":"q2","output":"mixed well"}]}"#,
        r#"{"type":"message","id":"v1","role":"user","kind":"verify","content":"nothing was verified"}"#,
        r#"{"type":"message","id":"n1","role":"system","kind":"agent_switch_note","content":"bob hands over"}"#,
        r#"{"type":"message","id":"u2","role":"user","kind":"user_input","content":"And the fence?"}"#,
    ]);
    for format in ["claude-code", "codex", "pi"] {
        let ran = home.run(&["export", &session, "--format", format]).ends_with(0);
        for text in ["Paint the shed", "two coats", "the member says blue", "May I mix?", "ochre", "mixed well"] {
            assert!(ran.stdout.contains(text), "{format} lacks `{text}`: {}", ran.stdout);
        }
        for text in ["nothing was verified", "bob hands over"] {
            assert!(!ran.stdout.contains(text), "{format} has `{text}`: {}", ran.stdout);
        }
        assert!(ran.stderr.contains("no model sees"), "{format}: {}", ran.stderr);
    }
}
