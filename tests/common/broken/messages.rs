//! Messages of every kind, some of which nobody would write.

use proptest::prelude::*;
use seslog::event::{
    AgentCouncil, Attachment, BashExecution, BranchSummary, CardMessage, Children, CompactBoundary, CompactSummary,
    Custom, Kind, Message, Part, Progress, Role, StopReason, SystemEvent, Task, TaskCallback, Tasks, ToolUseSummary,
    Value, Verify,
};

use super::media::crowd;
use super::parts::{any_part, of_model, of_user, result};
use super::values::{call_id, model, provider, text, value};

/// A message, most often one as agents write it.
pub(super) fn message() -> BoxedStrategy<Message> {
    let said = prop_oneof![
        6 => of(Role::User, Just(Kind::UserInput), of_user()),
        9 => of(Role::Assistant, Just(Kind::ToolCall), of_model()),
        2 => of(Role::Assistant, Just(Kind::AssistantText), of_model()),
        8 => of(Role::Tool, Just(Kind::ToolResult), result()),
        1 => of(Role::User, Just(Kind::UserInput), prop_oneof![result(), of_user()]),
        2 => of(Role::System, Just(Kind::SystemNote), of_user()),
        3 => of(Role::User, kind(), of_user()),
        2 => (role(), kind(), prop::collection::vec(any_part(), 0..3)).prop_map(|(role, kind, parts)| made(role, kind, parts)),
        1 => crowd().prop_map(|parts| made(Role::User, Kind::UserInput, parts)),
    ];
    let message_id = prop::option::of((0_u8..3).prop_map(|id| format!("msg_{id}")));
    let stop = prop_oneof![
        Just(StopReason::NotSaid),
        Just(StopReason::StreamOpen),
        Just(StopReason::Said("max_tokens".to_owned()))
    ];
    (said, provider(), model(), message_id, stop, flags())
        .prop_map(|(mut message, provider, model, message_id, stop, flag)| {
            message.provider = provider;
            message.model = model;
            message.message_id = message_id;
            message.stop_reason = stop;
            let metadata = &mut message.metadata;
            match flag {
                Some(0) => metadata.synthetic = true,
                Some(1) => metadata.eligible_for_model_context = false,
                Some(2) => metadata.meta = true,
                Some(3) => metadata.is_virtual = true,
                Some(4) => metadata.sidechain = true,
                Some(5) => metadata.visible_in_transcript = false,
                Some(_) => metadata.agent_name = Some("helper".to_owned()),
                None => {}
            }
            message
        })
        .boxed()
}

fn flags() -> BoxedStrategy<Option<u8>> {
    prop::option::weighted(0.15, 0_u8..7).boxed()
}

fn of(
    role: Role,
    kind: impl Strategy<Value = Kind> + 'static,
    part: impl Strategy<Value = Part> + 'static,
) -> BoxedStrategy<Message> {
    (kind, prop::collection::vec(part, 0..4)).prop_map(move |(kind, parts)| made(role, kind, parts)).boxed()
}

/// A message whose parts stay as they are: the constructor would put words in the place of none.
fn made(role: Role, kind: Kind, parts: Vec<Part>) -> Message {
    let mut message = Message::new(role, kind, vec![Part::text("x")]);
    message.content = parts;
    message
}

fn role() -> BoxedStrategy<Role> {
    prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]).boxed()
}

fn kind() -> BoxedStrategy<Kind> {
    let plain = vec![
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
        Kind::CompactBoundary(CompactBoundary::default()),
        Kind::CompactSummary(CompactSummary::default()),
        Kind::BranchSummary(BranchSummary::default()),
        Kind::Progress(Progress::default()),
        Kind::ToolUseSummary(ToolUseSummary::default()),
    ];
    prop_oneof![
        3 => prop::sample::select(plain),
        1 => bash(),
        1 => (text(), any::<bool>(), prop::option::of(value())).prop_map(|(custom_type, display, details)| {
            Kind::Custom(Custom { custom_type, display, details })
        }),
        1 => (prop::option::of(call_id()), prop::option::of(value())).prop_map(|(tool_use_id, attachment)| {
            Kind::Attachment(Attachment { tool_use_id, attachment, hook_event: None })
        }),
        1 => prop::sample::select(vec!["local_command", "api_error", ""]).prop_map(|subtype| {
            Kind::SystemEvent(SystemEvent { subtype: subtype.to_owned(), ..SystemEvent::default() })
        }),
        2 => card(),
    ]
    .boxed()
}

fn bash() -> BoxedStrategy<Kind> {
    (text(), text(), prop::option::of(any::<i64>()), any::<[bool; 3]>(), prop::option::of(text()))
        .prop_map(|(command, output, exit_code, [cancelled, truncated, exclude_from_context], full_output_path)| {
            Kind::BashExecution(BashExecution {
                command,
                output,
                exit_code,
                cancelled,
                truncated,
                exclude_from_context,
                full_output_path,
            })
        })
        .boxed()
}

fn card() -> BoxedStrategy<Kind> {
    let members = || prop::collection::vec(prop_oneof![3 => member(), 1 => value()], 0..3);
    let words = || prop::option::of(text());
    prop_oneof![
        members().prop_map(|children| Kind::AssistantGroup(Children { children })),
        members().prop_map(|members| Kind::AgentCouncil(AgentCouncil { members })),
        members().prop_map(|children| Kind::Supervisor(Children { children })),
        members().prop_map(|children| Kind::CompressedGroup(Children { children })),
        members().prop_map(|tasks| Kind::Tasks(Tasks { tasks })),
        members().prop_map(|tasks| Kind::GroupTasks(Tasks { tasks })),
        (words(), words(), words()).prop_map(|(title, instruction, status)| Kind::Task(Task {
            title,
            instruction,
            status
        })),
        (text(), text()).prop_map(|(task, status)| Kind::TaskCallback(TaskCallback { task, status })),
        words().prop_map(|feedback| Kind::Verify(Verify { feedback })),
    ]
    .boxed()
}

/// A message inside a card.
fn member() -> BoxedStrategy<Value> {
    let message = prop_oneof![
        of(Role::User, Just(Kind::UserInput), of_user()),
        of(Role::Assistant, Just(Kind::ToolCall), of_model()),
        of(Role::Tool, Just(Kind::ToolResult), result()),
    ];
    (message, prop::option::of(text()))
        .prop_map(|(message, id)| CardMessage { id, at: None, message }.to_item().unwrap_or(Value::Null))
        .boxed()
}
