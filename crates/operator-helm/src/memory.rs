//! What is known of a release while the operator runs.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::rendering::Rendering;

/// What is known of a release while the operator runs.
#[derive(Default)]
pub(crate) struct Known {
    /// What the chart rendered last.
    pub(crate) rendering: Option<Arc<Rendering>>,
    /// Since when one of its watches is not filled.
    pub(crate) unfilled: Option<Instant>,
    /// Whether this process has applied all of it: what differs later, others have changed.
    pub(crate) is_applied: bool,
    pub(crate) fight: Fight,
}

/// Corrections of what somebody else changes again and again.
#[derive(Default)]
pub(crate) struct Fight {
    corrections: u32,
    last: Option<Instant>,
}

impl Fight {
    /// The corrections that need no pause between them.
    const FREE: u32 = 3;

    /// After this time without a correction, they count from zero.
    const CALM: Duration = Duration::from_secs(10 * 60);

    /// The longest pause.
    const LONGEST: Duration = Duration::from_secs(5 * 60);

    /// Counts a correction. Returns whether there were so many that it is a fight.
    pub(crate) fn note(&mut self, now: Instant) -> bool {
        if self.last.is_none_or(|last| now - last > Self::CALM) {
            self.corrections = 0;
        }
        self.corrections += 1;
        self.last = Some(now);
        self.corrections > Self::FREE
    }

    /// The rest of the pause before the next correction.
    pub(crate) fn pause(&self, now: Instant) -> Option<Duration> {
        let doubled = self.corrections.checked_sub(Self::FREE + 1)?;
        let pause = Duration::from_secs(2u64.saturating_pow(doubled)).min(Self::LONGEST);
        pause
            .checked_sub(now - self.last?)
            .filter(|rest| !rest.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_that_do_not_end_have_pauses() {
        let start = Instant::now();
        let mut fight = Fight::default();
        for _ in 0..3 {
            assert!(!fight.note(start));
            assert_eq!(fight.pause(start), None);
        }
        assert!(fight.note(start) && fight.note(start));
        assert_eq!(fight.pause(start), Some(Duration::from_secs(2)));
        let later = start + Duration::from_secs(2);
        assert_eq!(fight.pause(later), None);
        for _ in 0..90 {
            fight.note(later);
        }
        assert_eq!(fight.pause(later), Some(Fight::LONGEST));
        let calm = later + Fight::CALM + Duration::from_secs(1);
        assert!(!fight.note(calm));
        assert_eq!(fight.pause(calm), None);
    }
}
