//! The samples of a project.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, anyhow};
use kube::Resource;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::foreign::files;

/// The object of a kind in a directory with samples, such as `config/samples`: the first one, by the names of the files. A relative path
/// starts at the directory of the package, where `cargo test` runs tests.
///
/// # Errors
/// If a file cannot be read, there is no such object, or its type refuses it.
pub fn sample<K>(directory: impl AsRef<Path>) -> Result<K>
where
    K: Resource<DynamicType = ()> + DeserializeOwned,
{
    let directory = directory.as_ref();
    let (version, kind) = (K::api_version(&()), K::kind(&()));
    for file in files(directory)? {
        let found = fs::read_to_string(&file)
            .map_err(Into::into)
            .and_then(|text| find(&text, &version, &kind))
            .with_context(|| format!("cannot read {}", file.display()))?;
        if let Some(object) = found {
            let of = || format!("{} has no valid {kind}", file.display());
            return serde_json::from_value(object).with_context(of);
        }
    }
    let directory = directory.display();
    Err(anyhow!("no file in {directory} has a {kind} of {version}"))
}

/// The first object of a kind in the documents of a text.
fn find(text: &str, version: &str, kind: &str) -> Result<Option<Value>> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text)?;
    let is_of_kind = |it: &Value| it["apiVersion"] == version && it["kind"] == kind;
    Ok(documents.into_iter().find(is_of_kind))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use kube::ResourceExt as _;

    use super::*;

    #[test]
    fn the_first_of_the_kind_is_found() -> Result<()> {
        let directory = tempfile::tempdir()?;
        let map =
            |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n");
        let files = [
            ("kustomization.yaml", "resources: [b.yaml]\n".to_owned()),
            ("c.yaml", map("second")),
            ("b.yaml", format!("kind: Other\n---\n{}", map("first"))),
        ];
        for (name, text) in files {
            fs::write(directory.path().join(name), text)?;
        }
        let found: ConfigMap = sample(directory.path())?;
        assert_eq!(found.name_any(), "first");
        let missing = sample::<Secret>(directory.path()).map(drop);
        let error = missing.expect_err("there is no Secret").to_string();
        assert!(error.ends_with("has a Secret of v1"), "{error}");
        fs::write(directory.path().join("a.yaml"), "a: [")?;
        let broken = sample::<ConfigMap>(directory.path()).map(drop);
        let error = broken.expect_err("the file is no YAML").to_string();
        assert!(error.ends_with("a.yaml"), "{error}");
        Ok(())
    }
}
