//! Pictures and files for a model that does not take them.

use seslog::context::slots::{Slot, write};
use seslog::context::steps::media::*;
use seslog::event::*;

use crate::support::{codes, config, inside, run, session, texts};

fn part(media_type: &str) -> Part {
    let media =
        Media { media_type: media_type.into(), source: MediaSource::Missing, name: None, width: None, height: None };
    Part::new(if media_type.is_empty() || media_type.starts_with("image/") {
        PartBody::Image(media)
    } else {
        PartBody::File(media)
    })
}

#[test]
fn each_picture_becomes_one_note_of_its_kind() {
    let cases: &[(&str, &str, Option<&str>)] = &[
        ("{}", "image/png", None),
        (r#"{"takes":[]}"#, "image/png", Some(IMAGE_OMITTED)),
        (r#"{"takes":[]}"#, "", Some(IMAGE_OMITTED)),
        (r#"{"takes":[]}"#, "video/mp4", Some(VIDEO_OMITTED)),
        (r#"{"takes":[]}"#, "audio/wav", Some(AUDIO_OMITTED)),
        (r#"{"takes":[]}"#, "application/pdf", Some(FILE_OMITTED)),
        (r#"{"takes":["image/png"]}"#, "image/png", None),
        (r#"{"takes":["image/png"]}"#, "", None),
        (r#"{"takes":["image/png"]}"#, "image/gif", Some(IMAGE_OMITTED)),
        (r#"{"takes":["image/*"]}"#, "image/gif", None),
        (r#"{"takes":["image/*","application/pdf"]}"#, "application/pdf", None),
        (r#"{"takes":["image/*"]}"#, "text/plain", Some(FILE_OMITTED)),
    ];
    for (json, media_type, note) in cases {
        let message = Message::new(Role::User, Kind::UserInput, vec![part(media_type)]);
        let prompt = run(MediaNotes::new(config(json)), &session([message]));
        assert_eq!(texts(&prompt.messages[0]), Vec::from_iter(*note), "{json} {media_type}");
        assert_eq!(codes(&prompt), vec!["media_degraded"; usize::from(note.is_some())]);
    }
}

#[test]
fn notes_stand_behind_the_persons_words_and_before_the_wrapper() {
    let content = vec![part("image/png"), Part::text("Which is larger?"), part("image/png"), part("audio/wav")];
    let mut messages = session([Message::new(Role::User, Kind::UserInput, content)]);
    write(&mut messages, Slot::LastUser, "todo");
    let prompt = run(MediaNotes::new(config(r#"{"takes":[]}"#)), &messages);
    let content = texts(&prompt.messages[0]);
    assert_eq!(content[..4], ["Which is larger?", IMAGE_OMITTED, IMAGE_OMITTED, AUDIO_OMITTED]);
    assert_eq!(inside(content[4]), "todo");
    assert!(prompt.messages[0].content[0].is_recorded());
}

#[test]
fn elsewhere_a_note_stands_where_the_picture_stood() {
    let output = vec![Part::text("a"), part("image/png"), Part::text("b"), part("application/pdf")];
    let result = ToolResult {
        call_id: "c1".into(),
        name: Some("look".into()),
        output: ToolOutput::Parts(output),
        is_error: true,
        raw: None,
    };
    let messages = session([
        Message::new(Role::Assistant, Kind::AssistantText, vec![part("image/png"), Part::text("here")]),
        Message::new(Role::Tool, Kind::ToolResult, vec![Part::new(PartBody::ToolResult(result))]),
    ]);
    let prompt = run(MediaNotes::new(config(r#"{"takes":["application/pdf"]}"#)), &messages);
    assert_eq!(texts(&prompt.messages[0]), [IMAGE_OMITTED, "here"]);
    let result = prompt.messages[1].content[0].as_tool_result().unwrap();
    let ToolOutput::Parts(parts) = &result.output else { panic!("parts") };
    assert_eq!(*parts, [Part::text("a"), Part::text(IMAGE_OMITTED), Part::text("b"), part("application/pdf")]);
    assert!(result.is_error && result.name.as_deref() == Some("look"));
}
