//! The dashboards and alerts of the plugin `grafana`: each query is PromQL, and each series in it is one that a running operator
//! serves. The files are those of a recorded project.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
    process,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, ensure};
use axum::http::Request;
use clap::Parser;
use kube::{
    Client, Config,
    api::{Api, Patch, PatchParams},
    client::Body,
};
use operator_runtime::{
    Action, Controller, Controllers, Flags, Manager, ManagerOptions, ShardKey, WatchScope,
    envtest::{Cluster, NAMESPACE, free_port},
    webhook::{Change, Denied, Request as Review, Webhook, Webhooks},
};
use promql_parser::{
    parser::{self, Expr, LabelModifier},
    util::{ExprVisitor, walk_expr},
};
use serde_json::Value;
use tokio::time::sleep;

use crate::exposition::Exposition;
use crate::widget::{Widget, WidgetSpec};

const PROJECTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../snapshots/projects");

/// The labels that Prometheus adds to each series of a ServiceMonitor's targets.
const OF_TARGETS: [&str; 4] = ["instance", "job", "namespace", "pod"];

/// The series that Prometheus makes by itself.
const UP: &str = "up";

/// The metrics in a query, with the labels that it selects or groups by.
#[derive(Default)]
struct Used(BTreeMap<String, BTreeSet<String>>);

impl Used {
    fn add(&mut self, query: &str) -> Result<()> {
        // Grafana replaces its variables before Prometheus reads the query.
        let query = query.replace("$__rate_interval", "5m");
        let parsed = parser::parse(&query).map_err(|error| anyhow!("{query}: {error}"))?;
        let mut visitor = Visitor::default();
        walk_expr(&mut visitor, &parsed)
            .map_err(|never: std::convert::Infallible| match never {})?;
        ensure!(!visitor.metrics.is_empty(), "{query}: no metric");
        for (name, labels) in visitor.metrics {
            let used = self.0.entry(name).or_default();
            used.extend(labels);
            used.extend(visitor.grouped.iter().cloned());
        }
        Ok(())
    }
}

#[derive(Default)]
struct Visitor {
    metrics: Vec<(String, BTreeSet<String>)>,
    grouped: BTreeSet<String>,
}

impl ExprVisitor for Visitor {
    type Error = std::convert::Infallible;

    fn pre_visit(&mut self, expr: &Expr) -> Result<bool, Self::Error> {
        let selector = match expr {
            Expr::VectorSelector(selector) => Some(selector),
            Expr::MatrixSelector(range) => Some(&range.vs),
            Expr::Aggregate(aggregate) => {
                if let Some(LabelModifier::Include(labels)) = &aggregate.modifier {
                    self.grouped.extend(labels.labels.iter().cloned());
                }
                None
            }
            _ => None,
        };
        if let Some(selector) = selector {
            let matchers = selector.matchers.matchers.iter();
            let labels = matchers.map(|matcher| matcher.name.clone());
            let name = selector.name.clone().unwrap_or_default();
            self.metrics.push((name, labels.collect()));
        }
        Ok(true)
    }
}

/// Every query of a dashboard, also those of its variables.
fn of_dashboard(value: &Value, used: &mut Used) -> Result<usize> {
    let mut count = 0;
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(query) if key == "expr" => {
                        used.add(query)?;
                        count += 1;
                    }
                    Some(query) if query.starts_with("label_values(") => {
                        let arguments = &query["label_values(".len()..query.len() - 1];
                        let (series, label) =
                            arguments.rsplit_once(", ").context("two arguments")?;
                        used.add(&format!("sum by ({label}) ({series})"))?;
                        count += 1;
                    }
                    _ => count += of_dashboard(value, used)?,
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                count += of_dashboard(item, used)?;
            }
        }
        _ => {}
    }
    Ok(count)
}

/// Rates and numbers in one panel have an axis each.
fn has_its_units(panel: &Value) -> Result<()> {
    let targets = panel["targets"].as_array().into_iter().flatten();
    let rates = targets.filter_map(|target| target["expr"].as_str());
    let rates: BTreeSet<_> = rates
        .filter(|expr| !expr.contains("histogram_quantile"))
        .map(|expr| expr.contains("rate("))
        .collect();
    let overrides = panel["fieldConfig"]["overrides"].as_array();
    let one = rates.len() < 2 || overrides.is_some_and(|all| !all.is_empty());
    ensure!(one, "{}: two units", panel["title"]);
    Ok(())
}

/// Every query of the recorded files.
fn used() -> Result<Used> {
    let mut used = Used::default();
    // The replicas of the second one share the objects.
    for (project, queries) in [("webhooks", 30), ("many", 36)] {
        of_project(&Path::new(PROJECTS).join(project), queries, &mut used)?;
    }
    Ok(used)
}

fn of_project(project: &Path, queries: usize, used: &mut Used) -> Result<()> {
    let read = |path: &str| fs::read_to_string(project.join(path));
    for (name, least) in [
        ("controller-runtime-metrics", queries),
        ("controller-resources-metrics", 6),
    ] {
        let dashboard = serde_json::from_str(&read(&format!("grafana/{name}.json"))?)?;
        ensure!(of_dashboard(&dashboard, used)? >= least, "{name}");
        let panels = dashboard["panels"].as_array();
        for panel in panels.context("no panels")? {
            has_its_units(panel)?;
        }
    }
    let alerts: Value = serde_saphyr::from_str(&read("config/prometheus/alerts.yaml")?)?;
    let rules = alerts["spec"]["groups"][0]["rules"].as_array();
    for rule in rules.context("no rules")? {
        used.add(rule["expr"].as_str().context("no expr")?)?;
        let runbook = rule["annotations"]["runbook"].as_str();
        let runbook = runbook.context("no runbook")?;
        let is_complete = !runbook.contains("kubectl") || runbook.contains(" -n ");
        ensure!(runbook.ends_with('.') && is_complete, "{rule}");
    }
    Ok(())
}

const OPTIONS: ManagerOptions = ManagerOptions {
    name: "dashboards.example.com",
    scope: WatchScope::Cluster,
};

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

async fn reconcile(_: Arc<Widget>, _: Arc<()>) -> kube::Result<Action> {
    Ok(Action::await_change())
}

async fn validate(_: &Change<Widget>, _: &Review, _: &()) -> Result<(), Denied> {
    Ok(())
}

/// What an operator with a controller, a webhook and leader election serves, as soon as it has reconciled.
async fn served() -> Result<Exposition> {
    let cluster = Cluster::start()?;
    cluster.install(crate::widget::crds()).await?;
    let api: Api<Widget> = Api::namespaced(cluster.client()?, NAMESPACE);
    let widget = Widget::new("any", WidgetSpec::default());
    api.patch("any", &PatchParams::apply("test"), &Patch::Apply(&widget))
        .await?;
    let certificates = env::temp_dir().join(format!("dashboards-{}", process::id()));
    fs::create_dir_all(&certificates)?;
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    fs::write(certificates.join("tls.crt"), made.cert.pem())?;
    fs::write(
        certificates.join("tls.key"),
        made.signing_key.serialize_pem(),
    )?;
    let (metrics, webhooks) = (free_port()?, free_port()?);
    let flags = [
        "operator".to_owned(),
        "--health-probe-bind-address=0".to_owned(),
        format!("--metrics-bind-address=127.0.0.1:{metrics}"),
        "--metrics-secure=false".to_owned(),
        "--leader-elect".to_owned(),
        "--shards=auto".to_owned(),
        format!("--leader-elect-resource-namespace={NAMESPACE}"),
        format!("--webhook-port={webhooks}"),
        format!("--webhook-cert-path={}", certificates.display()),
        format!(
            "--kubeconfig={}",
            cluster.control_plane().kubeconfig().display()
        ),
    ];
    let manager = Manager::new(&OPTIONS, Args::try_parse_from(flags)?.manager).await?;
    let mut controllers = Controllers::default();
    controllers.add(Controller::new("widgets", reconcile).sharded(ShardKey::uid()));
    let mut all = Webhooks::default();
    all.add(Webhook::validating(validate));
    let running = tokio::spawn(manager.controllers(controllers, ()).webhooks(all, ()).run());
    let client = Client::try_from(Config::new(format!("http://127.0.0.1:{metrics}").parse()?))?;
    let begin = Instant::now();
    loop {
        let request = Request::get("/metrics").header("accept", "text/plain");
        if let Ok(response) = client.send(request.body(Body::empty())?).await {
            let text = response.into_body().collect_bytes().await?.to_vec();
            let served = Exposition::parse(&String::from_utf8(text)?, false)?;
            let labels = [("controller", "widgets"), ("result", "success")];
            let reconciles = served.value("controller_runtime_reconcile_total", &labels);
            // A list may show the object before its slot begins, and again after.
            if reconciles.is_some_and(|it| it > 0.0) {
                running.abort();
                fs::remove_dir_all(&certificates)?;
                return Ok(served);
            }
        }
        ensure!(!running.is_finished(), "{:?}", running.await);
        ensure!(begin.elapsed() < Duration::from_secs(20), "not reconciled");
        sleep(Duration::from_millis(20)).await;
    }
}

/// The metrics in the table of the guide, which writes `a_{b,c}` for `a_b` and `a_c`.
fn documented() -> Vec<String> {
    let guide = include_str!("../../src/guide/metrics.md");
    let rows = guide.lines().filter_map(|line| line.strip_prefix("| `"));
    let names = rows.filter_map(|row| row.split_once(" | "));
    let names = names.flat_map(|(names, _)| names.split(", `"));
    names
        .flat_map(|name| {
            let name = name.trim_matches('`');
            let Some((start, rest)) = name.split_once('{') else {
                return vec![name.to_owned()];
            };
            let ends = rest.trim_end_matches('}').split(',');
            ends.map(|end| format!("{start}{end}")).collect()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_series_of_dashboards_and_alerts_is_served() -> Result<()> {
    let used = used()?;
    let served = served().await?;
    let documented = documented();
    for name in served.metrics() {
        let is_it =
            |row: &String| row == name || row == "process_*" && name.starts_with("process_");
        ensure!(documented.iter().any(is_it), "the guide lacks `{name}`");
    }
    for (name, labels) in used.0.iter().filter(|(name, _)| *name != UP) {
        let series = served.series(name).next();
        let (found, _) = series.with_context(|| format!("no series `{name}`"))?;
        for label in labels {
            let is_known = found.contains_key(label) || OF_TARGETS.contains(&label.as_str());
            ensure!(is_known, "`{name}` has no label `{label}`: {found:?}");
        }
    }
    Ok(())
}
