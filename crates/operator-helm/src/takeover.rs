//! Releases that Helm or an operator of operator-sdk installed before.

use helm_render::manifest;
use k8s_openapi::{api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry};
use kube::{
    Api, ResourceExt as _,
    api::{ListParams, ObjectMeta},
};

use crate::{
    error::Error,
    marks,
    object::Object,
    release::Run,
    releases::ReleaseObject,
    status::InstalledObject,
    storage::{self, HelmRelease},
};

/// What a former operator installed.
#[derive(Debug, Default)]
pub(crate) struct Former {
    /// The number of its last revision.
    pub(crate) revision: i64,
    /// What is in its manifests.
    objects: Vec<Object>,
}

impl Former {
    /// What is in the newest revision that was deployed whole, and in those that failed after it.
    fn of(mut revisions: Vec<HelmRelease>) -> Option<Self> {
        revisions.sort_by_key(|it| it.version);
        let last = revisions.last()?;
        let mut former = Self {
            revision: last.version.into(),
            objects: Vec::new(),
        };
        let deployed = revisions.iter().rposition(|it| it.status == "deployed");
        for release in revisions.iter().skip(deployed.unwrap_or_default()) {
            let path = storage::secret_name(&release.name, release.version);
            for document in manifest::split(&release.manifest) {
                match Object::read(&path, document) {
                    Ok(objects) => former.objects.extend(objects),
                    // Without a name, nothing could be deleted.
                    Err(error) => tracing::warn!(%error, "not taken over"),
                }
            }
        }
        Some(former)
    }
}

impl<K: ReleaseObject> Run<'_, K> {
    /// What operator-sdk installed for the custom resource, until a revision of this operator is installed whole. Its Secrets tell, which
    /// go with the custom resource.
    ///
    /// # Errors
    /// Errors of the API server; a Secret cannot be read.
    pub(crate) async fn former(&self) -> Result<Option<Former>, Error> {
        let finalizers = self.object.meta().finalizers.iter().flatten();
        let is_former = |name: &String| marks::FORMER_FINALIZERS.contains(&name.as_str());
        if self.status.revision.is_some() || !finalizers.into_iter().any(is_former) {
            return Ok(None);
        }
        let owner = self.owner();
        let name = self.object.meta().name.as_deref().unwrap_or_default();
        let client = self.releases.cluster.client.clone();
        let secrets: Api<Secret> = Api::namespaced(client, owner.namespace());
        let params = ListParams::default().labels(&format!("owner=helm,name={name}"));
        let found = secrets.list(&params).await?.items.into_iter();
        // A release that somebody installed with Helm itself is not of this custom resource, although it has its name.
        let own = found.filter(|secret| owner.is_referred_to(&secret.metadata));
        let read = |secret: Secret| {
            let name = secret.name_any();
            let secret = serde_json::to_value(secret).map_err(kube::Error::SerdeError)?;
            storage::read(&secret).map_err(|source| Error::Former { name, source })
        };
        Ok(Former::of(own.map(read).collect::<Result<_, _>>()?))
    }

    /// Adds what the former operator installed to the inventory.
    ///
    /// # Errors
    /// Errors of the API server.
    pub(crate) async fn inherit(&mut self, former: &Former) -> Result<(), Error> {
        for object in &former.objects {
            let Some(kind) = self.releases.cluster.find_any(&object.kind).await? else {
                continue;
            };
            let namespace = self.owner().namespace_of(object, &kind);
            let inherited = object.installed(namespace.as_deref());
            let mut objects = self.status.objects.iter();
            if !objects.any(|it: &InstalledObject| it.is_same(&inherited)) {
                self.status.objects.push(inherited);
            }
        }
        Ok(())
    }
}

/// The field manager of Helm: the one that wrote the name of the release. It has the name of the program that Helm is a part of, such as
/// `helm` or `helm-operator`.
pub(crate) fn manager_of_helm(found: &ObjectMeta) -> Option<&str> {
    let wrote = |entry: &&ManagedFieldsEntry, annotation: &str| {
        let fields = entry.fields_v1.as_ref().map(|fields| &fields.0);
        let key = format!("f:{annotation}");
        fields.is_some_and(|fields| !fields["f:metadata"]["f:annotations"][&key].is_null())
    };
    let mut entries = found.managed_fields.iter().flatten();
    // This operator writes it, too, for the storage of Helm.
    let entry = entries.find(|it| wrote(it, marks::HELM_NAME) && !wrote(it, marks::UID));
    entry?.manager.as_deref()
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn what_failed_after_the_deployed_revision_is_also_there() {
        let revision = |version, status: &str, names: &[&str]| {
            HelmRelease {
            name: "web".to_owned(),
            version,
            status: status.to_owned(),
            manifest: names
                .iter()
                .map(|name| {
                    format!("---\n# Source: a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
                })
                .collect(),
            ..HelmRelease::default()
        }
        };
        let check = |revisions: &[HelmRelease], expected: Option<(i64, &[&str])>| {
            let former = Former::of(revisions.to_vec());
            let found = former.as_ref().map(|it| {
                let names = it.objects.iter().map(|object| object.name.as_str());
                (it.revision, names.collect::<Vec<_>>())
            });
            let found = found.as_ref().map(|(number, names)| (*number, &names[..]));
            assert_eq!(found, expected);
        };
        check(&[], None);
        let old = revision(1, "superseded", &["old"]);
        let deployed = revision(2, "deployed", &["a", "b"]);
        let failed = revision(3, "failed", &["c"]);
        check(&[deployed.clone(), old.clone()], Some((2, &["a", "b"])));
        check(
            &[failed.clone(), deployed, old],
            Some((3, &["a", "b", "c"])),
        );
        check(&[failed], Some((3, &["c"])));
        check(&[revision(1, "deployed", &["[", "b"])], Some((1, &["b"])));
    }

    #[test]
    fn the_manager_of_helm_is_the_one_that_named_the_release() {
        let entry = |manager: &str, annotations: &[&str]| {
            let annotations = annotations
                .iter()
                .map(|name| (format!("f:{name}"), json!({})));
            json!({
                "manager": manager, "operation": "Update",
                "fieldsV1": { "f:metadata": { "f:annotations": annotations.collect::<serde_json::Map<_, _>>() } },
            })
        };
        let check = |entries: &[serde_json::Value], expected: Option<&str>| {
            let found: ObjectMeta = from_value(json!({ "managedFields": entries })).unwrap();
            assert_eq!(manager_of_helm(&found), expected);
        };
        let own = entry(
            "operator/charts-web",
            &[marks::HELM_NAME, marks::HELM_NAMESPACE, marks::UID],
        );
        let others = entry("kubectl-edit", &["example.com/a"]);
        let helm = entry("helm-operator", &[marks::HELM_NAME]);
        check(&[], None);
        check(&[own.clone(), others.clone()], None);
        check(&[own, others, helm], Some("helm-operator"));
    }
}
