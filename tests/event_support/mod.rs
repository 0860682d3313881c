//! Random events for the tests of the event floor: every body, kind and part, with unknown fields at every level.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use seslog::event::*;

/// Names that are ours somewhere, in either spelling, and names that are nobody's.
fn field_name() -> BoxedStrategy<String> {
    let strategy = {
        prop_oneof![
            proptest::sample::select(vec![
                "call_id",
                "callId",
                "~callId",
                "~~call_id",
                "type",
                "id",
                "parent",
                "parentId",
                "parent_id",
                "kind",
                "role",
                "text",
                "content",
                "stop_reason",
                "stopReason",
                "metadata",
                "output",
                "input",
                "input_text",
                "inputText",
                "url",
                "original_id",
                "originalId",
                "hungOn",
                "hung_on",
                "off_chain",
                "offChain",
                "isError",
                "name",
                "extra",
                "virtual",
                "is_virtual",
                "title",
                "cache_read",
                "cacheRead",
                "targets",
                "keep",
                "leaf",
                "~",
                "",
                "at",
                "data",
            ])
            .prop_map(str::to_owned),
            "[a-zA-Z_]{1,8}",
            ".{0,4}",
        ]
    };
    strategy.boxed()
}

pub fn text() -> BoxedStrategy<String> {
    let strategy = {
        prop_oneof![Just(String::new()), "[a-z ]{0,12}", ".{0,12}", Just("line\nline\r\n\u{0}}{\u{1F600}".to_owned())]
    };
    strategy.boxed()
}

fn number_text() -> BoxedStrategy<String> {
    let strategy = {
        proptest::sample::select(vec![
            "1.10",
            "-0",
            "1e400",
            "123456789012345678901234567890",
            "1E5",
            "0.10e-3",
            "-1.0e+2",
        ])
        .prop_map(str::to_owned)
    };
    strategy.boxed()
}

/// A float whose text is its own shortest one, as JSON reads it back.
fn float() -> BoxedStrategy<f64> {
    let strategy = { any::<f64>().prop_filter("finite", |value| value.is_finite()) };
    strategy.boxed()
}

/// Any value but bytes, which JSON can't tell from text.
pub fn value() -> BoxedStrategy<Value> {
    let strategy = {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            (i64::MAX as u64 + 1..=u64::MAX).prop_map(Value::UInt),
            float().prop_map(Value::Float),
            number_text().prop_map(Value::Number),
            text().prop_map(Value::Text),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![vec(inner.clone(), 0..4).prop_map(Value::List), fields_of(inner).prop_map(Value::Map)]
        })
    };
    strategy.boxed()
}

fn some_value() -> BoxedStrategy<Option<Value>> {
    let strategy = { option::of(value().prop_filter("null is absent in JSON", |value| *value != Value::Null)) };
    strategy.boxed()
}

fn fields_of(inner: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Fields> {
    let strategy = {
        vec((field_name(), inner), 0..4).prop_map(|mut fields| {
            let mut names = std::collections::HashSet::new();
            fields.retain(|(name, _)| names.insert(name.clone()));
            fields
        })
    };
    strategy.boxed()
}

pub fn fields() -> BoxedStrategy<Fields> {
    let strategy = { prop_oneof![2 => Just(Fields::new()), 1 => fields_of(value())] };
    strategy.boxed()
}

fn opt_text() -> BoxedStrategy<Option<String>> {
    let strategy = { option::of(text()) };
    strategy.boxed()
}

pub fn id() -> BoxedStrategy<Uuid> {
    let strategy = { any::<u128>().prop_map(Uuid::from_u128) };
    strategy.boxed()
}

fn media() -> BoxedStrategy<Media> {
    let strategy = {
        let source = prop_oneof![
            text().prop_map(MediaSource::Data),
            text().prop_map(MediaSource::Url),
            text().prop_map(MediaSource::Path),
            Just(MediaSource::Missing),
        ];
        (text(), source, opt_text(), option::of(any::<u64>()), option::of(any::<u64>()))
            .prop_map(|(media_type, source, name, width, height)| Media { media_type, source, name, width, height })
    };
    strategy.boxed()
}

fn simple_body() -> BoxedStrategy<PartBody> {
    let strategy = {
        prop_oneof![
            text().prop_map(|text| PartBody::Text(Text { text })),
            value().prop_map(PartBody::Json),
            media().prop_map(PartBody::Image),
            media().prop_map(PartBody::File),
        ]
    };
    strategy.boxed()
}

fn part_of(body: impl Strategy<Value = PartBody> + 'static) -> BoxedStrategy<Part> {
    let strategy = {
        (body, opt_text(), opt_text(), fields()).prop_map(|(body, provider, item_id, extra)| Part {
            body,
            provider,
            item_id,
            extra,
        })
    };
    strategy.boxed()
}

pub fn part() -> BoxedStrategy<Part> {
    let strategy = {
        let input = prop_oneof![
            Just(ToolInput::None),
            value().prop_filter("null is absent in JSON", |value| *value != Value::Null).prop_map(ToolInput::Json),
            text().prop_map(ToolInput::Text),
        ];
        let output = prop_oneof![
            text().prop_map(ToolOutput::Text),
            vec(part_of(simple_body()), 0..3).prop_map(ToolOutput::Parts),
        ];
        let body = prop_oneof![
            simple_body(),
            (opt_text(), opt_text(), opt_text(), opt_text()).prop_map(|(text, signature, redacted, encrypted)| {
                PartBody::Reasoning(Reasoning { text, signature, redacted, encrypted })
            }),
            (text(), text(), input, any::<bool>(), opt_text()).prop_map(
                |(id, name, input, incomplete, thought_signature)| {
                    PartBody::ToolCall(ToolCall { id, name, input, incomplete, thought_signature })
                }
            ),
            (text(), opt_text(), output, any::<bool>(), some_value()).prop_map(
                |(call_id, name, output, is_error, raw)| {
                    PartBody::ToolResult(ToolResult { call_id, name, output, is_error, raw })
                }
            ),
            (text(), opt_text()).prop_map(|(call_id, approval_id)| {
                PartBody::ToolApprovalRequest(ApprovalRequest { call_id, approval_id })
            }),
            (text(), opt_text(), any::<bool>(), opt_text()).prop_map(|(call_id, approval_id, approved, reason)| {
                PartBody::ToolApprovalResponse(ApprovalResponse { call_id, approval_id, approved, reason })
            }),
            value().prop_map(|value| PartBody::Opaque(Opaque { value })),
            Just(PartBody::Unknown("hologram".to_owned())),
        ];
        part_of(body)
    };
    strategy.boxed()
}

fn hook() -> BoxedStrategy<Option<HookPhase>> {
    let strategy = {
        option::of(prop_oneof![
            Just(HookPhase::Pre),
            Just(HookPhase::Post),
            Just(HookPhase::Other("between".to_owned()))
        ])
    };
    strategy.boxed()
}

fn cards() -> BoxedStrategy<Vec<Value>> {
    let strategy = {
        vec(
            (text(), vec(part(), 0..2)).prop_map(|(name, content)| {
                let event = Event {
                    body: Body::Message(Box::new(Message {
                        request_id: Some(name),
                        ..Message::new(Role::User, Kind::ToolCall, content)
                    })),
                    ..event_at(Uuid::nil(), 0)
                };
                card(&event)
            }),
            0..3,
        )
    };
    strategy.boxed()
}

/// A message as it stands in a card: what the log holds of it, without what the envelope adds.
pub fn card(event: &Event) -> Value {
    let (Value::Map(fields), _) = Value::parse_json(to_json(event)).unwrap() else { panic!("an event is an object") };
    let group = Value::Map(vec![
        ("type".to_owned(), Value::Text("message".to_owned())),
        ("role".to_owned(), Value::Text("user".to_owned())),
        ("kind".to_owned(), Value::Text("supervisor".to_owned())),
        ("parentId".to_owned(), Value::Null),
        (
            "children".to_owned(),
            Value::List(vec![Value::Map(
                fields.into_iter().filter(|(name, _)| !["id", "parentId", "at"].contains(&name.as_str())).collect(),
            )]),
        ),
    ]);
    let line = serde_json::to_string(&group).unwrap();
    match read_one(&line) {
        seslog::interop::IncomingBody::Message(message) => match message.kind {
            Kind::Supervisor(mut group) => group.children.remove(0),
            other => panic!("not a group: {other:?}"),
        },
        other => panic!("not a message: {other:?}"),
    }
}

/// What the reader of neutral lines makes of one line.
pub fn read_one(line: &str) -> seslog::interop::IncomingBody {
    seslog::interop::read_events(line.as_bytes()).next().unwrap().unwrap().1.body
}

pub fn kind() -> BoxedStrategy<Kind> {
    let strategy = {
        let changed = (id(), any::<u64>()).prop_map(|(id, offset)| Changed { id, offset });
        let kept =
            (id(), any::<u64>(), vec(changed, 0..2)).prop_map(|(id, offset, changed)| Kept { id, offset, changed });
        let kept = vec(kept, 0..3).boxed();
        let trigger = option::of(prop_oneof![
            Just(Trigger::Auto),
            Just(Trigger::Manual),
            Just(Trigger::Other("clock".to_owned()))
        ]);
        let bash = (text(), text(), option::of(any::<i64>()), any::<[bool; 3]>(), opt_text()).prop_map(
            |(command, output, exit_code, [cancelled, truncated, exclude_from_context], full_output_path)| {
                Kind::BashExecution(BashExecution {
                    command,
                    output,
                    exit_code,
                    cancelled,
                    truncated,
                    exclude_from_context,
                    full_output_path,
                })
            },
        );
        let plain = proptest::sample::select(vec![
            Kind::SystemNote,
            Kind::UserInput,
            Kind::AssistantText,
            Kind::AssistantReasoning,
            Kind::ToolCall,
            Kind::ToolResult,
            Kind::ToolApprovalRequest,
            Kind::ToolApprovalResponse,
            Kind::RuntimeReminder,
            Kind::HandoffSummary,
            Kind::AgentSwitchNote,
        ]);
        let simple =
            prop_oneof![
                plain,
                option::of(any::<u64>())
                    .prop_map(|tokens_before| Kind::CompactSummary(CompactSummary { tokens_before })),
                bash,
                (text(), any::<bool>(), some_value())
                    .prop_map(|(custom_type, display, details)| Kind::Custom(Custom { custom_type, display, details })),
                opt_text().prop_map(|from_id| Kind::BranchSummary(BranchSummary { from_id })),
                (opt_text(), opt_text(), some_value(), hook()).prop_map(
                    |(tool_use_id, parent_tool_use_id, data, hook_event)| {
                        Kind::Progress(Progress { tool_use_id, parent_tool_use_id, data, hook_event })
                    }
                ),
                (some_value(), opt_text(), hook()).prop_map(|(attachment, tool_use_id, hook_event)| {
                    Kind::Attachment(Attachment { attachment, tool_use_id, hook_event })
                }),
                (text(), vec(text(), 0..3))
                    .prop_map(|(summary, tool_use_ids)| Kind::ToolUseSummary(ToolUseSummary { summary, tool_use_ids })),
                (text(), opt_text(), opt_text(), hook(), some_value()).prop_map(
                    |(subtype, level, tool_use_id, hook_event, data)| {
                        Kind::SystemEvent(SystemEvent { subtype, level, tool_use_id, hook_event, data })
                    }
                ),
                (opt_text(), opt_text(), opt_text()).prop_map(|(title, instruction, status)| Kind::Task(Task {
                    title,
                    instruction,
                    status
                })),
                (text(), text()).prop_map(|(task, status)| Kind::TaskCallback(TaskCallback { task, status })),
                opt_text().prop_map(|feedback| Kind::Verify(Verify { feedback })),
            ];
        let groups = prop_oneof![
            cards().prop_map(|children| Kind::AssistantGroup(Children { children })),
            cards().prop_map(|children| Kind::Supervisor(Children { children })),
            cards().prop_map(|children| Kind::CompressedGroup(Children { children })),
            cards().prop_map(|members| Kind::AgentCouncil(AgentCouncil { members })),
            cards().prop_map(|tasks| Kind::Tasks(Tasks { tasks })),
            cards().prop_map(|tasks| Kind::GroupTasks(Tasks { tasks })),
        ];
        let boundary = (kept.clone(), trigger, kept, any::<u64>(), id()).prop_map(
            |(keep, trigger, carried, meta_offset, last_id)| {
                Kind::CompactBoundary(CompactBoundary { keep, trigger, carried, meta_offset, last_id })
            },
        );
        prop_oneof![8 => simple, 2 => groups, 1 => boundary]
    };
    strategy.boxed()
}

pub fn role() -> BoxedStrategy<Role> {
    let strategy = { proptest::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]) };
    strategy.boxed()
}

fn usage() -> BoxedStrategy<Usage> {
    let strategy = {
        (any::<[u64; 2]>(), any::<[Option<u64>; 4]>(), fields()).prop_map(
            |([input, output], [cache_read, cache_write, reasoning, total], extra)| Usage {
                input,
                output,
                cache_read,
                cache_write,
                reasoning,
                total,
                extra,
            },
        )
    };
    strategy.boxed()
}

fn metadata() -> BoxedStrategy<Metadata> {
    let strategy = {
        let source = option::of(prop_oneof![
            Just(Source::User),
            Just(Source::Runtime),
            Just(Source::Hook),
            Just(Source::Tool),
            Just(Source::System),
            Just(Source::Other("moon".to_owned())),
        ]);
        let texts = (opt_text(), opt_text(), opt_text(), opt_text(), opt_text(), opt_text(), opt_text());
        (
            texts,
            any::<[bool; 6]>(),
            option::of(any::<i64>()),
            source,
            vec(text(), 0..3),
            some_value(),
            some_value(),
            fields(),
        )
            .prop_map(|(texts, flags, compacted_at, source, tags, origin, extra, unknown)| Metadata {
                agent_name: texts.0,
                effective_agent_name: texts.1,
                synthetic: flags[0],
                visible_in_transcript: flags[1],
                eligible_for_model_context: flags[2],
                meta: flags[3],
                is_virtual: flags[4],
                sidechain: flags[5],
                compacted_at,
                compact_boundary_id: texts.2,
                summary_for_boundary_id: texts.3,
                source,
                source_tool_assistant_id: texts.4,
                tags,
                run_id: texts.5,
                permission_mode: texts.6,
                origin,
                extra,
                // An original id in the metadata is read as the event's.
                unknown: unknown.into_iter().filter(|(name, _)| !name.ends_with("originalId")).collect(),
            })
    };
    strategy.boxed()
}

pub fn message() -> BoxedStrategy<Message> {
    let strategy = {
        let stop_reason =
            prop_oneof![Just(StopReason::NotSaid), Just(StopReason::StreamOpen), text().prop_map(StopReason::Said)];
        let metadata = prop_oneof![Just(Metadata::default()), metadata()];
        let texts = (opt_text(), opt_text(), opt_text(), opt_text());
        (role(), kind(), vec(part(), 0..4), texts, option::of(usage()), stop_reason, metadata, fields()).prop_map(
            |(role, kind, content, (provider, model, request_id, message_id), usage, stop_reason, metadata, extra)| {
                Message {
                    role,
                    kind,
                    content,
                    provider,
                    model,
                    request_id,
                    message_id,
                    usage,
                    stop_reason,
                    metadata,
                    extra,
                }
            },
        )
    };
    strategy.boxed()
}

pub fn body() -> BoxedStrategy<Body> {
    let strategy = {
        let unknown_type = fields()
            .prop_map(|fields| Body::Unknown(Unknown { event_type: "telemetry".to_owned(), kind: None, fields }));
        let unknown_kind = (role(), vec(part(), 0..2), fields()).prop_map(|(role, content, extra)| {
            let message = Message { extra, ..Message::new(role, Kind::ToolCall, content) };
            let stored = decode(&encode(&event_of(Body::Message(Box::new(message)))).unwrap()).unwrap();
            // The same bytes with a kind that nobody knows.
            let mut bytes = encode(&stored).unwrap();
            let place = bytes.windows(9).position(|window| window == b"tool_call").unwrap();
            bytes[place..place + 9].copy_from_slice(b"mind_read");
            decode(&bytes).unwrap().body
        });
        prop_oneof![
            8 => message().prop_map(|message| Body::Message(Box::new(message))),
            1 => (vec(id(), 1..3), opt_text()).prop_map(|(targets, reason)| Body::Tombstone(Tombstone { targets, reason })),
            1 => (id(), patch()).prop_map(|(target, patch)| Body::Amend(Amend { target, patch })),
            1 => vec(id(), 0..3).prop_map(|targets| Body::Prune(Prune { targets })),
            1 => option::of(id()).prop_map(|leaf| Body::Head(Head { leaf })),
            1 => (text(), opt_text())
                .prop_map(|(call_id, idempotency_key)| Body::ToolStarted(ToolStarted { call_id, idempotency_key })),
            1 => ((opt_text(), opt_text(), opt_text(), opt_text()), vec(text(), 0..3), fields()).prop_map(
                |((title, cwd, model, agent), tags, extra)| Body::SessionMeta(SessionMeta { title, tags, cwd, model, agent, extra })
            ),
            1 => (text(), value()).prop_map(|(name, payload)| Body::Extension(Extension { name, payload })),
            1 => unknown_type,
            1 => unknown_kind,
        ]
    };
    strategy.boxed()
}

/// A patch that an amend may hold: what a message says beside its role and kind.
fn patch() -> BoxedStrategy<Fields> {
    let strategy = {
        const FIXED: [&str; 7] = ["type", "id", "parent", "parent_id", "parentId", "role", "kind"];
        message().prop_map(|message| {
            let text = serde_json::to_string(&InJson(&message)).unwrap();
            let (Value::Map(mut fields), _) = Value::parse_json(text).unwrap() else {
                panic!("a message is an object")
            };
            fields.retain(|(name, _)| !FIXED.contains(&name.trim_start_matches('~')));
            let amend = Value::Map(vec![
                ("type".to_owned(), Value::Text("amend".to_owned())),
                ("target".to_owned(), Value::Text("any".to_owned())),
                ("patch".to_owned(), Value::Map(fields)),
            ]);
            match read_one(&serde_json::to_string(&amend).unwrap()) {
                seslog::interop::IncomingBody::Amend { patch, .. } => patch,
                other => panic!("not an amend: {other:?}"),
            }
        })
    };
    strategy.boxed()
}

pub fn event_of(body: Body) -> Event {
    Event { body, ..event_at(Uuid::from_u128(7), 7) }
}

pub fn event_at(id: Uuid, at: i64) -> Event {
    Event {
        id,
        parent: None,
        hung_on: HungOn::Named,
        at,
        original_id: None,
        original_parent: None,
        off_chain: false,
        body: Body::Head(Head { leaf: None }),
        extra: Fields::new(),
    }
}

pub fn event() -> BoxedStrategy<Event> {
    let strategy = {
        let hung_on = prop_oneof![Just(HungOn::Named), Just(HungOn::Root), id().prop_map(HungOn::Event)];
        (id(), option::of(id()), hung_on, any::<i64>(), opt_text(), opt_text(), any::<bool>(), body(), fields())
            .prop_map(|(id, parent, hung_on, at, original_id, original_parent, off_chain, body, extra)| {
                // Messages, metas and unknown ones keep unknown fields in their bodies.
                let own = !matches!(body, Body::Message(_) | Body::SessionMeta(_) | Body::Unknown(_));
                let extra = if own { extra } else { Fields::new() };
                Event { id, parent, hung_on, at, original_id, original_parent, off_chain, body, extra }
            })
    };
    strategy.boxed()
}
