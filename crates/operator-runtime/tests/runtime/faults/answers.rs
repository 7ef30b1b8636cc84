//! An API server that answers with errors.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use tokio::time::sleep;

use crate::faults::{
    gate::Answer,
    journal::Journal,
    operator::{Operator, Process},
    site::Site,
    table::row,
    until,
};

const OBJECTS: usize = 20;

/// Refuses the requests of the rule while objects change; returns the rate of requests, and the time to
/// recover.
async fn refuse(namespace: &'static str, code: u16, reads: bool) -> Result<(usize, Duration)> {
    let (site, journal) = (Site::new(namespace).await?, Journal::default());
    for number in 0..OBJECTS {
        site.create(&format!("w-{number}"), 1).await?;
    }
    let operator = Operator::run(&site, journal.controller("widgets").owns::<ConfigMap>()).await?;
    site.settled(&journal, 30).await?;
    site.quiet().await?;
    let begin = Instant::now();
    site.gate
        .rule(move |ask| (reads || ask.changes()).then_some(Answer::Failure(code, "Refused")));
    if reads {
        site.gate.end_watches();
    }
    for number in 0..OBJECTS {
        site.resize(&format!("w-{number}"), 2).await?;
    }
    site.delete("w-0").await?;
    sleep(Duration::from_secs(5)).await;
    let rate = site.gate.rate(begin);
    site.gate.pass();
    let recovered = site.settled(&journal, 60).await?;
    ensure!(operator.runs());
    Ok((rate, recovered))
}

#[tokio::test]
async fn too_many_requests() -> Result<()> {
    let (rate, recovered) = refuse("refused-429", 429, false).await?;
    let happened = format!("{OBJECTS} objects back off, at most {rate} requests in a second");
    row(
        "429 with Retry-After for every change, 5 s",
        &happened,
        recovered,
    );
    // 5 ms, doubled each time, are eight tries in the first second, and some for the status.
    ensure!(rate <= OBJECTS * 18, "{rate} requests in one second");
    Ok(())
}

#[tokio::test]
async fn service_unavailable() -> Result<()> {
    let (rate, recovered) = refuse("refused-503", 503, true).await?;
    let happened = format!("at most {rate} requests in a second, no update lost");
    row("503 for everything, 5 s", &happened, recovered);
    ensure!(rate <= 10, "{rate} requests in one second");
    Ok(())
}

#[tokio::test]
async fn conflicts_are_not_errors() -> Result<()> {
    let site = Site::new("conflicts").await?;
    site.create("conflict", 1).await?;
    let place = format!("--watch-namespace={}", site.namespace);
    let process = Process::start(&site.kubeconfig, &[&place])?;
    let begin = Instant::now();
    until("four conflicts", 20, async || {
        let write =
            |ask: &crate::faults::gate::Ask| ask.path.ends_with("/conflict") && ask.changes();
        Ok(site.gate.count(begin, write) >= 4)
    })
    .await?;
    process.signal("TERM")?;
    let (status, log) = process.end(10).await?;
    ensure!(status.success(), "{status}: {log}");
    ensure!(log.contains("conflict: the object has changed"), "{log}");
    ensure!(!log.contains(r#""level":"ERROR""#), "{log}");
    ensure!(site.widgets().get("conflict").await?.status.is_none());
    row(
        "409 at every write",
        "retried with back-off, logged as info, no Ready=False",
        Duration::ZERO,
    );
    Ok(())
}
