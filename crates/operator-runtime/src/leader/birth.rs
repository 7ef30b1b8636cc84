//! An identity is used once, even if the first answer of the API server is lost.

use super::elector::{Answer, Call};

/// What a process knows of the creation of its Lease.
///
/// A request to create it may have succeeded without an answer. If the process was paused then, the leader may
/// have deleted the Lease since, and knows that this identity is gone. The process, which has no permit yet,
/// would create it again, and be a member that nobody waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Birth {
    is_uncertain: bool,
}

impl Birth {
    /// Takes the answer to a call, before the elector does. Says whether the process must go on with another
    /// identity, as a new member of the shards with a new elector.
    #[must_use]
    pub(crate) fn answer(&mut self, call: &Call, answer: &Answer) -> bool {
        match (call, answer) {
            (Call::Create(_), Answer::Failed) => self.is_uncertain = true,
            (_, Answer::Lease(_)) => self.is_uncertain = false,
            _ => {}
        }
        self.is_uncertain && matches!(answer, Answer::Missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_that_may_have_been_there_is_not_made_again() {
        let create = || Call::Create(Box::default());
        let lease = || Answer::Lease(Box::default());
        let ends = |script: &[(Call, Answer)]| {
            let mut birth = Birth::default();
            let answers = script
                .iter()
                .map(|(call, answer)| birth.answer(call, answer));
            answers.collect::<Vec<_>>()
        };
        use Answer::*;
        // Nothing was sent yet, or there is no namespace.
        assert_eq!(
            ends(&[(Call::Get, Missing), (create(), Missing)]),
            [false, false]
        );
        // Unknown, and then found.
        let found = [
            (create(), Failed),
            (Call::Get, lease()),
            (Call::Get, Missing),
        ];
        assert_eq!(ends(&found), [false, false, false]);
        // Unknown, and not there.
        let missing = [
            (create(), Failed),
            (Call::Get, Failed),
            (Call::Get, Missing),
        ];
        assert_eq!(ends(&missing), [false, false, true]);
        let again = [(create(), Failed), (create(), Missing)];
        assert_eq!(ends(&again), [false, true]);
    }
}
