//! Charts of others, as they are published, through the whole life of a release.
//!
//! Each has a control plane of its own, because webhook configurations with `failurePolicy: Fail` and fixed names of cluster-scoped
//! objects would reach the others. There is no kubelet, so no release becomes ready. Of the larger charts, the operator is killed
//! before every so many writes only.

use std::{collections::BTreeMap, time::Instant};

use anyhow::{Context as _, Result, ensure};
use helm_render::chart::File;
use kube::api::{DeleteParams, Patch, PatchParams};
use operator_helm::{Chart, InstalledObject};
use operator_runtime::envtest::{Cluster, Options, eventually};
use serde_json::{Value, json};

use crate::edits;
use crate::fetched::{
    Id, LIMIT, Made, OPTIONS, Release, context, controllers, files, id, run, upgraded,
};
use crate::gate::Gate;

/// A chart, and what is done with it. The values are JSON.
struct Case {
    /// Its directory in `tests/helm/charts.txt`.
    chart: &'static str,
    /// What the chart needs, or what lets it have more objects.
    values: &'static str,
    change: &'static str,
    /// Values of a wrong type.
    wrong: &'static str,
    /// Values that render what the API server refuses.
    refused: &'static str,
    /// The template that the next version of the chart lacks.
    dropped: &'static str,
    /// The ClusterRoles that need `escalate` beside what is derived: those with an `aggregationRule`, which the API server takes only
    /// from those who may do everything, or with that verb.
    escalates: &'static [&'static str],
    /// The least number of objects, so that nothing is tested by accident with less.
    objects: usize,
    /// The operator is killed before each write, or before every so many of them.
    every: usize,
}

/// The sample of operator-sdk. Its PodDisruptionBudget is a hook.
const MEMCACHED: Case = Case {
    chart: "memcached",
    values: "{}",
    change: r#"{ "replicaCount": 4 }"#,
    wrong: r#"{ "replicaCount": "many" }"#,
    refused: r#"{ "replicaCount": -1 }"#,
    dropped: "templates/svc.yaml",
    escalates: &[],
    objects: 2,
    every: 1,
};

/// It has an APIService, and looks an object up.
const METRICS_SERVER: Case = Case {
    chart: "metrics-server",
    values: r#"{ "podDisruptionBudget": { "enabled": true, "minAvailable": 1 } }"#,
    change: r#"{ "replicas": 2 }"#,
    wrong: r#"{ "replicas": "many" }"#,
    refused: r#"{ "replicas": -1 }"#,
    dropped: "templates/pdb.yaml",
    escalates: &[],
    objects: 10,
    every: 7,
};

/// It has 1.6 MB of CRDs in `crds/`, roles and webhooks with `failurePolicy: Fail`.
const SPARK: Case = Case {
    chart: "spark-operator-chart",
    values: "{}",
    change: r#"{ "controller": { "replicas": 2 } }"#,
    wrong: r#"{ "controller": { "replicas": "many" } }"#,
    refused: r#"{ "controller": { "replicas": -1 } }"#,
    dropped: "templates/webhook/validatingwebhookconfiguration.yaml",
    escalates: &[],
    objects: 15,
    every: 9,
};

/// It has 78 objects, among them CRDs in its templates and webhooks with `failurePolicy: Fail` for Deployments of other namespaces.
const KUEUE: Case = Case {
    chart: "kueue",
    values: "{}",
    change: r#"{ "controllerManager": { "replicas": 2 } }"#,
    wrong: r#"{ "controllerManager": { "replicas": "many" } }"#,
    refused: r#"{ "controllerManager": { "replicas": -1 } }"#,
    dropped: "templates/crd/kueue.x-k8s.io_topologies.yaml",
    escalates: &[
        "live-kueue-batch-admin-role",
        "live-kueue-batch-user-role",
        "killed-kueue-batch-admin-role",
        "killed-kueue-batch-user-role",
    ],
    objects: 60,
    every: 40,
};

/// istiod, with a HorizontalPodAutoscaler. Its values are below a key that users must not set.
const ISTIOD: Case = Case {
    chart: "istio-discovery",
    values: r#"{ "global": { "istioNamespace": "default" } }"#,
    change: r#"{ "autoscaleMax": 7 }"#,
    wrong: r#"{ "autoscaleMax": "many" }"#,
    refused: r#"{ "autoscaleMin": -1 }"#,
    dropped: "templates/autoscale.yaml",
    escalates: &[],
    objects: 12,
    every: 9,
};

fn json(text: &str) -> Result<Value> {
    Ok(serde_json::from_str(text)?)
}

/// A chart of these files for the rest of the process, as an embedded one.
fn chart(files: Vec<File>) -> Result<&'static Chart> {
    Ok(Box::leak(Box::new(Chart::of(files)?)))
}

/// The objects of a release, apart from what the API server and controllers fill in.
async fn contents(release: &Release, objects: &[InstalledObject]) -> Result<BTreeMap<Id, Value>> {
    let mut contents = BTreeMap::new();
    for (object, api) in release.apis(objects).await? {
        let found = api.get(&object.name).await?;
        ensure!(
            found.metadata.deletion_timestamp.is_none(),
            "{object:?} goes"
        );
        contents.insert(id(&object), edits::content(&found)?);
    }
    Ok(contents)
}

/// The uids and generations, which tell an object that was never touched from one that came back.
async fn versions(release: &Release, objects: &[InstalledObject]) -> Result<Vec<Value>> {
    let mut versions = Vec::new();
    for (object, api) in release.apis(objects).await? {
        let meta = api.get_metadata(&object.name).await?.metadata;
        versions.push(json!([id(&object), meta.uid, meta.generation]));
    }
    Ok(versions)
}

/// Checks that the operator has made exactly the objects in the status of the release, its hooks and `crds/`.
async fn has_what_it_says(release: &Release) -> Result<Vec<InstalledObject>> {
    eventually(LIMIT, async || {
        // A CRD that goes stays in the status for a while.
        let objects = release.status().await?.objects;
        let mut said: Vec<_> = objects.iter().map(id).collect();
        said.sort();
        let made = release.made().await?;
        let made = made.into_iter().filter(|it| it.1 == Made::Object);
        let made: Vec<_> = made.map(|it| it.0).collect();
        ensure!(made == said, "{made:?} instead of {said:?}");
        Ok(objects)
    })
    .await
}

/// Checks that nothing is left but so many CRDs of `crds/`, once garbage collection is done.
async fn is_left_with(release: &Release, crds: usize) -> Result<()> {
    eventually(LIMIT, async || {
        let left = release.made().await?;
        let is_crd = |it: (&Id, &Made)| *it.1 == Made::Other && it.0.0.starts_with("CustomRes");
        ensure!(left.len() == crds && left.iter().all(is_crd), "{left:?}");
        Ok(())
    })
    .await
    .context("left behind")
}

/// Deletes each object, and then edits each. All of them come back as they were.
async fn drift(release: &Release, objects: &[InstalledObject]) -> Result<()> {
    let before = contents(release, objects).await?;
    let is_as_before = async || {
        let now = contents(release, objects).await?;
        for (id, was) in &before {
            ensure!(now.get(id) == Some(was), "{id:?}: {:?} {was}", now.get(id));
        }
        Ok(())
    };
    let of = versions(release, objects).await?;
    for (object, api) in release.apis(objects).await? {
        api.delete(&object.name, &DeleteParams::background())
            .await?;
    }
    eventually(LIMIT, is_as_before).await.context("deleted")?;
    let now = versions(release, objects).await?;
    ensure!(of.iter().zip(&now).all(|(of, now)| of[1] != now[1]));
    for (object, api) in release.apis(objects).await? {
        let edited = edits::edit(&api, &object.name).await;
        edited.with_context(|| format!("{object:?} cannot be edited"))?;
    }
    eventually(LIMIT, is_as_before).await.context("edited")
}

/// Values that are refused, and what refused them. The objects stay as they are, and the former values end the failure.
async fn fails(release: &Release, values: &str, objects: &[InstalledObject]) -> Result<String> {
    let before = versions(release, objects).await?;
    let former = release.api().get(release.name).await?;
    let why = match release.change(&json(values)?).await {
        Err(error) => format!("the API server: {error:#}"),
        Ok(()) => release.failed().await?,
    };
    let after = versions(release, objects).await?;
    ensure!(before == after, "{values}: {before:?} {after:?}");
    has_what_it_says(release).await?;
    let spec = serde_json::to_value(&former.spec)?;
    let patch = json!([{ "op": "replace", "path": "/spec", "value": spec }]);
    let patch = Patch::<()>::Json(serde_json::from_value(patch)?);
    let params = PatchParams::default();
    release.api().patch(release.name, &params, &patch).await?;
    let revision = former.status.and_then(|it| it.revision);
    release.is_at(revision.unwrap_or_default()).await?;
    ensure!(versions(release, objects).await? == before);
    Ok(why.chars().take(300).collect())
}

impl Case {
    /// From the installation to the uninstallation.
    async fn live(&self) -> Result<()> {
        let begin = Instant::now();
        let files = files(self.chart)?;
        let crds = crds_of(&files);
        let next = chart(upgraded(&files, self.dropped)?)?;
        let first = chart(files)?;
        let cluster = cluster()?;
        let operator = run(&cluster, first, first, self.escalates)?;
        let release = Release::new(&cluster, "live")?;

        release.create(&json(self.values)?).await?;
        release.is_at(1).await?;
        let objects = has_what_it_says(&release).await?;
        ensure!(objects.len() >= self.objects, "{objects:?}");
        let before = contents(&release, &objects).await?;
        release.change(&json(self.change)?).await?;
        release.is_at(2).await?;
        let objects = has_what_it_says(&release).await?;
        ensure!(contents(&release, &objects).await? != before);

        let wrong = fails(&release, self.wrong, &objects).await?;
        let refused = fails(&release, self.refused, &objects).await?;
        ensure!(refused.starts_with("ObjectRefused"), "{refused}");
        drift(&release, &objects).await.context("drift")?;
        operator.stop()?;

        let operator = run(&cluster, next, first, self.escalates)?;
        release.is_at(3).await?;
        let fewer = has_what_it_says(&release).await?;
        ensure!(fewer.len() < objects.len(), "{fewer:?}");
        release.delete().await?;
        release.is_gone().await?;
        is_left_with(&release, crds).await?;
        operator.stop()?;
        println!(
            "{}: {} objects, {} after the upgrade, {crds} CRDs, {:.0?}\n  wrong: {wrong}\n  refused: {refused}",
            self.chart,
            objects.len(),
            fewer.len(),
            begin.elapsed()
        );
        Ok(())
    }

    /// The operator is killed before every so many writes of an installation, an upgrade and an uninstallation.
    async fn killed(&self, every: usize) -> Result<()> {
        let begin = Instant::now();
        let files = files(self.chart)?;
        let crds = crds_of(&files);
        let chart = chart(files)?;
        let cluster = cluster()?;
        let operator = run(&cluster, chart, chart, self.escalates)?;
        let release = Release::new(&cluster, "killed")?;
        // The identity that has exactly the permissions of the chart.
        let gate = Gate::open(operator.client()?);
        operator.stop()?;
        let mut kills = [0; 3];
        let mut n = 1;
        let mut whole = None;
        loop {
            let mut are_killed = [false; 3];
            for (step, is_killed) in are_killed.iter_mut().enumerate() {
                let context = || format!("step {step} of {}, killed before {n}", self.chart);
                let narrow = gate.narrow(n - 1);
                let killed = self.operator(&narrow, chart).await?;
                match step {
                    0 => release.create(&json(self.values)?).await?,
                    1 => release.change(&json(self.change)?).await?,
                    _ => release.delete().await?,
                }
                *is_killed = tokio::select! {
                    () = narrow.closed.cancelled() => true,
                    done = is_done(&release, step) => done.map(|()| false).with_context(context)?,
                };
                drop(killed);
                let other = self.operator(&gate, chart).await?;
                is_done(&release, step).await.with_context(context)?;
                if step == 2 {
                    is_left_with(&release, crds).await.with_context(context)?;
                } else {
                    let made = has_what_it_says(&release).await.with_context(context)?;
                    let made: Vec<_> = made.iter().map(id).collect();
                    let is_same = made == *whole.get_or_insert_with(|| made.clone());
                    ensure!(is_same, "{}: {made:?} instead of {whole:?}", context());
                }
                drop(other);
                kills[step] += usize::from(*is_killed);
            }
            let refused = gate.refused.lock().unwrap();
            ensure!(refused.is_empty(), "{refused:?}");
            if are_killed == [false; 3] {
                break;
            }
            n += every;
        }
        println!(
            "{}: killed {kills:?} times while it installed, upgraded and uninstalled, {:.0?}",
            self.chart,
            begin.elapsed()
        );
        ensure!(kills.iter().all(|kills| *kills > 0), "{kills:?}");
        Ok(())
    }

    async fn operator(&self, gate: &Gate, of: &'static Chart) -> Result<crate::gate::Killed> {
        gate.operator(&OPTIONS, move || (controllers(of, of, &[]), context(of)))
            .await
    }
}

async fn is_done(release: &Release, step: usize) -> Result<()> {
    match step {
        0 => release.is_at(1).await.map(drop),
        1 => release.is_at(2).await.map(drop),
        _ => release.is_gone().await,
    }
}

fn crds_of(files: &[File]) -> usize {
    let files = files.iter().filter(|file| file.name.starts_with("crds/"));
    let lines = |file: &File| {
        let text = file.text();
        let kinds = text
            .lines()
            .filter(|it| *it == "kind: CustomResourceDefinition");
        kinds.count()
    };
    files.map(lines).sum()
}

/// A control plane with the garbage collection.
fn cluster() -> Result<Cluster> {
    Cluster::start_with(&Options {
        controller_manager: true,
        ..Options::default()
    })
}

/// The tests of charts. Attributes are those of the life; deaths always take minutes.
macro_rules! charts {
    ($($(#[$attribute:meta])* $name:ident: $case:ident,)*) => {
        $(mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $(#[$attribute])*
            async fn lives() -> anyhow::Result<()> {
                super::$case.live().await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            #[ignore = "takes minutes: `make chart-steps` runs it"]
            async fn is_finished_after_deaths() -> anyhow::Result<()> {
                super::$case.killed(super::$case.every).await
            }
        })*
    };
}

charts! {
    memcached: MEMCACHED,
    #[ignore = "downloads a chart: `make chart-steps` runs it"]
    metrics_server: METRICS_SERVER,
    #[ignore = "downloads a chart: `make chart-steps` runs it"]
    spark: SPARK,
    #[ignore = "takes minutes: `make chart-steps` runs it"]
    kueue: KUEUE,
    #[ignore = "downloads a chart: `make chart-steps` runs it"]
    istiod: ISTIOD,
}
