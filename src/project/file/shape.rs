//! The YAML of `PROJECT`, where it differs from the project in memory: entries carry their key, and our options of an entry
//! stand apart from it, under `plugins`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_yaml::{Mapping, Value};

use crate::field::Field;
use crate::name::{
    AnsiblePath, ChartPath, ControllerName, CrdName, Domain, Group, Invalid, Kind, Plural,
    ProjectName, ShortName, Version, WebhookPath,
};
use crate::project::violation::{Violation, violation};
use crate::project::{
    Admission, Api, Controller, DeployImage, Fields, Key, LAYOUT, Resource, Settings, Source,
    Webhooks,
};

/// An example of an external type.
const PATH: &str = "path: cert_manager_crds::v1::Certificate";

/// The whole file.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase", expecting = "the fields of a project")]
pub struct ProjectFile {
    #[serde(default, skip_serializing_if = "is_default")]
    pub domain: Domain,
    #[serde(default, deserialize_with = "one_or_more")]
    pub layout: Vec<String>,
    pub plugins: Plugins,
    pub project_name: ProjectName,
    #[serde(default, skip_serializing_if = "is_default")]
    pub namespaced: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub resources: Vec<Entry>,
    pub version: Option<String>,
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
    pub ours: Option<Settings>,
    #[serde(flatten)]
    pub others: Mapping,
}

/// The fields that tell which tool a file belongs to, whatever else is wrong with it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Probe {
    pub version: Option<String>,
    #[serde(default, deserialize_with = "one_or_more")]
    pub layout: Vec<String>,
    pub domain: Option<String>,
    pub project_name: Option<String>,
}

/// An item of `resources`.
#[derive(Deserialize, PartialEq, Serialize)]
#[serde(expecting = "a resource")]
pub struct Entry {
    #[serde(default, skip_serializing_if = "is_default")]
    api: Option<Api>,
    #[serde(default, skip_serializing_if = "is_default")]
    controller: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    controllers: Vec<Named>,
    #[serde(default, skip_serializing_if = "is_default")]
    core: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    domain: Domain,
    #[serde(default, skip_serializing_if = "is_default")]
    external: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    group: Group,
    kind: Kind,
    #[serde(default, skip_serializing_if = "is_default")]
    plural: Option<Plural>,
    version: Version,
    #[serde(default, skip_serializing_if = "is_default")]
    webhooks: Option<WebhookFields>,
    #[serde(flatten)]
    extra: Mapping,
}

#[derive(Deserialize, PartialEq, Serialize)]
#[serde(expecting = "a controller with its name")]
struct Named {
    name: ControllerName,
    #[serde(flatten)]
    extra: Mapping,
}

#[derive(Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", expecting = "the webhooks of a resource")]
struct WebhookFields {
    #[serde(default)]
    webhook_version: FormatVersion,
    #[serde(default, skip_serializing_if = "is_default")]
    defaulting: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    defaulting_path: Option<WebhookPath>,
    #[serde(default, skip_serializing_if = "is_default")]
    validation: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    validation_path: Option<WebhookPath>,
    #[serde(default, skip_serializing_if = "is_default")]
    conversion: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    spoke: Vec<Version>,
    #[serde(flatten)]
    extra: Mapping,
}

/// The only version of CRDs and of webhook configurations that Kubernetes still serves.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub enum FormatVersion {
    #[default]
    #[serde(rename = "v1")]
    V1,
}

/// Our options of an entry, which kubebuilder has no fields for.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(expecting = "the options of a resource")]
pub struct OptionsEntry {
    #[serde(default, skip_serializing_if = "is_default")]
    group: Group,
    #[serde(default, skip_serializing_if = "is_default")]
    domain: Domain,
    kind: Kind,
    version: Version,
    options: Options,
    #[serde(flatten)]
    extra: Mapping,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", expecting = "the options of a resource")]
struct Options {
    #[serde(default, skip_serializing_if = "is_default")]
    crd: Option<CrdName>,
    #[serde(default, skip_serializing_if = "is_default")]
    chart: Option<ChartPath>,
    #[serde(default, skip_serializing_if = "is_default")]
    helm_storage: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    ansible: Option<AnsiblePath>,
    #[serde(default, skip_serializing_if = "is_default")]
    short_names: Vec<ShortName>,
    #[serde(default, skip_serializing_if = "is_default")]
    fields: Vec<Field>,
    #[serde(default, skip_serializing_if = "is_default")]
    status_fields: Vec<Field>,
    #[serde(default, skip_serializing_if = "is_default")]
    finalizers: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    deploy_image: Option<DeployImage>,
    #[serde(flatten)]
    extra: Mapping,
}

impl Entry {
    /// The entry of `resource` in the file.
    pub fn of(key: Key, resource: Resource) -> Self {
        let controller = resource.has_default_controller();
        let mut extra = resource.extra;
        if let Some(path) = &resource.external {
            extra.insert("path".into(), path.as_str().into());
        }
        let usual = usual_plural(&key, resource.core);
        let controllers = resource.controllers.into_iter();
        Self {
            plural: Some(resource.plural).filter(|plural| *plural != usual),
            api: resource.api,
            controller,
            controllers: controllers
                .filter_map(|(name, it)| {
                    Some(Named {
                        name: name?,
                        extra: it.extra,
                    })
                })
                .collect(),
            core: resource.core,
            external: resource.external.is_some(),
            domain: key.domain,
            group: key.group,
            kind: key.kind,
            version: key.version,
            webhooks: resource.webhooks.map(WebhookFields::of),
            extra,
        }
    }

    /// The entry's key.
    pub fn key(&self) -> Key {
        Key {
            group: self.group.clone(),
            kind: self.kind.clone(),
            domain: self.domain.clone(),
            version: self.version,
        }
    }

    /// The resource of the entry, still without our options.
    pub fn resource(self, key: &Key) -> Result<Resource, Violation> {
        let mut extra = self.extra;
        // The `path` of other entries is kubebuilder's, and means nothing here.
        let external = match self.external.then(|| extra.remove("path")) {
            None => None,
            Some(Some(Value::String(path))) => {
                let broken = |invalid: Invalid| {
                    let (found, fault) = (invalid.found, invalid.fault);
                    let broken = violation!(key => "`{key}` has the path `{found}`: {fault}");
                    broken.note(invalid.rule).in_file(PATH)
                };
                Some(path.parse().map_err(broken)?)
            }
            Some(_) => {
                let broken = violation!(key => "`{key}` is `external` and has no `path`",
                    "the operator needs the Rust type, from a crate that Cargo.toml depends on or from a module of your own");
                return Err(broken.in_file(PATH));
            }
        };
        let webhooks = self.webhooks.map(|fields| fields.webhooks(key));
        let default = self.controller.then(Default::default).into_iter();
        let controllers = self.controllers.into_iter().map(|Named { name, extra }| {
            let controller = Controller {
                extra,
                ..Controller::default()
            };
            (Some(name), controller)
        });
        let plural = self.plural;
        let plural = plural.unwrap_or_else(|| usual_plural(key, self.core));
        Ok(Resource {
            api: self.api,
            external,
            webhooks: webhooks.transpose()?.filter(|all| !all.is_empty()),
            controllers: default.chain(controllers).collect(),
            core: self.core,
            extra,
            ..Resource::new(plural)
        })
    }
}

/// The plural that an entry without the field has.
fn usual_plural(key: &Key, core: bool) -> Plural {
    let core = core.then(|| key.core_type());
    core.flatten()
        .map_or_else(|| Plural::of(&key.kind), Plural::from)
}

impl WebhookFields {
    fn of(webhooks: Webhooks) -> Self {
        Self {
            webhook_version: FormatVersion::V1,
            defaulting: webhooks.defaulting.is_some(),
            defaulting_path: webhooks.defaulting.and_then(|it| it.path),
            validation: webhooks.validation.is_some(),
            validation_path: webhooks.validation.and_then(|it| it.path),
            conversion: !webhooks.spokes.is_empty(),
            spoke: webhooks.spokes.into_iter().collect(),
            extra: webhooks.extra,
        }
    }

    fn webhooks(self, key: &Key) -> Result<Webhooks, Violation> {
        let admission = |asked: bool, path: Option<WebhookPath>, what| match (asked, path) {
            (true, path) => Ok(Some(Admission { path })),
            (false, None) => Ok(None),
            (false, Some(path)) => {
                let broken = violation!(key => "`{key}` has the {what}Path `{path}` without `{what}`",
                    "a path without its webhook is called by nobody");
                Err(broken.in_file(format!("{what}: true, or remove `{what}Path`")))
            }
        };
        let (has, lacks, value) = match self.conversion {
            true => ("conversion", "spoke", "[v1alpha1]"),
            false => ("spoke", "conversion", "true"),
        };
        if self.conversion == self.spoke.is_empty() {
            let broken = violation!(key => "`{key}` has `{has}` without `{lacks}`",
                "the version with `conversion` is the hub, and `spoke` lists the versions that are converted to it");
            return Err(broken.in_file(format!("{lacks}: {value}, or remove `{has}`")));
        }
        let mut webhooks = Webhooks {
            defaulting: admission(self.defaulting, self.defaulting_path, "defaulting")?,
            validation: admission(self.validation, self.validation_path, "validation")?,
            spokes: Default::default(),
            extra: self.extra,
        };
        for spoke in self.spoke {
            if !webhooks.spokes.insert(spoke) {
                let broken = violation!(key => "`{key}` has the spoke {spoke} twice",
                    "each version is converted in one way");
                return Err(broken.in_file("remove one of the two"));
            }
        }
        Ok(webhooks)
    }
}

impl OptionsEntry {
    /// Our options of `resource`, if it has any.
    pub fn of(key: &Key, resource: &Resource) -> Option<Self> {
        let api = resource.api.clone().unwrap_or_default();
        let options = Options {
            crd: resource.source.as_ref().map(|source| source.name.clone()),
            chart: resource.chart.clone(),
            helm_storage: resource.helm_storage,
            ansible: resource.ansible.clone(),
            short_names: api.short_names,
            fields: api.fields.spec,
            status_fields: api.fields.status,
            finalizers: resource.names_of_finalizers(key),
            deploy_image: resource.image().cloned(),
            extra: resource.options.clone(),
        };
        if options == Options::default() && resource.options_entry.is_empty() {
            return None;
        }
        let key = key.clone();
        Some(Self {
            group: key.group,
            domain: key.domain,
            kind: key.kind,
            version: key.version,
            options,
            extra: resource.options_entry.clone(),
        })
    }

    /// Puts the options into the resource of their key.
    pub fn put(self, resources: &mut BTreeMap<Key, Resource>) -> Result<(), Violation> {
        let key = Key {
            group: self.group,
            kind: self.kind,
            domain: self.domain,
            version: self.version,
        };
        let Some(resource) = resources.get_mut(&key) else {
            let broken = violation!(&key => "there are options for `{key}`, which is not in `resources`",
                "they stand in `plugins`, `{LAYOUT}`, `resources`");
            return Err(broken.in_file("remove that entry"));
        };
        (resource.options, resource.options_entry) = (self.options.extra, self.extra);
        resource.put_finalizers(&key, self.options.finalizers)?;
        let has_api = resource.api.is_some();
        let default = resource.controllers.get_mut(&None).filter(|_| has_api);
        if let Some(default) = default {
            default.image = self.options.deploy_image;
        } else if self.options.deploy_image.is_some() {
            let broken = violation!(&key => "`{key}` has `deployImage`, but not both an API and its default controller",
                "it is the Deployment that this controller was generated with");
            return Err(broken.in_file("remove `deployImage`"));
        }
        resource.chart = self.options.chart;
        resource.helm_storage = self.options.helm_storage;
        resource.ansible = self.options.ansible;
        resource.source = self.options.crd.map(|name| Source {
            name,
            definition: None,
        });
        if let Some(Source { name, .. }) = &resource.source
            && resource.api.is_none()
            && resource.external.is_none()
        {
            let broken = violation!(&key => "`{key}` has the CRD `{name}`, but neither `api` nor `external`",
                "types are generated for an API that the project defines, or for an external type");
            return Err(broken.in_file("remove `crd`"));
        }
        let fields = Fields {
            spec: self.options.fields,
            status: self.options.status_fields,
        };
        match &mut resource.api {
            Some(api) => (api.short_names, api.fields) = (self.options.short_names, fields),
            None if !fields.is_empty() => {
                let broken = violation!(&key => "`{key}` has fields but no `api`",
                    "fields are those of the types of an API that the project defines");
                return Err(broken.in_file("remove `fields` and `statusFields`"));
            }
            None if self.options.short_names.is_empty() => (),
            None => {
                let broken = violation!(&key => "`{key}` has short names but no `api`",
                    "short names belong to the CRD of an API that the project defines");
                return Err(broken.in_file("remove `shortNames`"));
            }
        }
        Ok(())
    }
}

/// Reads a list of plugins, or a single plugin without a list, which kubebuilder takes, too.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Visitor;
    impl<'de> de::Visitor<'de> for Visitor {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a plugin key or a list of plugin keys")
        }

        fn visit_str<E: de::Error>(self, plugin: &str) -> Result<Vec<String>, E> {
            Ok(vec![plugin.to_owned()])
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, plugins: A) -> Result<Vec<String>, A::Error> {
            Vec::deserialize(de::value::SeqAccessDeserializer::new(plugins))
        }
    }
    deserializer.deserialize_any(Visitor)
}

/// Whether a field has the value of an absent one.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
