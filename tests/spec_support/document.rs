//! What the library says about a file, in the words of `format-spec/reader.py`.

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use seslog::event::{EventError, decode, encode};
use seslog::log::{
    Cause, Damage, DamageKind, Frame, FrameStatus, FrameType, HintClass, LogError, LogInfo, LogOptions, LogReader,
    LogWriter, OpenReport, Place, SetAside, Survey, Verdict, WatermarkState, survey,
};
use uuid::Uuid;

use crate::log_support::{crc32, disk_with, path};

/// The document of a file.
pub fn document(bytes: &[u8]) -> Value {
    let disk = disk_with(bytes);
    let found = match survey(disk.fs(), &path()) {
        Ok(found) => found,
        Err(LogError::NotALog { .. }) => {
            return json!({"file_len": bytes.len(), "header": null, "verdict": "not_a_log"});
        }
        Err(LogError::NewerFormat { major, incompat, .. }) => {
            return json!({"file_len": bytes.len(), "verdict": "refused", "major": major, "incompat": incompat});
        }
        Err(error) => panic!("{error}"),
    };
    let mut doc = Map::new();
    let mut put = |name: &str, value: Value| doc.insert(name.to_owned(), value);
    put("file_len", json!(bytes.len()));
    put("header", found.header.as_ref().map_or(Value::Null, header));
    put("zero_bytes", json!(found.zero_bytes));
    put("survey", outcome(found.verdict, &found.set_aside, &found.damage));
    let frames: Vec<Value> = found
        .frames
        .iter()
        .map(|frame| {
            let loaded = found.load(frame).expect("the frame is still there");
            frame_document(&loaded, frame.at, frame.status)
        })
        .collect();
    put("frames", json!(frames));
    put("unsupported", json!(unsupported(&found)));
    put("writable", json!(writable(bytes)));
    let open = match LogReader::open(disk.fs(), &path()) {
        Ok((reader, report)) => {
            check_walk(&reader, &found);
            put("state", state(&reader));
            put("watermark", json!(if let WatermarkState::At(mark) = report.watermark { mark } else { 0 }));
            assert_eq!(report.zero_bytes, found.zero_bytes);
            Some(report)
        }
        Err(LogError::NotALog { .. }) => {
            put("watermark", json!(0));
            put("state", Value::Null);
            None
        }
        Err(error) => panic!("{error}"),
    };
    put("open", open.as_ref().map_or(Value::Null, opened));
    let open_verdict = open.map_or(Verdict::Damaged, |report| report.verdict);
    let worst =
        [Verdict::Damaged, Verdict::Recovered].into_iter().find(|word| [found.verdict, open_verdict].contains(word));
    put("verdict", json!(verdict_word(worst.unwrap_or(Verdict::Clean))));
    Value::Object(doc)
}

/// Whether a writer may open the log.
fn writable(bytes: &[u8]) -> bool {
    match LogWriter::open(disk_with(bytes).fs(), &path(), LogOptions::default()) {
        Ok(_) => true,
        Err(LogError::Damaged { .. } | LogError::ReadOnlyFormat { .. } | LogError::NotALog { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Clean => "clean",
        Verdict::Recovered => "recovered",
        _ => "damaged",
    }
}

fn outcome(verdict: Verdict, set_aside: &[SetAside], damage: &[Damage]) -> Value {
    json!({
        "verdict": verdict_word(verdict),
        "set_aside": set_aside.iter().map(aside).collect::<Vec<_>>(),
        "damage": damage.iter().map(hit).collect::<Vec<_>>(),
    })
}

fn opened(report: &OpenReport) -> Value {
    let mut doc = outcome(report.verdict, &report.set_aside, &report.damage);
    doc["clean_close"] = json!(report.clean_close);
    doc["end"] = json!(report.end);
    doc["durable_end"] = json!(report.durable_end);
    doc
}

fn aside(range: &SetAside) -> Value {
    let cause = match range.cause {
        Cause::None => "none",
        Cause::UnsyncedHole => "hole",
        Cause::IncompleteBatch => "half_batch",
        _ => "torn_tail",
    };
    let ids: Vec<String> = range.ids.iter().map(Uuid::to_string).collect();
    json!({"offset": range.offset, "len": range.len, "cause": cause, "ids": ids})
}

fn hit(damage: &Damage) -> Value {
    let kind = match damage.kind {
        DamageKind::Header => "header",
        DamageKind::Frame => "frame",
        DamageKind::Chain => "chain",
        DamageKind::Batch => "batch",
        DamageKind::Missing => "missing",
        _ => "another",
    };
    json!({"offset": damage.offset, "len": damage.len, "kind": kind})
}

fn header(info: &LogInfo) -> Value {
    json!({
        "major": info.major, "minor": info.minor,
        "compat": info.compat, "ro_compat": info.ro_compat, "incompat": info.incompat,
        "max_record": info.max_record, "file_tag": info.file_tag,
        "log_id": info.log_id.to_string(),
        "parent_log": info.parent.map(|parent| parent.log.to_string()),
        "parent_event": info.parent.map(|parent| parent.event.to_string()),
        "created": info.created_at,
    })
}

fn frame_document(frame: &Frame, at: u64, status: FrameStatus) -> Value {
    let head = frame.head();
    let status = match status {
        FrameStatus::Accepted => "accepted",
        FrameStatus::SetAside => "set_aside",
        FrameStatus::Incomplete => "incomplete",
        FrameStatus::Orphan => "orphan",
        FrameStatus::Displaced => "displaced",
        FrameStatus::Doubtful => "doubtful",
        _ => "another",
    };
    let hint = match head.hint {
        HintClass::Plain => 0,
        HintClass::Targets => 1,
        HintClass::ResultOf => 2,
        HintClass::Meta => 3,
        _ => 255,
    };
    let mut doc = json!({
        "offset": head.offset, "at": at, "status": status, "total_len": head.total_len(),
        "type": head.frame_type.to_byte(), "flags": head.flags, "id": head.id.to_string(),
        "parent_off": head.parent_off, "boundary_off": head.boundary_off, "durable_end": head.durable_end(),
        "hint": hint, "targets": frame.targets().map(|id| id.to_string()).collect::<Vec<_>>(),
        "payload_len": frame.payload().len(), "crc32": crc32(&[frame.payload()]),
    });
    if !head.frame_type.is_own() && !matches!(head.frame_type, FrameType::Other(_)) {
        doc["body"] = body(frame.payload());
    }
    doc
}

/// The map of an event as plain JSON, null if the bytes are none.
fn body(payload: &[u8]) -> Value {
    match decode(payload) {
        Err(EventError::Bytes { .. } | EventError::Trailing { .. } | EventError::TooDeep { .. }) => Value::Null,
        // An event that was compressed, as the map that it is.
        Ok(event) if is_compressed(payload) => map(&encode(&event).expect("it can be stored")),
        _ => map(payload),
    }
}

fn map(payload: &[u8]) -> Value {
    match rmp_serde::from_slice(payload) {
        Ok(Plain(map @ Value::Object(_))) => map,
        _ => Value::Null,
    }
}

pub fn is_compressed(payload: &[u8]) -> bool {
    matches!(payload, [0xC7..=0xC9, ..])
}

fn unsupported(found: &Survey) -> Vec<Value> {
    let accepted = found.frames.iter().filter(|frame| frame.status == FrameStatus::Accepted).map(|frame| &frame.head);
    let unknown = accepted.filter(|head| matches!(head.frame_type, FrameType::Other(_)) && !head.is_skippable());
    unknown.take(1).map(|head| json!({"offset": head.offset, "type": head.frame_type.to_byte()})).collect()
}

fn state(reader: &LogReader) -> Value {
    let offset = |place: Place| if let Place::At(offset) = place { offset } else { 0 };
    let note = match reader.note() {
        Ok(note) => note,
        Err(LogError::Damaged { .. }) => return Value::Null,
        Err(error) => panic!("{error}"),
    };
    json!({
        "leaf": offset(note.head), "boundary": offset(note.boundary), "meta": offset(note.meta),
        "last_id": note.last_id.to_string(), "records": reader.record_count().expect("a count"),
    })
}

/// The walk from the first frame gives the accepted frames that the survey gives: all of them, or those up to the first damage
/// or unknown type.
fn check_walk(reader: &LogReader, found: &Survey) {
    let accepted: Vec<u64> =
        found.frames.iter().filter(|frame| frame.status == FrameStatus::Accepted).map(|frame| frame.at).collect();
    let mut walked = Vec::new();
    let mut error = None;
    for frame in reader.frames(0) {
        match frame {
            Ok(frame) => walked.push(frame.offset()),
            Err(found) => error = Some(found),
        }
    }
    assert_eq!(walked, accepted[..walked.len().min(accepted.len())], "{error:?}");
    match error {
        None if found.verdict != Verdict::Damaged => assert_eq!(walked.len(), accepted.len()),
        Some(LogError::UnknownFrame { offset, .. }) => assert_eq!(accepted.get(walked.len()), Some(&offset)),
        Some(error) => assert_eq!(found.verdict, Verdict::Damaged, "{error}"),
        None => {}
    }
}

/// MessagePack as the second reader shows it: ids as text, other bytes as hex.
struct Plain(Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(PlainVisitor).map(Self)
    }
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Value;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Value, E> {
        Ok(json!(match Uuid::from_slice(value) {
            Ok(id) => id.to_string(),
            Err(_) => value.iter().map(|byte| format!("{byte:02x}")).collect(),
        }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Plain(item)) = input.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((Plain(name), Plain(value))) = input.next_entry()? {
            let Value::String(name) = name else { return Err(A::Error::custom("a name that is no text")) };
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        let (_, Bytes(data)) = <(i8, Bytes)>::deserialize(input)?;
        Ok(json!({"number": String::from_utf8_lossy(&data)}))
    }
}

struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Taker;
        impl Visitor<'_> for Taker {
            type Value = Bytes;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("bytes")
            }

            fn visit_bytes<E>(self, value: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(value.to_vec()))
            }
        }
        input.deserialize_bytes(Taker)
    }
}
