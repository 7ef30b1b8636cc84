//! `/healthz`: the process runs, whatever the state of the API server, and every liveness check passes.
//! `/readyz`: every readiness check passes.

use std::{
    fmt::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use axum::{
    Router,
    extract::{Path, RawQuery, State},
    http::StatusCode,
    routing::get,
};
use parking_lot::Mutex;

use crate::error::panic_message;

/// The checks of a probe, readiness or liveness. Leadership is never one: a follower that is not ready blocks a rollout.
#[derive(Clone, Default)]
pub(crate) struct Readiness(Arc<Mutex<Vec<Check>>>);

#[derive(Clone)]
struct Check {
    name: String,
    state: CheckState,
}

#[derive(Clone)]
enum CheckState {
    Known(Verdict),
    /// A function that runs at each probe.
    Ask(Arc<Ask>),
}

/// A passed check may have a remark; a failed one has a reason.
pub(crate) type Verdict = Result<Option<String>, String>;

/// The name of a check, and its verdict.
type Outcome = (String, Verdict);

type Ask = dyn Fn() -> Verdict + Send + Sync;

impl Readiness {
    /// Adds a check that has not passed yet.
    pub(crate) fn expect(&self, check: &str) {
        let state = CheckState::Known(Err("not started".to_owned()));
        self.add(check, state);
    }

    /// Adds a check that `ask` decides at each probe.
    pub(crate) fn ask(
        &self,
        check: &str,
        ask: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.tell(check, move || ask().map(|()| None));
    }

    /// Adds a check that `ask` decides at each probe, with a remark if it passes.
    pub(crate) fn tell(&self, check: &str, ask: impl Fn() -> Verdict + Send + Sync + 'static) {
        self.add(check, CheckState::Ask(Arc::new(ask)));
    }

    /// Marks a check as passed.
    pub(crate) fn pass(&self, check: &str) {
        self.set(check, Ok(None));
    }

    /// Marks a check as passed, with a remark about what is not yet as it should be.
    pub(crate) fn pass_although(&self, check: &str, remark: impl Into<String>) {
        self.set(check, Ok(Some(remark.into())));
    }

    /// Marks a check as failed, with a short reason for the response.
    pub(crate) fn fail(&self, check: &str, reason: impl Into<String>) {
        self.set(check, Err(reason.into()));
    }

    /// Whether every check passes, and one line per check.
    #[cfg(feature = "envtest")]
    pub(crate) fn report(&self) -> (bool, String) {
        report("readyz", &self.results(|_| true), &[])
    }

    /// The results of the checks whose name `wanted` accepts.
    fn results(&self, wanted: impl Fn(&str) -> bool) -> Vec<Outcome> {
        // A copy, so that no check runs under the lock.
        let mut checks = self.0.lock().clone();
        checks.retain(|check| wanted(&check.name));
        let result = |check: Check| {
            let verdict = match check.state {
                CheckState::Known(verdict) => verdict,
                CheckState::Ask(ask) => catch_unwind(AssertUnwindSafe(|| ask()))
                    .unwrap_or_else(|panic| Err(format!("panicked: {}", panic_message(&*panic)))),
            };
            (check.name, verdict)
        };
        checks.into_iter().map(result).collect()
    }

    fn add(&self, name: &str, state: CheckState) {
        let (mut checks, name) = (self.0.lock(), name.to_owned());
        checks.push(Check { name, state });
        checks.sort_by(|a, b| a.name.cmp(&b.name));
    }

    fn set(&self, name: &str, verdict: Verdict) {
        for check in self.0.lock().iter_mut().filter(|check| check.name == name) {
            check.state = CheckState::Known(verdict.clone());
        }
    }
}

/// Whether every check passes, and the text of the API server's own probes, with the reasons that those
/// withhold.
fn report(probe: &str, results: &[Outcome], exclude: &[&str]) -> (bool, String) {
    let mut text = String::new();
    let mut passed = true;
    for (name, verdict) in results {
        // Writing to a String cannot fail.
        _ = match verdict {
            _ if exclude.contains(&name.as_str()) => writeln!(text, "[+]{name} excluded: ok"),
            Ok(None) => writeln!(text, "[+]{name} ok"),
            Ok(Some(remark)) => writeln!(text, "[+]{name} ok: {remark}"),
            Err(reason) => {
                passed = false;
                writeln!(text, "[-]{name} failed: {reason}")
            }
        };
    }
    for name in exclude {
        if !results.iter().any(|(known, _)| known == name) {
            _ = writeln!(
                text,
                "warn: some checks cannot be excluded: no matches for {name:?}"
            );
        }
    }
    _ = writeln!(
        text,
        "{probe} check {}",
        if passed { "passed" } else { "failed" }
    );
    (passed, text)
}

/// The routes of the probes.
pub(crate) fn router(liveness: Readiness, readiness: Readiness) -> Router {
    liveness.expect("ping");
    liveness.pass("ping");
    let probe = |name, checks| {
        let probe = Probe { name, checks };
        Router::new()
            .route(&format!("/{name}"), get(all))
            .route(&format!("/{name}/{{check}}"), get(one))
            .with_state(probe)
    };
    probe("healthz", liveness).merge(probe("readyz", readiness))
}

#[derive(Clone)]
struct Probe {
    name: &'static str,
    checks: Readiness,
}

type Answer = (StatusCode, String);

async fn all(State(probe): State<Probe>, RawQuery(query): RawQuery) -> Answer {
    let Options { exclude, verbose } = Options::parse(query.as_deref());
    let results = probe.checks.results(|_| true);
    let exclude: Vec<_> = exclude.iter().map(String::as_str).collect();
    answer(report(probe.name, &results, &exclude), verbose)
}

async fn one(
    State(probe): State<Probe>,
    Path(check): Path<String>,
    RawQuery(query): RawQuery,
) -> Answer {
    let results = probe.checks.results(|name| name == check);
    if results.is_empty() {
        let text = format!("no check is named {check:?}\n");
        return (StatusCode::NOT_FOUND, text);
    }
    let Options { verbose, .. } = Options::parse(query.as_deref());
    answer(report(probe.name, &results, &[]), verbose)
}

/// Only `ok` for passed checks, unless `verbose` is set.
fn answer((passed, text): (bool, String), verbose: bool) -> Answer {
    match passed {
        true if verbose => (StatusCode::OK, text),
        true => (StatusCode::OK, "ok".to_owned()),
        false => (StatusCode::SERVICE_UNAVAILABLE, text),
    }
}

/// The query of a probe.
#[derive(Default)]
struct Options {
    exclude: Vec<String>,
    verbose: bool,
}

impl Options {
    fn parse(query: Option<&str>) -> Self {
        let mut options = Self::default();
        for (option, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            match &*option {
                "exclude" => options.exclude.push(value.into_owned()),
                "verbose" => options.verbose = true,
                _ => {}
            }
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use axum::{
        body::{Body, to_bytes},
        http::Request,
    };
    use tower::ServiceExt;

    use super::*;

    async fn get(readiness: &Readiness, uri: &str) -> (u16, String) {
        let request = Request::get(uri).body(Body::empty()).unwrap();
        let routes = router(Readiness::default(), readiness.clone());
        let response = routes.oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn ready_when_every_check_passes() {
        let readiness = Readiness::default();
        assert_eq!(get(&readiness, "/readyz").await, (200, "ok".to_owned()));
        readiness.expect("widgets");
        readiness.expect("gadgets");
        readiness.fail("widgets", "waiting for widgets in example.com/v1");
        readiness.pass("gadgets");
        let waiting = "[-]widgets failed: waiting for widgets in example.com/v1\n";
        let cases = [
            ("/readyz", 503, format!("[+]gadgets ok\n{waiting}readyz check failed\n")),
            ("/readyz/gadgets", 200, "ok".to_owned()),
            ("/readyz/widgets", 503, format!("{waiting}readyz check failed\n")),
            ("/readyz/gizmos", 404, "no check is named \"gizmos\"\n".to_owned()),
            ("/readyz?exclude=widgets", 200, "ok".to_owned()),
            (
                "/readyz?exclude=widgets&verbose&exclude=gadgets&exclude=x%22",
                200,
                "[+]gadgets excluded: ok\n[+]widgets excluded: ok\n\
                 warn: some checks cannot be excluded: no matches for \"x\\\"\"\nreadyz check passed\n"
                    .to_owned(),
            ),
            // Liveness is independent.
            ("/healthz", 200, "ok".to_owned()),
            ("/healthz/ping", 200, "ok".to_owned()),
            ("/healthz?verbose", 200, "[+]ping ok\nhealthz check passed\n".to_owned()),
            ("/healthz/widgets", 404, "no check is named \"widgets\"\n".to_owned()),
        ];
        for (uri, status, text) in cases {
            assert_eq!(get(&readiness, uri).await, (status, text), "{uri}");
        }
        readiness.pass("widgets");
        assert_eq!(get(&readiness, "/readyz").await, (200, "ok".to_owned()));
        readiness.pass_although("widgets", "cannot list widgets");
        assert_eq!(
            get(&readiness, "/readyz/widgets?verbose").await,
            (
                200,
                "[+]widgets ok: cannot list widgets\nreadyz check passed\n".to_owned()
            )
        );
        readiness.fail("gadgets", "gone");
        assert_eq!(get(&readiness, "/readyz").await.0, 503);
    }

    #[cfg(feature = "self-signed")]
    #[tokio::test]
    async fn a_warning_is_shown_and_fails_nothing() {
        let readiness = Readiness::default();
        readiness.expect("certificate");
        readiness.pass_although("certificate", "its Secret is gone");
        assert_eq!(get(&readiness, "/readyz").await, (200, "ok".to_owned()));
        let text = "[+]certificate ok: its Secret is gone\nreadyz check passed\n";
        assert_eq!(
            get(&readiness, "/readyz?verbose").await,
            (200, text.to_owned())
        );
    }

    #[tokio::test]
    async fn checks_of_the_user_are_asked_each_time() {
        let (readiness, answers) = (
            Readiness::default(),
            Mutex::new(vec![Ok(()), Err("no database".to_owned())]),
        );
        readiness.ask("database", move || answers.lock().pop().unwrap());
        let failed = "[-]database failed: no database\nreadyz check failed\n";
        assert_eq!(get(&readiness, "/readyz").await, (503, failed.to_owned()));
        assert_eq!(
            get(&readiness, "/readyz/database?verbose").await,
            (200, "[+]database ok\nreadyz check passed\n".to_owned())
        );
        // No answer is left.
        let (status, text) = get(&readiness, "/readyz").await;
        assert_eq!(status, 503);
        assert!(text.starts_with("[-]database failed: panicked: "), "{text}");
    }

    #[tokio::test]
    async fn checks_of_the_user_also_decide_about_liveness() {
        let liveness = Readiness::default();
        let printer = Arc::new(Mutex::new(Ok(())));
        let answer = printer.clone();
        liveness.ask("printer", move || answer.lock().clone());
        let routes = router(liveness, Readiness::default());
        let get = async |uri| {
            let request = Request::get(uri).body(Body::empty()).unwrap();
            let response = routes.clone().oneshot(request).await.unwrap();
            response.status().as_u16()
        };
        assert_eq!(get("/healthz").await, 200);
        *printer.lock() = Err("on fire".to_owned());
        let codes = (get("/healthz").await, get("/healthz/printer").await);
        assert_eq!(codes, (503, 503));
        let codes = (get("/healthz/ping").await, get("/readyz").await);
        assert_eq!(codes, (200, 200));
    }
}
