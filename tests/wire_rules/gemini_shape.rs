//! The shape of Gemini's request.

use serde_json::Value as Json;

use super::Report;
use super::shape::*;

/// The fields that are a part's data; one part has one.
pub(super) const DATA: [Field; 7] = [
    ("text", MAY, text),
    ("inlineData", MAY, |r, v, p| object(r, v, p, &[("mimeType", MUST, text), ("data", MUST, text)])),
    ("fileData", MAY, |r, v, p| object(r, v, p, &[("mimeType", MAY, text), ("fileUri", MUST, text)])),
    ("functionCall", MAY, |r, v, p| {
        object(r, v, p, &[("id", MAY, text), ("name", MUST, text), ("args", MAY, any_object)]);
    }),
    ("functionResponse", MAY, |r, v, p| {
        // Its response has a rule of its own.
        let fields = [("id", MAY, text as Shape), ("name", MUST, text), ("response", MUST, any), RESPONSE_PARTS];
        object(r, v, p, &fields);
    }),
    ("executableCode", MAY, any_object),
    ("codeExecutionResult", MAY, any_object),
];
const RESPONSE_PARTS: Field = ("parts", MAY, |r, v, p| list(r, v, p, part));

fn part(report: &mut Report, value: &Json, path: &str) {
    let mut fields = DATA.to_vec();
    let beside = [
        ("thought", MAY, flag as Shape),
        ("thoughtSignature", MAY, text),
        ("videoMetadata", MAY, any_object),
        ("mediaResolution", MAY, any),
        ("partMetadata", MAY, any_object),
    ];
    fields.extend(beside);
    object(report, value, path, &fields);
}

fn content(report: &mut Report, value: &Json, path: &str) {
    object(report, value, path, &[("role", MAY, text), ("parts", MUST, |r, v, p| list(r, v, p, part))]);
}

fn declaration(report: &mut Report, value: &Json, path: &str) {
    let fields = [
        ("name", MUST, text as Shape),
        ("description", MAY, text),
        ("parameters", MAY, any_object),
        ("parametersJsonSchema", MAY, any_object),
        ("response", MAY, any_object),
        ("responseJsonSchema", MAY, any_object),
        ("behavior", MAY, text),
    ];
    object(report, value, path, &fields);
}

fn tool(report: &mut Report, value: &Json, path: &str) {
    let fields = [
        ("functionDeclarations", MAY, (|r, v, p| list(r, v, p, declaration)) as Shape),
        ("googleSearch", MAY, any_object),
        ("codeExecution", MAY, any_object),
        ("urlContext", MAY, any_object),
    ];
    object(report, value, path, &fields);
}

pub(super) fn check(body: &Json, report: &mut Report) {
    let fields = [
        ("model", MAY, text as Shape),
        ("contents", MUST, |r, v, p| list(r, v, p, content)),
        ("systemInstruction", MAY, content),
        ("tools", MAY, |r, v, p| list(r, v, p, tool)),
        ("toolConfig", MAY, any_object),
        ("generationConfig", MAY, any_object),
        ("safetySettings", MAY, any_list),
        ("cachedContent", MAY, text),
        ("labels", MAY, any_object),
    ];
    object(report, body, "$", &fields);
}
