//! Which steps must stand behind which.

use super::steps::{
    cleanup, compressed_group, council_flatten, disabled_tools, documents, force_finish, group_context, group_flatten,
    history_summary, input_template, knowledge, media, offer_tools, orchestration_filter, page_selections,
    placeholders, plan, speaker, supervisor_role, task, task_callback, tasks_flatten, todo, tool_pairing,
    topic_references, truncate, user_memory, verify,
};
use super::tokens;

/// The step that writes the application's own words about the model, first of all that is in the system slot.
pub const SYSTEM_ROLE: &str = "system_role";

/// Steps that must stand behind another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MustFollow {
    /// Those steps.
    pub steps: &'static [&'static str],
    /// The one that they must follow.
    pub after: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// Which steps must stand behind which; [`Pipeline::validate`](super::Pipeline::validate) holds a changed list against it.
pub const MUST_FOLLOW: &[MustFollow] = &[
    MustFollow {
        steps: &[
            input_template::NAME,
            council_flatten::NAME,
            group_flatten::NAME,
            tasks_flatten::NAME,
            SYSTEM_ROLE,
            group_context::NAME,
            placeholders::NAME,
            page_selections::NAME,
            todo::NAME,
            media::NAME,
            tool_pairing::NAME,
        ],
        after: truncate::NAME,
        reason: "nothing is to be made of what is left out, and what a card holds counts as one group",
    },
    MustFollow { steps: &[group_flatten::NAME], after: council_flatten::NAME, reason: "a council may hold groups" },
    MustFollow {
        steps: &[supervisor_role::NAME, orchestration_filter::NAME],
        after: group_flatten::NAME,
        reason: "a supervisor's calls lie in its card",
    },
    MustFollow { steps: &[task::NAME], after: tasks_flatten::NAME, reason: "tasks lie in a card of tasks" },
    MustFollow {
        steps: &[
            "documents_before_system",
            "documents_system_append",
            "documents_system_replace",
            "documents_before_first_user",
            "documents_after_first_user",
            "documents_context_end",
        ],
        after: documents::NAME,
        reason: "that one decides which documents are loaded",
    },
    MustFollow {
        steps: &["documents_system_replace"],
        after: "documents_system_append",
        reason: "it takes the place of what other steps wrote into the system slot",
    },
    MustFollow { steps: &[speaker::NAME], after: task::NAME, reason: "a task's text is its agent's" },
    MustFollow {
        steps: &[speaker::NAME],
        after: orchestration_filter::NAME,
        reason: "a call that is told as text is no call any more",
    },
    MustFollow { steps: &[placeholders::NAME], after: speaker::NAME, reason: "it looks at messages, not into cards" },
    MustFollow { steps: &[placeholders::NAME], after: SYSTEM_ROLE, reason: "the application's texts may hold names" },
    MustFollow {
        steps: &[
            history_summary::NAME,
            user_memory::NAME,
            plan::NAME,
            knowledge::NAME,
            page_selections::NAME,
            todo::NAME,
            topic_references::NAME,
        ],
        after: placeholders::NAME,
        reason: "what others wrote must get no value out of the application",
    },
    MustFollow {
        steps: &[media::NAME, disabled_tools::NAME],
        after: speaker::NAME,
        reason: "cards hold pictures and calls too",
    },
    MustFollow { steps: &[tool_pairing::NAME], after: disabled_tools::NAME, reason: "it mends what that leaves over" },
    MustFollow {
        steps: &[task_callback::NAME, verify::NAME, compressed_group::NAME, speaker::NAME],
        after: group_flatten::NAME,
        reason: "cards hold such messages too",
    },
    MustFollow {
        steps: &[placeholders::NAME],
        after: input_template::NAME,
        reason: "the application's template may hold names",
    },
    MustFollow {
        steps: &["documents_system_replace"],
        after: SYSTEM_ROLE,
        reason: "it takes the place of what other steps wrote into the system slot",
    },
    MustFollow { steps: &[force_finish::NAME], after: offer_tools::NAME, reason: "it takes the tools away" },
    MustFollow { steps: &[cleanup::NAME], after: force_finish::NAME, reason: "it looks at all that goes out" },
    MustFollow { steps: &[tokens::NAME], after: cleanup::NAME, reason: "it counts what goes out" },
];
