//! What an import of one file says.

use std::path::Path;

use serde::Serialize;
use seslog::interop::claude_code::ClaudeReport;
use seslog::interop::codex::CodexReport;
use seslog::interop::pi::PiReport;
use seslog::interop::{FaultyLine, ImportReport, Warning};
use seslog::session::SalvageReport;

use super::Format;
use super::agents::{Links, SubAgent};
use crate::salvage::is_gone;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) session: String,
    pub(super) path: String,
    pub(super) format: Format,
    pub(super) created: bool,
    #[serde(flatten)]
    pub(super) report: ImportReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) claude_code: Option<ClaudeReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) codex: Option<CodexReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pi: Option<PiReport>,
    /// Of a session's own file that was not whole: what is not in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) salvage: Option<SalvageReport>,
    /// All that is gone from that file is in the store, which has had it from elsewhere.
    #[serde(skip)]
    pub(super) lost_is_there: bool,
    /// Of a sub-agent's own file: whether its call is known now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sub_agents: Option<Links>,
    /// What is told of lines and records that are not in the session was told when the file was imported before.
    #[serde(skip_serializing_if = "is_no")]
    pub(super) old_losses: bool,
    /// `--session` named a session that held another conversation: both are in it now.
    #[serde(skip_serializing_if = "is_no")]
    pub(super) mixed: bool,
    /// Where the session had gone on by itself and its leaf stayed: the command that goes to the end of what was imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rewind: Option<String>,
    /// The file is a sub-agent's own.
    #[serde(skip)]
    pub(super) agent: Option<SubAgent>,
}

impl Document {
    pub(super) fn new(session: String, path: String, format: Format, created: bool, report: ImportReport) -> Self {
        let (claude_code, codex, pi) = (None, None, None);
        let (salvage, sub_agents, agent) = (None, None, None);
        let (old_losses, mixed, rewind) = (false, false, None);
        Self {
            session,
            path,
            format,
            created,
            report,
            claude_code,
            codex,
            pi,
            salvage,
            lost_is_there: false,
            sub_agents,
            old_losses,
            mixed,
            rewind,
            agent,
        }
    }

    /// Whether the file is as it was when its session was last written, and nothing of it is new.
    pub(super) fn is_as_before(&self, file: &Path) -> bool {
        let changed = |path: &Path| std::fs::metadata(path).and_then(|about| about.modified()).ok();
        let is_older = changed(file).zip(changed(Path::new(&self.path))).is_some_and(|(file, session)| file <= session);
        !self.created && self.report.written == 0 && (is_older || self.lost_is_there)
    }

    /// What an agent's reader says of lines that are not one record; none: it was no agent's file.
    pub(super) fn faulty_lines(&self) -> Option<&[FaultyLine]> {
        let claude = self.claude_code.as_ref().map(|found| &found.bad_line_details);
        let codex = self.codex.as_ref().map(|found| &found.bad_line_details);
        let pi = self.pi.as_ref().map(|found| &found.bad_line_details);
        claude.or(codex).or(pi).map(Vec::as_slice)
    }

    /// How many lines could not be read as they stand.
    pub(super) fn bad_line_count(&self) -> usize {
        self.report.bad_lines.len()
    }

    /// Whether something of the file is not in the session that was not told before.
    pub(super) fn has_new_losses(&self) -> bool {
        self.has_losses() && !self.old_losses
    }

    /// Whether something of the file is not in the session.
    pub(super) fn has_losses(&self) -> bool {
        self.bad_line_count() + self.report.refused.len() > 0 || self.salvage.as_ref().is_some_and(is_gone)
    }

    /// What an agent's reader found odd.
    pub(super) fn warnings(&self) -> &[Warning] {
        let claude = self.claude_code.as_ref().map(|found| &found.warnings);
        let codex = self.codex.as_ref().map(|found| &found.warnings);
        let pi = self.pi.as_ref().map(|found| &found.warnings);
        claude.or(codex).or(pi).map_or(&[], Vec::as_slice)
    }
}

/// A flag that says nothing.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_no(flag: &bool) -> bool {
    !flag
}
