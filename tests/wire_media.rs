//! Pictures and files in bodies: what their bytes say, what a limit leaves out, and data that are mended.

mod common;

use common::bodies::{Made, made};
use common::picture;
use common::story::Story;
use serde_json::{Value as Json, json};
use seslog::event::*;
use seslog::projection::code;
use seslog::wire::{MediaLimits, Options, Provider};

fn picture_of(media_type: &str, data: impl Into<String>) -> Media {
    let source = MediaSource::Data(data.into());
    Media { media_type: media_type.to_owned(), source, name: None, width: None, height: None }
}

fn sized(media: Media, side: u64) -> Media {
    Media { width: Some(side), height: Some(1), ..media }
}

fn payload(pictures: Vec<Media>, provider: Provider, options: &Options) -> Made {
    let parts = pictures.into_iter().map(|media| Part::new(PartBody::Image(media))).collect();
    let story = Story::new().say("u1", Message::new(Role::User, Kind::UserInput, parts));
    made(&story.model().messages, provider, options)
}

/// What the AI SDK is sent in the place of a picture or file.
fn sent(media: Media) -> Json {
    let made = payload(vec![media, picture_of("image/png", "aTE=")], Provider::AiSdk, &Options::default());
    serde_json::from_str::<Json>(&made.to_json()).unwrap()["messages"][0]["content"][0].clone()
}

fn file(media_type: &str, data: &str) -> Json {
    json!({"type": "file", "data": data, "mediaType": media_type})
}

fn is_note(part: &Json) -> bool {
    part["type"] == "text" && part["text"].as_str().unwrap().contains("not shown")
}

fn codes(media: Media) -> Vec<&'static str> {
    payload(vec![media], Provider::AiSdk, &Options::default()).diagnostics.iter().map(|item| item.code).collect()
}

/// Programs that give a picture by its address name no type for it.
#[test]
fn a_picture_of_no_recorded_type_is_sent_where_its_address_says_what_it_is() {
    let by_address =
        |media_type: &str, url: &str| Media { source: MediaSource::Url(url.to_owned()), ..picture_of(media_type, "") };
    for (url, is_sent) in [
        ("https://example.org/a.PNG?x=1.txt", true),
        ("https://example.org/b.jpeg#c", true),
        ("https://example.org/a.svg", false),
        ("https://example.org/c", false),
    ] {
        assert_eq!(!is_note(&sent(by_address("", url))), is_sent, "{url}");
    }
    assert!(is_note(&sent(by_address("image/svg+xml", "https://example.org/a.png"))), "what is recorded counts");
}

/// A JPEG with a description of this length before its size.
fn described_jpeg(side: u16, description: usize) -> String {
    let mut bytes = b"\xff\xd8".to_vec();
    let mut left = description;
    while left > 0 {
        let len = left.min(0xffff);
        bytes.extend(b"\xff\xe1");
        bytes.extend(u16::try_from(len).unwrap().to_be_bytes());
        bytes.resize(bytes.len() + len - 2, 0);
        left -= len;
    }
    bytes.extend(b"\xff\xc0\0\x11\x08");
    bytes.extend(side.to_be_bytes());
    bytes.extend(side.to_be_bytes());
    bytes.resize(bytes.len() + 32, 0);
    picture::base64(&bytes)
}

/// The first bytes of a picture of this brand, of no size that can be read.
fn heif(brand: &[u8; 4]) -> String {
    picture::base64(&[b"\0\0\0\x18ftyp", brand.as_slice(), b"\0\0\0\0mif1heic"].concat())
}

#[test]
fn a_pictures_size_is_read_from_its_bytes_where_none_is_recorded() {
    for (media_type, fits, wide) in [
        ("image/png", picture::png(8_000, 1, 0), picture::png(1, 8_001, 0)),
        ("image/jpeg", picture::jpeg(8_000, 1), picture::jpeg(8_001, 1)),
        ("image/gif", picture::gif(1, 8_000), picture::gif(8_001, 1)),
        ("image/webp", picture::webp(8_000, 1), picture::webp(1, 8_001)),
    ] {
        assert_eq!(sent(picture_of(media_type, fits.clone())), file(media_type, &fits));
        let note = sent(picture_of(media_type, wide));
        assert!(is_note(&note) && note["text"].as_str().unwrap().contains("larger"), "{note}");
    }
}

#[test]
fn the_bytes_count_and_what_is_recorded_only_where_they_say_nothing() {
    let small = picture::png(10, 10, 0);
    assert_eq!(sent(sized(picture_of("image/png", small.clone()), 9_000)), file("image/png", &small));
    assert!(is_note(&sent(sized(picture_of("image/png", picture::png(9_000, 10, 0)), 10))));
    assert!(is_note(&sent(sized(picture_of("image/png", "aTE="), 9_000))));
    assert_eq!(sent(sized(picture_of("image/png", "aTE="), 8_000)), file("image/png", "aTE="));
}

#[test]
fn a_photographs_size_is_found_behind_a_long_description() {
    for description in [2, 1_000, 100_000, 250_000] {
        let fits = described_jpeg(8_000, description);
        assert_eq!(sent(picture_of("image/jpeg", fits.clone())), file("image/jpeg", &fits), "{description}");
        assert!(is_note(&sent(picture_of("image/jpeg", described_jpeg(8_001, description)))), "{description}");
    }
    // No more is looked at than that.
    let deep = described_jpeg(9_000, 300_000);
    assert_eq!(sent(picture_of("image/jpeg", deep.clone())), file("image/jpeg", &deep));
}

#[test]
fn a_media_type_that_does_not_fit_the_bytes_is_corrected() {
    let jpeg = picture::jpeg(10, 10);
    for recorded in ["image/png", "image/jpg", "application/octet-stream", ""] {
        assert_eq!(sent(picture_of(recorded, jpeg.clone())), file("image/jpeg", &jpeg), "{recorded}");
        assert_eq!(codes(picture_of(recorded, jpeg.clone())), [code::MEDIA_TYPE_CORRECTED], "{recorded}");
    }
    assert_eq!(codes(picture_of("image/jpeg", jpeg)), Vec::<&str>::new());
    let pdf = picture::pdf(0);
    assert_eq!(sent(picture_of("image/png", pdf.clone())), file("application/pdf", &pdf));
    // A picture of a kind that the provider does not take gets by under no other name.
    assert!(is_note(&sent(picture_of("image/png", heif(b"heic")))));
    assert!(is_note(&sent(picture_of("image/png", picture::base64(b"BM\x1a\0\0\0\0\0\0\0\x1a\0\0\0\x0c\0\0\0")))));
}

#[test]
fn bytes_of_no_known_kind_keep_what_was_recorded() {
    for media_type in ["image/png", "image/webp", "application/pdf"] {
        assert_eq!(sent(picture_of(media_type, "aTE=")), file(media_type, "aTE="));
        assert_eq!(codes(picture_of(media_type, "aTE=")), Vec::<&str>::new());
    }
    assert_eq!(sent(picture_of("IMAGE/JPG", "aTE=")), file("image/jpeg", "aTE="));
    assert_eq!(sent(picture_of("image/png; name=a.png", "aTE=")), file("image/png", "aTE="));
}

#[test]
fn both_names_of_one_kind_are_kept() {
    let data = heif(b"heic");
    for recorded in ["image/heic", "image/heif"] {
        let made = payload(vec![picture_of(recorded, data.clone())], Provider::Gemini, &Options::default());
        let body: Json = serde_json::from_str(&made.to_json()).unwrap();
        assert_eq!(body["contents"][0]["parts"][0], json!({"inlineData": {"mimeType": recorded, "data": data}}));
    }
    let made = payload(vec![picture_of("image/heic", heif(b"avif"))], Provider::Gemini, &Options::default());
    assert!(made.to_json().contains("not shown"));
}

#[test]
fn data_of_another_spelling_are_mended() {
    for given in [
        "data:image/png;base64,+/8+/w==",
        "+/8+\n/w==",
        " +/8+\r\n/w==\n",
        "-_8-_w",
        "-_8-_w==",
        "+/8+/w",
        "+/8+/w===",
        "+/8+/x==",
        "data:;base64,-_8-\n_w",
    ] {
        assert_eq!(sent(picture_of("image/png", given)), file("image/png", "+/8+/w=="), "{given}");
    }
    let by_address = Media { source: MediaSource::Url("data:image/png;base64,aTE=".to_owned()), ..picture_of("", "") };
    assert!(is_note(&sent(by_address.clone())));
    let by_address = Media { media_type: "image/png".to_owned(), ..by_address };
    assert_eq!(sent(by_address), file("image/png", "aTE="));
    for broken in ["", "=", "a", "aTE=a", "§", "data:image/png,aTE=", "data:image/png;base64,", "a b c d e"] {
        assert!(is_note(&sent(picture_of("image/png", broken))), "{broken}");
    }
}

#[test]
fn an_address_with_characters_that_no_address_has_is_not_sent() {
    for address in ["https://example.org/a b.png", "https://example.org/\u{0}", "https://example.org/a\n"] {
        let source = MediaSource::Url(address.to_owned());
        assert!(is_note(&sent(Media { source, ..picture_of("image/png", "") })), "{address:?}");
    }
}

#[test]
fn a_name_goes_out_only_if_there_is_one_to_read() {
    for (name, goes_out) in [("a.png", true), (" ", false), ("a\u{0}.png", false)] {
        let named = Media { name: Some(name.to_owned()), ..picture_of("image/png", "aTE=") };
        assert_eq!(sent(named).get("filename").is_some(), goes_out, "{name:?}");
    }
}

#[test]
fn sizes_are_read_from_mended_data_too() {
    let wide = picture::png(9_000, 10, 0).replace('+', "-").replace('/', "_");
    assert!(is_note(&sent(picture_of("image/png", format!("data:image/png;base64,{wide}")))));
}

#[test]
fn the_oldest_give_way_until_the_whole_request_is_small_enough() {
    let limits = |inline_bytes_max| MediaLimits {
        image_side_max: 8_000,
        many_images_above: 20,
        many_image_side_max: 2_000,
        images_max: 100,
        image_bytes_max: 1_000_000,
        inline_bytes_max,
    };
    let shown = |inline_bytes_max| {
        let mut options = Options::default();
        options.media = Some(limits(inline_bytes_max));
        let data = |size: usize| {
            let mut bytes = b"GIF89a\x01\0\x01\0".to_vec();
            bytes.resize(size * 3, 0);
            picture_of("image/gif", picture::base64(&bytes))
        };
        let pictures = vec![data(100), data(10), data(200), data(50)];
        let made = payload(pictures, Provider::AiSdk, &options);
        let body: Json = serde_json::from_str(&made.to_json()).unwrap();
        let content = body["messages"][0]["content"].as_array().unwrap();
        content.iter().map(|part| !is_note(part)).collect::<Vec<_>>()
    };
    assert_eq!(shown(1_440), [true, true, true, true]);
    assert_eq!(shown(1_439), [false, true, true, true]);
    assert_eq!(shown(1_039), [false, false, true, true]);
    // What is too much by itself takes no other's place.
    assert_eq!(shown(799), [true, true, false, true]);
    assert_eq!(shown(0), [false, false, false, false]);
}

#[test]
fn each_provider_is_sent_real_pictures_and_notes_in_the_place_of_all_others() {
    let pictures = || {
        vec![
            picture_of("image/png", picture::png(10, 10, 0)),
            picture_of("image/png", picture::jpeg(10, 10)),
            picture_of("image/tiff", picture::base64(b"II*\0\x08\0\0\0\0\0")),
            picture_of("image/png", "no base64!"),
        ]
    };
    for provider in Provider::ALL {
        let made = payload(pictures(), provider, &Options::default());
        let count = |code| made.diagnostics.iter().filter(|item| item.code == code).count();
        assert_eq!(count(code::MEDIA_DEGRADED), 2, "{}", provider.name());
        assert_eq!(count(code::MEDIA_TYPE_CORRECTED), 1, "{}", provider.name());
        assert_eq!(made.to_json().matches("not shown").count(), 2, "{}", provider.name());
    }
}

/// A file that was garbled on its way into the log would make each later request fail.
#[test]
fn bytes_that_are_no_picture_become_a_note() {
    let garbled = || picture_of("image/png", "QUJD".repeat(40));
    assert!(is_note(&sent(garbled())));
    assert_eq!(codes(garbled()), [code::MEDIA_DEGRADED]);
}
