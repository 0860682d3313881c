//! Whether a file has been quiet for so long that its stamp alone says that nothing has come.

use std::path::Path;
use std::time::Duration;

use super::fs::{FileStamp, Fs};

/// A stamp is believed once the file was read this long after it was first seen: the coarsest times that a file system
/// keeps are two seconds, and within one tick a second write changes nothing.
const SETTLED: Duration = Duration::from_secs(3);
/// And for so long: a write that had its time before its bytes, on a disk that stood still in between, is found then.
const BELIEVED: Duration = Duration::from_secs(60);

/// What is known of a file that is looked at again and again.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    seen: Option<Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    stamp: FileStamp,
    /// When this stamp was seen first, by the monotonic clock.
    first: Duration,
    /// When the file was read last, all of it that was new; before that, this stamp was seen.
    read: Duration,
}

/// One look at a file, before it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Glance {
    stamp: Option<FileStamp>,
    now: Duration,
}

impl Glance {
    /// One look at what this path names.
    pub(crate) fn at(fs: &dyn Fs, path: &Path) -> Self {
        // Why there is no stamp is found out by who then opens or reads the file.
        Self { now: fs.monotonic(), stamp: fs.stamp(path).ok().flatten() }
    }
}

impl Quiet {
    /// Whether nothing can have come since the file was read last.
    pub(crate) fn holds(&self, glance: Glance) -> bool {
        self.seen.is_some_and(|seen| {
            glance.stamp == Some(seen.stamp)
                && seen.read.saturating_sub(seen.first) >= SETTLED
                && glance.now.saturating_sub(seen.read) < BELIEVED
        })
    }

    /// All that was new was read after this look.
    pub(crate) fn read_after(&mut self, glance: Glance) {
        self.seen = glance.stamp.map(|stamp| {
            let known = self.seen.filter(|seen| seen.stamp == stamp);
            Seen { stamp, first: known.map_or(glance.now, |seen| seen.first), read: glance.now }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glance(modified: i64, seconds: u64) -> Glance {
        let stamp = FileStamp { size: 8, modified, changed: modified, inode: Some(1) };
        Glance { stamp: Some(stamp), now: Duration::from_secs(seconds) }
    }

    #[test]
    fn a_stamp_is_believed_only_after_a_read_that_came_after_its_tick() {
        let mut quiet = Quiet::default();
        assert!(!quiet.holds(glance(1, 0)), "never read");
        quiet.read_after(glance(1, 0));
        assert!(!quiet.holds(glance(1, 50)), "something may have come in the tick of the first read");
        quiet.read_after(glance(1, 4));
        assert!(quiet.holds(glance(1, 5)));
        assert!(!quiet.holds(glance(2, 5)), "it was changed");
        assert!(!quiet.holds(glance(1, 64)), "nothing is believed for ever");
        quiet.read_after(glance(2, 65));
        assert!(!quiet.holds(glance(2, 66)));
    }

    #[test]
    fn without_a_stamp_every_look_reads() {
        let mut quiet = Quiet::default();
        let blind = Glance { stamp: None, now: Duration::from_secs(9) };
        quiet.read_after(blind);
        quiet.read_after(Glance { now: Duration::from_secs(20), ..blind });
        assert!(!quiet.holds(Glance { now: Duration::from_secs(21), ..blind }));
    }
}
