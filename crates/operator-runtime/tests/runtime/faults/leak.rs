//! Memory after many watches.

use std::time::Instant;

use anyhow::{Result, ensure};

use crate::faults::{
    gate::{Answer, Ask},
    operator::Process,
    site::Site,
    table::row,
    until,
};

/// Watches that restart with a list each time, of twenty sources at once.
#[tokio::test]
async fn memory_after_many_restarts_of_the_watch() -> Result<()> {
    let site = Site::new("leak").await?;
    for number in 0..100 {
        site.create(&format!("w-{number}"), 1).await?;
    }
    let places = (1..10).map(|number| format!(",leak-{number}"));
    let flag = places.fold("--watch-namespace=leak".to_owned(), |flag, place| {
        flag + &place
    });
    let process = Process::start(&site.kubeconfig, &[&flag])?;
    until("everything is ready", 120, async || {
        let widgets = site.widgets().list(&Default::default()).await?;
        Ok(widgets.iter().all(crate::faults::site::is_ready))
    })
    .await?;

    site.quiet().await?;
    let begin = Instant::now();
    site.gate.rule(|ask| ask.is_watch().then(Answer::expired));
    site.gate.end_watches();
    let restarts = || site.gate.count(begin, Ask::is_watch);
    until("the first restarts", 30, async || Ok(restarts() >= 5 * 20)).await?;
    let (few, before) = (restarts(), process.memory()?);
    until("many restarts", 60, async || Ok(restarts() >= 25 * 20)).await?;
    let (many, after) = (restarts(), process.memory()?);
    let happened = format!("{before} KiB after {few}, {after} KiB after {many}");
    row(
        "watches of 20 sources restarted, each with a list",
        &happened,
        begin.elapsed(),
    );
    ensure!(after < before + 2048, "{happened}");
    let rate = site.gate.rate(begin);
    ensure!(rate <= 100, "{rate} requests in one second");
    Ok(())
}
