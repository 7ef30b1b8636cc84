//! The fields of `PROJECT`, as they stand in the file.

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_yaml::{Mapping, Value};

use crate::name::{
    ControllerName, Domain, Group, Kind, Plural, ProjectName, ShortName, Version, WebhookPath,
};
use crate::project::license::{CopyrightHolder, Header, License};
use crate::project::owned::OwnedPath;
use crate::project::{Certificates, Library, Runtime};

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", expecting = "the fields of a project")]
pub struct File {
    #[serde(default = "no_domain", skip_serializing_if = "is_no_domain")]
    pub domain: Domain,
    #[serde(default, deserialize_with = "one_or_more")]
    pub layout: Vec<String>,
    pub plugins: Plugins,
    pub project_name: ProjectName,
    #[serde(default, skip_serializing_if = "is_false")]
    pub namespaced: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Entry>,
    #[serde(default)]
    pub version: Option<Value>,
    #[serde(flatten)]
    pub extra: Mapping,
}

#[derive(Deserialize, Serialize)]
#[serde(expecting = "plugins with their settings")]
pub struct Plugins {
    #[serde(
        rename = "rust.operator-forge/v1",
        skip_serializing_if = "Option::is_none"
    )]
    pub ours: Option<Ours>,
    #[serde(flatten)]
    pub others: Mapping,
}

#[derive(Deserialize, Serialize)]
#[serde(expecting = "the settings of operator-forge")]
pub struct Ours {
    pub templates: u32,
    #[serde(default)]
    pub license: License,
    #[serde(default, skip_serializing_if = "is_empty_owner")]
    pub owner: CopyrightHolder,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<Header>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificates: Option<Certificates>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<Library>,
    #[serde(default)]
    pub runtime: Runtime,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owned: Vec<OwnedPath>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<OptionsEntry>,
    #[serde(flatten)]
    pub extra: Mapping,
}

#[derive(Deserialize, Serialize)]
#[serde(expecting = "the options of a resource")]
pub struct OptionsEntry {
    #[serde(default = "no_group", skip_serializing_if = "is_no_group")]
    pub group: Group,
    #[serde(default = "no_domain", skip_serializing_if = "is_no_domain")]
    pub domain: Domain,
    pub kind: Kind,
    pub version: Version,
    pub options: Options,
    #[serde(flatten)]
    pub extra: Mapping,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", expecting = "the options of a resource")]
pub struct Options {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_names: Vec<ShortName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<String>,
    #[serde(flatten)]
    pub extra: Mapping,
}

#[derive(Deserialize, Serialize)]
#[serde(expecting = "a resource")]
pub struct Entry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<ApiEntry>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub controller: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controllers: Vec<ControllerEntry>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub core: bool,
    #[serde(default = "no_domain", skip_serializing_if = "is_no_domain")]
    pub domain: Domain,
    #[serde(default, skip_serializing_if = "is_false")]
    pub external: bool,
    #[serde(default = "no_group", skip_serializing_if = "is_no_group")]
    pub group: Group,
    pub kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plural: Option<Plural>,
    pub version: Version,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhooks: Option<WebhooksEntry>,
    #[serde(flatten)]
    pub extra: Mapping,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", expecting = "the webhooks of a resource")]
pub struct WebhooksEntry {
    #[serde(default)]
    pub webhook_version: FormatVersion,
    #[serde(default, skip_serializing_if = "is_false")]
    pub defaulting: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaulting_path: Option<WebhookPath>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub validation: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_path: Option<WebhookPath>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub conversion: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spoke: Vec<Version>,
    #[serde(flatten)]
    pub extra: Mapping,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", expecting = "an API")]
pub struct ApiEntry {
    #[serde(default)]
    pub crd_version: FormatVersion,
    /// As in kubebuilder's file, absent is cluster-scoped.
    #[serde(default, skip_serializing_if = "is_false")]
    pub namespaced: bool,
    #[serde(flatten)]
    pub extra: Mapping,
}

/// The only version of CRDs and of webhook configurations that Kubernetes still serves.
#[derive(Default, Deserialize, Serialize)]
pub enum FormatVersion {
    #[default]
    #[serde(rename = "v1")]
    V1,
}

#[derive(Deserialize, Serialize)]
#[serde(expecting = "a controller with its name")]
pub struct ControllerEntry {
    pub name: ControllerName,
    #[serde(flatten)]
    pub extra: Mapping,
}

/// kubebuilder reads a single plugin without a list, too.
pub fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Visitor;
    impl<'de> de::Visitor<'de> for Visitor {
        type Value = Vec<String>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a plugin key or a list of plugin keys")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_owned()])
        }
        fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Vec<String>, A::Error> {
            let mut keys = Vec::new();
            while let Some(key) = items.next_element()? {
                keys.push(key);
            }
            Ok(keys)
        }
    }
    deserializer.deserialize_any(Visitor)
}

fn no_domain() -> Domain {
    Domain::parse("").expect("a domain may be empty")
}

fn is_no_domain(domain: &Domain) -> bool {
    domain.as_str().is_empty()
}

fn no_group() -> Group {
    Group::parse("").expect("a group may be empty")
}

fn is_no_group(group: &Group) -> bool {
    group.as_str().is_empty()
}

fn is_empty_owner(owner: &CopyrightHolder) -> bool {
    owner.as_str().is_empty()
}

fn is_false(value: &bool) -> bool {
    !value
}
