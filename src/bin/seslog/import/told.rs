//! What an import has done, for a person.

use anstyle::Style;

use super::agents::Links;
use super::document::Document;
use crate::exit::Outcome;
use crate::output::{Output, plural};
use crate::sanitize::excerpt;

/// Of messages that stand beside what goes on from them: what gives the whole.
pub(super) fn came_late(messages: usize, session: &str) -> String {
    let what =
        format!("{} came too late to stand in place, before what goes on from there", plural(messages, "message"));
    format!(
        "{what}; `seslog delete {session}` and this import again give the whole, without what was added in the store"
    )
}

/// What was done with one file.
pub(super) fn human(document: &Document, out: &mut Output) -> Outcome<()> {
    let report = &document.report;
    let made = if document.created { " (new)" } else { "" };
    out.field("session", &format!("{}{made}", document.session))?;
    out.field("file", &document.path)?;
    out.field("written", &format!("{} of {} events", report.written, report.read))?;
    out.field("known", &report.known.to_string())?;
    if document.created && report.read == 0 && document.salvage.is_none() {
        let what = "no message is in the file, and none in the session now";
        out.field("empty", &format!("{what}; `seslog delete {}` takes it away", document.session))?;
    }
    if document.mixed {
        let what = "none of this was in the session before: two conversations are in it now, each a branch";
        out.field("mixed", &format!("{what}; `seslog tree {}` shows them", document.session))?;
    }
    if let Some((kept, rewind)) = report.leaf_kept.as_ref().zip(document.rewind.as_ref()) {
        let at = kept.leaf.map_or_else(|| "before its first message".to_owned(), |leaf| format!("at {leaf}"));
        let what = format!("{at}: the session had gone on by itself, and what came is another branch");
        out.field("leaf stays", &format!("{what}; `{rewind}` goes to its end"))?;
    }
    if report.came_late > 0 {
        out.field("came late", &came_late(report.came_late, &document.session))?;
    }
    if report.changed_again > 0 {
        let what = format!("{} once more, since what it is about came late", plural(report.changed_again, "change"));
        out.field("made again", &what)?;
    }
    for kept in &report.meta_kept {
        let (stays, said) = (excerpt(&kept.kept, 200), excerpt(&kept.copy, 200));
        out.field(&format!("{} stays", kept.field), &format!("“{stays}”; the file says “{said}”"))?;
    }
    if let Some(salvage) = &document.salvage {
        crate::salvage::human(salvage, out)?;
    }
    // Each kind of repair for itself, so that many of one kind don't hide the one of another.
    let mut reasons: Vec<_> = report.repairs.iter().map(|repair| repair.reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        let repairs = report.repairs.iter().filter(|repair| repair.reason == reason).map(|repair| {
            let named = repair.named.as_deref().unwrap_or("its call");
            let on = repair.hung_on.as_deref().unwrap_or("nothing");
            (repair.line, format!("{} named {named}, hangs on {on} ({reason})", repair.event))
        });
        entries("repaired", repairs, out)?;
    }
    let renamed = report.renamed.iter().map(|renamed| {
        let text = format!("`{}` for the {}. time, with other content: {}", renamed.id, renamed.nth, renamed.event);
        (renamed.line, text)
    });
    entries("renamed", renamed, out)?;
    let missing = report.missing.iter();
    let missing =
        missing.map(|missing| (missing.line, format!("`{}` in {}: no earlier record", missing.id, missing.field)));
    entries("missing", missing, out)?;
    let refused = report.refused.iter();
    let refused =
        refused.map(|refused| (refused.line, format!("{}: {}", refused.id.as_deref().unwrap_or("no id"), refused.why)));
    entries("set aside", refused, out)?;
    let own = if document.faulty_lines().is_some() { &[] } else { report.bad_lines.as_slice() };
    let bad = own.iter().map(|bad| {
        let saved = if bad.recovered > 0 { format!("; {} whole records saved", bad.recovered) } else { String::new() };
        (bad.line, format!("expected {}, found {}{saved}", bad.expected, bad.found))
    });
    entries("set aside", bad, out)?;
    if let Some(lines) = document.faulty_lines() {
        let bad = lines.iter().map(|bad| {
            let line = usize::try_from(bad.line).unwrap_or_default();
            (line, format!("{}; {} whole records saved", bad.cause, bad.salvaged))
        });
        entries("set aside", bad, out)?;
    }
    let codex = document.codex.iter().flat_map(|found| &found.unknown_types);
    for (name, count) in codex.chain(document.pi.iter().flat_map(|found| &found.unknown_types)) {
        out.field("unknown", &format!("{count} of type `{}`, kept as they stand", excerpt(name, 80)))?;
    }
    let warnings = document.warnings().iter();
    let warnings = warnings.map(|warning| (usize::try_from(warning.line).unwrap_or_default(), warning.text.clone()));
    entries("note", warnings, out)?;
    if let Some(links) = &document.sub_agents {
        links.human(out)?;
    }
    if report.erased > 0 {
        let what = "known events say what was erased here; it stays erased";
        out.field("erased", &format!("{} {what}", report.erased))?;
    }
    if report.undated > 0 {
        let (say, before) = match report.undated {
            1 => ("1 event says".to_owned(), "it has"),
            count => (format!("{count} events say"), "each has"),
        };
        let told = format!("{say} no time; {before} that of the one before it, or else that of the import");
        out.field("undated", &told)?;
    }
    let replaced = report.replaced_surrogates + report.replaced_bytes;
    if replaced > 0 {
        out.field("replaced", &format!("{replaced} pieces of text that are no Unicode"))?;
    }
    Ok(())
}

impl Links {
    /// How many sub-agents are linked to their calls, and which are not.
    pub(super) fn human(&self, out: &mut Output) -> Outcome<()> {
        if self.linked + self.not_placed.len() == 0 {
            return Ok(());
        }
        out.field("sub-agents", &format!("{} linked to their calls, {} not", self.linked, self.not_placed.len()))?;
        let not_placed = self.not_placed.iter().map(|agent| (0, format!("{}: {}", agent.file, agent.why)));
        entries("not placed", not_placed, out)
    }
}

/// The first of these things, each about one line, and how many more there are.
pub(super) fn entries(name: &str, things: impl Iterator<Item = (usize, String)>, out: &mut Output) -> Outcome<()> {
    const SHOWN: usize = 10;
    let mut more = 0;
    for (index, (line, text)) in things.enumerate() {
        if index < SHOWN {
            entry(name, line, &text, out)?;
        } else {
            more += 1;
        }
    }
    if more > 0 {
        entry(name, 0, &format!("and {more} more like these; --json gives them all"), out)?;
    }
    Ok(())
}

/// One thing about one line.
fn entry(name: &str, line: usize, text: &str, out: &mut Output) -> Outcome<()> {
    // Two long paths and a command must be whole.
    const CHARS_MAX: usize = 4000;
    let name = out.paint(Style::new().bold(), &format!("{name:<10}"));
    let line = if line > 0 { format!("line {line}: ") } else { String::new() };
    out.line(&format!("{name} {line}{}", excerpt(text, CHARS_MAX)))
}
