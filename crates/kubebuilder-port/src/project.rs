//! The project file of kubebuilder, and its entries.

use std::fmt;

use guarded_yaml as yaml;
use serde::{Deserialize, Deserializer};
use serde_yaml::{Mapping, Value};

/// The name of the file.
const FILE: &str = "PROJECT";

/// The project file of kubebuilder, in version 2 or 3.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct GoProject {
    /// The domain of its API groups.
    pub domain: Option<String>,
    /// The name, which prefixes the names in its manifests.
    pub project_name: Option<String>,
    /// Whether it watches selected namespaces.
    pub namespaced: bool,
    /// The entries.
    #[serde(deserialize_with = "or_default")]
    pub resources: Vec<Entry>,
    /// The plugins with settings, such as that for Helm charts.
    #[serde(deserialize_with = "or_default")]
    pub plugins: Mapping,
    /// Whether the file has version 2, whose entries tell neither controllers nor webhooks.
    #[serde(skip)]
    pub is_version_2: bool,
}

/// An entry of `resources`: one group, version and kind.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Entry {
    /// The group without the domain.
    pub group: String,
    /// The domain.
    pub domain: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The plural, where it is irregular.
    pub plural: Option<String>,
    /// Present where the project defines the API.
    pub api: Option<Value>,
    /// Whether it has the default controller.
    pub controller: bool,
    /// Controllers with names.
    #[serde(deserialize_with = "or_default")]
    pub controllers: Vec<Controller>,
    /// Defaulting, validation and conversion.
    #[serde(deserialize_with = "or_default")]
    pub webhooks: Webhooks,
    /// Whether Kubernetes defines the type.
    pub core: bool,
    /// Whether another project defines the type.
    pub external: bool,
    /// The Go package of the type.
    pub path: String,
}

/// A controller beside the default one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Controller {
    /// The name.
    pub name: String,
}

/// The webhooks of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Webhooks {
    /// Whether a webhook sets defaults.
    pub defaulting: bool,
    /// Its path, unless it is the usual one.
    pub defaulting_path: Option<String>,
    /// Whether a webhook validates.
    pub validation: bool,
    /// Its path, unless it is the usual one.
    pub validation_path: Option<String>,
    /// Whether other versions are converted to this one. In files before kubebuilder 4.4, every version of the kind may say so.
    pub conversion: bool,
    /// The versions that are converted; empty in files before kubebuilder 4.4.
    pub spoke: Vec<String>,
}

/// The reason that a file is no project of kubebuilder for Go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// It is not YAML, or a field has the wrong type.
    Yaml {
        /// The place, such as `PROJECT:3:5`.
        place: String,
        /// The parser's error.
        what: String,
    },
    /// It has another version than 2 and 3, or none.
    Version(Option<String>),
    /// It has this layout, which is not one of kubebuilder's for Go, or which the caller refuses; it is empty without one, in a
    /// directory that has no Go code.
    Layout(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yaml { place, what } => write!(f, "`{place}`: {what}"),
            Self::Version(None) => write!(f, "its `{FILE}` has no version"),
            Self::Version(Some(version)) => write!(f, "its `{FILE}` has version `{version}`"),
            Self::Layout(layout) if layout.is_empty() => write!(f, "its `{FILE}` has no `layout`"),
            Self::Layout(layout) => write!(f, "its `{FILE}` has layout `{layout}`"),
        }
    }
}

impl std::error::Error for Error {}

/// The fields that tell whether a file can be read.
#[derive(Deserialize)]
struct Probe {
    version: Option<Value>,
    layout: Option<Value>,
}

impl GoProject {
    /// The kinds and images of the plugin deploy-image.
    pub fn images(&self) -> Vec<(&str, &str)> {
        let resources = self.plugins.iter().filter_map(|(key, plugin)| {
            let is_image = key.as_str()?.starts_with("deploy-image.");
            plugin.get("resources")?.as_sequence().filter(|_| is_image)
        });
        let images = resources.flatten().filter_map(|resource| {
            let image = resource.get("options")?.get("image")?;
            Some((resource.get("kind")?.as_str()?, image.as_str()?))
        });
        images.collect()
    }

    /// Reads the project file. Files before kubebuilder 3, and some that a person wrote, have no layout: then `is_go` tells
    /// whether Go code is beside it. A layout in `refused` is of another tool, whose versions of the file are its own.
    pub fn read(text: &str, is_go: bool, refused: &[&str]) -> Result<Self, Error> {
        let broken = |error: yaml::Error| Error::Yaml {
            place: error.place(FILE),
            what: error.what,
        };
        let probe: Probe = yaml::read(text).map_err(broken)?;
        let layout: Vec<&str> = match &probe.layout {
            Some(Value::String(one)) => vec![one],
            Some(Value::Sequence(all)) => all.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        if let Some(refused) = layout.iter().find(|it| refused.contains(it)) {
            return Err(Error::Layout((*refused).to_owned()));
        }
        let version = probe.version.as_ref().map(scalar);
        let is_version_2 = match version.as_deref() {
            // The second is what the alpha releases of kubebuilder 3 wrote.
            Some("3" | "3-alpha") => false,
            Some("2") => true,
            _ => return Err(Error::Version(version)),
        };
        // Plugins of others come beside that of Go: `go.kubebuilder.io/v4`, `base.go.kubebuilder.io/v3`.
        let has_go = |plugin: &&str| {
            let key = plugin.split('/').next().unwrap_or_default();
            key.split('.').any(|part| part == "go")
        };
        let is_of_go = layout.iter().any(has_go) || layout.is_empty() && is_go;
        if !is_of_go {
            let first = layout.first().copied().unwrap_or_default();
            return Err(Error::Layout(first.to_owned()));
        }
        let mut project: Self = yaml::read(text).map_err(broken)?;
        project.is_version_2 = is_version_2;
        if is_version_2 {
            let domain = project.domain.clone().unwrap_or_default();
            for entry in &mut project.resources {
                entry.domain.clone_from(&domain);
                entry.api = Some(Value::Null);
            }
        }
        Ok(project)
    }
}

impl Webhooks {
    fn join(&mut self, other: Self) {
        self.defaulting |= other.defaulting;
        self.validation |= other.validation;
        self.conversion |= other.conversion;
        self.spoke.extend(other.spoke);
        self.defaulting_path = self.defaulting_path.take().or(other.defaulting_path);
        self.validation_path = self.validation_path.take().or(other.validation_path);
    }

    /// Whether there is a webhook for defaulting or validation.
    pub fn is_asked(&self) -> bool {
        self.defaulting || self.validation
    }
}

impl Entry {
    /// Whether the project defines the API.
    pub fn is_api(&self) -> bool {
        self.api.is_some() && !self.core && !self.external
    }

    /// Whether Kubernetes defines the type. Files before kubebuilder 4.2 do not say so of one, and have its Go package.
    pub fn is_core(&self) -> bool {
        self.core || (self.api.is_none() && !self.external)
    }

    /// The controllers: `None` is the default one, the others have names.
    pub fn controllers(&self) -> Vec<Option<&str>> {
        let named = self.controllers.iter().map(|it| Some(it.name.as_str()));
        let default = self.controller.then_some(None);
        default.into_iter().chain(named).collect()
    }

    /// Adds what another entry of the same API says.
    pub fn join(&mut self, other: Self) {
        self.api = self.api.take().or(other.api);
        self.controller |= other.controller;
        self.controllers.extend(other.controllers);
        self.webhooks.join(other.webhooks);
    }

    /// The same entry of another version.
    pub fn with_version(&self, version: impl ToString) -> Self {
        Self {
            version: version.to_string(),
            ..self.clone()
        }
    }

    /// The API group: `cache.example.com`.
    pub fn api_group(&self) -> String {
        match (self.group.as_str(), self.domain.as_str()) {
            (group, "") => group.to_owned(),
            ("", domain) => domain.to_owned(),
            (group, domain) => format!("{group}.{domain}"),
        }
    }

    /// `cache/v1, Kind Memcached`.
    pub fn title(&self) -> String {
        let group = match self.group.as_str() {
            "" => &self.domain,
            group => group,
        };
        format!("{group}/{}, Kind {}", self.version, self.kind)
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// Reads `null` as the default: a person left the field empty.
fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}
