//! The CRD in the cluster.

use std::time::Duration;

use k8s_openapi::{
    ByteString,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::{
        CustomResourceDefinition, CustomResourceDefinitionSpec,
    },
};
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, Patch, PatchParams},
    core::GroupVersionKind,
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::Error;
use crate::crypto::sha256;

/// The time in which the API server must switch to a new storage version.
const EFFECTIVE: Duration = Duration::from_secs(30);

/// A CRD as it was read.
pub(super) struct Definition {
    crd: CustomResourceDefinition,
}

impl Definition {
    /// The CRD of this name, if it is installed.
    pub(super) async fn get(client: &Client, name: &str) -> Result<Option<Self>, Error> {
        let crd = Api::all(client.clone()).get_opt(name).await;
        let crd = crd.map_err(|error| Error::Call(format!("read {name}"), error))?;
        Ok(crd.map(|crd| Self { crd }))
    }

    pub(super) fn name(&self) -> String {
        self.crd.name_any()
    }

    /// The storage version.
    pub(super) fn storage(&self) -> &str {
        storage(&self.crd.spec)
    }

    /// The other versions in which objects may be stored.
    pub(super) fn others(&self) -> Vec<&str> {
        let stored = self
            .crd
            .status
            .iter()
            .flat_map(|status| status.stored_versions.iter());
        let stored = stored.flatten().map(String::as_str);
        stored
            .filter(|version| *version != self.storage())
            .collect()
    }

    pub(super) fn expect_storage_of(
        &self,
        project: &CustomResourceDefinition,
    ) -> Result<(), Error> {
        let (cluster, project) = (self.storage(), storage(&project.spec));
        match cluster == project {
            true => Ok(()),
            false => Err(Error::OtherVersion {
                crd: self.name(),
                cluster: cluster.to_owned(),
                project: project.to_owned(),
            }),
        }
    }

    /// The type in the storage version.
    pub(super) fn resource(&self) -> ApiResource {
        let CustomResourceDefinitionSpec { group, names, .. } = &self.crd.spec;
        let kind = GroupVersionKind::gvk(group, self.storage(), &names.kind);
        ApiResource::from_gvk_with_plural(&kind, &names.plural)
    }

    pub(super) fn is_namespaced(&self) -> bool {
        self.crd.spec.scope == "Namespaced"
    }

    /// Waits until the API server uses the storage version of the CRD. The hash of the storage version in
    /// discovery shows the switch.
    pub(super) async fn wait_until_effective(&self, client: &Client) -> Result<(), Error> {
        let resource = self.resource();
        let text = format!("{}/{}", resource.api_version, resource.kind);
        let hash = ByteString(sha256(text.as_bytes())[..8].to_vec());
        let (hash, begin) = (json!(hash), Instant::now());
        while begin.elapsed() < EFFECTIVE {
            let list = client.list_api_group_resources(&resource.api_version).await;
            let list = list.map_err(|error| Error::Call("ask what is stored".to_owned(), error))?;
            let found = list
                .resources
                .iter()
                .find(|found| found.name == resource.plural);
            let found = found.and_then(|found| found.storage_version_hash.as_deref());
            if found == hash.as_str() {
                return Ok(());
            }
            sleep(Duration::from_millis(200)).await;
        }
        Err(Error::NotYet {
            crd: self.name(),
            version: self.storage().to_owned(),
        })
    }

    /// Leaves only the storage version in `status.storedVersions`. Returns false if the spec has changed
    /// since it was read: objects may then have been stored in another version meanwhile.
    pub(super) async fn prune(&self, client: &Client) -> Result<bool, Error> {
        let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
        let name = self.name();
        let Some(now) = Self::get(client, &name).await? else {
            return Ok(false);
        };
        let (then, now) = (&self.crd.metadata, now.crd.metadata);
        if (&now.uid, now.generation) != (&then.uid, then.generation) {
            return Ok(false);
        }
        let patch = Patch::Merge(json!({
            "metadata": { "uid": now.uid, "resourceVersion": now.resource_version },
            "status": { "storedVersions": [self.storage()] },
        }));
        match definitions
            .patch_status(&name, &PatchParams::default(), &patch)
            .await
        {
            Err(kube::Error::Api(status)) if status.is_conflict() => Ok(false),
            result => match result {
                Ok(_) => Ok(true),
                Err(error) => Err(Error::Call(format!("write the status of {name}"), error)),
            },
        }
    }
}

fn storage(spec: &CustomResourceDefinitionSpec) -> &str {
    let stored = spec.versions.iter().find(|version| version.storage);
    stored.map_or("", |version| &version.name)
}
