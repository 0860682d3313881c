//! The fields of a message's kind. They stand flat beside the message's.

use serde::Serializer;
use uuid::Uuid;

use super::recase::recase_card;
use crate::event::error::EventError;
use crate::event::kind::{
    AgentCouncil, Attachment, BashExecution, BranchSummary, Changed, Children, CompactBoundary, CompactSummary, Custom,
    HookPhase, Kept, Kind, Progress, SystemEvent, Task, TaskCallback, Tasks, ToolUseSummary, Trigger, Verify,
};
use crate::event::names::Style;
use crate::event::raw::Raw;
use crate::event::read::Reader;
use crate::event::value::Value;
use crate::event::write::{Emit, Place, Shape, Sink, emit_shape};

pub(crate) fn write_kind<S: Sink>(kind: &Kind, out: &mut S) -> Result<(), S::Error> {
    match kind {
        Kind::SystemNote
        | Kind::UserInput
        | Kind::AssistantText
        | Kind::AssistantReasoning
        | Kind::ToolCall
        | Kind::ToolResult
        | Kind::ToolApprovalRequest
        | Kind::ToolApprovalResponse
        | Kind::RuntimeReminder
        | Kind::HandoffSummary
        | Kind::AgentSwitchNote => Ok(()),
        Kind::CompactBoundary(boundary) => write_boundary(boundary, out),
        Kind::CompactSummary(summary) => out.opt("tokens_before", &summary.tokens_before),
        Kind::BashExecution(bash) => {
            out.put("command", &bash.command)?;
            out.put("output", &bash.output)?;
            out.opt("exit_code", &bash.exit_code)?;
            out.flag("cancelled", bash.cancelled, false)?;
            out.flag("truncated", bash.truncated, false)?;
            out.flag("exclude_from_context", bash.exclude_from_context, false)?;
            out.opt("full_output_path", &bash.full_output_path)
        }
        Kind::Custom(custom) => {
            out.put("custom_type", &custom.custom_type)?;
            out.flag("display", custom.display, true)?;
            out.opt("details", &custom.details)
        }
        Kind::BranchSummary(summary) => out.opt("from_id", &summary.from_id),
        Kind::Progress(progress) => {
            out.opt("tool_use_id", &progress.tool_use_id)?;
            out.opt("parent_tool_use_id", &progress.parent_tool_use_id)?;
            out.opt("hook_event", &progress.hook_event)?;
            out.opt("data", &progress.data)
        }
        Kind::Attachment(attachment) => {
            out.opt("attachment", &attachment.attachment)?;
            out.opt("tool_use_id", &attachment.tool_use_id)?;
            out.opt("hook_event", &attachment.hook_event)
        }
        Kind::ToolUseSummary(summary) => {
            out.put("summary", &summary.summary)?;
            out.list("tool_use_ids", &summary.tool_use_ids)
        }
        Kind::SystemEvent(event) => {
            out.put("subtype", &event.subtype)?;
            out.opt("level", &event.level)?;
            out.opt("tool_use_id", &event.tool_use_id)?;
            out.opt("hook_event", &event.hook_event)?;
            out.opt("data", &event.data)
        }
        Kind::AssistantGroup(group) | Kind::Supervisor(group) | Kind::CompressedGroup(group) => {
            write_cards(out, "children", &group.children)
        }
        Kind::AgentCouncil(council) => write_cards(out, "members", &council.members),
        Kind::Tasks(tasks) | Kind::GroupTasks(tasks) => write_cards(out, "tasks", &tasks.tasks),
        Kind::Task(task) => {
            out.opt("title", &task.title)?;
            out.opt("instruction", &task.instruction)?;
            out.opt("status", &task.status)
        }
        Kind::TaskCallback(callback) => {
            out.put("task", &callback.task)?;
            out.put("status", &callback.status)
        }
        Kind::Verify(verify) => out.opt("feedback", &verify.feedback),
    }
}

/// The kind of this name with its fields; none if this version does not know the name.
pub(crate) fn read_kind(name: &str, fields: &mut Reader<'_>) -> Result<Option<Kind>, EventError> {
    Ok(Some(match name {
        "system_note" => Kind::SystemNote,
        "user_input" => Kind::UserInput,
        "assistant_text" => Kind::AssistantText,
        "assistant_reasoning" => Kind::AssistantReasoning,
        "tool_call" => Kind::ToolCall,
        "tool_result" => Kind::ToolResult,
        "tool_approval_request" => Kind::ToolApprovalRequest,
        "tool_approval_response" => Kind::ToolApprovalResponse,
        "compact_boundary" => Kind::CompactBoundary(read_boundary(fields)?),
        "compact_summary" => Kind::CompactSummary(CompactSummary { tokens_before: fields.count("tokens_before")? }),
        "runtime_reminder" => Kind::RuntimeReminder,
        "handoff_summary" => Kind::HandoffSummary,
        "agent_switch_note" => Kind::AgentSwitchNote,
        "bash_execution" => Kind::BashExecution(BashExecution {
            command: fields.need_text("command")?,
            output: fields.need_text("output")?,
            exit_code: fields.int("exit_code")?,
            cancelled: fields.flag("cancelled", false)?,
            truncated: fields.flag("truncated", false)?,
            exclude_from_context: fields.flag("exclude_from_context", false)?,
            full_output_path: fields.text("full_output_path")?,
        }),
        "custom" => Kind::Custom(Custom {
            custom_type: fields.need_text("custom_type")?,
            display: fields.flag("display", true)?,
            details: fields.any("details"),
        }),
        "branch_summary" => Kind::BranchSummary(BranchSummary { from_id: fields.text("from_id")? }),
        "progress" => Kind::Progress(Progress {
            tool_use_id: fields.text("tool_use_id")?,
            parent_tool_use_id: fields.text("parent_tool_use_id")?,
            data: fields.any("data"),
            hook_event: read_hook(fields)?,
        }),
        "attachment" => Kind::Attachment(Attachment {
            attachment: fields.any("attachment"),
            tool_use_id: fields.text("tool_use_id")?,
            hook_event: read_hook(fields)?,
        }),
        "tool_use_summary" => Kind::ToolUseSummary(ToolUseSummary {
            summary: fields.need_text("summary")?,
            tool_use_ids: fields.texts("tool_use_ids")?,
        }),
        "system_event" => Kind::SystemEvent(SystemEvent {
            subtype: fields.need_text("subtype")?,
            level: fields.text("level")?,
            tool_use_id: fields.text("tool_use_id")?,
            hook_event: read_hook(fields)?,
            data: fields.any("data"),
        }),
        "assistant_group" => Kind::AssistantGroup(Children { children: read_cards(fields, "children")? }),
        "supervisor" => Kind::Supervisor(Children { children: read_cards(fields, "children")? }),
        "compressed_group" => Kind::CompressedGroup(Children { children: read_cards(fields, "children")? }),
        "agent_council" => Kind::AgentCouncil(AgentCouncil { members: read_cards(fields, "members")? }),
        "tasks" => Kind::Tasks(Tasks { tasks: read_cards(fields, "tasks")? }),
        "group_tasks" => Kind::GroupTasks(Tasks { tasks: read_cards(fields, "tasks")? }),
        "task" => Kind::Task(Task {
            title: fields.text("title")?,
            instruction: fields.text("instruction")?,
            status: fields.text("status")?,
        }),
        "task_callback" => {
            Kind::TaskCallback(TaskCallback { task: fields.need_text("task")?, status: fields.need_text("status")? })
        }
        "verify" => Kind::Verify(Verify { feedback: fields.text("feedback")? }),
        _ => return Ok(None),
    }))
}

fn write_boundary<S: Sink>(boundary: &CompactBoundary, out: &mut S) -> Result<(), S::Error> {
    match out.style() {
        // A reader of JSON is told which messages were kept; where they lie in our log is nothing to it.
        Style::Json => {
            let keep: Vec<Uuid> = boundary.keep.iter().map(|kept| kept.id).collect();
            out.put("keep", &keep)?;
            out.opt("trigger", &boundary.trigger)
        }
        Style::Log => {
            out.list("keep", &boundary.keep)?;
            out.opt("trigger", &boundary.trigger)?;
            out.list("carried", &boundary.carried)?;
            match boundary.meta_offset {
                0 => out.skip("meta_offset")?,
                offset => out.put("meta_offset", &offset)?,
            }
            match boundary.last_id.is_nil() {
                true => out.skip("last_id"),
                false => out.put("last_id", &boundary.last_id),
            }
        }
    }
}

fn read_boundary(fields: &mut Reader<'_>) -> Result<CompactBoundary, EventError> {
    if fields.style() == Style::Json {
        let keep = fields.ids("keep")?.into_iter().map(|id| Kept { id, offset: 0, changed: Vec::new() }).collect();
        return Ok(CompactBoundary { keep, trigger: read_trigger(fields)?, ..CompactBoundary::default() });
    }
    Ok(CompactBoundary {
        keep: fields.each("keep", read_kept)?,
        trigger: read_trigger(fields)?,
        carried: fields.each("carried", read_kept)?,
        meta_offset: fields.count("meta_offset")?.unwrap_or(0),
        last_id: fields.id("last_id")?.unwrap_or(Uuid::nil()),
    })
}

impl Emit for Kept {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        emit_shape(self, out, place)
    }
}

impl Shape for Kept {
    fn fields<S: Sink>(&self, out: &mut S) -> Result<(), S::Error> {
        write_place(self.id, self.offset, out)?;
        out.list("changed", &self.changed)
    }
}

impl Emit for Changed {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        emit_shape(self, out, place)
    }
}

impl Shape for Changed {
    fn fields<S: Sink>(&self, out: &mut S) -> Result<(), S::Error> {
        write_place(self.id, self.offset, out)
    }
}

fn write_place<S: Sink>(id: Uuid, offset: u64, out: &mut S) -> Result<(), S::Error> {
    out.put("id", &id)?;
    match offset {
        0 => out.skip("offset"),
        offset => out.put("offset", &offset),
    }
}

fn read_kept(value: Raw<'_>, style: Style) -> Result<Kept, EventError> {
    let mut fields = Reader::of(value, style)?;
    Ok(Kept {
        id: fields.need_id("id")?,
        offset: fields.count("offset")?.unwrap_or(0),
        changed: fields.each("changed", read_changed)?,
    })
}

fn read_changed(value: Raw<'_>, style: Style) -> Result<Changed, EventError> {
    let mut fields = Reader::of(value, style)?;
    Ok(Changed { id: fields.need_id("id")?, offset: fields.count("offset")?.unwrap_or(0) })
}

pub(crate) fn read_trigger(fields: &mut Reader<'_>) -> Result<Option<Trigger>, EventError> {
    Ok(fields.text("trigger")?.map(Trigger::from))
}

fn read_hook(fields: &mut Reader<'_>) -> Result<Option<HookPhase>, EventError> {
    Ok(fields.text("hook_event")?.map(HookPhase::from))
}

impl Emit for Trigger {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        self.name().emit(out, place)
    }
}

impl Emit for HookPhase {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        self.name().emit(out, place)
    }
}

/// A message inside a card: a value with the log's names, shown in JSON with JSON's.
struct Card<'a>(&'a Value);

impl Emit for Card<'_> {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        match place.style {
            Style::Log => self.0.emit(out, place),
            Style::Json => recase_card(self.0.clone(), Style::Log, Style::Json).emit(out, place),
        }
    }
}

fn write_cards<S: Sink>(out: &mut S, name: &'static str, cards: &[Value]) -> Result<(), S::Error> {
    let cards: Vec<Card<'_>> = cards.iter().map(Card).collect();
    out.list(name, &cards)
}

fn read_cards(fields: &mut Reader<'_>, name: &'static str) -> Result<Vec<Value>, EventError> {
    let style = fields.style();
    let cards = fields.list(name)?.unwrap_or_default().into_iter().map(Value::from);
    Ok(match style {
        Style::Log => cards.collect(),
        Style::Json => cards.map(|card| recase_card(card, Style::Json, Style::Log)).collect(),
    })
}
