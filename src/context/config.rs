//! What an application configures of its prompts.

use std::sync::Arc;

use serde::Deserialize;

use super::skills::{SkillConfig, SkillSet};
use super::steps::action_hint::ActionHint;
use super::steps::date::Date;
use super::steps::documents::Document;
use super::steps::force_finish::ForceFinishConfig;
use super::steps::group_context::GroupContext;
use super::steps::history_summary::HistorySummary;
use super::steps::input_template::InputTemplateConfig;
use super::steps::knowledge::Knowledge;
use super::steps::media::MediaConfig;
use super::steps::model_info::ModelInfo;
use super::steps::orchestration_filter::OrchestrationConfig;
use super::steps::placeholders::PlaceholdersConfig;
use super::steps::plan::Plan;
use super::steps::task::TaskConfig;
use super::steps::todo::Todos;
use super::steps::truncate::TruncateConfig;
use super::steps::user_memory::UserMemory;
use super::tokens::Limits;
use super::tool::Tool;
use super::tools::{ToolConfig, ToolSet};
use super::topics::TopicSource;

/// What an application configures of its prompts, by what it is about; a step of [`Pipeline::standard`] whose field is not
/// set does nothing. Begin with the default and set what differs, or read it from JSON, where the names are camelCase, a name
/// that is not known is an error, and fields that hold code can't be set.
///
/// [`Pipeline::standard`]: super::Pipeline::standard
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// How much of the history is kept.
    pub truncate: TruncateConfig,

    /// Tools that are offered as they are, before those of [`Config::tools`].
    pub plain_tools: Vec<Tool>,
    /// Tools by their manifests: which there are, which are on, which this call offers.
    pub tools: ToolConfig,
    /// The tools of this call as the application resolved them, such as with manifests that it loads on demand, in the
    /// place of what [`Config::tools`] says of it.
    #[serde(skip)]
    pub tool_set: Option<ToolSet>,
    /// The model is told which tools could be activated. Default false.
    pub tool_discovery: bool,
    /// Tools whose calls leave the history, by their name, or by the identifier of their manifest.
    pub disabled_tools: Vec<String>,
    /// Tools that the person selected for this message, by identifier.
    pub selected_tools: Vec<String>,
    /// Skills: which there are, which are on, which are active.
    pub skills: SkillConfig,
    /// The skills of this call as the application resolved them, in the place of what [`Config::skills`] says of it.
    #[serde(skip)]
    pub skill_set: Option<SkillSet>,
    /// Skills that the person selected for this message, by identifier.
    pub selected_skills: Vec<String>,

    /// Who the model is and what it is to do: the first text of the system slot.
    pub system_role: Option<String>,
    /// When it is: the day for the model, and the time by which documents are loaded.
    pub date: Option<Date>,
    /// What the model should know of itself.
    pub model_info: Option<ModelInfo>,
    /// A summary of what was said before the messages begin, where the session does not hold it.
    pub history_summary: Option<HistorySummary>,

    /// Documents that the agent carries, each with its place and the rule by which it is loaded.
    pub documents: Vec<Document>,
    /// Who is in the conversation, where several agents are.
    pub group_context: Option<GroupContext>,
    /// What is remembered of the person.
    pub user_memory: Option<UserMemory>,
    /// What the agent is working towards.
    pub plan: Option<Plan>,
    /// Files and knowledge bases of the agent's.
    pub knowledge: Option<Knowledge>,

    /// What the person types is put into this.
    pub input_template: InputTemplateConfig,
    /// The agent that reads the prompt: the words of others are told as theirs. None: that of
    /// [`Config::group_context`], and without it all words of agents are the reader's own.
    pub active_agent: Option<String>,
    /// Who directs the agents, and by which tools.
    pub orchestration: OrchestrationConfig,
    /// How tasks are told.
    pub task: TaskConfig,
    /// Values for names in double braces.
    pub placeholders: PlaceholdersConfig,

    /// What the agent has done and has still to do.
    pub todo: Option<Todos>,
    /// Where other conversations are found that the person refers to; none: such references stay as they are.
    #[serde(skip)]
    pub topics: Option<Arc<dyn TopicSource>>,
    /// What the model should do next.
    pub action_hint: Option<ActionHint>,

    /// Pictures and files that the model takes.
    pub media: MediaConfig,
    /// The run has to end with this answer.
    pub force_finish: ForceFinishConfig,
    /// The window that the tokens of the prompt are held against; none: they are not counted.
    pub limits: Option<Limits>,
}
