//! Failed reconciles, and their reports.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kube::api::{Patch, PatchParams};
use serde_json::json;
use tokio::time::sleep;

use crate::faults::{
    gate::Ask,
    journal::{Journal, Order},
    operator::{Operator, metric},
    site::{Site, ready},
    table::row,
    until,
};

/// Waits until `Ready` has this status and reason.
async fn shows(site: &Site, name: &str, status: &str, reason: &str) -> Result<Duration> {
    until(
        &format!("{name}: Ready={status}, {reason}"),
        20,
        async || Ok(ready(&site.widgets().get(name).await?) == Some((status, reason))),
    )
    .await
}

#[tokio::test]
async fn a_failure_is_reported_once_per_reason() -> Result<()> {
    let (site, journal) = (Site::new("failures").await?, Journal::default());
    let operator = Operator::run(&site, journal.controller("widgets")).await?;
    let begin = Instant::now();
    journal.order("a", Some(Order::Fail));
    site.create("a", 1).await?;
    let shown = shows(&site, "a", "False", "Told").await?;
    let version = site.widgets().get("a").await?.metadata.resource_version;
    let failures = journal.count("a");
    until("more failures", 20, async || {
        Ok(journal.count("a") >= failures + 4)
    })
    .await?;
    let now = site.widgets().get("a").await?.metadata.resource_version;
    ensure!(now == version, "the status was written again");
    let writes = site
        .gate
        .count(begin, |ask: &Ask| ask.path.ends_with("/a/status"));
    ensure!(writes == 1, "{writes} writes of the status for one reason");
    row(
        "a reconcile fails",
        "Ready=False with the reason, written once",
        shown,
    );

    journal.order("a", Some(Order::FailForEver));
    site.resize("a", 2).await?;
    shows(&site, "a", "False", "Terminal").await?;
    sleep(Duration::from_millis(300)).await;
    let (calls, again) = (journal.count("a"), Duration::from_secs(2));
    sleep(again).await;
    ensure!(journal.count("a") == calls, "a terminal error was retried");
    ensure!(
        metric(
            operator.metrics,
            "controller_runtime_terminal_reconcile_errors_total",
            ""
        )
        .await?
            >= 1.0
    );

    journal.order("a", None);
    site.resize("a", 3).await?;
    let recovered = shows(&site, "a", "True", "Done").await?;
    row(
        "a terminal error, then a change",
        "not retried until the change, then Ready=True",
        recovered,
    );
    Ok(())
}

/// The report is about the object as the reconcile left it, also when the report before it said the same.
#[tokio::test]
async fn a_failure_after_ready_was_written_is_reported() -> Result<()> {
    let (site, journal) = (Site::new("late-failures").await?, Journal::default());
    let _operator = Operator::run(&site, journal.controller("widgets")).await?;
    journal.order("a", Some(Order::FailLate));
    site.create("a", 1).await?;
    shows(&site, "a", "False", "Terminal").await?;
    for label in ["first", "second"] {
        let calls = journal.count("a");
        let patch = json!({ "metadata": { "labels": { "label": label } } });
        let params = PatchParams::default();
        site.widgets()
            .patch("a", &params, &Patch::Merge(patch))
            .await?;
        until("the next call", 20, async || Ok(journal.count("a") > calls)).await?;
        sleep(Duration::from_secs(1)).await;
        let widget = site.widgets().get("a").await?;
        ensure!(
            ready(&widget) == Some(("False", "Terminal")),
            "{:?}",
            widget.status
        );
    }
    Ok(())
}

#[tokio::test]
async fn back_off_grows_and_is_reset() -> Result<()> {
    let (site, journal) = (Site::new("back-off").await?, Journal::default());
    let _operator = Operator::run(&site, journal.controller("widgets")).await?;
    journal.order("a", Some(Order::Fail));
    site.create("a", 1).await?;
    until("eleven failures", 30, async || Ok(journal.count("a") >= 11)).await?;
    let calls = journal.calls("a");
    let gap = |pair: &[crate::faults::journal::Call]| pair[1].at - pair[0].at;
    let gaps: Vec<_> = calls.windows(2).map(gap).collect();
    // The status patch is a change, too, and causes one call earlier than the back-off.
    let last = *gaps.last().context("no calls")?;
    ensure!(last > Duration::from_secs(1), "{gaps:?}");
    ensure!(
        calls[5].at - calls[0].at < Duration::from_secs(10),
        "{gaps:?}"
    );

    journal.order("a", None);
    site.resize("a", 2).await?;
    let recovered = site.settled(&journal, 20).await?;
    ensure!(
        recovered < Duration::from_secs(5),
        "a change waits for the back-off: {recovered:?}"
    );
    let before = journal.count("a");
    journal.order("a", Some(Order::Fail));
    site.resize("a", 3).await?;
    let begin = Instant::now();
    until("five failures", 20, async || {
        Ok(journal.count("a") >= before + 5)
    })
    .await?;
    // The next try would have come after 5 s.
    ensure!(
        begin.elapsed() < Duration::from_secs(4),
        "the back-off was not reset"
    );
    row(
        "an object that fails again and again",
        &format!(
            "the 11th try came {:.1} s after the 10th; a change is not delayed",
            last.as_secs_f64()
        ),
        recovered,
    );
    Ok(())
}

#[tokio::test]
async fn panics_and_hanging_reconciles() -> Result<()> {
    let (site, journal) = (Site::new("panics").await?, Journal::default());
    let controller = journal
        .controller("widgets")
        .timeout(Duration::from_millis(400));
    let operator = Operator::run(&site, controller).await?;
    let cases = [
        (
            "panics",
            Order::Panic,
            "Panic",
            "controller_runtime_reconcile_panics_total",
        ),
        (
            "hangs",
            Order::Hang,
            "Timeout",
            "controller_runtime_reconcile_timeouts_total",
        ),
    ];
    for (name, order, reason, counter) in cases {
        journal.order(name, Some(order));
        site.create(name, 1).await?;
        shows(&site, name, "False", reason).await?;
        until("it is counted, and tried again", 20, async || {
            Ok(metric(operator.metrics, counter, "widgets").await? >= 2.0)
        })
        .await?;
        journal.order(name, None);
        site.resize(name, 2).await?;
        let recovered = shows(&site, name, "True", "Done").await?;
        row(
            &format!("a reconcile that {name}"),
            &format!("Ready=False with reason {reason}, counted, tried again"),
            recovered,
        );
    }
    ensure!(operator.runs());
    Ok(())
}
