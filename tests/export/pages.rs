//! Pages: no text of a session becomes markup of them, or ends what it stands in.

use seslog::event::{Body, Event, HungOn, Uuid};
use seslog::event::{Kind, Message, Part, PartBody, Role, Value};
use seslog::interop::page::{Branches, first_words};
use seslog::interop::page::{Html, Markdown, Page, PageHead};
use seslog::projection::{Options, View, project};
use seslog::session::State;
use sha2::{Digest, Sha256};

use crate::picture::{base64, png};

const HOSTILE: [&str; 18] = [
    "\\<img src=x onerror=alert(1)>",
    "hello\n    ```\n<script>alert(1)</script>",
    "- a\n  ```\n<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "</pre></details></article></main><h1>gone</h1>",
    "<!-- ",
    "]]><![CDATA[",
    "&lt;script&gt; &amp; &#60;",
    "![x](//a.example/p.png) [x](javascript:alert(1))",
    "```\"><script>alert(1)</script>\n</pre></details></article><script>alert(1)</script>\n```",
    "# <img src=x onerror=alert(1)>\n- `</code><script>alert(1)</script>`\n> </blockquote><iframe src=x>\n\n<svg onload=alert(1)>\n",
    "[x](mailto:a\"onmouseover=alert(1)) [<b onclick=alert(1)>](javascript:alert(1) \"t\\\"><script>alert(1)</script>\")",
    "<javascript:alert(1)> ![\" onerror=alert(1)](javascript:alert(1)) [y](java&#115;cript:alert(1)) [z](data:text/html,1)",
    "[x]: javascript:alert(1) '\"><script>alert(1)</script>'\n\n[x] *<b*>c** __</p>__",
    "\u{202e}evil\u{2066}\u{1b}[31m\u{0}\u{9b}",
];

/// Each hostile text wherever a text may stand.
fn hostile() -> State {
    let mut events = Vec::new();
    for (index, text) in HOSTILE.iter().enumerate() {
        let id = format!("call {index} {text}");
        let calls = vec![
            Part::text(*text),
            Part::tool_call(id.clone(), *text, Value::from([("cmd", (*text).into())])),
            Part::new(PartBody::Unknown((*text).to_owned())),
        ];
        let mut answer = Message::assistant_calls(calls);
        answer.model = Some((*text).to_owned());
        events.push(Message::user(*text));
        events.push(answer);
        events.push(Message::tool_result(id, *text, index % 2 == 0));
        let data = [png(2, 2, 0), format!("{text}\" onerror=\"alert(1)")];
        for data in data {
            let media = seslog::event::Media {
                media_type: "image/png".to_owned(),
                source: seslog::event::MediaSource::Data(data),
                name: Some((*text).to_owned()),
                width: None,
                height: None,
            };
            events.push(Message::new(Role::User, Kind::UserInput, vec![Part::new(PartBody::Image(media))]));
        }
    }
    let mut parent = None;
    State::from_events(events.into_iter().enumerate().map(|(index, message)| {
        let id = seslog::event::Uuid::from_u128(index as u128 + 1);
        let parent = parent.replace(id);
        seslog::event::Event {
            id,
            parent,
            hung_on: seslog::event::HungOn::Named,
            at: index as i64,
            original_id: None,
            original_parent: None,
            off_chain: false,
            body: seslog::event::Body::Message(Box::new(message)),
            extra: Vec::new(),
        }
    }))
}

fn written(page: &mut impl Page) {
    let state = hostile();
    for message in project(&state, View::Transcript, &Options::default()).messages {
        page.message(&message).unwrap();
    }
    page.begin_branch(HOSTILE[2]).unwrap();
    page.note(HOSTILE[0]).unwrap();
    page.end_branch().unwrap();
    page.finish().unwrap();
}

fn head() -> PageHead {
    PageHead::new(HOSTILE[0]).with(HOSTILE[1], HOSTILE[2])
}

fn html() -> String {
    let mut out = Vec::new();
    written(&mut Html::new(&mut out, &head()).unwrap().with_markdown());
    String::from_utf8(out).unwrap()
}

/// The start tags of a page, each with its attributes' names.
fn tags(html: &str) -> Vec<(String, Vec<String>)> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').unwrap();
        let (tag, behind) = (&rest[..end], &rest[end..]);
        let mut words = tag.splitn(2, char::is_whitespace);
        let name = words.next().unwrap().to_owned();
        let mut attributes = Vec::new();
        let mut left = words.next().unwrap_or_default();
        while let Some((name, value)) = left.split_once("=\"") {
            attributes.push(name.trim().rsplit(' ').next().unwrap().to_owned());
            left = &value[value.find('"').unwrap() + 1..];
        }
        if name == "style" || name == "script" {
            rest = &behind[behind.find(&format!("</{name}>")).unwrap()..];
        } else {
            rest = behind;
        }
        tags.push((name, attributes));
    }
    tags
}

#[test]
fn no_text_of_a_session_becomes_markup_of_a_page() {
    let page = html();
    let ours = [
        "!doctype",
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "h1",
        "dl",
        "div",
        "dt",
        "dd",
        "p",
        "label",
        "input",
        "output",
        "main",
        "article",
        "h2",
        "a",
        "small",
        "time",
        "details",
        "summary",
        "pre",
        "code",
        "strong",
        "img",
        "script",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "em",
        "blockquote",
        "hr",
        "table",
        "thead",
        "tr",
        "th",
        "td",
    ];
    let attributes = [
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "type",
        "id",
        "href",
        "datetime",
        "alt",
        "src",
        "start",
    ];
    let tags = tags(&page);
    assert!(tags.len() > 200, "{}", tags.len());
    for (name, names) in &tags {
        let name = name.trim_start_matches('/');
        assert!(ours.contains(&name), "<{name}>");
        for attribute in names {
            assert!(attributes.contains(&attribute.as_str()), "<{name} {attribute}>");
        }
    }
    let count = |wanted: &str| tags.iter().filter(|(name, _)| name == wanted).count();
    assert_eq!(count("script"), 1);
    assert_eq!(count("article"), count("/article"));
    assert_eq!(count("img"), HOSTILE.len(), "the good pictures and no others");
    assert!(!page.contains(['\u{1b}', '\u{202e}', '\u{0}', '\u{9b}']));
    for link in page.split("href=\"").skip(1) {
        assert!(link.starts_with("#m-") || link.starts_with("mailto:"), "{}", &link[..20]);
    }
    for source in page.split("src=\"").skip(1) {
        assert!(source.starts_with("data:image/png;base64,"), "{}", &source[..20]);
    }
}

#[test]
fn a_page_allows_its_own_style_and_script_and_nothing_else() {
    let page = html();
    let between = |tag: &str| {
        let begin = page.find(&format!("<{tag}>")).unwrap() + tag.len() + 2;
        &page[begin..page.find(&format!("</{tag}>")).unwrap()]
    };
    for (tag, name) in [("style", "style-src"), ("script", "script-src")] {
        let hash = base64(&Sha256::digest(between(tag)));
        assert!(page.contains(&format!("{name} 'sha256-{hash}'")), "{tag}: its hash is now sha256-{hash}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains("http://") && !page.contains("https://"));
}

#[test]
fn no_text_of_a_session_becomes_a_heading_or_html_of_markdown() {
    let mut out = Vec::new();
    written(&mut Markdown::new(&mut out, &head()).unwrap());
    let text = String::from_utf8(out).unwrap();
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{0}', '\u{9b}']));
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = Some(line),
            None => {
                // In a span of code, and behind a backslash of ours in a heading, it means itself.
                let is_tag = |(at, _): (usize, &str)| !line[..at].contains('`') && !line.starts_with(['#', '-', '*']);
                assert!(!line.match_indices('<').any(is_tag), "{line}");
                let roles = ["# ", "## user", "## assistant", "## tool", "## another branch", "## end of that branch"];
                assert!(!line.starts_with('#') || roles.iter().any(|role| line.starts_with(role)), "{line}");
            }
        }
    }
    assert_eq!(fence, None);
}

fn said(id: u128, parent: Option<u128>, text: String) -> Event {
    Event {
        id: Uuid::from_u128(id),
        parent: parent.map(Uuid::from_u128),
        hung_on: HungOn::Named,
        at: 0,
        original_id: None,
        original_parent: None,
        off_chain: false,
        body: Body::Message(Box::new(Message::user(text))),
        extra: Vec::new(),
    }
}

/// Each branch went over the whole session: 8,000 of one message took 17 s, and these would take some minutes.
#[test]
fn very_many_branches_cost_no_more_than_what_they_say() {
    const CHAIN: u128 = 10_000;
    const BRANCHES: u128 = 20_000;
    let chain = (1..=CHAIN).map(|id| said(id, (id > 1).then(|| id - 1), format!("chain {id}.")));
    let branches = (1..=BRANCHES).map(|id| said(CHAIN + id, Some(1 + id % (CHAIN - 1)), format!("branch {id}.")));
    let last = std::iter::once(said(CHAIN + BRANCHES + 1, Some(CHAIN), "The end.".to_owned()));
    let mut state = State::from_events(chain.chain(branches).chain(last));
    assert!(state.move_to_leaf(Uuid::from_u128(CHAIN + BRANCHES + 1)));
    let begun = std::time::Instant::now();
    let points = state.branch_points();
    let mut out = Vec::new();
    let mut page = Html::new(&mut out, &PageHead::new("t")).unwrap();
    let mut branches = Branches::new(&state, &points);
    let at: Vec<Option<Uuid>> = points.iter().map(|point| point.at).collect();
    let written: u64 = at.into_iter().map(|at| branches.write(at, &mut page).unwrap()).sum();
    assert_eq!((u128::from(written), branches.rest(&mut page).unwrap()), (BRANCHES, 0));
    let page = String::from_utf8(out).unwrap();
    assert_eq!(page.matches(">branch 7.</div>").count(), 1);
    assert!(page.contains("<summary>another branch from here: branch 7.</summary>"));
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

/// What a branch shows is what a transcript of it shows, without what stands on the page already.
#[test]
fn a_branch_shows_its_own_messages_with_their_results_and_side_records() {
    let mut events = vec![said(1, None, "Begin.".to_owned()), said(2, Some(1), "A.".to_owned())];
    let body = |message: Message| Body::Message(Box::new(message));
    let calls = ["c", "d"].map(|id| Part::tool_call(id, "count", Value::Map(Vec::new())));
    events.push(Event { body: body(Message::assistant_calls(calls.into())), ..said(3, Some(2), String::new()) });
    let mut progress = Message::user("Half.");
    progress.kind = Kind::Progress(seslog::event::Progress::default());
    events.push(Event { body: body(progress), ..said(4, Some(3), String::new()) });
    events.push(said(5, Some(3), "On from the call.".to_owned()));
    events.push(Event { body: body(Message::tool_result("c", "Twelve.", false)), ..said(6, Some(3), String::new()) });
    events.push(said(8, Some(2), "Other branch of the branch.".to_owned()));
    events.push(said(9, Some(1), "The chain.".to_owned()));
    // On another way when they came, and so they hang where they say.
    for (id, call, text) in [(10, "d", "Late."), (11, "d", "Again."), (12, "c", "Again.")] {
        events.push(Event { body: body(Message::tool_result(call, text, false)), ..said(id, Some(1), String::new()) });
    }
    let mut state = State::from_events(events);
    assert!(state.move_to_leaf(Uuid::from_u128(9)));
    let points = state.branch_points();
    let mut out = Vec::new();
    let mut page = Markdown::new(&mut out, &PageHead::new("t")).unwrap();
    let mut branches = Branches::new(&state, &points);
    let written = branches.rest(&mut page).unwrap();
    let page = String::from_utf8(out).unwrap();
    assert_eq!(written, 7, "{page}");
    for text in ["A.", "On from the call.", "Half.", "Twelve.", "Late.", "Other branch of the branch."] {
        assert_eq!(
            page.matches(&format!("> {text}\n")).count() + page.matches(&format!("\n{text}\n")).count(),
            1,
            "{text}\n{page}"
        );
    }
    assert!(!page.contains("Again.") && !page.contains("The chain.") && !page.contains("Begin."), "{page}");
}

#[test]
fn a_name_is_made_of_first_words_in_one_line() {
    assert_eq!(first_words("  Count\n the   bees. "), "Count the bees.");
    assert_eq!(first_words(""), "");
    assert_eq!(first_words(&"x".repeat(100)), format!("{}…", "x".repeat(72)));
    assert_eq!(first_words(&"seven 7 ".repeat(20)).chars().last(), Some('…'));
}

/// A page as the command line writes it.
fn page_of(state: &State) -> String {
    let mut out = Vec::new();
    let mut page = Html::new(&mut out, &PageHead::new("t")).unwrap();
    fill(state, &mut page);
    page.finish().unwrap();
    String::from_utf8(out).unwrap()
}

/// The messages of the chain, and the other branches where they begin.
pub(crate) fn fill(state: &State, page: &mut impl Page) {
    let points = state.branch_points();
    let mut branches = Branches::new(state, &points);
    branches.write(None, page).unwrap();
    for message in project(state, View::Transcript, &Options::default()).messages {
        page.message(&message).unwrap();
        for id in &message.source_message_ids {
            branches.write(Some(*id), page).unwrap();
        }
    }
    branches.rest(page).unwrap();
}

/// The ids of a page, each once, and its links to places in it, each of which must lead to the message whose heading it is.
fn check_names(page: &str) -> usize {
    let mut names = std::collections::HashSet::new();
    for (name, rest) in page.split(" id=\"").skip(1).filter_map(|rest| rest.split_once('"')) {
        assert!(names.insert(name.to_owned()), "`{name}` stands twice");
        if let Some((_, link)) = rest.split_once("<h2><a href=\"#").filter(|_| name.starts_with("m-")) {
            assert_eq!(link.split('"').next(), Some(name));
        }
    }
    names.len()
}

/// A call's result that another branch goes on from stands on both of them, and had one name on both: links led to the first.
#[test]
fn a_result_that_stands_on_two_branches_has_a_name_on_each() {
    let body = |message: Message| Body::Message(Box::new(message));
    let call = Message::assistant_calls(vec![Part::tool_call("c", "count", Value::Map(Vec::new()))]);
    let mut state = State::from_events([
        said(1, None, "Begin.".to_owned()),
        Event { body: body(call), ..said(2, Some(1), String::new()) },
        Event { body: body(Message::tool_result("c", "Twelve.", false)), ..said(3, Some(2), String::new()) },
        said(4, Some(3), "Left.".to_owned()),
    ]);
    assert!(state.move_to_leaf(Uuid::from_u128(2)));
    let page = page_of(&state);
    let name = Uuid::from_u128(3);
    assert!(page.contains(&format!("id=\"m-{name}\"")) && page.contains(&format!("id=\"m-{name}-2\"")), "{page}");
    check_names(&page);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 64, ..Default::default() })]

    #[test]
    fn no_page_of_a_random_history_has_a_name_twice(
        steps in proptest::collection::vec(crate::history::odd_step(), 1..50)
    ) {
        let mut run = crate::history::Run::new();
        for step in &steps {
            run.apply(step);
        }
        let page = page_of(&run.session().whole_state().unwrap());
        check_names(&page);
    }
}
