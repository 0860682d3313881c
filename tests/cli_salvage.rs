//! `seslog salvage`, from the outside.
#![cfg(feature = "cli")]

use std::process::Command;

#[test]
fn a_damaged_session_is_salvaged_into_a_new_file_that_resumes() {
    let dir = tempfile::tempdir().unwrap();
    let seslog = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_seslog"))
            .env("SESLOG_HOME", dir.path().join("store"))
            .args(args)
            .output()
            .unwrap();
        let json: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
        (output.status.code(), json)
    };
    let lines = dir.path().join("events.jsonl");
    let line = |id: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"role\":\"user\",\"kind\":\"user_input\",\"content\":\"{id}\"}}\n"
        )
    };
    std::fs::write(&lines, ["m1", "m2", "m3"].map(line).concat()).unwrap();
    let (_, imported) = seslog(&["import", lines.to_str().unwrap(), "--json"]);
    let path = imported.unwrap()["path"].as_str().unwrap().to_owned();

    let (code, verified) = seslog(&["verify", &path, "--json"]);
    assert_eq!(code, Some(0));
    let verified = verified.unwrap();
    let frames = verified["frames"].as_array().unwrap();
    let frame = frames.iter().find(|frame| frame["originalId"] == "m2").unwrap();
    let (offset, len) = (frame["offset"].as_u64().unwrap() as usize, frame["len"].as_u64().unwrap() as usize);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[offset..offset + len].fill(0);
    std::fs::write(&path, &bytes).unwrap();

    // Whoever looks names the same place.
    let (code, verified) = seslog(&["verify", &path, "--json"]);
    let verified = verified.unwrap();
    assert_eq!((code, &verified["open"]), (Some(1), &"damaged".into()), "{verified}");
    assert_eq!((&verified["damage"][0]["offset"], &verified["damage"][0]["len"]), (&offset.into(), &len.into()));
    assert_eq!(verified["lostRecords"], 1);
    // Nothing is left of it that would link what lies behind it.
    let states = serde_json::json!({ "accepted": 2, "orphan": frames.len() - 3 });
    assert_eq!(verified["states"], states);
    let wholes: Vec<&serde_json::Value> =
        verified["chains"].as_array().unwrap().iter().map(|chain| &chain["beginsAt"]).collect();
    assert!(wholes.contains(&&"missing".into()), "what hung on the lost one does not reach its root: {wholes:?}");
    for command in ["show", "resume"] {
        let (code, shown) = seslog(&[command, &path, "--json"]);
        assert_eq!((code, &shown.unwrap()["damage"][0]["offset"]), (Some(1), &offset.into()), "{command}");
    }
    let (_, listed) = seslog(&["list", "--json"]);
    let problem = listed.unwrap()["sessions"][0]["problem"].clone();
    assert!(problem.as_str().is_none_or(|problem| problem.contains(&format!("byte {offset}"))), "{problem}");

    let new = dir.path().join("new.seslog");
    let new = new.to_str().unwrap();
    let (code, report) = seslog(&["salvage", &path, "-o", new, "--json"]);
    let report = report.unwrap();
    assert_eq!((code, &report["kept"]), (Some(1), &2.into()), "{report}");
    assert_eq!((report["lost"].as_array().unwrap().len(), &report["lostRecords"]), (1, &1.into()));
    assert_eq!((report["hungAnew"].as_array().unwrap().len(), &report["doubtful"]), (1, &serde_json::json!([])));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let (code, verified) = seslog(&["verify", new, "--json"]);
    assert_eq!((code, &verified.unwrap()["open"]), (Some(0), &"clean".into()));
    let (code, resumed) = seslog(&["resume", new, "--json"]);
    assert_eq!((code, &resumed.unwrap()["open"]), (Some(0), &"clean".into()));
    let (code, _) = seslog(&["salvage", &path, "-o", new, "--json"]);
    assert_ne!(code, Some(0), "a file that is there is not written over");
}
