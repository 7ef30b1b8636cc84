//! A CustomResourceDefinition, read and checked.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    Error, Loss, MAX_SIZE,
    schema::{Normalizer, Object, are_texts, plain, shape, text},
};

/// A CustomResourceDefinition whose names and schemas are valid.
#[derive(Clone, Debug)]
pub struct Crd {
    /// The API group.
    pub group: String,
    /// The names of the kind.
    pub names: Names,
    /// Whether objects are in namespaces.
    pub namespaced: bool,
    /// The versions, in their order.
    pub versions: Vec<Version>,
    /// How objects are converted between versions: `None` or `Webhook`.
    pub conversion: String,
    /// The approval of an API in a group of Kubernetes, which the API server requires there.
    pub(crate) approval: Option<String>,
    /// What cannot be kept of the definition.
    pub(crate) losses: Vec<Loss>,
}

/// The names of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The kind, such as `Certificate`.
    pub kind: String,
    /// The plural in paths, such as `certificates`.
    pub plural: String,
    /// The singular that kubectl accepts.
    pub singular: String,
    /// The kind of lists, such as `CertificateList`.
    pub list: String,
    /// The short names that kubectl accepts.
    pub short: Vec<String>,
    /// The categories that kubectl accepts.
    pub categories: Vec<String>,
}

/// A version of a kind.
#[derive(Clone, Debug)]
pub struct Version {
    /// The name, such as `v1beta1`.
    pub name: String,
    /// Whether the API server serves it.
    pub served: bool,
    /// Whether objects are stored in it.
    pub storage: bool,
    /// The warning for users of the version; empty if it is deprecated without one.
    pub deprecated: Option<String>,
    /// Whether status is written on its own.
    pub(crate) status: bool,
    pub(crate) scale: Option<Value>,
    pub(crate) columns: Vec<Value>,
    pub(crate) selectable: Vec<String>,
    pub(crate) schema: Object,
}

impl Crd {
    /// The approval of an API in a group of Kubernetes: the value of `api-approved.kubernetes.io`.
    pub fn approval(&self) -> Option<&str> {
        self.approval.as_deref()
    }

    /// The definition without what only a CRD says, and nothing in Rust.
    pub(crate) fn plain(&self) -> Crd {
        let names = Names {
            singular: self.names.kind.to_ascii_lowercase(),
            list: format!("{}List", self.names.kind),
            short: Vec::new(),
            categories: Vec::new(),
            ..self.names.clone()
        };
        Crd {
            names,
            versions: self.versions.iter().map(Version::plain).collect(),
            approval: None,
            losses: Vec::new(),
            ..self.clone()
        }
    }
}

impl Version {
    fn plain(&self) -> Version {
        let properties = self.schema.get("properties");
        Version {
            served: true,
            deprecated: None,
            // kube's derive has a field for a status, whether or not it is a subresource.
            status: properties.is_some_and(|properties| properties.get("status").is_some()),
            scale: None,
            columns: Vec::new(),
            selectable: Vec::new(),
            schema: shape(&self.schema),
            ..self.clone()
        }
    }
}

/// The annotation with the approval of an API in a group of Kubernetes.
pub(crate) const APPROVAL: &str = "api-approved.kubernetes.io";

/// The annotation with the kind of lists, for which kube's derive has no attribute. `operator_runtime::Crds` takes it away
/// and writes `listKind`.
pub(crate) const LIST_KIND: &str = "operator-runtime/list-kind";

/// Reads a CustomResourceDefinition.
///
/// # Errors
/// If the value is something else, if a name is none that Kubernetes accepts, or if a schema is invalid or too
/// large.
pub fn read(definition: &Value) -> Result<Crd, Error> {
    let api = definition["apiVersion"].as_str().unwrap_or_default();
    let kind = definition["kind"].as_str().unwrap_or_default();
    if (api, kind) != ("apiextensions.k8s.io/v1", "CustomResourceDefinition") {
        return Err(Error::NotADefinition(format!(
            "it is a `{kind}` of `{api}`"
        )));
    }
    if definition.to_string().len() > MAX_SIZE {
        return Err(Error::Large);
    }
    let types: [(_, HasType); 5] = [
        (TEXTS, Value::is_string),
        (FLAGS, Value::is_boolean),
        (OBJECTS, Value::is_object),
        (MAPS, are_texts),
        (NUMBERS, |value| {
            value.as_i64().is_some_and(|it| i32::try_from(it).is_ok())
        }),
    ];
    for (fields, has_type) in types {
        for field in fields {
            let keys: Vec<_> = field.split('.').collect();
            if !every(definition, &keys, has_type) {
                return Err(Error::Field((*field).to_owned()));
            }
        }
    }
    let spec = &definition["spec"];
    let group = string(spec, "group", "spec.group")?;
    named("spec.group", &group, is_domain)?;
    let mut crd = Crd {
        group,
        names: names(&spec["names"])?,
        namespaced: match string(spec, "scope", "spec.scope")?.as_str() {
            "Namespaced" => true,
            "Cluster" => false,
            _ => return Err(Error::Field("spec.scope".to_owned())),
        },
        versions: Vec::new(),
        conversion: spec["conversion"]["strategy"]
            .as_str()
            .unwrap_or("None")
            .to_owned(),
        approval: definition["metadata"]["annotations"][APPROVAL]
            .as_str()
            .map(str::to_owned),
        losses: Vec::new(),
    };
    lose_names(spec, &mut crd);
    let mut normalizer = Normalizer::new();
    for value in spec["versions"].as_array().into_iter().flatten() {
        let version = version(value, &mut normalizer)?;
        crd.versions.push(version);
    }
    if crd.versions.is_empty() {
        return Err(Error::Field("spec.versions".to_owned()));
    }
    crd.losses
        .extend(normalizer.unknown.into_iter().map(|it| Loss {
            path: it.path,
            keyword: it.keyword,
            why: "the API server does not know the keyword".to_owned(),
        }));
    Ok(crd)
}

type HasType = fn(&Value) -> bool;

// The fields around the schemas, by type (CustomResourceDefinitionSpec of `apiextensions.k8s.io/v1`). `[]` is each element of a list.
const TEXTS: &[&str] = &[
    "spec.group",
    "spec.scope",
    "spec.conversion.strategy",
    "spec.names.kind",
    "spec.names.plural",
    "spec.names.singular",
    "spec.names.listKind",
    "spec.names.shortNames.[]",
    "spec.names.categories.[]",
    "spec.versions.[].name",
    "spec.versions.[].deprecationWarning",
    "spec.versions.[].subresources.scale.specReplicasPath",
    "spec.versions.[].subresources.scale.statusReplicasPath",
    "spec.versions.[].subresources.scale.labelSelectorPath",
    "spec.versions.[].selectableFields.[].jsonPath",
    "spec.versions.[].additionalPrinterColumns.[].name",
    "spec.versions.[].additionalPrinterColumns.[].type",
    "spec.versions.[].additionalPrinterColumns.[].jsonPath",
    "spec.versions.[].additionalPrinterColumns.[].description",
    "spec.versions.[].additionalPrinterColumns.[].format",
];

const FLAGS: &[&str] = &[
    "spec.preserveUnknownFields",
    "spec.versions.[].served",
    "spec.versions.[].storage",
    "spec.versions.[].deprecated",
];

const OBJECTS: &[&str] = &[
    "spec.versions.[].schema",
    "spec.versions.[].subresources.status",
];

const MAPS: &[&str] = &["metadata.annotations"];

/// Of 32 bits.
const NUMBERS: &[&str] = &["spec.versions.[].additionalPrinterColumns.[].priority"];

/// Whether every value at a path has a type. What is absent or null has each, but an element of a list.
fn every(value: &Value, path: &[&str], has_type: HasType) -> bool {
    match path {
        _ if value.is_null() => true,
        [] => has_type(value),
        ["[]", rest @ ..] => value.as_array().is_some_and(|elements| {
            let mut elements = elements.iter();
            elements.all(|element| !element.is_null() && every(element, rest, has_type))
        }),
        [key, rest @ ..] => {
            value.is_object() && every(value.get(key).unwrap_or(&Value::Null), rest, has_type)
        }
    }
}

/// Lists what kube's derive cannot say about a kind.
fn lose_names(spec: &Value, crd: &mut Crd) {
    if spec["names"]["shortNames"]
        .as_array()
        .is_some_and(|all| all.len() > crd.names.short.len())
    {
        crd.losses.push(Loss {
            path: "spec.names".to_owned(),
            keyword: "shortNames".to_owned(),
            why: "a short name is there twice, which means the same as once".to_owned(),
        });
    }
    if spec["preserveUnknownFields"] == Value::Bool(true) {
        crd.losses.push(Loss {
            path: "spec".to_owned(),
            keyword: "preserveUnknownFields".to_owned(),
            why: "the API server accepts it only from older definitions".to_owned(),
        });
    }
}

fn names(names: &Value) -> Result<Names, Error> {
    let kind = string(names, "kind", "spec.names.kind")?;
    named("spec.names.kind", &kind, is_kind)?;
    let plural = string(names, "plural", "spec.names.plural")?;
    named("spec.names.plural", &plural, is_label)?;
    let singular = names["singular"].as_str().filter(|it| !it.is_empty());
    let singular = singular.map_or_else(|| kind.to_lowercase(), str::to_owned);
    named("spec.names.singular", &singular, is_label)?;
    let list = names["listKind"].as_str().filter(|it| !it.is_empty());
    let list = list.map_or_else(|| format!("{kind}List"), str::to_owned);
    named("spec.names.listKind", &list, is_kind)?;
    let mut seen = BTreeSet::new();
    let mut short = strings(&names["shortNames"]);
    short.retain(|name| seen.insert(name.clone()));
    let categories = strings(&names["categories"]);
    for name in short.iter().chain(&categories) {
        named("spec.names", name, is_label)?;
    }
    Ok(Names {
        kind,
        plural,
        singular,
        list,
        short,
        categories,
    })
}

fn version(value: &Value, normalizer: &mut Normalizer) -> Result<Version, Error> {
    let name = string(value, "name", "spec.versions[].name")?;
    named("spec.versions[].name", &name, is_label)?;
    let schema = &value["schema"]["openAPIV3Schema"];
    let mut path = format!("{name} ");
    let schema = normalizer.schema(schema, &mut path, 0)?;
    if text(&schema, "type") != Some("object") {
        return Err(Error::Schema {
            path,
            why: "the root is not of type object".to_owned(),
        });
    }
    let subresources = &value["subresources"];
    let deprecated = value["deprecated"] == Value::Bool(true);
    let warning = value["deprecationWarning"].as_str().unwrap_or_default();
    let selectable = value["selectableFields"].as_array().into_iter().flatten();
    let columns = value["additionalPrinterColumns"].as_array();
    Ok(Version {
        served: value["served"] == Value::Bool(true),
        storage: value["storage"] == Value::Bool(true),
        deprecated: deprecated.then(|| warning.to_owned()),
        status: subresources.get("status").is_some_and(Value::is_object),
        scale: subresources
            .get("scale")
            .filter(|it| it.is_object())
            .map(plain),
        columns: columns.into_iter().flatten().map(plain).collect(),
        selectable: selectable
            .filter_map(|field| Some(field["jsonPath"].as_str()?.to_owned()))
            .collect(),
        schema,
        name,
    })
}

fn string(value: &Value, key: &str, field: &str) -> Result<String, Error> {
    let text = value[key].as_str().filter(|text| !text.is_empty());
    text.map(str::to_owned)
        .ok_or_else(|| Error::Field(field.to_owned()))
}

fn strings(value: &Value) -> Vec<String> {
    let values = value.as_array().into_iter().flatten();
    let texts = values.filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

fn named(field: &'static str, name: &str, valid: fn(&str) -> bool) -> Result<(), Error> {
    if name.len() <= 253 && valid(name) {
        return Ok(());
    }
    let name = name.chars().take(100).collect();
    Err(Error::Name { field, name })
}

fn is_label(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let edges = [name.chars().next(), name.chars().next_back()];
    name.len() <= 63
        && name.chars().all(inner)
        && edges.iter().all(|edge| edge.is_some_and(|c| c != '-'))
}

fn is_domain(name: &str) -> bool {
    name.split('.').all(is_label)
}

/// A kind is a DNS label once it is in lower case, and begins with a letter.
fn is_kind(name: &str) -> bool {
    is_label(&name.to_ascii_lowercase()) && name.starts_with(|c: char| c.is_ascii_alphabetic())
}
