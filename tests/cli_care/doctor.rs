//! `seslog doctor`: what it names, what it cures, and that its commands can be pasted.

use crate::cli_support::{Home, Ran, user};
use crate::mend::damage;

fn session(home: &Home) -> String {
    home.session(&[&user("a", "one"), &user("b", "two"), &user("c", "three")])
}

/// The finding of this code.
fn finding(ran: &Ran, code: &str) -> serde_json::Value {
    let found = ran.json()["findings"].as_array().unwrap().iter().find(|found| found["code"] == code).cloned();
    found.unwrap_or_else(|| panic!("{code}: {ran:?}"))
}

#[test]
fn a_second_copy_of_a_session_under_any_name_is_named_and_the_cure_works() {
    for name in ["copy.seslog", "0192f3a0-9999-7000-8000-000000000001.seslog"] {
        let home = Home::new();
        let session = session(&home);
        let copy = home.store().join(name);
        std::fs::copy(home.file(&session), &copy).unwrap();
        home.run_with(&["append", copy.to_str().unwrap()], &user("d", "only in the copy")).ends_with(0);
        let ran = home.run(&["doctor", "--json"]).ends_with(1);
        let found = finding(&ran, "sameSessionTwice");
        assert!(found["what"].as_str().unwrap().contains(name), "{found}");
        let cure = format!("`seslog import '{}'` adds what the session lacks, then `rm", copy.display());
        assert!(found["next"].as_str().unwrap().starts_with(&cure), "{found}");
        assert_eq!(ran.json()["findings"].as_array().unwrap().len(), 1, "told once: {ran:?}");
        home.run(&["import", copy.to_str().unwrap()]).ends_with(0);
        std::fs::remove_file(&copy).unwrap();
        home.run(&["doctor"]).ends_with(0);
        assert!(home.run(&["show", &session]).stdout.contains("only in the copy"));
    }
}

#[test]
fn a_session_under_a_name_that_no_list_looks_at_is_named() {
    let home = Home::new();
    let (kept, moved) = (session(&home), session(&home));
    std::fs::rename(home.file(&moved), home.store().join("mine.seslog")).unwrap();
    let found = finding(&home.run(&["doctor", "--json"]).ends_with(1), "wrongName");
    let next = found["next"].as_str().unwrap();
    assert!(next.starts_with("`mv -n '") && next.contains(&format!("/{moved}.seslog'`")), "{next}");
    assert!(!next.contains(&kept));
}

#[test]
fn a_cache_of_garbage_is_named_and_removed_by_fix() {
    let home = Home::new();
    session(&home);
    home.run(&["list"]).ends_with(0);
    let catalogue = home.store().join(".cache/catalogue");
    std::fs::create_dir_all(catalogue.parent().unwrap()).unwrap();
    for garbage in [&b"garbage"[..], &[0; 5000], b"\xff\xfe\xfd"] {
        std::fs::write(&catalogue, garbage).unwrap();
        let ran = home.run(&["doctor", "--fix", "--json"]).ends_with(0);
        assert_eq!(finding(&ran, "cache")["fixed"], true, "{ran:?}");
        assert_ne!(std::fs::read(&catalogue).unwrap_or_default(), garbage);
        home.run(&["doctor"]).ends_with(0);
    }
}

#[test]
fn unfinished_files_of_our_own_are_named_and_only_old_ones_removed() {
    let home = Home::new();
    let session = session(&home);
    home.run(&["list"]).ends_with(0);
    std::fs::create_dir_all(home.store().join(".cache")).unwrap();
    let names = [
        format!("{session}.seslog-unfinished-0123456789abcdef"),
        format!(".{session}.seslog.0123456789abcdef.tmp"),
        ".cache/.catalogue.0123456789abcdef.tmp".to_owned(),
    ];
    let others = ["notes.tmp", ".cache/x.tmp"];
    for name in names.iter().map(String::as_str).chain(others) {
        home.write(&format!("store/{name}"), "half");
    }
    let young = home.run(&["doctor", "--json"]);
    let notes = young.json()["findings"].as_array().unwrap().iter().filter(|one| one["code"] == "temporary").count();
    assert_eq!(notes, 3, "{young:?}");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    for name in names.iter().map(String::as_str).chain(others) {
        let file = std::fs::File::options().write(true).open(home.store().join(name)).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    let found = home.run(&["doctor", "--json"]).ends_with(1).json();
    let left: Vec<_> =
        found["findings"].as_array().unwrap().iter().filter(|finding| finding["code"] == "leftOver").collect();
    assert_eq!(left.len(), 3, "{found}");
    home.run(&["doctor", "--fix"]);
    assert!(names.iter().all(|name| !home.store().join(name).exists()));
    assert!(others.iter().all(|name| home.store().join(name).exists()), "what is not ours is left alone");
}

#[test]
fn what_it_says_to_do_names_the_store_where_that_is_not_the_usual_one() {
    let home = Home::new();
    let session = session(&home);
    damage(&home, &session, "b");
    let store = home.path().join("an other store");
    std::fs::rename(home.store(), &store).unwrap();
    let store = store.to_str().unwrap();
    let found = finding(&home.run(&["doctor", "--store", store, "--json"]).ends_with(1), "damaged");
    let next = found["next"].as_str().unwrap();
    let command = format!("`seslog salvage {session} --in-place --store '{store}'`");
    assert!(next.contains(&command) && next.contains(&format!("verify {session} --store '{store}'")), "{next}");
    home.run(&["salvage", &session, "--in-place", "--store", store]).ends_with(1);
    let after = home.run(&["doctor", "--store", store, "--json"]).ends_with(0);
    assert_eq!(finding(&after, "keptDamaged")["isNote"], true);
}

#[test]
fn nobody_is_told_to_salvage_what_holds_nothing_that_can_be_saved() {
    let whole = {
        let home = Home::new();
        let session = session(&home);
        std::fs::read(home.file(&session)).unwrap()
    };
    let mut only_a_header = whole[..4096].to_vec();
    only_a_header.extend(vec![0x5a; whole.len() - 4096]);
    for content in [&b""[..], b"garbage", &[0; 9000], &[0x5a; 70_000], &only_a_header] {
        let home = Home::new();
        session(&home);
        let broken = home.store().join("0192f3a0-9999-7000-8000-000000000001.seslog");
        std::fs::write(&broken, content).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&broken, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let ran = home.run(&["doctor"]).ends_with(1);
        assert!(!ran.stdout.contains("salvage") && ran.stdout.contains("nothing can be saved"), "{ran:?}");
        let ran = home.run(&["verify", broken.to_str().unwrap()]).ends_with(1);
        assert!(!ran.stderr.contains("salvage"), "{ran:?}");
    }
}

/// It was told to be damaged, with `verify` and `salvage` as what to do: both can only say that there is no file.
#[test]
#[cfg(unix)]
fn a_link_that_leads_nowhere_is_told_with_what_takes_it_away() {
    let home = Home::new();
    home.session(&[&user("a", "hello")]);
    let link = home.store().join("0192f3a0-1111-7000-8000-000000000001.seslog");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let found = finding(&home.run(&["doctor", "--json"]).ends_with(1), "damaged");
    assert_eq!(found["what"], "a link that leads nowhere");
    let next = found["next"].as_str().unwrap();
    assert!(next.contains(&format!("`rm '{}'`", link.display())), "{next}");
    std::fs::remove_file(link).unwrap();
    home.run(&["doctor"]).ends_with(0);
}

/// A file in the place of the cache was told twice, the second time with a cure that is none.
#[test]
fn what_stands_in_the_place_of_the_cache_is_told_once_and_its_cure_is_one() {
    let home = Home::new();
    home.session(&[&user("a", "hello")]);
    let cache = home.store().join(".cache");
    let _ = std::fs::remove_dir_all(&cache);
    std::fs::write(&cache, "mine").unwrap();
    let faults = home.run(&["doctor", "--json"]).ends_with(1).json();
    assert_eq!(faults["openFaults"], 1, "{faults}");
    assert!(faults["findings"][0]["next"].as_str().unwrap().contains("`rm "), "{faults}");
    std::fs::remove_file(&cache).unwrap();
    home.run(&["doctor"]).ends_with(0);
}
