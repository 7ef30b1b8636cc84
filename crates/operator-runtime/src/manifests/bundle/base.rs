//! The base of the ClusterServiceVersion: the parts that people write.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{documents, text, version::Version};

const SUFFIX: &str = "clusterserviceversion.yaml";

/// The directory of the base, below `config/`.
const BASES: &str = "manifests/bases";

/// The media types of icons that catalogs show.
const ICONS: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/svg+xml"];

const CAPABILITIES: [&str; 5] = [
    "Basic Install",
    "Seamless Upgrades",
    "Full Lifecycle",
    "Deep Insights",
    "Auto Pilot",
];

/// The base, and what its file says about the bundle.
pub(super) struct Base {
    pub(super) path: PathBuf,
    pub(super) package: String,
    pub(super) csv: Value,
}

impl Base {
    /// Reads the only base below `config`.
    ///
    /// # Errors
    /// If there is no base or more than one, or if OLM or a catalog would refuse it.
    pub(super) fn read(config: &Path) -> Result<Self, String> {
        let directory = config.join(BASES);
        let show = directory.display();
        let found = documents::in_directory(&directory, |name| name.ends_with(SUFFIX))?;
        let [(path, csv)] = <[_; 1]>::try_from(found).map_err(|found| match found.len() {
            0 => format!(
                "`{show}` has no `{SUFFIX}`\n\
                 help: `operator-forge restore` brings the generated one back"
            ),
            count => format!("`{show}` has {count} ClusterServiceVersions, and a bundle has one"),
        })?;
        let mut base = Self {
            package: String::new(),
            path,
            csv,
        };
        match base.checked() {
            Ok(package) => base.package = package,
            Err(error) => return Err(format!("`{}` is invalid: {error}", base.path.display())),
        }
        Ok(base)
    }

    /// The entries of a list in the spec.
    pub(super) fn list(&self, field: &str) -> &[Value] {
        entries(&self.csv["spec"][field])
    }

    /// Checks the fields that catalogs show, and returns the name of the package.
    fn checked(&mut self) -> Result<String, String> {
        let csv = &mut self.csv;
        if csv["kind"] != "ClusterServiceVersion"
            || csv["apiVersion"] != "operators.coreos.com/v1alpha1"
        {
            return Err(
                "it is no ClusterServiceVersion of `operators.coreos.com/v1alpha1`".to_owned(),
            );
        }
        let Some((package, _)) = text(&csv["metadata"]["name"]).split_once(".v") else {
            return Err(
                "`metadata.name` is not `PACKAGE.vVERSION`; the version may be any, such as `v0.0.0`".to_owned(),
            );
        };
        let package = package.to_owned();
        if !csv["spec"].is_object() {
            return Err("it has no `spec`".to_owned());
        }
        for field in ["install", "version"] {
            if !csv["spec"][field].is_null() {
                return Err(format!("`spec.{field}` is generated; remove it"));
            }
        }
        for field in ["annotations", "labels"] {
            if !matches!(csv["metadata"][field], Value::Null | Value::Object(_)) {
                return Err(format!("`metadata.{field}` is not a map"));
            }
        }
        if csv["metadata"]["annotations"].is_null() {
            csv["metadata"]["annotations"] = json!({});
        }
        check(csv)?;
        Ok(package)
    }
}

/// The entries of a list, or nothing.
pub(super) fn entries(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Sets the fields of `wanted` in the entries of `own` that have the same keys, descriptors by their paths. Returns the
/// entries of `wanted` that are not in `own`.
pub(super) fn overlay(own: &mut [Value], wanted: &[Value], keys: &[&str]) -> Vec<Value> {
    let mut others = Vec::new();
    for entry in wanted {
        let is_it = |one: &&mut Value| keys.iter().all(|key| one[*key] == entry[*key]);
        let Some(one) = own.iter_mut().find(is_it) else {
            others.push(entry.clone());
            continue;
        };
        for (field, value) in entry.as_object().into_iter().flatten() {
            one[field] = if field.ends_with("Descriptors") {
                let mut all = entries(&one[field]).to_vec();
                let new = overlay(&mut all, entries(value), &["path"]);
                Value::Array([all, new].concat())
            } else {
                value.clone()
            };
        }
    }
    others
}

/// Checks what the validators of operator-framework require of people's parts.
fn check(csv: &Value) -> Result<(), String> {
    let spec = &csv["spec"];
    let filled = |value: &Value| !text(value).trim().is_empty();
    let require = |value: &Value, path: &str| match filled(value) {
        true => Ok(()),
        false => Err(format!("`{path}` is missing or empty")),
    };
    require(&spec["displayName"], "spec.displayName")?;
    require(&spec["description"], "spec.description")?;
    require(&spec["provider"]["name"], "spec.provider.name")?;
    for (list, fields) in [
        ("maintainers", ["name", "email"]),
        ("links", ["name", "url"]),
    ] {
        if entries(&spec[list]).is_empty() {
            return Err(format!("`spec.{list}` is missing or empty"));
        }
        for (index, entry) in entries(&spec[list]).iter().enumerate() {
            for field in fields {
                require(&entry[field], &format!("spec.{list}[{index}].{field}"))?;
            }
        }
    }
    for (index, maintainer) in entries(&spec["maintainers"]).iter().enumerate() {
        if !text(&maintainer["email"]).contains('@') {
            return Err(format!(
                "`spec.maintainers[{index}].email` is not an email address"
            ));
        }
    }
    let [icon] = entries(&spec["icon"]) else {
        return Err("`spec.icon` is not a list of one icon".to_owned());
    };
    require(&icon["base64data"], "spec.icon[0].base64data")?;
    if !ICONS.contains(&text(&icon["mediatype"])) {
        return Err(format!(
            "`spec.icon[0].mediatype` is not one of {}",
            ICONS.join(", ")
        ));
    }
    let minimum = text(&spec["minKubeVersion"]);
    if Version::parse(minimum).is_err() {
        return Err("`spec.minKubeVersion` is not a version such as `1.30.0`".to_owned());
    }
    let level = &csv["metadata"]["annotations"]["capabilities"];
    if !level.is_null() && !CAPABILITIES.contains(&text(level)) {
        let levels = CAPABILITIES.join(", ");
        return Err(format!(
            "the annotation `capabilities` is not one of {levels}"
        ));
    }
    Ok(())
}
