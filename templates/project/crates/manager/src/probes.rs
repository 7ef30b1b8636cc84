//! `/healthz`: the process runs. `/readyz`: each controller found the types it works on.

use std::{
    fmt::Write,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{Router, extract::State, http::StatusCode, routing::get};

/// What readiness waits for. Never for leadership: a follower that is not ready blocks a rollout.
#[derive(Clone, Debug, Default)]
pub(crate) struct Readiness(Arc<Mutex<Vec<(String, bool)>>>);

impl Readiness {
    /// Adds a check that is not passed yet.
    pub(crate) fn expect(&self, check: &str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((check.to_owned(), false));
    }

    /// Marks a check as passed, for good.
    pub(crate) fn pass(&self, check: &str) {
        let mut checks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, passed) in checks.iter_mut().filter(|(name, _)| name == check) {
            *passed = true;
        }
    }

    pub(crate) fn fail(&self, _: &str, _: &str) {}

    /// Whether every check passed, and one line a check.
    pub(crate) fn report(&self) -> (bool, String) {
        let checks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut report = String::new();
        for (name, passed) in checks.iter() {
            let line = if *passed { "[+]" } else { "[-]" };
            _ = writeln!(report, "{line}{name}");
        }
        (checks.iter().all(|(_, passed)| *passed), report)
    }
}

/// The routes of the probes.
pub(crate) fn router(readiness: Readiness) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(readyz))
        .with_state(readiness)
}

async fn readyz(State(readiness): State<Readiness>) -> (StatusCode, String) {
    match readiness.report() {
        (true, report) => (StatusCode::OK, report + "ok\n"),
        (false, report) => (StatusCode::SERVICE_UNAVAILABLE, report + "not ready\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_when_every_check_passed() {
        let readiness = Readiness::default();
        assert_eq!(readiness.report(), (true, String::new()));
        readiness.expect("a");
        readiness.expect("b");
        readiness.pass("b");
        assert_eq!(readiness.report(), (false, "[-]a\n[+]b\n".to_owned()));
        readiness.pass("a");
        assert!(readiness.report().0);
    }
}
