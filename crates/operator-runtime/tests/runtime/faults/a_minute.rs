//! Silent connections, and other faults that only time reveals: all at once, for about a minute. Tests
//! start in the order of their names, and this one should not start last.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ConfigMap;
use operator_runtime::Controllers;

use crate::faults::{
    connections, gate::Answer, journal::Journal, kubeconfig, link::Link, operator::Operator,
    signals, site::Site, table::row, until,
};

#[tokio::test]
async fn faults_that_only_time_reveals() -> Result<()> {
    tokio::try_join!(
        a_half_open_watch(),
        connections::half_open(),
        an_api_server_that_never_answers(),
        signals::a_reconcile_that_never_ends(),
    )?;
    Ok(())
}

/// Bytes of the watch are dropped; new connections work. Without TLS this is HTTP/1.1.
async fn a_half_open_watch() -> Result<()> {
    let (site, journal) = (Site::new("half-open").await?, Journal::default());
    let link = Link::to(site.gate.port()).await?;
    let kubeconfig = kubeconfig(
        "half-open-link",
        &format!("http://127.0.0.1:{}", link.port()),
        "",
    )?;
    site.create("a", 1).await?;
    let mut controllers = Controllers::default();
    controllers.add(journal.controller("widgets").owns::<ConfigMap>());
    let flags = ["--watch-namespace=half-open"];
    let operator =
        Operator::start(&kubeconfig, &flags, controllers, |manager| manager.client()).await?;
    site.settled(&journal, 20).await?;
    site.quiet().await?;

    link.silence();
    let begin = Instant::now();
    site.resize("a", 2).await?;
    site.delete_child("a").await?;
    let again = |plural| {
        site.gate
            .count(begin, |ask| ask.reads(plural) && ask.is_watch())
            > 0
    };
    let seen = until("both are watched again", 75, async || {
        Ok(again("widgets") && again("configmaps"))
    })
    .await?;
    // Silence ends a watch after 55 s. A retry may use another dead connection, which ends after 65 s.
    ensure!(seen < Duration::from_secs(70), "found after {seen:?}");
    // Calls use equally dead connections, until each was silent for 65 s.
    site.settled(&journal, 60).await?;
    until("the child is back", 60, async || {
        Ok(site.children().get_opt("a").await?.is_some())
    })
    .await?;
    let happened = format!(
        "watches found after {:.0} s, connections of calls after 65 s; nothing lost",
        seen.as_secs_f64()
    );
    row("half-open connections", &happened, begin.elapsed());
    ensure!(operator.runs());
    Ok(())
}

/// Requests are accepted and never answered.
async fn an_api_server_that_never_answers() -> Result<()> {
    let (site, journal) = (Site::new("stuck").await?, Journal::default());
    site.create("a", 1).await?;
    let operator = Operator::run(&site, journal.controller("widgets").owns::<ConfigMap>()).await?;
    site.settled(&journal, 20).await?;
    site.quiet().await?;

    let begin = Instant::now();
    site.gate.rule(|_| Some(Answer::Nothing));
    site.resize("a", 2).await?;
    site.gate.end_watches();
    tokio::time::sleep(Duration::from_secs(15)).await;
    let asked = site.gate.count(begin, |_| true);
    site.gate.pass();
    let back = Instant::now();
    site.settled(&journal, 80).await?;
    let happened = format!("{asked} requests in 15 s, each given up after 55 s or 65 s");
    row(
        "API server accepts and never answers",
        &happened,
        back.elapsed(),
    );
    ensure!(asked <= 15, "{asked} requests");
    ensure!(operator.runs());
    Ok(())
}
