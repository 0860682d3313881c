//! A promise that an append becomes durable.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::durability::Commit;
use super::error::LogError;

/// A promise for one append: it resolves when the append is durable, or when nobody can tell any more whether it is.
///
/// It is a future that needs no runtime, and it can be waited for by a plain thread.
#[derive(Debug)]
#[must_use = "an append may fail to become durable; wait for the receipt, or drop it on purpose"]
pub struct Receipt {
    /// None if it was durable from the start.
    pending: Option<(Arc<Commit>, u64)>,
}

impl Receipt {
    pub(crate) fn done() -> Self {
        Self { pending: None }
    }

    pub(crate) fn until(commit: Arc<Commit>, end: u64) -> Self {
        Self { pending: Some((commit, end)) }
    }

    /// Waits until the append is durable. If no sync is under way, this thread starts one.
    ///
    /// # Errors
    /// `Io` or `Full` if the sync failed here, `Poisoned` if it failed elsewhere: whether the append is durable is unknown.
    pub fn wait(self) -> Result<(), LogError> {
        let Some((commit, end)) = self.pending else { return Ok(()) };
        let outcome = commit.sync_to(end);
        commit.wake();
        outcome
    }

    /// Whether the append is durable by now.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.pending.as_ref().is_none_or(|(commit, end)| commit.durable() >= *end)
    }
}

impl Future for Receipt {
    type Output = Result<(), LogError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some((commit, end)) = &self.pending else { return Poll::Ready(Ok(())) };
        // Made before the lock is taken, and dropped after it: a waker is code of others, and may hold the log's writer.
        let waker = context.waker().clone();
        commit.poll(*end, waker)
    }
}
