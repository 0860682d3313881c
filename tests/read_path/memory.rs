//! What a resume holds at most: the events, and a piece of the file while they are made of it.

use seslog::log::RealFs;
use seslog::projection::{Options, View, project};
use seslog::session::{Session, SessionOptions, SessionReader};
use seslog::wire::{self, Provider, payload};

use crate::counting::peak_of;
use crate::write;

const WINDOW: usize = 200;

#[test]
fn a_resume_holds_less_than_twice_its_window_and_so_does_a_ready_request() {
    let dir = tempfile::tempdir().unwrap();
    for count in [400, 4_000] {
        let path = dir.path().join(format!("{count}.seslog"));
        write(&path, count, WINDOW);
        let reader = SessionReader::open(&path, RealFs::shared()).unwrap();
        let window = (reader.log().end() - reader.state().boundary().unwrap().offset) as usize;
        drop(reader);
        let peak = peak_of(|| drop(SessionReader::open(&path, RealFs::shared()).unwrap()));
        assert!(peak < 2 * window, "a reader holds {peak} bytes for a window of {window}");
        let peak = peak_of(|| drop(Session::open(&path, SessionOptions::default()).unwrap()));
        assert!(peak < 2 * window, "a writer holds {peak} bytes for a window of {window}");
        for provider in Provider::ALL {
            let peak = peak_of(|| {
                let session = Session::open(&path, SessionOptions::default()).unwrap();
                let view = session.with_state(|state| project(state, View::Model, &Options::default())).unwrap();
                let options = wire::Options::default();
                payload(&view.messages, provider, &options).write_to(&mut std::io::sink()).unwrap();
            });
            assert!(peak < 2 * window, "{}: {peak} bytes are held for a window of {window}", provider.name());
        }
    }
}
