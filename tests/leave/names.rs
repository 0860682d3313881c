//! A session's name in a file of an agent's is part of a path and of a command, and nothing more.

use seslog::interop::Agent;

use crate::world::World;

const CLAUDE: &str = r#"{"type":"user","uuid":"5b1e0a10-0003-4000-8000-0000000000f1","parentUuid":null,"isSidechain":SIDE,"agentId":"a/../b","sessionId":"NAME","cwd":"/x","version":"2.1.0","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"Hi."}}
{"type":"assistant","uuid":"5b1e0a10-0003-4000-8000-0000000000f2","parentUuid":"5b1e0a10-0003-4000-8000-0000000000f1","isSidechain":SIDE,"agentId":"a/../b","sessionId":"NAME","cwd":"/x","version":"2.1.0","timestamp":"2026-01-01T00:00:01.000Z","message":{"id":"m1","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"Ho."}]}}
{"type":"custom-title","customTitle":"T","sessionId":"NAME"}
"#;

const PI: &str = r#"{"type":"session","version":3,"id":"NAME","timestamp":"STAMP","cwd":"/x/\u001b[2J\ny"}
{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"Hi.","timestamp":1}}
"#;

const NAMES: [&str; 6] = ["../../../../etc/evil; rm -rf ~\\n", "..", ".hidden", "-x", "a/b", "$(id)"];

fn is_plain(place: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    place.chars().all(is_fine) && place.split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
}

#[test]
fn no_name_in_a_file_leaves_the_programs_directory_or_ends_its_command() {
    for name in NAMES {
        let claude = |side: &str| (Agent::ClaudeCode, CLAUDE.replace("SIDE", side).replace("NAME", name));
        let pi = |stamp: &str| (Agent::Pi, PI.replace("NAME", name).replace("STAMP", stamp));
        let files = [claude("true"), claude("false"), pi("2026-01-01T00:00:00.000Z"), pi("../../etc/x; y")];
        for (of, file) in files {
            let world = World::new();
            let session = world.import(of, file.as_bytes());
            for to in [Agent::ClaudeCode, Agent::Codex, Agent::Pi] {
                let (out, report) = world.export(&session, to);
                let place = match to {
                    // The directory is named as the program names it.
                    Agent::Pi => report.place.replace("[2J", ""),
                    _ => report.place.clone(),
                };
                assert!(is_plain(&place), "{of:?} to {to:?}: {report:?}");
                let resume = report.resume.as_deref().unwrap_or("none");
                assert!(is_plain(&resume.replace(' ', "_")), "{of:?} to {to:?}: {report:?}");
                let out = String::from_utf8(out).unwrap();
                assert!(out.contains(&report.session) && is_plain(&report.session), "{report:?}\n{out}");
                assert!(of != to || !out.contains(&format!("\"{name}\"")), "{report:?}\n{out}");
            }
        }
    }
}

#[test]
fn plain_names_stay_as_they_are() {
    let world = World::new();
    let file = PI.replace("NAME", "my-session_1.2").replace("STAMP", "2026-01-01T00:00:00.000Z");
    let (_, report) = world.export(&world.import(Agent::Pi, file.as_bytes()), Agent::Pi);
    assert_eq!(report.session, "my-session_1.2");
    assert_eq!(report.resume.as_deref(), Some("pi --session my-session_1.2"));
    assert!(report.place.ends_with("/2026-01-01T00-00-00-000Z_my-session_1.2.jsonl"), "{report:?}");
}
