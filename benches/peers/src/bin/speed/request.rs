//! From a resumed state to a request: the model's view of the window, what prompt assembly makes of it, and the body.

use std::hint::black_box;

use seslog::context::{Config, Pipeline};
use seslog::event::{Event, Message, decode, encode};
use seslog::log::{Durability, LogReader, RealFs};
use seslog::projection::{Options, View, project};
use seslog::session::{SessionReader, State};
use seslog::wire::{self, Provider, payload};

use crate::Result;
use crate::measure::{Cost, Racer, Watch, race};
use crate::peer::seslog::{Seslog, file};
use crate::scene::{Goal, Scene};
use crate::session::{Size, with_image};

/// What an agent of some size puts into its prompts.
const CONFIG: &str = include_str!("../../../../prompt.json");

/// The tables of requests.
pub fn run(scene: &Scene) -> Result<()> {
    let dir = scene.session(&Seslog(Durability::Os), Size::Messages(1_000))?;
    let reader = SessionReader::open(&file(&dir), RealFs::shared())?;
    let from = reader.state().boundary().ok_or("no boundary")?.offset;
    let (log, _) = LogReader::open(RealFs::shared(), &file(&dir))?;
    let records = log.frames(from).filter(|frame| !frame.as_ref().is_ok_and(|frame| frame.frame_type().is_own()));
    let mut events = records.map(|frame| Ok(decode(frame?.payload())?)).collect::<Result<Vec<Event>>>()?;
    measure(scene, "without an image", &events)?;
    if let Some(message) = events.iter_mut().rev().find_map(|event| match &mut event.body {
        seslog::event::Body::Message(message) if message.results().next().is_some() => Some(message),
        _ => None,
    }) {
        **message = with_image(Message::clone(message), 9);
    }
    measure(scene, "with an image", &events)
}

/// Time for one of so many.
fn timed<T>(count: usize, mut run: impl FnMut() -> T) -> Result<Cost> {
    let watch = Watch::start();
    for _ in 0..count {
        black_box(run());
    }
    Ok(watch.stop(count))
}

fn measure(scene: &Scene, what: &str, events: &[Event]) -> Result<()> {
    const COUNT: usize = 20;
    let payloads = events.iter().map(|event| Ok(encode(event)?)).collect::<Result<Vec<_>>>()?;
    let state = State::from_events(events.iter().cloned());
    println!("### From a resumed window to a request, {what}\n");
    println!(
        "{} events, {} bytes. Goal: view and body together at most 3 times the limit.\n",
        events.len(),
        payloads.iter().map(Vec::len).sum::<usize>()
    );
    let options = Options::default();
    let messages = project(&state, View::Model, &options).messages;
    let mut racers = vec![
        Racer::new("limit", "bare owned decode of the window", || {
            timed(COUNT, || payloads.iter().map(|payload| decode(payload)).collect::<Result<Vec<_>, _>>())
        }),
        Racer::new("**the model's view**", "", || timed(COUNT, || project(&state, View::Model, &options))),
    ];
    for (name, config) in [("bare", "{}"), ("configured", CONFIG)] {
        let config: Config = serde_json::from_str(config)?;
        let messages = &messages;
        racers.push(Racer::new(format!("prompt assembly, {name}"), "of a view that is made", move || {
            timed(COUNT, || Pipeline::standard(&config).run(messages).map(drop))
        }));
    }
    for provider in Provider::ALL {
        let (state, options) = (&state, &options);
        let mut body = Vec::new();
        racers.push(Racer::new(format!("view and {} body", provider.name()), "JSON into memory", move || {
            timed(COUNT, || {
                body.clear();
                let view = project(state, View::Model, options);
                payload(&view.messages, provider, &wire::Options::default()).write_to(&mut body)
            })
        }));
    }
    let lines: Vec<serde_json::Value> = messages
        .iter()
        .map(|message| serde_json::from_str(&serde_json::to_string(message)?))
        .collect::<Result<_, _>>()?;
    let mut text = Vec::new();
    racers.push(Racer::new("JSON values, written", "what an agent does that keeps its messages as JSON", move || {
        timed(COUNT, || {
            text.clear();
            serde_json::to_writer(&mut text, &lines)
        })
    }));
    let outcome = race(scene.rounds(7), racers)?;
    outcome.print("a request");
    let ratios = Provider::ALL.map(|provider| outcome.ratio(&format!("view and {} body", provider.name()), "limit"));
    let worst = ratios.into_iter().max_by(|one, other| one[1].total_cmp(&other[1])).unwrap_or([f64::NAN; 3]);
    scene.goal(format!("view and body, {what}, the slowest provider ÷ decode"), Goal::AtMost(3.0), worst);
    Ok(())
}
