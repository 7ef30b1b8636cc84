//! The webhooks under test.

use k8s_openapi::{
    api::core::v1::{ConfigMap, Pod},
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use kube::{Api, Client, ResourceExt};
use operator_runtime::{
    Verb,
    webhook::{Change, Denied, FieldErrors, Operation, Request, Webhook, Webhooks},
};

use crate::webhooks::{
    gadget::{Gadget, GadgetSpec, Part},
    parts, schema,
};

pub fn webhooks() -> Webhooks<Client> {
    let mut all = Webhooks::default();
    all.add(defaulting());
    all.add(validating());
    all.add(schema::defaulting());
    all.add(Webhook::defaulting(mark).object_selector(label("webhook", "mark")));
    parts::add(&mut all);
    all
}

pub fn defaulting() -> Webhook<Gadget, Client> {
    Webhook::defaulting(default)
}

pub fn validating() -> Webhook<Gadget, Client> {
    Webhook::validating(validate)
        .operations(&[Operation::Create, Operation::Update, Operation::Delete])
        .needs::<ConfigMap>(&[Verb::Get])
}

/// Selects objects with one label.
pub fn label(key: &str, value: &str) -> LabelSelector {
    LabelSelector {
        match_labels: Some([(key.to_owned(), value.to_owned())].into()),
        ..LabelSelector::default()
    }
}

async fn default(gadget: &mut Gadget, request: &Request, _: &Client) -> Result<(), Denied> {
    if request.dry_run {
        request.warn("nothing will be stored");
    }
    let sidecar = gadget.labels().contains_key("sidecar");
    let spec = &mut gadget.spec;
    let size = *spec.size.get_or_insert(1);
    spec.mode.get_or_insert_with(|| "fast".to_owned());
    if sidecar && !spec.parts.iter().any(|part| part.name == "sidecar") {
        let name = "sidecar".to_owned();
        spec.parts.insert(0, Part { name, weight: None });
    }
    for part in &mut spec.parts {
        part.weight.get_or_insert(size);
    }
    Ok(())
}

async fn validate(
    change: &Change<Gadget>,
    request: &Request,
    client: &Client,
) -> Result<(), Denied> {
    let mut errors = FieldErrors::default();
    match change {
        Change::Create(new) => check(&new.spec, request, &mut errors),
        Change::Update { old, new } => {
            check(&new.spec, request, &mut errors);
            if old.spec.mode != new.spec.mode {
                errors.forbidden("spec.mode", "may not change");
            }
        }
        Change::Delete(old) if old.annotations().contains_key("keep") => {
            let user = request.user.username.as_deref().unwrap_or_default();
            return Err(Denied::forbidden(format!(
                "{user} may not delete it, it is to be kept"
            )));
        }
        Change::Delete(_) => return Ok(()),
    }
    let (Change::Create(new) | Change::Update { new, .. } | Change::Delete(new)) = change;
    if let Some(owner) = &new.spec.owner {
        let namespace = request.namespace.as_deref().unwrap_or_default();
        let owners: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
        if owners.get_opt(owner).await?.is_none() {
            errors.not_found("spec.owner", owner);
        }
    }
    errors.into_result()
}

fn check(spec: &GadgetSpec, request: &Request, errors: &mut FieldErrors) {
    let size = spec.size.unwrap_or_default();
    if size % 2 == 0 {
        errors.invalid("spec.size", size, "must be odd");
    }
    if size > 100 {
        request.warn("spec.size: more than 100 is slow");
    }
    match spec.mode.as_deref() {
        Some("owned") if spec.owner.is_none() => errors.required("spec.owner", ""),
        Some("fast" | "slow" | "owned") | None => {}
        Some(mode) => errors.not_supported("spec.mode", mode, &["fast", "slow", "owned"]),
    }
    for (index, part) in spec.parts.iter().enumerate() {
        if spec.parts[..index]
            .iter()
            .any(|other| other.name == part.name)
        {
            errors.duplicate(format!("spec.parts[{index}].name"), &part.name);
        }
    }
}

/// Marks a Pod, and adds a container before its others.
async fn mark(pod: &mut Pod, request: &Request, _: &Client) -> Result<(), Denied> {
    let by = request.user.username.clone().unwrap_or_default();
    pod.annotations_mut().insert("made-by".to_owned(), by);
    let containers = &mut pod.spec.get_or_insert_default().containers;
    if containers[0].name != "first" {
        let mut first = containers[0].clone();
        "first".clone_into(&mut first.name);
        containers.insert(0, first);
    }
    Ok(())
}
