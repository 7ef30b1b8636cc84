//! Applies and deletes the objects of a release.

use std::borrow::Cow;

use helm_render::manifest::{RESOURCE_POLICY, UNINSTALL_ORDER};
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, ObjectMeta, Patch, PatchParams, Preconditions},
    core::Status,
};
use operator_runtime::{Applied, Applier, ScopedResource};
use serde_json::json;

use crate::{
    cluster::Cluster,
    error::Error,
    marks,
    object::{Object, STAYING},
    releases::ReleaseObject,
    status::InstalledObject,
    takeover,
};

/// A custom resource, as the owner of what its release installs.
pub(crate) struct Owner<'a, K> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) controller: &'static str,
    pub(crate) object: &'a K,
    /// Whether Helm is to see that the objects are of its release.
    pub(crate) helm_storage: bool,
}

/// Whom an object belongs to.
enum Ownership {
    Ours,
    /// Of a Helm release of the same name and namespace.
    Helm,
    /// Of a former custom resource of the same kind and name.
    Free,
    /// Of another custom resource, which may exist.
    Release(String),
    Others(String),
}

impl<K: ReleaseObject> Owner<'_, K> {
    pub(crate) fn uid(&self) -> &str {
        self.object.meta().uid.as_deref().unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.object.meta().name.as_deref().unwrap_or_default()
    }

    /// The namespace of the release: that of the custom resource.
    pub(crate) fn namespace(&self) -> &str {
        let namespace = self.object.meta().namespace.as_deref();
        namespace.unwrap_or("default")
    }

    /// The annotation of the custom resource.
    pub(crate) fn annotation(&self, name: &str) -> Option<&str> {
        let annotations = self.object.meta().annotations.as_ref();
        annotations.and_then(|it| it.get(name)).map(String::as_str)
    }

    /// The type of an object.
    ///
    /// # Errors
    /// The API server does not serve it, or fails.
    pub(crate) async fn kind(&self, object: &Object) -> Result<ScopedResource, Error> {
        let kind = self.cluster.find(&object.kind).await?;
        kind.ok_or_else(|| Error::NotServed {
            path: object.path.clone(),
            kind: object.kind.kind.clone(),
            api_version: object.kind.api_version(),
        })
    }

    /// The namespace of an object; none for a cluster-scoped one.
    pub(crate) fn namespace_of(&self, object: &Object, kind: &ScopedResource) -> Option<String> {
        let own = object.namespace.as_deref();
        let namespace = kind
            .is_namespaced()
            .then(|| own.unwrap_or(self.namespace()));
        namespace.map(str::to_owned)
    }

    /// Applies an object, with the marks of the release. `is_known` says that a watch shows it as one of the release.
    ///
    /// # Errors
    /// It belongs to others, or the API server refuses it.
    pub(crate) async fn apply(
        &self,
        applier: &Applier,
        object: &Object,
        run: Option<&str>,
        is_known: bool,
    ) -> Result<Applied, Error> {
        let kind = self.kind(object).await?;
        let namespace = self.namespace_of(object, &kind);
        let mut applier = Cow::Borrowed(applier);
        if !is_known && let Some(former) = self.claim(object, &kind, namespace.as_deref()).await? {
            // What Helm wrote and the chart no longer has, goes.
            applier = Cow::Owned(applier.taking_over(&former));
        }
        let marked = self.marked(object, &kind, namespace, run)?;
        let applied = applier.apply(&kind.object(marked.clone())).await;
        let status = match applied {
            Err(kube::Error::Api(status)) => status,
            result => return Ok(result?),
        };
        if status.is_not_found() {
            self.cluster.forget(&object.kind);
        }
        if self.may_replace(object, &status) {
            self.delete(&object.installed(marked.metadata.namespace.as_deref()))
                .await?;
            return Ok(applier.apply(&kind.object(marked)).await?);
        }
        Err(refused(object, status))
    }

    /// Whether the API server would take an object, without changing anything. What it depends on may not be there yet.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn try_out(&self, applier: &Applier, object: &Object) -> Result<(), Error> {
        let Some(kind) = self.cluster.find(&object.kind).await? else {
            return Ok(());
        };
        let namespace = self.namespace_of(object, &kind);
        let former = self.claim(object, &kind, namespace.as_deref()).await?;
        let marked = self.marked(object, &kind, namespace, None)?;
        let status = match applier.dry_run().apply(&kind.object(marked)).await {
            Err(kube::Error::Api(status)) => status,
            result => return Ok(result.map(drop)?),
        };
        // Beside what Helm wrote, it may be invalid, and a dry run does not take that over.
        let is_open = status.is_not_found() || (former.is_some() && status.is_invalid());
        if is_open || self.may_replace(object, &status) {
            tracing::debug!(status.message, "not tried out");
            return Ok(());
        }
        Err(refused(object, status))
    }

    /// Whether an object is to be replaced, because immutable fields change.
    fn may_replace(&self, object: &Object, refused: &Status) -> bool {
        let is_forced = self.annotation(marks::UPGRADE_FORCE) == Some("true");
        let stays = object.is_kept || STAYING.contains(&object.kind.kind.as_str());
        // `FieldImmutableErrorMsg` of apimachinery, and the messages of a StatefulSet and of a RoleBinding.
        let words = [
            "immutable",
            "updates to statefulset spec",
            "cannot change roleRef",
        ];
        let is_immutable = words.iter().any(|it| refused.message.contains(it));
        is_forced && !stays && refused.is_invalid() && is_immutable
    }

    /// Creates an object of `crds/`. Applies one that exists only `with_upgrade`: Helm neither upgrades nor deletes it.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(crate) async fn create_crd(
        &self,
        applier: &Applier,
        crd: &Object,
        with_upgrade: bool,
    ) -> Result<(), Error> {
        let kind = self.kind(crd).await?;
        let api: Api<DynamicObject> = kind.api(self.cluster.client.clone(), None);
        if !with_upgrade && api.get_metadata_opt(&crd.name).await?.is_some() {
            return Ok(());
        }
        let value = serde_json::Value::Object(crd.value.clone());
        let object = serde_json::from_value(value).map_err(kube::Error::SerdeError)?;
        match applier.apply(&kind.object(object)).await {
            Err(kube::Error::Api(status)) => Err(refused(crd, status)),
            result => Ok(result.map(drop)?),
        }
    }

    /// The object with its labels, annotations and, where the API server allows it, an owner reference.
    fn marked(
        &self,
        object: &Object,
        kind: &ScopedResource,
        namespace: Option<String>,
        run: Option<&str>,
    ) -> Result<DynamicObject, Error> {
        let value = serde_json::Value::Object(object.value.clone());
        let mut marked: DynamicObject =
            serde_json::from_value(value).map_err(|error| Error::NoObject {
                path: object.path.clone(),
                what: format!("{object}, which is no object: {error}"),
            })?;
        let meta = &mut marked.metadata;
        let labels = meta.labels.get_or_insert_default();
        labels.insert(marks::CONTROLLER.to_owned(), self.controller.to_owned());
        let annotations = meta.annotations.get_or_insert_default();
        annotations.insert(marks::RELEASE.to_owned(), self.release());
        annotations.insert(marks::UID.to_owned(), self.uid().to_owned());
        if self.helm_storage {
            let name = (marks::HELM_NAME.to_owned(), self.name().to_owned());
            let namespace = (
                marks::HELM_NAMESPACE.to_owned(),
                self.namespace().to_owned(),
            );
            annotations.extend([name, namespace]);
        }
        if let Some(run) = run {
            annotations.insert(marks::RUN.to_owned(), run.to_owned());
        }
        // Owners are in the namespace of what they own, or cluster-scoped. What is kept has none, because garbage collection would
        // delete it.
        let own = self.object.meta().namespace.as_deref();
        let may_own = own.is_none() || (kind.is_namespaced() && own == namespace.as_deref());
        // Garbage collection would also delete the hooks of an owner that waits for what it owns.
        let is_deleted = self.object.meta().deletion_timestamp.is_some();
        if may_own && !object.is_kept && !is_deleted {
            let reference = self.object.controller_owner_ref(&());
            meta.owner_references
                .get_or_insert_default()
                .extend(reference);
        }
        meta.namespace = namespace;
        Ok(marked)
    }

    /// Whether the release may have an object. Returns the field manager that Helm had there.
    ///
    /// # Errors
    /// It belongs to others.
    async fn claim(
        &self,
        object: &Object,
        kind: &ScopedResource,
        namespace: Option<&str>,
    ) -> Result<Option<String>, Error> {
        let api: Api<DynamicObject> = kind.api(self.cluster.client.clone(), namespace);
        let Some(found) = api.get_metadata_opt(&object.name).await? else {
            return Ok(None);
        };
        let may_adopt = self.annotation(marks::ADOPT) == Some("true");
        let former = takeover::manager_of_helm(&found.metadata).map(str::to_owned);
        let (owner, advice) = match self.ownership(&found.metadata) {
            Ownership::Ours | Ownership::Helm | Ownership::Free => return Ok(former),
            Ownership::Release(release) => (
                format!("the release {release}"),
                "if that is gone, remove the annotation `operator-helm/uid` of the object",
            ),
            Ownership::Others(_) if may_adopt => return Ok(former),
            Ownership::Others(owner) => (
                owner,
                "the annotation `operator-helm/adopt: \"true\"` of the custom resource takes it over",
            ),
        };
        Err(Error::Foreign {
            object: object.to_string(),
            owner,
            advice,
        })
    }

    fn ownership(&self, found: &ObjectMeta) -> Ownership {
        let annotation = |name: &str| annotation_of(found, name);
        let release = annotation(marks::RELEASE).unwrap_or_default();
        match annotation(marks::UID) {
            Some(uid) if uid == self.uid() => return Ownership::Ours,
            // A former custom resource of this kind and name is gone.
            Some(_) if release == self.release() => return Ownership::Free,
            Some(_) => return Ownership::Release(release.to_owned()),
            None if self.is_referred_to(found) => return Ownership::Ours,
            None => {}
        }
        let helm = (
            annotation(marks::HELM_NAME),
            annotation(marks::HELM_NAMESPACE),
        );
        match helm {
            (Some(name), Some(namespace))
                if (name, namespace) == (self.name(), self.namespace()) =>
            {
                Ownership::Helm
            }
            (Some(name), _) => Ownership::Others(format!("the Helm release {name}")),
            _ => Ownership::Others("nobody that it names".to_owned()),
        }
    }

    /// Whether an object is of this release, or of the one of Helm that it took over.
    pub(crate) fn owns(&self, found: &ObjectMeta) -> bool {
        matches!(self.ownership(found), Ownership::Ours | Ownership::Helm)
    }

    /// Whether an object has an owner reference to the custom resource.
    pub(crate) fn is_referred_to(&self, found: &ObjectMeta) -> bool {
        let mut owners = found.owner_references.iter().flatten();
        owners.any(|owner| owner.uid == self.uid())
    }

    /// Whether a hook may take the place of an object: one of this release, or a hook that Helm made.
    pub(crate) fn may_replace_hook(&self, found: &ObjectMeta) -> bool {
        match self.ownership(found) {
            Ownership::Ours | Ownership::Helm | Ownership::Free => true,
            Ownership::Release(_) => false,
            Ownership::Others(_) => annotation_of(found, "helm.sh/hook").is_some(),
        }
    }

    /// `PLURAL.GROUP/NAMESPACE/NAME` of the custom resource, or `PLURAL.GROUP/NAME`.
    fn release(&self) -> String {
        let of = format!("{}.{}", K::plural(&()), K::group(&()));
        match self.object.meta().namespace.as_deref() {
            Some(namespace) => format!("{of}/{namespace}/{}", self.name()),
            None => format!("{of}/{}", self.name()),
        }
    }

    /// Deletes an object of the release, and returns whether it is gone. One that is no longer of the release stays, and counts as
    /// gone; so does one that somebody has annotated with `helm.sh/resource-policy: keep`.
    ///
    /// # Errors
    /// Errors of the API server.
    pub(crate) async fn delete(&self, object: &InstalledObject) -> Result<bool, Error> {
        let Some((api, found)) = self.find(object).await? else {
            return Ok(true);
        };
        if !self.owns(&found) {
            tracing::info!(
                kind = object.kind,
                name = object.name,
                "left alone: it is of others"
            );
            return Ok(true);
        }
        let policy = annotation_of(&found, RESOURCE_POLICY);
        if policy.is_some_and(|it| it.trim().eq_ignore_ascii_case("keep")) {
            self.disown(&api, &found).await?;
            return Ok(true);
        }
        self.delete_found(&api, object, &found).await
    }

    /// Lets an object go that is to be kept, so that garbage collection does not delete it.
    ///
    /// # Errors
    /// Errors of the API server.
    pub(crate) async fn release_kept(&self, object: &InstalledObject) -> Result<(), Error> {
        match self.find(object).await? {
            Some((api, found)) if self.owns(&found) => self.disown(&api, &found).await,
            _ => Ok(()),
        }
    }

    /// An object of the inventory, if it exists and its kind is served.
    async fn find(
        &self,
        object: &InstalledObject,
    ) -> Result<Option<(Api<DynamicObject>, ObjectMeta)>, Error> {
        let Some(kind) = self.cluster.find_any(&object.gvk()).await? else {
            return Ok(None);
        };
        let client = self.cluster.client.clone();
        let api: Api<DynamicObject> = kind.api(client, object.namespace.as_deref());
        match api.get_metadata_opt(&object.name).await {
            Ok(found) => Ok(found.map(|found| (api, found.metadata))),
            Err(kube::Error::Api(status)) if status.code == 404 => {
                self.cluster.forget(&object.gvk());
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the owner reference of an object that stays, because garbage collection would delete it.
    async fn disown(&self, api: &Api<DynamicObject>, found: &ObjectMeta) -> Result<(), Error> {
        let references = found.owner_references.clone().unwrap_or_default();
        let mut others = references.clone();
        others.retain(|owner| owner.uid != self.uid());
        if others.len() < references.len() {
            let patch = json!({ "metadata": {
                "uid": found.uid,
                "resourceVersion": found.resource_version,
                "ownerReferences": others,
            }});
            let name = found.name.as_deref().unwrap_or_default();
            let params = PatchParams::default();
            api.patch_metadata(name, &params, &Patch::Merge(patch))
                .await?;
        }
        Ok(())
    }

    /// Deletes what was found, and returns whether it is gone.
    ///
    /// # Errors
    /// Errors of the API server.
    pub(crate) async fn delete_found(
        &self,
        api: &Api<DynamicObject>,
        object: &InstalledObject,
        found: &ObjectMeta,
    ) -> Result<bool, Error> {
        if found.deletion_timestamp.is_some() {
            return Ok(false);
        }
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                uid: found.uid.clone(),
                resource_version: None,
            }),
            ..DeleteParams::background()
        };
        match api.delete(&object.name, &params).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => {}
            Err(error) => return Err(error.into()),
        }
        tracing::info!(kind = object.kind, name = object.name, "deleted");
        Ok(api.get_metadata_opt(&object.name).await?.is_none())
    }
}

/// The error for an object that the API server does not take.
fn refused(object: &Object, status: Box<Status>) -> Error {
    Error::Refused {
        object: object.to_string(),
        path: object.path.clone(),
        source: kube::Error::Api(status),
    }
}

/// The annotation of an object.
fn annotation_of<'a>(meta: &'a ObjectMeta, name: &str) -> Option<&'a str> {
    let annotations = meta.annotations.as_ref();
    annotations.and_then(|it| it.get(name)).map(String::as_str)
}

/// Whether an object is a custom resource, or of another kind that Helm's order lacks.
pub(crate) fn is_custom(object: &InstalledObject) -> bool {
    !UNINSTALL_ORDER.contains(&object.kind.as_str())
}

/// Sorts objects as Helm deletes them, but with custom resources first: an operator that the chart installs has to see their deletion.
pub(crate) fn in_order_of_deletion(objects: &mut [InstalledObject]) {
    let rank = |kind: &str| UNINSTALL_ORDER.iter().position(|it| *it == kind);
    objects.sort_by_key(|object| (rank(&object.kind), object.clone()));
}
