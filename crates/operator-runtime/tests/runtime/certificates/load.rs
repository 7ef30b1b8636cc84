//! Requests that must not fail while certificates change.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Result, anyhow};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use tokio::{task::JoinSet, time::sleep};

use super::{
    site::{Site, create},
    tls::handshake,
};

/// The delay of a caBundle to the simulated API server.
const LATE: Duration = Duration::from_millis(1000);

/// The counts of a load.
#[derive(Debug, Default)]
pub struct Report {
    /// Objects for which the API server has called the webhooks.
    pub admitted: AtomicU64,
    /// New connections to each replica, verified by the caBundle of a second before.
    pub handshakes: AtomicU64,
    pub failures: Mutex<Vec<String>>,
    /// The served certificates.
    pub served: Mutex<BTreeSet<Vec<u8>>>,
}

/// Sends requests to the webhooks while `work` runs.
pub async fn during(
    site: &Site<'_>,
    ports: &[u16],
    work: impl Future<Output = Result<()>>,
) -> Result<Arc<Report>> {
    let (report, over) = (
        Arc::new(Report::default()),
        Arc::new(AtomicBool::new(false)),
    );
    let bundles = Arc::new(Mutex::new(VecDeque::from([(
        Instant::now(),
        site.bundles().await?,
    )])));
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let (report, over) = (report.clone(), over.clone());
        let api: Api<ConfigMap> = Api::namespaced(site.client()?, site.namespace);
        tasks.spawn(async move {
            while !over.load(Ordering::Relaxed) {
                match create(&api, "good").await {
                    Ok(_) => _ = report.admitted.fetch_add(1, Ordering::Relaxed),
                    Err(error) => report.fail(&error),
                }
                sleep(Duration::from_millis(5)).await;
            }
        });
    }
    let host = format!("{}.{}.svc", site.name("webhook-service"), site.namespace);
    let threads: Vec<_> = ports
        .iter()
        .map(|&port| {
            let (report, over, bundles) = (report.clone(), over.clone(), bundles.clone());
            let host = host.clone();
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let bundle = late(&mut bundles.lock().unwrap_or_else(|lock| lock.into_inner()));
                    match handshake(port, &host, &bundle) {
                        Ok(certificate) => {
                            report.handshakes.fetch_add(1, Ordering::Relaxed);
                            report
                                .served
                                .lock()
                                .unwrap_or_else(|lock| lock.into_inner())
                                .insert(certificate);
                        }
                        Err(error) => report.fail(&error),
                    }
                    thread::sleep(Duration::from_millis(20));
                }
            })
        })
        .collect();
    let look = async {
        loop {
            sleep(Duration::from_millis(50)).await;
            let found = site.bundles().await?;
            let mut bundles = bundles.lock().unwrap_or_else(|lock| lock.into_inner());
            bundles.push_back((Instant::now(), found));
        }
    };
    let result = tokio::select! {
        result = work => result,
        result = look => result,
    };
    over.store(true, Ordering::Relaxed);
    tasks.join_all().await;
    for thread in threads {
        thread.join().map_err(|_| anyhow!("a thread panicked"))?;
    }
    result.map(|()| report)
}

/// The caBundle of a while ago.
fn late(bundles: &mut VecDeque<(Instant, Vec<String>)>) -> String {
    while bundles
        .get(1)
        .is_some_and(|(since, _)| since.elapsed() > LATE)
    {
        bundles.pop_front();
    }
    bundles[0].1[0].clone()
}

impl Report {
    fn fail(&self, error: &anyhow::Error) {
        let mut failures = self
            .failures
            .lock()
            .unwrap_or_else(|lock| lock.into_inner());
        failures.push(format!("{error:#}"));
    }
}
