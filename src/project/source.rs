//! The CustomResourceDefinition that the types of an entry are generated from. `PROJECT` names it, and `.operator-forge/crds/`
//! has its text, a file for each version.
//!
//! Invariant: equal definitions are equal texts; a definition has the one version of its entry.

use std::sync::{Arc, OnceLock};

use crd_types::{Crd, Generated, Options};
use serde_json::{Value, json};

use super::{Key, Project, Resource};
use crate::name::{CrdName, Version, rust};

/// The CRD that the types of an entry were generated from.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The name of the CRD, as `PROJECT` has it.
    pub name: CrdName,
    /// The definition of the entry's version; `None` until [`Project::attach`] finds it.
    pub definition: Option<Arc<Definition>>,
}

/// The definition of one version of a kind.
#[derive(Debug)]
pub struct Definition {
    text: String,
    crd: Crd,
    /// The types under the names of the definition, which the entry has until a command changes them.
    types: [OnceLock<Arc<Generated>>; 2],
}

impl PartialEq for Definition {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Definition {
    /// One version of a CRD, without the parts of a cluster: its status, its other metadata, the address of its conversion.
    ///
    /// Errors: the value is not a CRD, the CRD is not valid, or it has no such version.
    pub fn of(crd: &Value, version: &str) -> Result<Self, crd_types::Error> {
        const APPROVAL: &str = "api-approved.kubernetes.io";
        let mut metadata = json!({ "name": crd["metadata"]["name"] });
        if let Value::String(approval) = &crd["metadata"]["annotations"][APPROVAL] {
            metadata["annotations"] = json!({ APPROVAL: approval });
        }
        let mut spec = crd["spec"].clone();
        if let Some(versions) = spec["versions"].as_array_mut() {
            versions.retain(|it| it["name"] == version);
        }
        if let Some(conversion) = spec.get_mut("conversion") {
            *conversion = json!({ "strategy": conversion["strategy"] });
        }
        let one = json!({
            "apiVersion": crd["apiVersion"],
            "kind": crd["kind"],
            "metadata": metadata,
            "spec": spec,
        });
        Self::new(format!("{one:#}\n"), &one, version)
    }

    /// Reads the text of a definition.
    ///
    /// Errors: it is no JSON, not a valid CRD, or it has another version than this one.
    pub fn parse(bytes: &[u8], version: Version) -> Result<Self, String> {
        let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
        let text = text.replace("\r\n", "\n");
        let value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        Self::new(text, &value, &version.to_string()).map_err(|error| error.to_string())
    }

    fn new(text: String, value: &Value, version: &str) -> Result<Self, crd_types::Error> {
        let crd = crd_types::read(value)?;
        match &crd.versions[..] {
            [one] if one.name == version => Ok(Self {
                text,
                crd,
                types: Default::default(),
            }),
            _ => Err(crd_types::Error::Version(version.to_owned())),
        }
    }

    /// The same schema as another version, which is served and not yet stored.
    pub(super) fn in_version(&self, version: Version) -> Self {
        let (mut value, version) = (self.value(), version.to_string());
        value["spec"]["versions"][0]["name"] = json!(version);
        value["spec"]["versions"][0]["served"] = json!(true);
        value["spec"]["versions"][0]["storage"] = json!(false);
        let definition = Self::new(format!("{value:#}\n"), &value, &version);
        definition.expect("only the name of the version is another")
    }

    /// The text, as JSON.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The definition.
    pub fn crd(&self) -> &Crd {
        &self.crd
    }

    /// The definition as a value.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.text).expect("the text was parsed before")
    }

    /// Whether etcd holds objects in this version.
    pub fn is_stored(&self) -> bool {
        self.crd.versions.iter().any(|version| version.storage)
    }

    /// A minimal object without its metadata: its `spec`, or the fields that the schema requires if there is no `spec`.
    pub fn sample(&self) -> Value {
        let schema = &self.value()["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        let spec = &schema["properties"]["spec"];
        if spec.is_object() {
            return json!({ "spec": crd_types::sample(spec) });
        }
        let mut sample = crd_types::sample(schema);
        if let Some(fields) = sample.as_object_mut() {
            fields.retain(|name, _| {
                !["apiVersion", "kind", "metadata", "status"].contains(&name.as_str())
            });
        }
        sample
    }

    /// The types under the names and the scope of an entry.
    pub fn types(&self, key: &Key, resource: &Resource) -> Arc<Generated> {
        let mut crd = self.crd.clone();
        crd.group = key.api_group(false);
        crd.names.kind = key.kind.to_string();
        crd.names.plural = resource.plural.to_string();
        if let Some(api) = &resource.api {
            crd.namespaced = api.namespaced;
            crd.names.short = api.short_names.iter().map(ToString::to_string).collect();
        }
        let is_same = crd.group == self.crd.group
            && crd.names == self.crd.names
            && crd.namespaced == self.crd.namespaced;
        let kept = &self.types[usize::from(resource.api.is_some())];
        if let Some(types) = kept.get().filter(|_| is_same) {
            return types.clone();
        }
        if crd.names.kind != self.crd.names.kind {
            crd.names.singular = key.kind.singular();
        }
        let options = Options {
            root: Some(rust::type_name(&key.kind)),
            schemas: format!("{}.json", rust::Module::of_kind(&key.kind).file()),
            json_schema: resource.api.is_some(),
            ..Options::default()
        };
        let types = crd_types::generate(&crd, &crd.versions[0].name, &options);
        let types = Arc::new(types.expect("the version is that of the definition"));
        match is_same {
            true => kept.get_or_init(|| types).clone(),
            false => types,
        }
    }
}

impl Key {
    /// The path in Rust of a type that is in this project.
    pub fn type_path(&self) -> String {
        let group = rust::Module::of_group(&self.group, &self.domain).ident;
        let type_name = rust::type_name(&self.kind);
        format!("crate::api::{group}::{}::{type_name}", self.version)
    }

    /// The module in Rust with the types of the storage version of a kind that the project defines.
    pub fn hub_module(&self) -> String {
        let group = rust::Module::of_group(&self.group, &self.domain).ident;
        let hub = rust::Module::of_hub(&self.kind).ident;
        format!("crate::api::{group}::{hub}")
    }
}

impl Resource {
    /// Whether the project has the Rust type: it defines the API, or generated the type from the CRD of another project.
    pub fn has_types(&self) -> bool {
        self.api.is_some() || self.source.is_some()
    }

    /// Whether the CRD has the approval that the API server requires in a group of Kubernetes. A definition that was not read
    /// counts as approved.
    pub fn is_approved(&self) -> bool {
        let is = |definition: &Arc<Definition>| definition.crd.approval().is_some();
        self.source.is_some() && self.definition().is_none_or(is)
    }

    /// The definition that the types are generated from.
    pub fn definition(&self) -> Option<&Arc<Definition>> {
        self.source.as_ref()?.definition.as_ref()
    }
}

impl Project {
    /// The names of the definitions, each with the version of its entry.
    pub fn sources(&self) -> impl Iterator<Item = (&Key, &Source)> {
        let entries = self.resources.iter();
        entries.filter_map(|(key, entry)| Some((key, entry.source.as_ref()?)))
    }

    /// Gives every entry with a source its definition, if `find` has one.
    pub fn attach<E>(
        &mut self,
        mut find: impl FnMut(&CrdName, &Key) -> Result<Option<Arc<Definition>>, E>,
    ) -> Result<(), E> {
        for (key, entry) in &mut self.resources {
            if let Some(source) = &mut entry.source {
                source.definition = find(&source.name, key)?;
            }
        }
        Ok(())
    }
}
