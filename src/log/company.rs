//! Who waits for a sync: those whom one has served come back together, mostly, and then the next one can serve them all.

use std::time::Duration;

/// How long a sync that begins waits for the others, at most: little beside what it takes itself.
pub(crate) const GATHER_FOR: Duration = Duration::from_micros(50);
/// How often it lets them go first, at most: for where time stands still.
pub(crate) const GATHER_TURNS: usize = if cfg!(all(test, loom)) { 1 } else { 100 };

/// The threads that wait.
#[derive(Debug)]
pub(crate) struct Company {
    /// Up to where each of them waits for the file to be durable.
    waiting: Vec<u64>,
    /// How many waited when the last sync ended, those without a thread included.
    last: usize,
}

impl Default for Company {
    fn default() -> Self {
        // Room for most that will ever wait, so that the first sync allocates no more than a later one.
        Self { waiting: Vec::with_capacity(16), last: 0 }
    }
}

impl Company {
    /// A thread begins to wait for a place.
    pub(crate) fn comes(&mut self, target: u64) {
        self.waiting.push(target);
    }

    /// A thread that waited for a place goes on, be it served or not.
    pub(crate) fn goes(&mut self, target: u64) {
        if let Some(at) = self.waiting.iter().position(|waits| *waits == target) {
            self.waiting.swap_remove(at);
        }
    }

    /// A sync has covered everything up to a place; so many waited without a thread.
    pub(crate) fn served(&mut self, goal: u64, threadless: usize) {
        self.last = self.waiting.len() + threadless;
        self.waiting.retain(|target| *target > goal);
    }

    /// Whether as many wait as did when the last sync ended; so many of them without a thread.
    pub(crate) fn is_complete(&self, threadless: usize) -> bool {
        self.waiting.len() + threadless >= self.last
    }
}

#[cfg(test)]
mod tests {
    use super::Company;

    #[test]
    fn those_who_were_served_together_are_waited_for_until_they_are_back() {
        let mut company = Company::default();
        company.comes(10);
        assert!(company.is_complete(0), "one alone waits for nobody");
        company.comes(20);
        company.comes(30);
        company.served(20, 0);
        company.goes(10);
        assert!(!company.is_complete(0), "one of three is here");
        company.comes(40);
        company.goes(20);
        assert!(!company.is_complete(0));
        company.comes(50);
        assert!(company.is_complete(0));
        company.served(50, 0);
        company.comes(60);
        company.served(60, 0);
        company.comes(70);
        assert!(company.is_complete(0), "the others have stayed away");
    }

    #[test]
    fn who_waits_without_a_thread_counts_too() {
        let mut company = Company::default();
        company.served(10, 2);
        assert!(!company.is_complete(1));
        assert!(company.is_complete(2));
    }
}
