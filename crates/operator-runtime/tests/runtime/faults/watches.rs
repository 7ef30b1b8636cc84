//! A watch that breaks, or resumes too late to see everything.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use operator_runtime::{Predicate, Watch};
use tokio::time::sleep;

use crate::faults::{
    gate::{Answer, Ask},
    journal::{Journal, Order},
    operator::{Operator, metric},
    site::Site,
    table::row,
    until,
};

/// Two widgets that work, and one that has failed often.
async fn begin(site: &Site, journal: &Journal) -> Result<Operator> {
    for name in ["changed", "orphaned", "recreated", "unchanged"] {
        site.create(name, 1).await?;
    }
    let watch = Watch::new().when(Predicate::generation());
    let controller = journal.controller("widgets").primary_watch(watch);
    let operator = Operator::run(site, controller.owns::<ConfigMap>()).await?;
    site.settled(journal, 20).await?;
    journal.order("failing", Some(Order::Fail));
    site.create("failing", 1).await?;
    until("ten failures in a row", 20, async || {
        Ok(journal.count("failing") >= 10)
    })
    .await?;
    Ok(operator)
}

/// Changes everything while no watch is open, and checks that no change was lost.
async fn gap(
    site: &Site,
    journal: &Journal,
    answer: fn(&Ask) -> Option<Answer>,
) -> Result<Instant> {
    // An object that was created and deleted between two lists would leave no trace.
    site.quiet().await?;
    // 503 until the changes are made.
    site.gate.rule(|ask| {
        ask.is_watch()
            .then_some(Answer::Failure(503, "ServiceUnavailable"))
    });
    site.gate.end_watches();
    let before = journal.count("orphaned");
    site.delete("failing").await?;
    // The same name and the same generation.
    site.delete("recreated").await?;
    site.create("recreated", 1).await?;
    site.delete_child("orphaned").await?;
    site.resize("changed", 2).await?;
    site.create("new", 1).await?;
    sleep(Duration::from_millis(500)).await;
    let again = Instant::now();
    site.gate.rule(answer);
    // The changes reach the operator only in the list that follows the expired watch.
    until("a new list", 40, async || {
        Ok(site
            .gate
            .count(again, |ask| ask.reads("widgets") && !ask.is_watch())
            > 0
            && site
                .gate
                .count(again, |ask| ask.reads("configmaps") && !ask.is_watch())
                > 0)
    })
    .await?;
    let passes = Instant::now();
    site.gate.pass();
    until("watches that last", 20, async || {
        let watches = |plural| {
            site.gate
                .count(passes, |ask| ask.reads(plural) && ask.is_watch())
        };
        Ok(watches("widgets") > 0 && watches("configmaps") > 0)
    })
    .await?;
    site.settled(journal, 20).await?;
    until("the child is back", 20, async || {
        Ok(journal.count("orphaned") > before
            && site.children().get_opt("orphaned").await?.is_some())
    })
    .await?;
    Ok(again)
}

/// A recreated object of the same name starts with the first delay.
async fn starts_from_the_first_delay(site: &Site, journal: &Journal) -> Result<()> {
    let before = journal.count("failing");
    site.create("failing", 1).await?;
    let begin = Instant::now();
    until("five failures", 20, async || {
        Ok(journal.count("failing") >= before + 5)
    })
    .await?;
    // 5 + 10 + 20 + 40 ms, where the eleventh delay in a row would be 5 s.
    ensure!(
        begin.elapsed() < Duration::from_secs(4),
        "{:?}",
        begin.elapsed()
    );
    journal.order("failing", None);
    Ok(())
}

#[tokio::test]
async fn a_watch_that_expired() -> Result<()> {
    let (site, journal) = (Site::new("expired").await?, Journal::default());
    let operator = begin(&site, &journal).await?;
    let again = gap(&site, &journal, |ask| ask.is_watch().then(Answer::expired)).await?;
    row(
        "watch expired (410 in the stream)",
        "a new list: the deleted child came back, back-off of the deleted object dropped",
        again.elapsed(),
    );
    starts_from_the_first_delay(&site, &journal).await?;

    let unchanged = journal.count("unchanged");
    let again = gap_again(&site, &journal).await?;
    row(
        "watch refused with 410",
        "a new list, no change lost",
        again.elapsed(),
    );
    // A relist alone is no reason to reconcile.
    ensure!(
        journal.count("unchanged") == unchanged,
        "what did not change was reconciled"
    );
    ensure!(operator.runs());
    Ok(())
}

/// The same once more, with 410 as the status of the response.
async fn gap_again(site: &Site, journal: &Journal) -> Result<Instant> {
    site.delete("new").await?;
    site.delete_child("new").await?;
    site.settled(journal, 20).await?;
    gap(site, journal, |ask| {
        ask.is_watch().then_some(Answer::Failure(410, "Expired"))
    })
    .await
}

#[tokio::test]
async fn watches_that_end_at_once() -> Result<()> {
    let (site, journal) = (Site::new("flapping").await?, Journal::default());
    site.create("a", 1).await?;
    let controller = journal.controller("widgets").owns::<ConfigMap>();
    let operator = Operator::run(&site, controller).await?;
    site.settled(&journal, 20).await?;
    site.quiet().await?;

    // Like a misconfigured proxy, or an API server that shuts down.
    let begin = Instant::now();
    site.gate
        .rule(|ask| ask.is_watch().then(|| Answer::Watch(String::new())));
    site.gate.end_watches();
    sleep(Duration::from_secs(6)).await;
    let rate = site.gate.rate(begin);
    let cpu = metric(operator.metrics, "process_cpu_seconds_total", "").await?;
    site.resize("a", 2).await?;
    site.gate.pass();
    let recovered = site.settled(&journal, 20).await?;
    row(
        "watches end as soon as they began",
        &format!("at most {rate} requests per second"),
        recovered,
    );
    ensure!(rate <= 10, "{rate} requests in one second; {cpu} s of CPU");
    ensure!(operator.runs());
    Ok(())
}
