//! A page in a real browser: what its script finds and folds, that nothing of a session acts in it, that it loads nothing.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde_json::{Value as Json, json};
use seslog::event::{Body, Event, HungOn, Message, Part, Uuid, Value};
use seslog::interop::page::{Html, Page, PageHead};
use seslog::session::State;
use sha2::{Digest, Sha256};

use crate::pages::fill;
use crate::picture::base64;

/// How long a browser may take to show a page of some kilobytes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs before anything of the page: notes what must not happen.
const WATCH: &str = r#"
window.ran = [];
window.refused = [];
window.alert = (what) => ran.push(String(what));
document.addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
"#;

/// Runs once the page is there: uses it as a reader does, and writes down what that gave.
const PROBE: &str = r##"
window.addEventListener("load", () => {
  const all = (what) => Array.from(document.querySelectorAll(what));
  const shown = () => all("article").filter((one) => !one.hidden).length;
  const open = (what) => all(what).filter((one) => one.open).length;
  const results = all("article.tool details");
  const search = (words) => {
    const field = document.getElementById("search");
    field.value = words;
    field.dispatchEvent(new Event("input"));
    return {
      shown: shown(),
      told: document.getElementById("found").textContent,
      branches: open("details.branch"),
      results: results.filter((one) => one.open).length,
    };
  };
  const ids = all("[id]").map((one) => one.id);
  const probe = {
    articles: all("article").length,
    branches: all("details.branch").length,
    start: { branches: open("details.branch"), results: results.filter((one) => one.open).length },
    word: search("Gooseberry"),
    heading: search("assistant"),
    kind: search("user_input"),
    inBranch: search("quinces"),
    inResult: search("line 77 of the orchard"),
    nowhere: search("no such words"),
    cleared: search(""),
    marked: (() => {
      search("line 77 of the orchard");
      const marks = all("mark");
      const hit = marks[0].getBoundingClientRect();
      const box = marks[0].closest("pre").getBoundingClientRect();
      const isIn = hit.top >= box.top && hit.bottom <= box.bottom;
      return { texts: marks.map((mark) => mark.textContent), isSeen: isIn && hit.top >= 0 && hit.bottom <= innerHeight };
    })(),
    unmarked: (() => {
      search("");
      return all("mark").length;
    })(),
    fieldStays: (() => {
      scrollTo(0, document.body.scrollHeight);
      const field = document.getElementById("search").getBoundingClientRect();
      return scrollY > innerHeight && field.top >= 0 && field.bottom <= innerHeight;
    })(),
    byHand: (() => {
      const own = results.find((one) => !one.open);
      own.querySelector("summary").click();
      search("no such words");
      const during = own.open;
      search("");
      return during && own.open;
    })(),
    twice: ids.filter((id, index) => ids.indexOf(id) !== index),
    strayed: all("h2 a").filter((one) => document.querySelector(one.getAttribute("href")) !== one.closest("article")).length,
    foreign: all("iframe, object, embed, form, link, base, svg, video, audio, input:not(#search)").length,
    scripts: document.scripts.length,
    ran, refused,
  };
  const out = document.createElement("output");
  out.id = "probe";
  out.textContent = JSON.stringify(probe);
  document.body.append(out);
});
"##;

/// A browser of the Chromium family that is on this machine.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let paths = std::env::var_os("PATH")?;
    let dirs: Vec<PathBuf> = std::env::split_paths(&paths).collect();
    names.iter().flat_map(|name| dirs.iter().map(move |dir| dir.join(name))).find(|path| path.is_file())
}

/// What a browser makes of a page: the document, once it is loaded.
fn document(browser: &Path, dir: &Path, page: &str) -> String {
    let file = dir.join("page.html");
    std::fs::write(&file, page).unwrap();
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom"]);
    command.arg(format!("--user-data-dir={}", dir.join("profile").display()));
    command.env("HOME", dir).arg(format!("file://{}", file.display()));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (done, waiting) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = stdout.read_to_end(&mut text).map(|_| text);
        let _ = done.send(read);
    });
    let text = waiting.recv_timeout(PATIENCE);
    if text.is_err() {
        let _ = child.kill();
    }
    child.wait().unwrap();
    let text = text.expect("the browser has shown the page").unwrap();
    reader.join().unwrap();
    String::from_utf8(text).unwrap()
}

/// What the probe has written down.
fn probed(document: &str) -> Json {
    let (_, rest) = document.split_once("<output id=\"probe\">").unwrap_or_else(|| panic!("no probe in {document}"));
    let text = rest.split("</output>").next().unwrap();
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&text).unwrap()
}

fn event(id: u128, parent: u128, message: Message) -> Event {
    Event {
        id: Uuid::from_u128(id),
        parent: (parent > 0).then(|| Uuid::from_u128(parent)),
        hung_on: HungOn::Named,
        at: 0,
        original_id: None,
        original_parent: None,
        off_chain: false,
        body: Body::Message(Box::new(message)),
        extra: Vec::new(),
    }
}

/// Texts that act, or fetch something from this place, wherever they are taken for markup.
fn hostile(at: &str) -> Vec<String> {
    vec![
        format!("<script>alert('script');fetch('{at}/fetch')</script>"),
        format!("<img src={at}/img onerror=alert('img')>"),
        "<img src=x onerror=alert('error')><svg onload=alert('svg')></svg>".to_owned(),
        format!(
            "<link rel=stylesheet href={at}/css><style>@import '{at}/import';body{{background:url({at}/url)}}</style>"
        ),
        format!("<iframe src={at}/iframe srcdoc=\"<script>parent.alert('frame')</script>\"></iframe>"),
        format!("<meta http-equiv=refresh content='0;url={at}/refresh'><base href={at}/>"),
        format!("</script></style></pre></details></article><script src={at}/src></script>"),
        format!("![a]({at}/markdown.png) <{at}/auto> [b](javascript:alert('link'))"),
        format!("```\"><script>alert('fence')</script>\n```\n<video src={at}/video autoplay></video>"),
        format!("<form action={at}/form><input autofocus onfocus=alert('focus')></form>"),
    ]
}

/// A page of a session with hostile texts, a long result, another branch, and a result that stands on both of them.
fn page(at: &str) -> String {
    let mut events = vec![
        event(1, 0, Message::user("Where does the Gooseberry stand?")),
        event(2, 1, Message::assistant_calls(vec![Part::tool_call("c", "look", Value::Map(Vec::new()))])),
        event(
            3,
            2,
            Message::tool_result("c", (0..90).map(|n| format!("line {n} of the orchard\n")).collect::<String>(), false),
        ),
        event(4, 3, Message::assistant("Left behind: the quinces.")),
    ];
    let mut last = 2;
    for (index, text) in hostile(at).into_iter().enumerate() {
        let (id, call) = (10 + 3 * index as u128, format!("{text} {index}"));
        let parts =
            vec![Part::text(&text), Part::tool_call(&call, &text, Value::from([("cmd", text.as_str().into())]))];
        let mut answer = Message::assistant_calls(parts);
        answer.model = Some(text.clone());
        events.push(event(id, last, Message::user(&text)));
        events.push(event(id + 1, id, answer));
        events.push(event(id + 2, id + 1, Message::tool_result(call, &text, index % 2 == 0)));
        last = id + 1;
    }
    events.push(event(90, last, Message::assistant("By the gooseberry bush, it says.")));
    let mut state = State::from_events(events);
    assert!(state.move_to_leaf(Uuid::from_u128(90)));
    let mut out = Vec::new();
    let head = PageHead::new(&hostile(at)[0]).with(&hostile(at)[1], &hostile(at)[2]);
    let html = Html::new(&mut out, &head).unwrap();
    #[cfg(feature = "markdown")]
    let html = html.with_markdown();
    let mut page = html;
    fill(&state, &mut page);
    page.finish().unwrap();
    String::from_utf8(out).unwrap()
}

/// The page with the watch in front of its content and the probe behind it, which its policy is made to allow.
fn watched(page: &str) -> String {
    let hash = |script: &str| format!("'sha256-{}'", base64(&Sha256::digest(script)));
    let allowed = format!("script-src {} {} ", hash(WATCH), hash(PROBE));
    let page = page.replacen("script-src ", &allowed, 1);
    let page = page.replacen("<meta name=\"viewport\"", &format!("<script>{WATCH}</script><meta name=\"viewport\""), 1);
    let (before, behind) = page.rsplit_once("</body>").unwrap();
    format!("{before}<script>{PROBE}</script></body>{behind}")
}

#[test]
fn in_a_browser_a_page_finds_words_folds_the_rest_and_nothing_in_it_acts_or_loads() {
    let Some(browser) = browser() else {
        let _ = writeln!(std::io::stderr(), "pages in a browser: LEFT OUT, since no Chromium is on this machine");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    // Whoever loads something asks here.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    // Each is hung up on at once, so that no page waits for what it should not have asked for.
    std::thread::spawn(move || listener.incoming().for_each(|_| _ = counter.fetch_add(1, Ordering::SeqCst)));
    let page = watched(&page(&at));

    let probe = probed(&document(&browser, dir.path(), &page));
    assert_eq!((&probe["ran"], &probe["refused"]), (&json!([]), &json!([])), "a text of the session acts");
    assert_eq!(asked.load(Ordering::SeqCst), 0, "something was loaded");
    assert_eq!(
        (&probe["foreign"], &probe["scripts"]),
        (&json!(0), &json!(3)),
        "the page's own, the watch and the probe"
    );

    // Branch and long result are folded, and what a search finds in them is opened.
    assert_eq!(probe["branches"], json!(1));
    let long = &probe["start"]["results"];
    assert_eq!(probe["start"]["branches"], json!(0));
    let found = |name: &str, shown: u64, branches: u64| {
        let told = if shown == 1 { "1 message".to_owned() } else { format!("{shown} messages") };
        let search = &probe[name];
        let expected = (&json!(shown), &json!(told), &json!(branches));
        assert_eq!((&search["shown"], &search["told"], &search["branches"]), expected, "{name}");
    };
    found("word", 2, 0);
    found("inBranch", 1, 1);
    // It stands on the chain and on the branch.
    found("inResult", 2, 1);
    assert_eq!(probe["inResult"]["results"].as_u64(), long.as_u64().map(|open| open + 2));
    // Who says it and as what is no word of a message.
    found("heading", 0, 0);
    found("kind", 0, 0);
    found("nowhere", 0, 0);
    let cleared = &probe["cleared"];
    assert_eq!((&cleared["shown"], &cleared["told"]), (&probe["articles"], &json!("")));
    assert_eq!((&cleared["branches"], &cleared["results"]), (&json!(0), long));

    // A hit in a long result is marked and in sight, the field stays so, and what the reader has opened stays open.
    let marked = &probe["marked"];
    let line = json!("line 77 of the orchard");
    assert_eq!((&marked["texts"], &marked["isSeen"]), (&json!([line, line]), &json!(true)), "{marked}");
    assert_eq!(probe["unmarked"], json!(0));
    assert_eq!((&probe["fieldStays"], &probe["byHand"]), (&json!(true), &json!(true)));

    // Each heading leads to its own message.
    assert_eq!((&probe["twice"], &probe["strayed"]), (&json!([]), &json!(0)));

    // The same eyes see it where a page is not as it should be.
    let (head, rest) = page.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let body = hostile(&at)[..3].concat();
    let open = format!("{head}<meta name=\"none\"{}", rest.replacen("<main>", &format!("<main>{body}"), 1));
    let probe = probed(&document(&browser, dir.path(), &open));
    assert!(probe["ran"].as_array().unwrap().len() >= 2, "{probe}");
    assert!(asked.load(Ordering::SeqCst) > 0, "what is loaded is seen");
}
