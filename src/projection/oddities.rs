//! What every view says of an event that is not as one would expect it.

use super::diagnostics::{Diagnostic, Diagnostics, code};
use crate::event::{Body, Event, HungOn, Unknown};

/// Says that a message hangs on another parent than the one it named.
pub(super) fn rehung(event: &Event) -> Option<Diagnostic> {
    let named = event.original_parent.as_ref().filter(|_| event.hung_on != HungOn::Named)?;
    let hung_on = event.effective_parent();
    let place = hung_on.map_or_else(|| "nothing".to_owned(), |id| id.to_string());
    let reason = format!("its parent {named} is not in the session; it hangs on {place}");
    Some(Diagnostic::new(code::MISSING_PARENT, [Some(event.id), hung_on].into_iter().flatten(), reason))
}

/// Says that a message is not shown, since its kind is unknown.
pub(super) fn hide_unknown(event: &Event, diagnostics: &mut Diagnostics) {
    if let Body::Unknown(Unknown { kind: Some(kind), .. }) = &event.body {
        let reason = format!("this version does not know messages of kind {kind}");
        diagnostics.hide(event.id, code::UNKNOWN_KIND_LEFT_OUT, reason);
    }
}
