//! Pictures and files of every kind, size and state.

use proptest::prelude::*;
use seslog::event::{Media, MediaSource, Part, PartBody};

use crate::common::picture::{gif, jpeg, pdf, png, webp};

/// A picture or a file.
pub(super) fn media() -> BoxedStrategy<Part> {
    prop_oneof![4 => good(), 4 => odd()].boxed()
}

/// One that every provider takes, by itself.
fn good() -> BoxedStrategy<Part> {
    let data = |data: String| MediaSource::Data(data);
    let url = || MediaSource::Url("https://pictures.test/1.png".to_owned());
    prop_oneof![
        (1_u32..4).prop_map(move |side| part("image/png", data(png(side, 1, 0)), true, None, None)),
        (1_u16..4).prop_map(move |side| part("image/jpeg", data(jpeg(side, 1)), true, None, None)),
        (1_u32..4).prop_map(move |side| part("image/webp", data(webp(side, 1)), true, None, None)),
        (1_u16..4).prop_map(move |side| part("image/gif", data(gif(side, 1)), true, None, None)),
        Just(part("application/pdf", data(pdf(0)), false, Some("report (1).pdf"), None)),
        Just(part("image/png", url(), true, None, None)),
        Just(part("application/pdf", MediaSource::Url("https://files.test/1.pdf".to_owned()), false, None, None)),
    ]
    .boxed()
}

fn odd() -> BoxedStrategy<Part> {
    let types: &'static [&'static str] = &[
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/tiff",
        "image/heic",
        "image/svg+xml",
        "IMAGE/PNG",
        "image/jpg",
        "application/pdf",
        "application/zip",
        "text/plain",
        "text/plain; charset=utf-8",
        "audio/wav",
        "",
        "\0",
    ];
    let names: &'static [&'static str] =
        &["a.png", "report.pdf", "../../a  b\u{1}.pdf", "", " ", "😀.pdf", "report (1).pdf"];
    let name = prop::option::of(prop::sample::select(names));
    let side = prop::option::of(prop::sample::select(vec![0_u64, 1, 2000, 2001, 8000, 8001, u64::MAX]));
    (prop::sample::select(types), source(), any::<bool>(), name, side)
        .prop_map(|(media_type, source, is_image, name, side)| part(media_type, source, is_image, name, side))
        .boxed()
}

fn source() -> BoxedStrategy<MediaSource> {
    let data: &'static [&'static str] = &["", "***", "A", "AA=A", "====", "\0", " "];
    let urls: &'static [&'static str] = &[
        "https://pictures.test/1.png",
        "http://pictures.test/a b.png",
        "https://",
        "file:///etc/hosts",
        "data:image/png;base64,***",
        "data:text/plain,x",
        "",
        "pictures.test/1.png",
        "HTTPS://pictures.test/1.png",
        "https://pictures.test/\0",
    ];
    prop_oneof![
        2 => prop::sample::select(data).prop_map(|data: &str| MediaSource::Data(data.to_owned())),
        2 => spelt_oddly().prop_map(MediaSource::Data),
        1 => spelt_oddly().prop_map(|data| MediaSource::Url(format!("data:image/png;base64,{data}"))),
        // Sides that the record does not tell of.
        1 => prop::sample::select(vec![2001_u32, 8001, 60_000]).prop_map(|side| MediaSource::Data(png(side, 1, 0))),
        1 => Just(MediaSource::Data(pdf(0))),
        3 => prop::sample::select(urls).prop_map(|url| MediaSource::Url(url.to_owned())),
        1 => Just(MediaSource::Path("/home/ann/a\u{7}.png".to_owned())),
        1 => Just(MediaSource::Missing),
    ]
    .boxed()
}

/// A picture's data as some record it: in lines, as an address, in the other alphabet, without its padding.
fn spelt_oddly() -> BoxedStrategy<String> {
    let data = webp(1, 1);
    let (half, rest) = data.split_at(20);
    let spelt = vec![
        format!("{half}\n{rest}"),
        format!(" {data} \r\n"),
        format!("data:image/png;base64,{data}"),
        data.replace('+', "-").replace('/', "_"),
        data.trim_end_matches('=').to_owned(),
        format!("{data}===="),
    ];
    prop::sample::select(spelt).boxed()
}

/// A crowd of pictures or documents.
pub(super) fn crowd() -> BoxedStrategy<Vec<Part>> {
    let of = prop_oneof![
        Just(part("image/png", MediaSource::Data(png(1500, 2500, 0)), true, None, Some(2500))),
        Just(part("image/png", MediaSource::Data(png(1, 1, 0)), true, None, None)),
        Just(part("image/png", MediaSource::Url("https://pictures.test/1.png".to_owned()), true, None, None)),
        Just(part("application/pdf", MediaSource::Data(pdf(0)), false, Some("a"), None)),
    ];
    (of, prop::sample::select(vec![6_usize, 21, 101, 501])).prop_map(|(part, count)| vec![part; count]).boxed()
}

fn part(media_type: &str, source: MediaSource, is_image: bool, name: Option<&str>, side: Option<u64>) -> Part {
    let media = Media {
        media_type: media_type.to_owned(),
        source,
        name: name.map(str::to_owned),
        width: side,
        height: side.and(Some(1)),
    };
    Part::new(if is_image { PartBody::Image(media) } else { PartBody::File(media) })
}
