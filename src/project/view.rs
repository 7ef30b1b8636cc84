//! Views of a project: its APIs, kinds, controllers and webhooks.

use std::collections::{BTreeMap, BTreeSet};

use super::rules::is_namespaced;
use super::{Api, Controller, DeployImage, Key, Project, Resource, Webhooks};
use crate::name::rust::Module;
use crate::name::{ControllerName, Group, Kind, Plural, Version};

/// One version of a kind that the project defines.
#[derive(Clone, Copy, Debug)]
pub struct ApiView<'a> {
    /// Its key.
    pub key: &'a Key,
    /// Its entry.
    pub resource: &'a Resource,
    /// Its scope and short names.
    pub api: &'a Api,
    /// Whether it is the storage version.
    pub storage: bool,
}

/// A kind that the project defines: one CRD.
#[derive(Clone, Debug)]
pub struct KindView<'a> {
    /// The storage version: the hub; without conversion the one of the CRD that the types were generated from, or the most
    /// stable version, then the oldest.
    pub storage: Version,
    /// The versions that are converted to the hub, by age.
    pub spokes: Vec<Version>,
    /// All versions, by age; never empty.
    pub apis: Vec<ApiView<'a>>,
}

/// A controller.
#[derive(Clone, Debug)]
pub struct ControllerView<'a> {
    /// Its name at run time: `<group>-<kind>` in lower case, or its own.
    pub name: String,
    /// Whether it is its kind's default controller.
    pub default: bool,
    /// Its module; the file has the same name.
    pub module: Module,
    /// The module of its group.
    pub group_module: Module,
    /// The key of the kind that it watches.
    pub key: &'a Key,
    /// The entry of that kind.
    pub resource: &'a Resource,
    /// Whether the objects it watches live in namespaces.
    pub namespaced: bool,
    /// Whether it was generated with a finalizer.
    pub finalizer: bool,
    /// The Deployment that it was generated with.
    pub image: Option<&'a DeployImage>,
}

/// An entry with webhooks.
#[derive(Clone, Copy, Debug)]
pub struct WebhookView<'a> {
    /// The key of the kind.
    pub key: &'a Key,
    /// The entry.
    pub resource: &'a Resource,
    /// The webhooks.
    pub webhooks: &'a Webhooks,
}

impl WebhookView<'_> {
    /// Whether the API server calls the webhooks only for namespaces with a label: without it, nothing in a namespace of the cluster
    /// could start while the operator fails.
    pub fn is_opt_in(&self) -> bool {
        let core = self.key.core_type();
        self.resource.core && core.is_some_and(|core| core.namespaced)
    }
}

impl ControllerView<'_> {
    /// The path of its file.
    pub fn path(&self) -> String {
        let (group, module) = (self.group_module.file(), self.module.file());
        format!("src/controllers/{group}/{module}.rs")
    }
}

impl Project {
    /// The entries with webhooks, in the order of `PROJECT`.
    pub fn webhooks(&self) -> Vec<WebhookView<'_>> {
        let views = self.resources().filter_map(|(key, resource)| {
            let webhooks = resource.webhooks.as_ref()?;
            Some(WebhookView {
                key,
                resource,
                webhooks,
            })
        });
        views.collect()
    }

    /// The entry at `key`.
    pub fn resource(&self, key: &Key) -> Option<&Resource> {
        self.resources.get(key)
    }

    /// The project with only the entries of one kind.
    pub fn of_kind(&self, group: &Group, kind: &Kind) -> Self {
        self.of_those(|key| (&key.group, &key.kind) == (group, kind))
    }

    /// The project with only the kinds that differ from those of the `other` one; the whole project if the two differ in more
    /// than their entries.
    pub fn unlike(&self, other: &Self) -> Self {
        if self.of_those(|_| false) != other.of_those(|_| false) {
            return self.clone();
        }
        let entries = self.resources.iter().chain(&other.resources);
        let differs = |(key, _): &(&Key, _)| self.resources.get(key) != other.resources.get(key);
        let kinds = entries.filter(differs);
        let kinds: BTreeSet<_> = kinds.map(|(key, _)| (&key.group, &key.kind)).collect();
        self.of_those(|key| kinds.contains(&(&key.group, &key.kind)))
    }

    /// The project with some of its entries.
    fn of_those(&self, wanted: impl Fn(&Key) -> bool) -> Self {
        let mut project = self.clone();
        project.resources.retain(|key, _| wanted(key));
        project
    }

    /// The resource name of an entry's type.
    pub fn plural(&self, key: &Key) -> Option<&Plural> {
        self.resources.get(key).map(|resource| &resource.plural)
    }

    /// The hub of a kind, if its versions are converted.
    pub fn hub_of(&self, key: &Key) -> Option<Version> {
        let mut hubs = self.webhooks().into_iter();
        let hub = hubs.find(|it| it.webhooks.is_hub() && it.key.is_same_kind(key));
        hub.map(|it| it.key.version)
    }

    /// The storage version of a kind that the project defines.
    pub fn storage_of(&self, key: &Key) -> Option<Version> {
        let mut kinds = self.kinds().into_iter();
        let kind = kinds.find(|kind| kind.apis[0].key.is_same_kind(key))?;
        Some(kind.storage)
    }

    /// The versions of a kind that the project defines.
    pub fn versions_of(&self, key: &Key) -> BTreeSet<Version> {
        let apis = self.apis_of(&key.group, &key.kind);
        let same = apis.filter(|(other, _)| other.domain == key.domain);
        same.map(|(other, _)| other.version).collect()
    }

    /// The versions of a kind that are not converted to the hub.
    pub fn unconverted(&self, hub: &Key) -> BTreeSet<Version> {
        let spokes = self.spokes_of(hub);
        let mut versions = self.versions_of(hub);
        versions.retain(|version| *version != hub.version && !spokes.contains(version));
        versions
    }

    /// The versions that are converted to the entry at `hub`.
    pub(super) fn spokes_of(&self, hub: &Key) -> BTreeSet<Version> {
        let webhooks = self.resource(hub).and_then(|it| it.webhooks.clone());
        webhooks.unwrap_or_default().spokes
    }

    /// The APIs that the project defines, in the order of `PROJECT`.
    pub fn apis(&self) -> Vec<ApiView<'_>> {
        self.kinds()
            .into_iter()
            .flat_map(|kind| kind.apis)
            .collect()
    }

    /// The kinds that the project defines, by group and kind.
    pub fn kinds(&self) -> Vec<KindView<'_>> {
        let mut kinds: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (key, resource) in self.resources() {
            if let Some(api) = &resource.api {
                let kind = kinds.entry((&key.group, &key.kind)).or_default();
                kind.push((key, resource, api));
            }
        }
        kinds.into_values().map(KindView::of).collect()
    }

    /// The controllers, in the order of `PROJECT`; of one kind the default first.
    pub fn controllers(&self) -> Vec<ControllerView<'_>> {
        let entries = self.resources();
        entries
            .flat_map(|(key, it)| it.controllers_of(key))
            .collect()
    }
}

impl Key {
    /// The name of the object in the sample. Each version has an object of its own. The name is a DNS label, because other objects
    /// may be named after the object.
    pub fn sample_name(&self) -> String {
        self.name_with(&format!("-sample-{}", self.version))
    }

    /// The same for a kind that has one version.
    pub fn sample_name_of_any_version(&self) -> String {
        self.name_with("-sample")
    }

    fn name_with(&self, end: &str) -> String {
        let kind: String = self.kind.as_str().chars().take(63 - end.len()).collect();
        kind.to_lowercase() + end
    }
}

impl Resource {
    /// The controllers of the entry, whose key is `key`; the default first.
    pub(super) fn controllers_of<'a>(&'a self, key: &'a Key) -> Vec<ControllerView<'a>> {
        let view =
            |(own, controller): (&'a Option<ControllerName>, &'a Controller)| ControllerView {
                name: match own {
                    Some(name) => name.to_string(),
                    None => default_name(&key.group, &key.kind),
                },
                default: own.is_none(),
                module: match own {
                    Some(name) => Module::of_controller(name),
                    None => Module::of_kind(&key.kind),
                },
                group_module: Module::of_group(&key.group, &key.domain),
                key,
                resource: self,
                namespaced: is_namespaced(key, self),
                finalizer: controller.finalizer,
                image: controller.image.as_ref(),
            };
        self.controllers.iter().map(view).collect()
    }

    /// Whether the kind's default controller watches this version.
    pub fn has_default_controller(&self) -> bool {
        self.controllers.contains_key(&None)
    }

    /// The Deployment that the default controller was generated with.
    pub fn image(&self) -> Option<&DeployImage> {
        self.controllers.get(&None)?.image.as_ref()
    }

    /// Whether a controller watches the version of the entry.
    pub fn has_controllers(&self) -> bool {
        !self.controllers.is_empty()
    }

    /// Whether the operator watches or defines it.
    pub(super) fn is_watched(&self) -> bool {
        self.api.is_some() || self.has_controllers()
    }

    /// Whether the entry has no types, no controller and no webhook left.
    pub fn holds_nothing(&self) -> bool {
        !self.is_watched() && !self.has_types() && self.webhooks.is_none()
    }
}

impl<'a> KindView<'a> {
    fn of(versions: Vec<(&'a Key, &'a Resource, &'a Api)>) -> Self {
        let hub = versions.iter().find_map(|(key, resource, _)| {
            let webhooks = resource.webhooks.as_ref().filter(|it| it.is_hub())?;
            Some((key.version, webhooks.spokes.iter().copied().collect()))
        });
        let (storage, spokes) = hub.unwrap_or_else(|| {
            let stored = versions
                .iter()
                .filter(|(_, resource, _)| resource.definition().is_some_and(|it| it.is_stored()));
            let stored = Version::storage(stored.map(|(key, ..)| key.version));
            let all = versions.iter().map(|(key, ..)| key.version);
            let storage = stored.or_else(|| Version::storage(all));
            (storage.expect("a kind has a version"), Vec::new())
        });
        let view = |(key, resource, api): (&'a Key, _, _)| ApiView {
            key,
            resource,
            api,
            storage: key.version == storage,
        };
        Self {
            storage,
            spokes,
            apis: versions.into_iter().map(view).collect(),
        }
    }
}

/// The name of a kind's default controller. Events limit it to 63 characters: a longer name keeps its start and gets a hash of the
/// whole.
pub(super) fn default_name(group: &Group, kind: &Kind) -> String {
    let name = match group.as_str() {
        "" => kind.singular(),
        group => format!("{}-{}", group.replace('.', "-"), kind.singular()),
    };
    if name.len() <= 63 {
        return name;
    }
    // FNV-1a, because the hash only has to be stable.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("{}-{hash:08x}", name[..54].trim_end_matches('-'))
}
