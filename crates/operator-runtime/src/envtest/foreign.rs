//! Types of other projects: their CRDs, and objects of them.

use std::{
    collections::BTreeSet,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion,
};
use kube::{Api, Client, api::ObjectMeta};
use serde_json::{Value, json};

use super::CRDS;
use crate::{client::discovery, fake::schema, object::TypedObject};

/// The CRDs in the YAML files of a directory, which may be missing. A file may contain several CRDs, and
/// other objects, which are skipped.
///
/// State of the source cluster, such as the status, is removed. So is the conversion, because no webhook
/// serves it.
///
/// # Errors
/// If a file cannot be read, or contains no CRD.
pub fn crds_in(directory: impl AsRef<Path>) -> Result<Vec<CustomResourceDefinition>> {
    let mut crds = Vec::new();
    for file in files(directory.as_ref())? {
        let found = fs::read_to_string(&file)
            .map_err(Into::into)
            .and_then(|text| read(&text))
            .with_context(|| format!("cannot read the CRDs in {}", file.display()))?;
        crds.extend(found);
    }
    Ok(crds)
}

/// The YAML files of a directory, by name; none if there is no directory.
pub(super) fn files(directory: &Path) -> Result<BTreeSet<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
        entries => entries.with_context(|| format!("cannot read {}", directory.display()))?,
    };
    let is_yaml = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    let paths: std::io::Result<BTreeSet<_>> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect();
    Ok(paths?.into_iter().filter(is_yaml).collect())
}

fn read(text: &str) -> Result<Vec<CustomResourceDefinition>> {
    // No size limit: CRDs are large, and the files are the user's own.
    let options = serde_saphyr::options! { budget: None };
    let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options)?;
    let is_crd = |document: &Value| document["kind"] == "CustomResourceDefinition";
    let mut crds = Vec::new();
    for document in documents.into_iter().filter(is_crd) {
        let mut crd: CustomResourceDefinition = serde_json::from_value(document)?;
        crd.metadata = ObjectMeta {
            name: crd.metadata.name,
            labels: crd.metadata.labels,
            annotations: crd.metadata.annotations,
            ..ObjectMeta::default()
        };
        (crd.status, crd.spec.conversion) = (None, None);
        crds.push(crd);
    }
    if crds.is_empty() {
        bail!("the file contains no CRD");
    }
    Ok(crds)
}

/// A type that an operator watches or has webhooks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Needed {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: String,
}

/// Checks that the API server serves all of these types.
///
/// # Errors
/// If it does not. The error says where to put the missing CRD.
pub(super) async fn check(client: Client, needed: BTreeSet<Needed>) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definitions = definitions.list(&Default::default()).await?.items;
    let mut missing = Vec::new();
    for needed in needed {
        // A CRD that was just established is not yet in discovery.
        let defined = definitions
            .iter()
            .any(|crd| version(crd, &needed).is_some_and(|version| version.served));
        let Needed {
            group,
            version,
            plural,
        } = &needed;
        let api_version = match group.as_str() {
            "" => version.clone(),
            group => format!("{group}/{version}"),
        };
        if !defined && discovery::find(&client, &api_version, plural).await != Ok(true) {
            missing.push(format!("{plural}.{group} in version {version}"));
        }
    }
    if !missing.is_empty() {
        bail!(
            "the API server of the tests does not serve {}: put the CRD, as YAML, into {CRDS}/",
            missing.join(" and ")
        );
    }
    Ok(())
}

fn version<'a>(
    crd: &'a CustomResourceDefinition,
    needed: &Needed,
) -> Option<&'a CustomResourceDefinitionVersion> {
    let same = crd.spec.group == needed.group && crd.spec.names.plural == needed.plural;
    let mut versions = crd.spec.versions.iter().filter(|_| same);
    versions.find(|version| version.name == needed.version)
}

/// A minimal object of type `K` that the schema of its CRD allows.
pub(super) async fn minimal_object<K: TypedObject>(client: Client, name: &str) -> Result<K> {
    let needed = Needed {
        group: K::group(&()).into_owned(),
        version: K::version(&()).into_owned(),
        plural: K::plural(&()).into_owned(),
    };
    let crd = format!("{}.{}", needed.plural, needed.group);
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    let definition = definitions.get(&crd).await?;
    let schema = version(&definition, &needed)
        .and_then(|version| version.schema.as_ref()?.open_api_v3_schema.as_ref())
        .with_context(|| format!("{crd} has no schema of {}", needed.version))?;
    let mut object = schema::minimal(schema)
        .with_context(|| format!("no object is known that fits the schema of {crd}"))?;
    object["apiVersion"] = K::api_version(&()).into();
    object["kind"] = K::kind(&()).into();
    object["metadata"] = json!({ "name": name });
    let read = serde_json::from_value(object.clone());
    read.with_context(|| format!("the schema of {crd} allows more than its Rust type: {object}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.example.org
  uid: 0b5c
  resourceVersion: \"7\"
  labels: {app: gadgets}
spec:
  group: example.org
  names: {kind: Gadget, plural: gadgets}
  scope: Namespaced
  conversion: {strategy: Webhook}
  versions:
  - {name: v1, served: true, storage: true}
status: {storedVersions: [v1]}
";

    #[test]
    fn a_file_holds_crds_and_more() {
        let text = format!("---\nkind: Namespace\n---{CRD}---\n# nothing\n---{CRD}");
        let crds = read(&text).unwrap();
        assert_eq!(crds.len(), 2);
        let expected = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": { "name": "gadgets.example.org", "labels": { "app": "gadgets" } },
            "spec": {
                "group": "example.org",
                "names": { "kind": "Gadget", "plural": "gadgets" },
                "scope": "Namespaced",
                "versions": [{ "name": "v1", "served": true, "storage": true }],
            },
        });
        assert_eq!(serde_json::to_value(&crds[0]).unwrap(), expected);
        for (text, error) in [
            ("kind: Namespace", "the file contains no CRD"),
            ("", "the file contains no CRD"),
            ("kind: CustomResourceDefinition\nspec: 1", "invalid type"),
        ] {
            let found = read(text).unwrap_err().to_string();
            assert!(found.contains(error), "{found}");
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_empty() {
        assert!(crds_in("no/such/directory").unwrap().is_empty());
    }
}
