//! What a request costs once a session is resumed: the model's view of a window of 200 messages, what prompt assembly
//! makes of it, and its body for each provider. The limit is the bare decoding of those messages; the window is that of a session of 100,000. Run with
//! `cargo bench --bench payload`.
//!
//! Messages are of a coding agent's kind: what a person types, text and a call of the model's, and the tool's output,
//! most of it some kilobytes, some of it many; once without a picture in the window and once with one of a megabyte.

use std::hint::black_box;
use std::time::Instant;

use seslog::context::{Config, Pipeline};
use seslog::event::{Media, MediaSource, Message, Part, PartBody, ToolOutput, Value, decode};
use seslog::log::{Durability, FrameType};
use seslog::projection::{Options, View, project};
use seslog::session::{Compaction, Session, SessionOptions};
use seslog::wire::{self, Provider, payload};

const COUNT: usize = 100_000;
const WINDOW: usize = 200;
const ROUNDS: usize = 101;
/// What an agent of some size puts into its prompts.
const CONFIG: &str = include_str!("prompt.json");
/// The beginning of a picture of 800 x 600 pixels.
const PNG_HEADER: &str = "iVBORw0KGgoAAAANSUhEUgAAAyAAAAJYCAIAAAAA";

fn message(n: usize, with_picture: bool) -> Message {
    let words = |count: usize| "some words of a line of code \"x\"\n".repeat(count.div_ceil(33));
    match n % 4 {
        0 => Message::user(words(600)),
        1 => Message::assistant_calls(vec![
            Part::text(words(1_200)),
            Part::tool_call(format!("call_{n}"), "read", Value::from([("path", format!("src/file_{n}.rs").into())])),
        ]),
        2 => {
            let len = if n % 100 == 2 { 60_000 } else { 2_000 };
            let mut message = Message::tool_result(format!("call_{}", n - 1), words(len), false);
            if with_picture
                && n == COUNT - 98
                && let PartBody::ToolResult(result) = &mut message.content[0].body
            {
                let picture = Media {
                    media_type: "image/png".to_owned(),
                    source: MediaSource::Data(format!("{PNG_HEADER}{}", "ABCD".repeat(300_000))),
                    name: None,
                    width: Some(800),
                    height: Some(600),
                };
                result.output = ToolOutput::Parts(vec![Part::text("a picture"), Part::new(PartBody::Image(picture))]);
            }
            message
        }
        _ => Message::assistant(words(2_500)),
    }
}

/// The least, median and most of several rounds, in µs.
fn spread(mut round: impl FnMut()) -> [f64; 3] {
    let time = |()| {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64() * 1e6
    };
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| ()).map(time).collect();
    times.sort_by(f64::total_cmp);
    [times[0], times[ROUNDS / 2], times[ROUNDS - 1]]
}

fn main() {
    for with_picture in [false, true] {
        measure(with_picture);
    }
}

fn measure(with_picture: bool) {
    let dir = tempfile::tempdir().expect("a directory can be made");
    let path = dir.path().join("session.seslog");
    let session = Session::create(&path, SessionOptions::default()).expect("a session can be made");
    for n in 0..COUNT {
        if n == COUNT - WINDOW {
            let _ = session.compact(Compaction::new("what came before"), Durability::Os).expect("the disk has room");
        }
        let _ = session.append(message(n, with_picture), Durability::Os).expect("the disk has room");
    }
    session.close().expect("the disk has room");

    let session = Session::open(&path, SessionOptions::default()).expect("it opens");
    let state = session.with_state(Clone::clone).expect("the state is whole");
    assert_eq!(state.chain().len(), WINDOW + 2);
    let from = state.boundary().expect("a boundary").offset;
    let log = session.log();
    let payloads: Vec<Vec<u8>> = log
        .frames(from)
        .map(|frame| frame.expect("it is whole"))
        .filter(|frame| matches!(frame.frame_type(), FrameType::Event | FrameType::Boundary))
        .map(|frame| frame.payload().to_vec())
        .collect();

    let limit = spread(|| {
        for payload in &payloads {
            black_box(decode(payload).expect("an event"));
        }
    });
    let bytes: usize = payloads.iter().map(Vec::len).sum();
    println!(
        "{} messages, {bytes} bytes: decoded in {:.0} µs ({:.0} to {:.0})",
        payloads.len(),
        limit[1],
        limit[0],
        limit[2]
    );
    let view = spread(|| {
        let _ = black_box(project(&state, View::Model, &Options::default()));
    });
    println!("{:<24} {:>10} {:>9} {:>9} {:>9} {:>6}", "", "bytes", "least µs", "median", "most", "ratio");
    let line = |what: &str, bytes: usize, times: [f64; 3]| {
        let [least, median, most] = times;
        println!("{what:<24} {bytes:>10} {least:>9.0} {median:>9.0} {most:>9.0} {:>6.2}", median / limit[1]);
    };
    line("the model's view", 0, view);
    let messages = project(&state, View::Model, &Options::default()).messages;
    for (what, config) in [("bare", "{}"), ("configured", CONFIG)] {
        let config: Config = serde_json::from_str(config).expect("it is a configuration");
        let times = spread(|| {
            let _ = black_box(Pipeline::standard(&config).run(&messages)).expect("no step fails");
        });
        line(&format!("pipeline, {what}"), 0, times);
        println!("{:>65} {:>8.2} of the view, whose limit is 3", "", times[1] / view[1]);
    }
    for provider in Provider::ALL {
        let options = wire::Options::default();
        let mut body = Vec::new();
        let times = spread(|| {
            body.clear();
            let view = project(&state, View::Model, &Options::default());
            payload(&view.messages, provider, &options).write_to(&mut body).expect("memory can be written");
        });
        line(&format!("view and {} body", provider.name()), body.len(), times);
    }
}
