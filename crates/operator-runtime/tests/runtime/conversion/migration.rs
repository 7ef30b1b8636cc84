//! Stored objects are rewritten in the current storage version.

use std::{
    collections::BTreeMap,
    io::{BufRead, Read},
};

use anyhow::{Context, Result, bail, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use operator_runtime::{
    Controllers, Crds,
    envtest::{Cluster, NAMESPACE},
    migrate::migrate,
};
use serde_json::json;

use crate::conversion::{
    etcd::stored,
    migrator::{migrator, start},
    setup::*,
    types::*,
};

const NAME: &str = "widgets.test.example.com";

/// More than two pages of a list.
const OBJECTS: usize = 1200;

async fn stored_versions(cluster: &Cluster) -> Result<Vec<String>> {
    let api: Api<CustomResourceDefinition> = Api::all(cluster.client()?);
    let status = api.get(NAME).await?.status.context("no status")?;
    Ok(status.stored_versions.unwrap_or_default())
}

fn count(versions: &[(&str, usize)]) -> BTreeMap<String, usize> {
    let count = |(version, count): &(&str, usize)| (format!("test.example.com/{version}"), *count);
    versions.iter().map(count).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_may_be_interrupted_and_repeated() -> Result<()> {
    let cluster = Cluster::start()?;
    let run = |crds| {
        let webhooks = webhooks(conversion());
        cluster.run(
            &OPTIONS,
            crds,
            Controllers::<()>::default(),
            webhooks,
            |_| (),
        )
    };
    let operator = run(crds("v1alpha1"))?;
    let v1 = widgets(&cluster, "v1", NAMESPACE)?;
    let make = |index| {
        let v1 = v1.clone();
        async move {
            let spec = json!({ "displayName": "x", "options": { "a": "b" } });
            let object = widget("v1", &format!("w-{index:04}"), &spec)?;
            v1.create(&PostParams::default(), &object).await?;
            anyhow::Ok(())
        }
    };
    stream::iter((0..OBJECTS).map(make))
        .buffer_unordered(16)
        .try_collect::<Vec<_>>()
        .await?;
    ensure!(stored(&cluster)? == count(&[("v1alpha1", OBJECTS)]));

    // The project has another storage version, and the cluster does not yet.
    let client = cluster.client()?;
    let crd = crds("v1")?.remove(0);
    let error = migrate(&client, &crd, |_| {})
        .await
        .err()
        .context("it is not installed")?;
    ensure!(
        error.to_string().starts_with(
            "the cluster stores widgets.test.example.com in v1alpha1, this project in v1\n"
        ),
        "{error}"
    );

    operator.stop()?;
    let operator = run(crds("v1"))?;
    ensure!(stored_versions(&cluster).await? == ["v1alpha1", "v1"]);

    // Killed when a part is done.
    let migrator = migrator(cluster.control_plane())?;
    let (mut child, mut lines) = start(&migrator)?;
    let mut line = String::new();
    while !line.starts_with("wrote 500 of 1200") {
        line.clear();
        ensure!(lines.read_line(&mut line)? > 0, "it ended");
    }
    child.kill()?;
    child.wait()?;
    let half = stored(&cluster)?;
    let left = half
        .get("test.example.com/v1alpha1")
        .copied()
        .unwrap_or_default();
    ensure!((1..=OBJECTS - 500).contains(&left), "{half:?}");
    ensure!(stored_versions(&cluster).await? == ["v1alpha1", "v1"]);

    // Objects are created, deleted and changed meanwhile.
    let (mut child, mut lines) = start(&migrator)?;
    v1.delete("w-1199", &DeleteParams::default()).await?;
    let change = Patch::Merge(json!({ "spec": { "displayName": "changed" } }));
    v1.patch("w-1198", &PatchParams::default(), &change).await?;
    create(&cluster, "v1alpha1", "new", json!({ "title": "new" })).await?;
    let mut text = String::new();
    lines.read_to_string(&mut text)?;
    ensure!(child.wait()?.success(), "{text}");
    let lines: Vec<_> = text.lines().filter(|line| line.contains(NAME)).collect();
    ensure!(
        lines.first() == Some(&"migrating widgets.test.example.com: from v1alpha1 to v1"),
        "{text}"
    );
    ensure!(
        lines.last() == Some(&"migrated widgets.test.example.com: stored in v1 only"),
        "{text}"
    );
    ensure!(stored(&cluster)? == count(&[("v1", OBJECTS)]));
    ensure!(stored_versions(&cluster).await? == ["v1"]);
    ensure!(
        spec(&cluster, "v1", "w-1198").await?
            == json!({ "displayName": "changed", "options": { "a": "b" } })
    );
    ensure!(v1.get("w-0000").await?.metadata.annotations.is_none());

    // Nothing is left to migrate.
    let mut lines = Vec::new();
    migrate(&client, &crd, |line| lines.push(line.to_owned())).await?;
    ensure!(
        lines == ["unchanged widgets.test.example.com: stored in v1 only"],
        "{lines:?}"
    );
    operator.stop()?;

    // The older version can be dropped now.
    let mut only = Crds::default();
    only.add_storage::<v1::Widget>();
    cluster.install(only.merge()).await?;
    Ok(())
}

/// Changes the storage version, possibly back and forth.
async fn store(cluster: &Cluster, version: &str) -> Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(cluster.client()?);
    let mut crd = api.get(NAME).await?;
    for known in &mut crd.spec.versions {
        known.storage = known.name == version;
    }
    api.replace(NAME, &PostParams::default(), &crd).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_may_still_be_stored_stays() -> Result<()> {
    let cluster = Cluster::start()?;
    let webhooks = webhooks(conversion());
    let _operator = cluster.run(
        &OPTIONS,
        crds("v1"),
        Controllers::<()>::default(),
        webhooks,
        |_| (),
    )?;
    create(&cluster, "v1", "a", json!({ "displayName": "a" })).await?;
    store(&cluster, "v1alpha1").await?;
    store(&cluster, "v1").await?;
    ensure!(stored_versions(&cluster).await? == ["v1", "v1alpha1"]);

    // The CRD changes once while objects are rewritten: all are rewritten again.
    let client = cluster.client()?;
    let crd = crds("v1")?.remove(0);
    let (sender, changes) = std::sync::mpsc::channel();
    let handle = tokio::runtime::Handle::current();
    let mut lines = Vec::new();
    let report = |line: &str| {
        if line.starts_with("wrote") && !lines.iter().any(|line: &String| line.starts_with("wrote"))
        {
            let change = async {
                store(&cluster, "v1alpha1").await?;
                store(&cluster, "v1").await
            };
            let change = tokio::task::block_in_place(|| handle.block_on(change));
            _ = sender.send(change);
        }
        lines.push(line.to_owned());
    };
    migrate(&client, &crd, report).await?;
    changes.recv()??;
    let begun = lines
        .iter()
        .filter(|line| line.starts_with("migrating"))
        .count();
    ensure!(begun == 2, "{lines:?}");
    ensure!(stored_versions(&cluster).await? == ["v1"]);

    // An object that cannot be written is named, and the version stays.
    store(&cluster, "v1alpha1").await?;
    create(&cluster, "v1alpha1", "b", json!({ "title": "b" })).await?;
    store(&cluster, "v1").await?;
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": { "name": "no-b" },
        "spec": {
            "matchConstraints": { "resourceRules": [{
                "apiGroups": ["test.example.com"], "apiVersions": ["*"],
                "resources": ["widgets"], "operations": ["UPDATE"],
            }] },
            "validations": [{ "expression": "object.metadata.name != 'b'", "message": "not b" }],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": { "name": "no-b" },
        "spec": { "policyName": "no-b", "validationActions": ["Deny"] },
    });
    for object in [policy, binding] {
        apply(cluster.control_plane(), &object)?;
    }
    let label = Patch::Merge(json!({ "metadata": { "labels": { "a": "b" } } }));
    let v1 = widgets(&cluster, "v1", NAMESPACE)?;
    until(|| async {
        match v1
            .patch("b", &PatchParams::default().dry_run(), &label)
            .await
        {
            Ok(_) => Ok(false),
            Err(kube::Error::Api(status)) if status.message.contains("not b") => Ok(true),
            Err(error) => bail!(error),
        }
    })
    .await?;
    let error = migrate(&client, &crd, |_| {})
        .await
        .err()
        .context("b is refused")?
        .to_string();
    ensure!(
        error.starts_with("1 of widgets.test.example.com cannot be written: default/b: "),
        "{error}"
    );
    ensure!(error.contains("not b"), "{error}");
    ensure!(stored_versions(&cluster).await?.len() == 2);
    Ok(())
}
