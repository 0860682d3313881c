//! The usual order, in one place.

use super::config::Config;
use super::inject::Inject;
use super::order::SYSTEM_ROLE;
use super::pipeline::Pipeline;
use super::slots::Slot;
use super::steps::documents::{DocumentsConfig, Position};
use super::steps::{
    action_hint, cleanup, compressed_group, council_flatten, date, disabled_tools, documents, force_finish,
    group_context, group_flatten, history_summary, input_template, knowledge, media, model_info, offer_tools,
    orchestration_filter, page_selections, placeholders, plan, selected_skills, selected_tools, skills, speaker,
    supervisor_role, task, task_callback, tasks_flatten, todo, tool_discovery, tool_instructions, tool_pairing,
    topic_references, truncate, user_memory, verify,
};
use super::tokens;
use super::tools::{StepDelta, ToolEngine, ToolSet};

impl Pipeline {
    /// The usual order of all steps. A step whose configuration is not set does nothing, but is there to be found by its
    /// name.
    ///
    /// In a slot the order is that of the steps, so what seldom changes comes first: a provider's cache holds the
    /// longest beginning that two requests share.
    #[must_use]
    pub fn standard(config: &Config) -> Self {
        let engine = config.tools.engine();
        let operation = engine.operation(&config.tools.ask);
        let tools = tools_of(config, &engine, &operation);
        let skill_engine = config.skills.engine();
        let skill_set = config.skill_set.clone().unwrap_or_else(|| config.skills.resolve(&skill_engine));
        let catalogue = engine.activatable(config.tool_set.as_ref().unwrap_or(&operation));
        let catalogue = tool_discovery::ToolDiscovery::of(catalogue);
        let active_agent =
            config.active_agent.as_deref().or(config.group_context.as_ref().map(|group| group.active.as_str()));

        let mut list = Self::new();

        // Cut first: groups are counted as the session holds them, and nothing below works for what goes.
        list.push(truncate::Truncate::new(config.truncate));

        // Shape: from what a person sees to a flat list of what was said. Before any text is added, so that the slots
        // find the person's own messages, and a template gets nothing but what was typed.
        list.push(input_template::InputTemplate::new(config.input_template.clone()));
        // Councils before groups, since they hold some; tasks before their texts.
        list.push(council_flatten::CouncilFlatten::new());
        list.push(group_flatten::GroupFlatten::new());
        list.push(tasks_flatten::TasksFlatten::new());
        // While calls are still calls and agents speak for themselves.
        list.push(orchestration_filter::OrchestrationFilter::new(active_agent, &config.orchestration));
        list.push(supervisor_role::SupervisorRole::new());
        list.push(task::TaskText::new(&config.task));
        list.push(task_callback::TaskCallback::new());
        list.push(verify::Verify::new());
        list.push(compressed_group::CompressedGroup::new());
        // Last: now every message has its agent.
        list.push(speaker::Speaker::new(active_agent));

        // Which documents are loaded, by what the person said last.
        let documents = DocumentsConfig { documents: config.documents.clone(), date: config.date.clone() };
        list.push(documents::Documents::new(documents));
        // The tools, before the texts about them.
        let refused = engine.catalogue().refused().iter().map(ToString::to_string);
        let refused = refused.chain(skill_engine.refused().iter().map(ToString::to_string));
        let offered = offer_tools::OfferTools::new(&config.plain_tools, &tools);
        list.push(offered.with_skills(&skill_set).with_refused(refused));

        // System slot: who the model is first; the day and what depends on tools and skills later.
        list.push(Inject::new(SYSTEM_ROLE, Slot::System, config.system_role.clone()));
        list.push(model_info::step(config.model_info.clone()));
        list.push(date::step(config.date.clone()));
        list.push(Inject::new(skills::NAME, Slot::System, skills::Skills::of(&skill_set)));
        let instructions = tool_instructions::ToolInstructions::of(&tools);
        list.push(Inject::new(tool_instructions::NAME, Slot::System, instructions));
        list.push(documents::DocumentsAt::new(Position::SystemAppend));
        list.push(documents::DocumentsAt::new(Position::BeforeSystem));
        // It takes the place of all instructions that were written there.
        list.push(documents::DocumentsAt::new(Position::SystemReplace));

        // Before the first user message: what holds for the whole conversation.
        list.push(group_context::step(config.group_context.clone()));
        // Nothing can be activated any more in a run that has to end.
        let catalogue = (config.tool_discovery && !config.force_finish.finish).then_some(catalogue);
        list.push(Inject::new(tool_discovery::NAME, Slot::BeforeFirstUser, catalogue));
        list.push(documents::DocumentsAt::new(Position::BeforeFirstUser));
        list.push(documents::DocumentsAt::new(Position::AfterFirstUser));

        // The end of the last user message: how things stand now.
        let selected = selected_skills::SelectedSkills::of(&config.selected_skills, &skill_set);
        list.push(Inject::new(selected_skills::NAME, Slot::LastUser, selected));
        let selected = selected_tools::SelectedTools::of(&config.selected_tools, &tools);
        list.push(Inject::new(selected_tools::NAME, Slot::LastUser, selected));
        // The end of all: what changes with every request dirties nothing there.
        list.push(documents::DocumentsAt::new(Position::ContextEnd));
        list.push(action_hint::step(config.action_hint.clone()));

        // Behind all texts of the application's, and before those that a model or somebody else may have written: no
        // page, file, plan or other conversation can name a value and get it. Each goes where it belongs all the same.
        list.push(placeholders::Placeholders::new(config.placeholders.clone()));
        list.push(history_summary::step(config.history_summary.clone()));
        list.push(user_memory::step(config.user_memory.clone()));
        list.push(plan::step(config.plan.clone()));
        list.push(knowledge::step(config.knowledge.clone()));
        list.push(page_selections::PageSelections);
        list.push(todo::step(config.todo.clone()));
        list.push(topic_references::TopicReferences::new(config.topics.clone()));

        // Content: what the model can't take, and calls that it must not copy.
        list.push(media::MediaNotes::new(config.media.clone()));
        list.push(disabled_tools::DisabledToolFilter::new(&config.disabled_tools));
        // Behind all that takes calls and results out.
        list.push(tool_pairing::ToolPairing);

        // The end: nothing is said behind the last word, and nothing goes out unseen.
        list.push(force_finish::ForceFinish::new(config.force_finish.clone()));
        list.push(cleanup::Cleanup);
        // What goes out, counted once.
        list.push(tokens::CountTokens::new(config.limits));
        list
    }
}

/// The tools of the call. A run that has to end has none, and no instructions about any.
fn tools_of(config: &Config, engine: &ToolEngine, operation: &ToolSet) -> ToolSet {
    if config.force_finish.finish {
        return engine.step(operation, &config.tools.accumulated, &StepDelta::force_finish(), None);
    }
    let resolved = || engine.step(operation, &config.tools.accumulated, &config.tools.step, None);
    config.tool_set.clone().unwrap_or_else(resolved)
}
