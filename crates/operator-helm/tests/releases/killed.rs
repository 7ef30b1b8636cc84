//! The operator is killed right before each of its writes, and another one goes on from there.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    batch::v1::Job,
    core::v1::{ConfigMap, Secret, Service},
    rbac::v1::ClusterRole,
};
use kube::{Api, Resource, ResourceExt, api::ListParams};
use operator_runtime::{Manager, envtest::Cluster};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::{task::JoinSet, time::sleep};

use crate::former;
use crate::gate::{Gate, Killed};
use crate::hooks::end;
use crate::web::{OPTIONS, Release, chart, context, controllers, crds};

/// Starts an operator that talks to the API server through a gate.
async fn operator(gate: &Gate) -> Result<Killed> {
    gate.operator(&OPTIONS, || {
        (controllers(chart()), |manager: &Manager| {
            context(manager, chart())
        })
    })
    .await
}

/// The objects of a release, as `KIND NAME`.
async fn objects(release: &Release) -> Result<BTreeSet<String>> {
    async fn of<K>(api: Api<K>, release: &str, found: &mut BTreeSet<String>) -> Result<()>
    where
        K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
    {
        for object in api.list(&ListParams::default()).await? {
            let owner = object.annotations().get("operator-helm/release");
            if owner
                .is_some_and(|owner| *owner == format!("webs.charts.example.com/default/{release}"))
            {
                found.insert(format!("{} {}", K::kind(&()), object.name_any()));
            }
        }
        Ok(())
    }
    let mut found = BTreeSet::new();
    of(release.api::<ConfigMap>(), release.name, &mut found).await?;
    of(release.api::<Secret>(), release.name, &mut found).await?;
    of(release.api::<Service>(), release.name, &mut found).await?;
    of(release.api::<StatefulSet>(), release.name, &mut found).await?;
    of(
        release.cluster_api::<ClusterRole>(),
        release.name,
        &mut found,
    )
    .await?;
    Ok(found)
}

/// What the operator is killed in the middle of: the change, and the objects that are there afterwards.
#[derive(Clone, Copy)]
struct Scenario {
    name: &'static str,
    /// The values before, which a whole operator installs; none if the release is not there.
    before: Option<&'static str>,
    /// Whether operator-sdk installed what is there before.
    is_former: bool,
    /// The values after; none if the release is deleted.
    after: Option<&'static str>,
    objects: &'static [&'static str],
}

const INSTALLATION: Scenario = Scenario {
    name: "install",
    before: None,
    is_former: false,
    after: Some(r#"{ "role": { "create": true }, "password": { "create": true } }"#),
    objects: &[
        "ConfigMap -config",
        "ClusterRole",
        "Secret -kept",
        "Secret -password",
        "Service",
        "StatefulSet",
    ],
};

const UPGRADE: Scenario = Scenario {
    name: "upgrade",
    before: Some(r#"{ "role": { "create": true }, "password": { "create": true } }"#),
    is_former: false,
    after: Some(r#"{ "role": { "create": false }, "password": null, "message": "bye" }"#),
    objects: &[
        "ConfigMap -config",
        "Secret -kept",
        "Service",
        "StatefulSet",
    ],
};

const HOOKS: Scenario = Scenario {
    name: "hooks",
    before: Some(r#"{ "hook": { "enabled": true }, "policy": "hook-succeeded" }"#),
    is_former: false,
    after: Some(r#"{ "message": "bye" }"#),
    objects: &[
        "ConfigMap -config",
        "Secret -kept",
        "Service",
        "StatefulSet",
    ],
};

const UNINSTALLATION: Scenario = Scenario {
    name: "uninstall",
    before: Some(r#"{ "role": { "create": true }, "password": { "create": true } }"#),
    is_former: false,
    after: None,
    objects: &["Secret -kept"],
};

const TAKEOVER: Scenario = Scenario {
    name: "takeover",
    before: Some(r#"{ "role": { "create": true } }"#),
    is_former: true,
    after: Some(r#"{ "message": "bye" }"#),
    objects: &[
        "ConfigMap -config",
        "ClusterRole",
        "Secret -kept",
        "Service",
        "StatefulSet",
    ],
};

/// Completes the Jobs of a release, as their controller would, and returns the uids of those of each run of hooks.
async fn complete_jobs(release: Release, seen: Arc<Mutex<BTreeMap<String, BTreeSet<String>>>>) {
    let jobs: Api<Job> = release.api();
    loop {
        let found = jobs.list(&ListParams::default()).await;
        for job in found.into_iter().flatten() {
            let run = job.annotations().get("operator-helm/run").cloned();
            if job.name_any() != format!("{}-migrate", release.name) || run.is_none() {
                continue;
            }
            let run = run.unwrap_or_default();
            seen.lock()
                .unwrap()
                .entry(run)
                .or_default()
                .extend(job.uid());
            // It may be deleted meanwhile.
            let _ = end(&jobs, &job.name_any(), "Complete").await;
        }
        sleep(Duration::from_millis(50)).await;
    }
}

impl Scenario {
    /// Runs it with an operator that is killed before write `n`, and returns whether it was.
    async fn run(self, cluster: &Cluster, n: usize) -> Result<bool> {
        let name: &'static str = format!("{}-{n}", self.name).leak();
        let release = Release::new(cluster, name)?;
        let seen = Arc::<Mutex<BTreeMap<String, BTreeSet<String>>>>::default();
        let mut jobs = JoinSet::new();
        jobs.spawn(complete_jobs(Release::new(cluster, name)?, seen.clone()));
        let open = Gate::open(release.client.clone());
        if let Some(before) = self.before {
            let before = serde_json::from_str::<Value>(before)?;
            if self.is_former {
                former::install(&release, before).await?;
            } else {
                release.create(before).await?;
                let _operator = operator(&open).await?;
                release.is_at(1).await?;
            }
        }
        let gate = open.narrow(n - 1);
        let killed = operator(&gate).await?;
        match self.after {
            Some(after) if self.before.is_some() => {
                release.change(serde_json::from_str(after)?).await?
            }
            Some(after) => release.create(serde_json::from_str(after)?).await?,
            None => release.delete().await?,
        }
        let was_killed = tokio::select! {
            () = gate.closed.cancelled() => true,
            done = self.is_done(&release) => done.map(|()| false)?,
        };
        drop(killed);
        let _operator = operator(&open).await?;
        self.is_done(&release).await?;
        let found = objects(&release).await?;
        let expected = self.objects.iter().map(|of| match of.split_once(' ') {
            Some((kind, end)) => format!("{kind} {name}{end}"),
            None if *of == "ClusterRole" => format!("{of} default-{name}"),
            None => format!("{of} {name}"),
        });
        let expected: BTreeSet<_> = expected.collect();
        ensure!(
            found == expected,
            "{name}: {found:?} instead of {expected:?}"
        );
        if self.is_former {
            former::is_taken_over(&release).await?;
        }
        if self.after.is_some() {
            release.delete().await?;
            release.is_gone().await?;
        }
        drop(jobs);
        let seen = seen.lock().unwrap();
        let is_once = seen.values().all(|uids| uids.len() == 1);
        ensure!(is_once, "{name}: a hook ran twice: {seen:?}");
        Ok(was_killed)
    }

    async fn is_done(self, release: &Release) -> Result<()> {
        match (self.before, self.after) {
            (_, None) => release.is_gone().await,
            (Some(_), _) => release.is_at(2).await.map(drop),
            (None, _) => release.is_at(1).await.map(drop),
        }
    }
}

/// Kills the operator before each of the writes of a scenario.
async fn kill(scenario: Scenario) -> Result<()> {
    let cluster = Cluster::start()?;
    cluster.install(crds()).await?;
    let mut n = 1;
    let context = |n| move || format!("{}, killed before write {n}", scenario.name);
    while scenario.run(&cluster, n).await.with_context(context(n))? {
        n += 1;
        ensure!(n < 60, "{} does not end", scenario.name);
    }
    println!("{}: killed before each of {} writes", scenario.name, n - 1);
    ensure!(n > 3, "{} makes only {n} writes", scenario.name);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_installation_is_finished_after_each_death() -> Result<()> {
    kill(INSTALLATION).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upgrade_is_finished_after_each_death() -> Result<()> {
    kill(UPGRADE).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hooks_run_once_whatever_dies() -> Result<()> {
    kill(HOOKS).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_of_operator_sdk_is_taken_over_after_each_death() -> Result<()> {
    kill(TAKEOVER).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_uninstallation_is_finished_after_each_death() -> Result<()> {
    kill(UNINSTALLATION).await
}
