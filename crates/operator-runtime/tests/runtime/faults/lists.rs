//! Lists at the start of a watch: streamed or in pages, without an end, refused, and of large objects.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api,
    api::{ApiResource, DynamicObject, PostParams},
};
use operator_runtime::{Controllers, Store, envtest::Cluster};
use serde_json::{from_value, json};
use tokio::time::sleep;

use crate::{
    faults::{
        gate::{Answer, Ask},
        journal::Journal,
        operator::{Operator, Process, get},
        site::{Site, is_ready},
        table::row,
        until,
    },
    stores::fill,
};

/// What an operator may take while the API server lies, in KiB. A debug build without objects takes 60 MiB.
const MEMORY: u64 = 200 << 10;

fn place(site: &Site) -> String {
    format!("--watch-namespace={}", site.namespace)
}

/// Whether a request is a list in pages.
fn pages(ask: &Ask) -> bool {
    ask.method == "GET" && ask.query.contains("limit=")
}

/// The memory of the process stays within its limit for some seconds.
async fn stays_small(process: &Process, seconds: u64) -> Result<u64> {
    let (begin, mut most) = (Instant::now(), 0);
    while begin.elapsed() < Duration::from_secs(seconds) {
        most = most.max(process.memory()?);
        ensure!(most < MEMORY, "{most} KiB");
        sleep(Duration::from_millis(50)).await;
    }
    Ok(most)
}

#[tokio::test]
async fn an_event_without_an_end() -> Result<()> {
    let site = Site::new("endless-event").await?;
    site.create("a", 1).await?;
    let process = Process::start(&site.kubeconfig, &[&place(&site)])?;
    until("the widget is ready", 30, async || {
        Ok(is_ready(&site.widgets().get("a").await?))
    })
    .await?;

    let begin = Instant::now();
    site.gate.rule(|ask| {
        let begin = r#"{"type":"MODIFIED","object":{"metadata":{"name":""#;
        ask.is_watch().then_some(Answer::Endless(begin))
    });
    site.gate.end_watches();
    let most = stays_small(&process, 10).await?;
    let watches = site.gate.count(begin, Ask::is_watch);
    ensure!((2..=20).contains(&watches), "{watches} watches in 10 s");
    site.resize("a", 2).await?;
    site.gate.pass();
    let recovered = until("the change is seen", 60, async || {
        Ok(is_ready(&site.widgets().get("a").await?))
    })
    .await?;
    row(
        "an event of a watch has no end",
        &format!("{watches} watches in 10 s, at most {} MiB", most >> 10),
        recovered,
    );
    process.signal("TERM")?;
    let (status, log) = process.end(20).await?;
    ensure!(status.success(), "{status}: {log}");
    ensure!(log.contains("an event is longer than 16 MiB"), "{log}");
    Ok(())
}

#[tokio::test]
async fn a_page_without_an_end() -> Result<()> {
    let site = Site::new("endless-page").await?;
    site.create("a", 1).await?;
    site.gate.rule(|ask| match (ask.streams(), pages(ask)) {
        (true, _) => Some(Answer::Failure(422, "Invalid")),
        (_, true) => Some(Answer::Endless(
            r#"{"metadata":{"resourceVersion":"1"},"items":["#,
        )),
        _ => None,
    });
    let begin = Instant::now();
    let process = Process::start(&site.kubeconfig, &[&place(&site)])?;
    let most = stays_small(&process, 10).await?;
    let lists = site.gate.count(begin, pages);
    ensure!((8..=60).contains(&lists), "{lists} lists in 10 s");
    let ready = get(process.health, "/readyz?verbose").await?;
    let reason = "cannot list widgets in test.example.com/v1 of namespace endless-page: ";
    ensure!(ready.contains(reason), "{ready}");
    site.gate.pass();
    let recovered = until("the widget is ready", 60, async || {
        Ok(is_ready(&site.widgets().get("a").await?))
    })
    .await?;
    let ready = get(process.health, "/readyz?verbose").await?;
    ensure!(!ready.contains("cannot list"), "{ready}");
    row(
        "a page of a list has no end",
        &format!("{lists} lists in 10 s, at most {} MiB", most >> 10),
        recovered,
    );
    process.signal("TERM")?;
    let (status, log) = process.end(20).await?;
    ensure!(status.success(), "{status}: {log}");
    ensure!(log.contains("a response is longer than 16 MiB"), "{log}");
    Ok(())
}

/// Runs an operator at an API server that streams no lists, in one way or another.
async fn without_streams(namespace: &'static str, answer: Answer) -> Result<()> {
    let (site, journal) = (Site::new(namespace).await?, Journal::default());
    site.create("a", 1).await?;
    let begin = Instant::now();
    site.gate
        .rule(move |ask| ask.streams().then(|| answer.clone()));
    let controller = journal.controller("widgets").owns::<ConfigMap>();
    let operator = Operator::run(&site, controller).await?;
    let took = site.settled(&journal, 90).await?;
    let lists = site.gate.count(begin, pages);
    ensure!(lists == 2, "{lists} lists");
    site.resize("a", 2).await?;
    site.settled(&journal, 20).await?;
    row(
        &format!("streamed list: {namespace}"),
        "a list in pages",
        took,
    );
    ensure!(operator.runs());
    Ok(())
}

#[tokio::test]
async fn lists_are_streamed_if_the_api_server_can() -> Result<()> {
    let (site, journal) = (Site::new("streamed").await?, Journal::default());
    for number in 0..20 {
        site.create(&format!("w-{number}"), 1).await?;
    }
    let begin = Instant::now();
    let controller = journal.controller("widgets").owns::<ConfigMap>();
    let operator = Operator::run(&site, controller).await?;
    site.settled(&journal, 30).await?;
    let (streams, lists) = (
        site.gate.count(begin, Ask::streams),
        site.gate.count(begin, pages),
    );
    ensure!(
        (streams, lists) == (2, 0),
        "{streams} streams, {lists} lists"
    );
    // As current as a list: version 0 would allow an old cache.
    let old = site.gate.count(begin, |ask| {
        ask.streams() && ask.query.contains("resourceVersion=0")
    });
    ensure!(old == 0);
    // The first watch goes on after the list.
    site.resize("w-7", 2).await?;
    site.settled(&journal, 20).await?;
    let watches = site.gate.count(begin, Ask::is_watch);
    ensure!(watches == 2, "{watches} watches");
    ensure!(operator.runs());

    tokio::try_join!(
        without_streams("stream-refused", Answer::Failure(422, "Invalid")),
        without_streams("stream-ends", Answer::Watch(String::new())),
        without_streams("stream-fails", Answer::Failure(500, "InternalError")),
        without_streams("stream-silent", Answer::Nothing),
    )?;
    Ok(())
}

/// Large objects come in smaller pages.
#[tokio::test]
async fn objects_of_a_megabyte() -> Result<()> {
    const OBJECTS: usize = 40;
    let (site, journal) = (Site::new("large").await?, Journal::default());
    let kind = ApiResource::erase::<ConfigMap>(&());
    let api: Api<DynamicObject> = Api::namespaced_with(site.client.clone(), site.namespace, &kind);
    // The API server sends each `<` as six bytes.
    let text = "<".repeat(20_000) + &"x".repeat(900_000);
    let data = json!({ "data": { "key": text } });
    let creates = (0..OBJECTS).map(|number| {
        let object = DynamicObject::new(&format!("c-{number}"), &kind).data(data.clone());
        let api = api.clone();
        async move { api.create(&PostParams::default(), &object).await }
    });
    let created: Vec<_> = stream::iter(creates)
        .buffer_unordered(2)
        .try_collect()
        .await?;
    ensure!(created.len() == OBJECTS);

    for streams in [true, false] {
        let begin = Instant::now();
        site.gate.rule(move |ask| {
            let refused = ask.streams() && !streams;
            refused.then_some(Answer::Failure(422, "Invalid"))
        });
        let (sender, store) = std::sync::mpsc::channel::<Store<ConfigMap>>();
        let mut controllers = Controllers::default();
        controllers.add(journal.controller("widgets"));
        let operator =
            Operator::start(&site.kubeconfig, &[&place(&site)], controllers, |manager| {
                _ = sender.send(manager.store());
                manager.client()
            })
            .await?;
        let store = store.recv()?;
        tokio::time::timeout(Duration::from_secs(60), store.synced()).await?;
        let whole = |object: &ConfigMap| {
            let data = object.data.as_ref().and_then(|data| data.get("key"));
            data == Some(&text)
        };
        let held = store.list().iter().filter(|object| whole(object)).count();
        ensure!(held == OBJECTS, "{held} objects");
        let pages = site
            .gate
            .count(begin, |ask| pages(ask) && ask.reads("configmaps"));
        let expected = if streams { 0 } else { 2 + OBJECTS.div_ceil(3) };
        ensure!(pages == expected, "{pages} pages");
        let happened = format!("a store of {OBJECTS} objects in {pages} pages");
        row("objects of 1 MB", &happened, begin.elapsed());
        ensure!(operator.runs());
    }
    Ok(())
}

/// The operator ends with the reason, which `/readyz` and the log show before.
#[tokio::test]
async fn a_list_that_is_forbidden_for_too_long() -> Result<()> {
    let site = Site::new("forbidden").await?;
    site.gate.rule(|ask| {
        ask.reads("widgets")
            .then_some(Answer::Failure(403, "Forbidden"))
    });
    let begin = Instant::now();
    let flags = [&*place(&site), "--cache-sync-timeout=4s"];
    let process = Process::start(&site.kubeconfig, &flags)?;
    let reason = "cannot list widgets in test.example.com/v1 of namespace forbidden: ";
    until("readiness says why", 10, async || {
        let ready = get(process.health, "/readyz?verbose").await;
        Ok(ready.unwrap_or_default().contains(reason))
    })
    .await?;
    let (status, log) = process.end(20).await?;
    ensure!(status.code() == Some(1), "{status}: {log}");
    let last = log.lines().last().context("no log")?;
    let expected = format!(
        "the watch of widgets in test.example.com/v1 failed: not synced within 4s: {reason}"
    );
    ensure!(
        last.contains(&expected) && last.contains("made by the test"),
        "{log}"
    );
    ensure!(log.contains("a watch failed, retrying"), "{log}");
    let happened = "readiness shows the reason, the operator ends with it";
    row(
        "a list is forbidden for too long",
        happened,
        begin.elapsed(),
    );
    Ok(())
}

/// `LISTED` sets the number of objects: `make bench-lists`.
#[tokio::test]
async fn a_streamed_list_takes_no_more_memory_than_pages() -> Result<()> {
    let objects: usize = match std::env::var("LISTED") {
        Ok(number) => number.parse().context("LISTED is no number")?,
        Err(_) => 2000,
    };
    let cluster = Cluster::start()?;
    let site = Site::within(&cluster, "listed").await?;
    let api: Api<Secret> = Api::namespaced(site.client.clone(), site.namespace);
    let text = "x".repeat(1000);
    let creates = (0..objects).map(|number| {
        let metadata = json!({ "name": format!("s-{number}") });
        let secret = json!({ "metadata": metadata, "stringData": { "key": text } });
        let api = api.clone();
        async move {
            anyhow::Ok(
                api.create(&PostParams::default(), &from_value(secret)?)
                    .await?,
            )
        }
    });
    let created = stream::iter(creates).buffer_unordered(16);
    ensure!(created.try_collect::<Vec<_>>().await?.len() == objects);

    let mut peaks = Vec::new();
    for (streams, how) in [(false, "in pages"), (true, "streamed")] {
        site.gate.rule(move |ask| {
            let refused = ask.streams() && !streams;
            refused.then_some(Answer::Failure(422, "Invalid"))
        });
        let kubeconfig = site.kubeconfig.clone();
        let filled = tokio::task::spawn_blocking(move || fill(&kubeconfig, true)).await??;
        ensure!(filled.held == objects, "{}", filled.held);
        let happened = format!("{how}: at most {} MiB", filled.peak >> 10);
        row(
            &format!("a store of {objects} Secrets of 1 KB"),
            &happened,
            filled.took,
        );
        peaks.push(filled.peak);
    }
    ensure!(peaks[1] <= peaks[0] * 11 / 10, "{peaks:?} kB");
    Ok(())
}
