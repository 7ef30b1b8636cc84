//! Rewrites objects unchanged, which stores them in the current storage version.

use futures::{StreamExt, stream};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, ListParams, ObjectMeta, Patch, PatchParams},
};
use serde_json::json;

use super::{Error, definition::Definition};
use crate::error::chain;

/// Objects per page of a list.
const PAGE: u32 = 500;

/// The number of concurrent writes, each of which the webhook converts.
const AT_ONCE: usize = 8;

/// The number of tries for an object that changes meanwhile.
const TRIES: usize = 5;

/// Lists the metadata of all objects, and then rewrites each. Reports the progress as done and total.
///
/// Objects created meanwhile are stored in the right version anyway.
pub(super) async fn all(
    client: &Client,
    definition: &Definition,
    mut progress: impl FnMut(usize, usize),
) -> Result<(), Error> {
    let (name, resource) = (definition.name(), definition.resource());
    let objects = list(client, &resource).await;
    let objects = objects.map_err(|error| Error::Call(format!("list {name}"), error))?;
    let (of, mut done, mut failures) = (objects.len(), 0, Vec::new());
    let write = |object| write(client, &resource, definition.is_namespaced(), object);
    let mut writes = stream::iter(objects).map(write).buffer_unordered(AT_ONCE);
    while let Some(written) = writes.next().await {
        match written {
            Ok(()) => done += 1,
            Err(failure) => failures.push(failure),
        }
        if (done + failures.len()).is_multiple_of(PAGE as usize) || done + failures.len() == of {
            progress(done, of);
        }
    }
    match failures.into_iter().min() {
        None => Ok(()),
        Some(first) => Err(Error::Objects {
            crd: name,
            count: of - done,
            first,
        }),
    }
}

async fn list(client: &Client, resource: &ApiResource) -> kube::Result<Vec<ObjectMeta>> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
    let mut params = ListParams::default().limit(PAGE);
    let mut objects = Vec::new();
    loop {
        let page = api.list_metadata(&params).await?;
        objects.extend(page.items.into_iter().map(|object| ObjectMeta {
            name: object.metadata.name,
            namespace: object.metadata.namespace,
            uid: object.metadata.uid,
            resource_version: object.metadata.resource_version,
            ..ObjectMeta::default()
        }));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(objects),
        }
    }
}

/// Rewrites one object. The error names it.
async fn write(
    client: &Client,
    resource: &ApiResource,
    namespaced: bool,
    mut object: ObjectMeta,
) -> Result<(), String> {
    let namespace = object.namespace.take().filter(|_| namespaced);
    let api: Api<DynamicObject> = match &namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
        None => Api::all_with(client.clone(), resource),
    };
    let name = object.name.take().unwrap_or_default();
    let show = || {
        namespace
            .iter()
            .chain([&name])
            .cloned()
            .collect::<Vec<_>>()
            .join("/")
    };
    let mut error = String::new();
    for _ in 0..TRIES {
        let only_this = json!({ "uid": object.uid, "resourceVersion": object.resource_version });
        let patch = Patch::Merge(json!({ "metadata": only_this }));
        match api
            .patch_metadata(&name, &PatchParams::default(), &patch)
            .await
        {
            Ok(_) => return Ok(()),
            Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(()),
            // Another client has written it, possibly through a server that still uses the old storage
            // version.
            Err(kube::Error::Api(status)) if status.is_conflict() => error = status.message,
            Err(error) => return Err(format!("{}: {}", show(), chain(&error))),
        }
        match api.get_metadata_opt(&name).await {
            Ok(Some(now)) => object = now.metadata,
            Ok(None) => return Ok(()),
            Err(error) => return Err(format!("{}: {}", show(), chain(&error))),
        }
    }
    Err(format!("{}: {error}", show()))
}
