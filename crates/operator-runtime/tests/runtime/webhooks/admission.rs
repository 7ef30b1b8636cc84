//! Objects through the API server: defaulting, validation, warnings.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
    core::Status,
};
use serde_json::{Value, from_value, json};

use crate::webhooks::{
    cluster,
    gadget::{object, raw},
    operator,
};

fn gadgets() -> Result<Api<DynamicObject>> {
    raw(cluster()?)
}

/// Creates a gadget, and returns its stored spec.
async fn create(name: &str, spec: Value) -> Result<Value> {
    let gadget = object(json!({"name": name}), spec)?;
    let created = gadgets()?.create(&PostParams::default(), &gadget).await?;
    Ok(created.data["spec"].clone())
}

/// The error response of the API server.
fn refused<T>(result: kube::Result<T>) -> Result<Status> {
    match result {
        Err(kube::Error::Api(status)) => Ok(*status),
        Err(error) => Err(error.into()),
        Ok(_) => anyhow::bail!("it was done"),
    }
}

#[tokio::test]
async fn an_object_gets_its_defaults_and_keeps_unknown_fields() -> Result<()> {
    let expected = json!({"size": 1, "mode": "fast", "parts": []});
    ensure!(create("empty", json!({})).await? == expected);
    let given = json!({"size": 3, "mode": "slow", "parts": [], "color": "red"});
    ensure!(create("full", given.clone()).await? == given);

    let parts =
        json!([{"name": "a", "color": "blue"}, {"name": "b", "weight": 7, "color": "green"}]);
    let metadata = json!({"name": "parts", "labels": {"sidecar": "yes"}});
    let object = object(metadata, json!({"size": 5, "parts": parts}))?;
    let created = gadgets()?.create(&PostParams::default(), &object).await?;
    let expected = json!([
        {"name": "sidecar", "weight": 5},
        {"name": "a", "weight": 5, "color": "blue"},
        {"name": "b", "weight": 7, "color": "green"},
    ]);
    let found = &created.data["spec"]["parts"];
    ensure!(*found == expected, "{found}");
    Ok(())
}

#[tokio::test]
async fn an_object_is_rejected_with_every_field() -> Result<()> {
    let parts = json!([{"name": "a"}, {"name": "a"}]);
    let spec = json!({"size": 4, "mode": "wrong", "owner": "nobody", "parts": parts});
    let object = object(json!({"name": "wrong"}), spec)?;
    let status = refused(gadgets()?.create(&PostParams::default(), &object).await)?;
    ensure!(
        (status.code, &*status.reason) == (422, "Invalid"),
        "{status:?}"
    );
    let details = status.details.context("details")?;
    ensure!(
        (&*details.name, &*details.kind) == ("wrong", "Gadget"),
        "{details:?}"
    );
    let causes = details.causes.iter();
    let causes: Vec<_> = causes
        .map(|cause| format!("{} {}: {}", cause.reason, cause.field, cause.message))
        .collect();
    let expected = [
        "FieldValueInvalid spec.size: Invalid value: 4: must be odd",
        "FieldValueNotSupported spec.mode: Unsupported value: \"wrong\": \
         supported values: \"fast\", \"slow\", \"owned\"",
        "FieldValueDuplicate spec.parts[1].name: Duplicate value: \"a\"",
        "FieldValueNotFound spec.owner: Not found: \"nobody\"",
    ];
    ensure!(causes == expected, "{causes:#?}");
    let message = "admission webhook \"validate.gadget.v1.test.example.com\" denied the request: \
                   Gadget.test.example.com \"wrong\" is invalid: [spec.size: Invalid value: 4: ";
    ensure!(status.message.starts_with(message), "{}", status.message);
    Ok(())
}

#[tokio::test]
async fn a_validation_has_exactly_the_declared_permissions() -> Result<()> {
    let owner: ConfigMap = from_value(json!({"metadata": {"name": "an-owner"}}))?;
    let api = cluster()?.api::<ConfigMap>()?;
    api.create(&PostParams::default(), &owner).await?;
    create("owned", json!({"mode": "owned", "owner": "an-owner"})).await?;
    let operator = operator()?;
    ensure!(operator.unused().is_empty(), "{:?}", operator.unused());
    ensure!(operator.refused().is_empty(), "{:?}", operator.refused());
    Ok(())
}

#[tokio::test]
async fn an_update_is_validated_against_the_old_object() -> Result<()> {
    create("updated", json!({"mode": "slow"})).await?;
    let params = PatchParams::default();
    let update = async |spec: Value| {
        let patch = Patch::Merge(json!({ "spec": spec }));
        gadgets()?
            .patch("updated", &params, &patch)
            .await
            .map_err(anyhow::Error::from)
    };
    update(json!({"size": 3})).await?;
    let error = update(json!({"mode": "fast"}))
        .await
        .unwrap_err()
        .to_string();
    ensure!(
        error.contains("spec.mode: Forbidden: may not change"),
        "{error}"
    );
    Ok(())
}

#[tokio::test]
async fn a_deletion_is_validated() -> Result<()> {
    let kept = object(
        json!({"name": "kept", "annotations": {"keep": "yes"}}),
        json!({}),
    )?;
    let api = gadgets()?;
    api.create(&PostParams::default(), &kept).await?;
    let status = refused(api.delete("kept", &DeleteParams::default()).await)?;
    ensure!(
        (status.code, &*status.reason) == (403, "Forbidden"),
        "{status:?}"
    );
    ensure!(
        status
            .message
            .ends_with("admin may not delete it, it is to be kept"),
        "{status:?}"
    );

    let patch = Patch::Merge(json!({"metadata": {"annotations": null}}));
    api.patch("kept", &PatchParams::default(), &patch).await?;
    api.delete("kept", &DeleteParams::default()).await?;
    ensure!(api.get_opt("kept").await?.is_none());
    Ok(())
}

#[tokio::test]
async fn an_object_that_does_not_decode_is_denied_with_the_reason() -> Result<()> {
    let object = object(json!({"name": "undecodable"}), json!({"size": "many"}))?;
    let status = refused(gadgets()?.create(&PostParams::default(), &object).await)?;
    ensure!(
        (status.code, &*status.reason) == (422, "Invalid"),
        "{status:?}"
    );
    let text = "spec.size: Invalid value: invalid type: string \"many\", expected i32";
    ensure!(status.message.ends_with(text), "{}", status.message);

    let status = refused(
        gadgets()?
            .delete("to-delete", &DeleteParams::default())
            .await,
    )?;
    ensure!(
        (status.code, &*status.reason) == (422, "Invalid"),
        "{status:?}"
    );
    let text = "the stored object does not decode as Gadget of this version: \
                spec.size: invalid type: string \"many\", expected i32";
    ensure!(status.message.ends_with(text), "{}", status.message);
    Ok(())
}

#[tokio::test]
async fn a_stored_object_that_does_not_decode_can_be_repaired() -> Result<()> {
    let api = gadgets()?;
    let update = async |change: Value| {
        let params = PatchParams::default();
        api.patch("to-repair", &params, &Patch::Merge(change)).await
    };
    let status = refused(update(json!({"metadata": {"labels": {"a": "b"}}})).await)?;
    ensure!(
        status.message.contains("spec.size: Invalid value"),
        "{}",
        status.message
    );
    // Nobody gets past an immutable field by means of a broken object.
    let both = update(json!({"spec": {"size": 3, "mode": "fast"}})).await;
    let status = refused(both)?;
    ensure!(
        status
            .message
            .ends_with("spec.mode: Forbidden: may not change"),
        "{}",
        status.message
    );
    let repaired = update(json!({"spec": {"size": 3}})).await?;
    ensure!(repaired.data["spec"] == json!({"size": 3, "mode": "slow", "parts": []}));
    update(json!({"metadata": {"labels": {"a": "b"}}})).await?;
    Ok(())
}

#[tokio::test]
async fn a_dry_run_stores_nothing() -> Result<()> {
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let object = object(json!({"name": "dry"}), json!({}))?;
    let shown = gadgets()?.create(&params, &object).await?;
    ensure!(
        shown.data["spec"] == json!({"size": 1, "mode": "fast", "parts": []}),
        "{shown:?}"
    );
    ensure!(gadgets()?.get_opt("dry").await?.is_none());
    Ok(())
}

#[tokio::test]
async fn a_type_of_kubernetes_is_defaulted() -> Result<()> {
    let container = json!({"name": "a", "image": "a", "ports": [{"containerPort": 80}]});
    let pod = json!({
        "metadata": {"name": "marked", "labels": {"webhook": "mark"}},
        "spec": {"containers": [container]},
    });
    let api = cluster()?.api::<Pod>()?;
    let created = api
        .create(&PostParams::default(), &from_value(pod)?)
        .await?;
    let annotations = created.metadata.annotations.unwrap_or_default();
    ensure!(annotations["made-by"] == "admin", "{annotations:?}");
    let containers = created.spec.context("a spec")?.containers;
    let names: Vec<_> = containers
        .iter()
        .map(|container| &*container.name)
        .collect();
    ensure!(names == ["first", "a"], "{names:?}");
    Ok(())
}
