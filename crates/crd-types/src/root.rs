//! The root of a kind: what `#[kube(…)]` says, and the schema around spec and status.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    Loss, Options,
    attributes::{UNREAD, unread, unread_in},
    definition::{APPROVAL, Crd, LIST_KIND, Version},
    literal,
    meta::{self, Meta},
    name,
    schema::{Object, is_true, text},
    types::{Body, Types, is_choice, is_struct},
};

/// The properties that every object has.
const OF_OBJECTS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// How the properties of a root are divided among Rust types.
pub(crate) struct Root {
    /// The name of the root type.
    pub name: String,
    /// The struct that kube derives the root type from.
    pub derived: usize,
    /// Whether that struct has the root's properties, instead of those of `spec`.
    pub is_flat: bool,
    /// Whether objects without `spec` are read as if theirs were the default.
    pub is_spec_optional: bool,
    /// The type of status.
    pub status: Status,
}

/// The type of status.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// There is no status subresource.
    None,
    /// A generated struct.
    Own(usize),
    /// Any fields.
    Open,
    /// None: the API server drops each status.
    Dropped,
}

/// Divides the properties of a version's root.
pub(crate) fn divide(version: &Version, types: &mut Types, name: &str) -> Root {
    let empty = Object::new();
    let properties = version.schema.get("properties").and_then(Value::as_object);
    let properties = properties.unwrap_or(&empty);
    for (name, schema) in properties {
        if let Some(schema) = schema.as_object() {
            types.note(schema, &[name::camel(name)]);
        }
    }
    let part = |key: &str| properties.get(key).and_then(Value::as_object);
    let own = |schema: &&Object| is_struct(schema) && !is_true(schema, "nullable");
    let others = |key: &&String| {
        let known = OF_OBJECTS.contains(&key.as_str()) || *key == "spec";
        !known && (*key != "status" || !version.status)
    };
    let spec = part("spec").filter(own);
    let is_spec_optional = !requires(&version.schema, "spec");
    // An object without `spec` needs a default for it, or a struct around it.
    let is_flat = spec.is_none_or(|spec| is_spec_optional && !has_default(spec))
        || properties.keys().any(|key| others(&key));
    if version.status && part("status").filter(own).is_none() {
        types.names.take(&format!("{name}Status"));
    }
    let derived = match part("spec") {
        Some(spec) if !is_flat => types.of_root(spec, &["Spec".to_owned()]),
        spec => {
            let suffix = if spec.is_some() { "Fields" } else { "Spec" };
            let flat = flat(&version.schema, properties, version.status);
            let index = types.of_flat(&flat, suffix);
            types.rename_reserved(index);
            index
        }
    };
    let status = match part("status") {
        _ if !version.status => Status::None,
        Some(status) if own(&status) => Status::Own(types.of_root(status, &["Status".to_owned()])),
        Some(_) => Status::Open,
        None => Status::Dropped,
    };
    Root {
        name: name.to_owned(),
        derived,
        is_flat,
        is_spec_optional: is_spec_optional && !is_flat,
        status,
    }
}

fn requires(schema: &Object, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|it| it == name))
}

/// Whether the type of a schema certainly implements `Default`.
fn has_default(schema: &Object) -> bool {
    let properties = schema.get("properties");
    let has_one = |name: &Value| {
        let property = name.as_str().and_then(|name| properties?.get(name));
        property.and_then(Value::as_object).is_none_or(has_default)
    };
    match text(schema, "type") {
        Some("object") if is_choice(schema) => false,
        Some("object") => {
            let required = schema.get("required").and_then(Value::as_array);
            required.is_none_or(|names| names.iter().all(has_one))
        }
        Some("string") => {
            !schema.contains_key("enum") && text(schema, "format") != Some("date-time")
        }
        _ => true,
    }
}

/// The schema of a struct with the root's properties.
fn flat(root: &Object, properties: &Object, status: bool) -> Object {
    let is_field = |name: &str| !OF_OBJECTS.contains(&name) && (name != "status" || !status);
    let fields = properties.iter().filter(|(name, _)| is_field(name));
    let fields: Object = fields
        .map(|(name, schema)| (name.clone(), schema.clone()))
        .collect();
    let required = root
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let has = |name: &&Value| name.as_str().is_some_and(|name| fields.contains_key(name));
    let required: Vec<Value> = required.filter(has).cloned().collect();
    let mut flat = Object::new();
    flat.insert("properties".to_owned(), Value::Object(fields));
    flat.insert("required".to_owned(), Value::Array(required));
    flat.insert("type".to_owned(), "object".into());
    flat
}

impl Root {
    /// The name of the status type.
    pub(crate) fn status_name(&self, types: &Types) -> Option<String> {
        match self.status {
            Status::None => None,
            Status::Own(index) => Some(types.own[index].name.clone()),
            Status::Open | Status::Dropped => Some(format!("{}Status", self.name)),
        }
    }

    /// The lines of `#[kube(…)]`.
    pub(crate) fn kube(
        &self,
        crd: &Crd,
        version: &Version,
        types: &Types,
        options: &Options,
    ) -> Vec<String> {
        let names = &crd.names;
        let mut metas = vec![
            named("group", &crd.group),
            named("version", &version.name),
            named("kind", &names.kind),
        ];
        if self.name != names.kind {
            metas.push(named("root", &self.name));
        }
        metas.push(named("plural", &names.plural));
        if names.singular != names.kind.to_ascii_lowercase() {
            metas.push(named("singular", &names.singular));
        }
        metas.extend(names.short.iter().map(|name| named("shortname", name)));
        metas.extend(names.categories.iter().map(|name| named("category", name)));
        if crd.namespaced {
            metas.push(Meta::word("namespaced"));
        }
        if self.is_flat {
            metas.push(Meta::word("no_spec"));
        }
        let schema = match options.json_schema {
            true => "manual",
            false => "disabled",
        };
        metas.push(named("schema", schema));
        let description = text(&version.schema, "description").and_then(|text| text.lines().next());
        let doc = format!("{} is a resource of {}.", names.kind, crd.group);
        metas.push(named("doc", description.unwrap_or(&doc)));
        if types.own[self.derived].default {
            metas.push(named("derive", "Default"));
        }
        metas.push(named("derive", "PartialEq"));
        metas.extend(self.status_name(types).map(|name| named("status", &name)));
        metas.extend(serving(version));
        if let Some(scale) = version.scale.as_ref().filter(|_| version.status) {
            metas.push(Meta::call("scale", paths(scale)));
        }
        metas.extend(
            version
                .selectable
                .iter()
                .map(|path| named("selectable", path)),
        );
        metas.extend(
            version
                .columns
                .iter()
                .map(|column| Meta::call("printcolumn", fields(column))),
        );
        let list = Some(&names.list).filter(|list| **list != format!("{}List", names.kind));
        let annotations = [(APPROVAL, crd.approval.as_ref()), (LIST_KIND, list)];
        for (key, value) in annotations {
            if let Some(value) = value {
                let pair = [key, value.as_str()].map(|text| Meta::word(&literal::string(text)));
                metas.push(Meta::call("annotation", pair.to_vec()));
            }
        }
        meta::attribute("kube", metas, 0)
    }

    /// The implementation of serde's traits for a spec that objects may lack.
    pub(crate) fn optional_spec(&self, types: &Types) -> String {
        let name = &types.own[self.derived].name;
        format!(
            "impl<'de> Deserialize<'de> for {name} {{\n    \
                 /// The CRD requires no `spec`: an object without one has the default.\n    \
                 fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{\n        \
                     #[derive(Deserialize)]\n        \
                     struct Present(#[serde(with = \"{name}\")] {name});\n        \
                     let spec = Option::<Present>::deserialize(deserializer)?;\n        \
                     Ok(spec.map_or_else(Self::default, |Present(spec)| spec))\n    \
                 }}\n\
             }}\n\n\
             impl Serialize for {name} {{\n    \
                 fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {{\n        \
                     Self::serialize(self, serializer)\n    \
                 }}\n\
             }}\n\n"
        )
    }

    /// The implementation of `JsonSchema` for the root type.
    pub(crate) fn schema(&self, version: &Version, types: &Types) -> String {
        let name = &self.name;
        let body = match self.is_flat {
            true => self.flat_schema(version, types),
            false => self.nested_schema(version, types),
        };
        format!(
            "impl JsonSchema for {name} {{\n    \
                 fn schema_name() -> Cow<'static, str> {{\n        \
                     \"{name}\".into()\n    \
                 }}\n\n    \
                 fn json_schema(generator: &mut SchemaGenerator) -> Schema {{\n{body}    }}\n\
             }}\n"
        )
    }

    fn nested_schema(&self, version: &Version, types: &Types) -> String {
        let mut body = String::from("        json_schema!({\n            \"title\": null,\n");
        body.push_str(&mark(&version.schema));
        for (keyword, value) in &version.schema {
            if keyword == "properties" {
                body.push_str("            \"properties\": {\n");
                for (name, value) in value.as_object().into_iter().flatten() {
                    let value = self.property(name, value, types);
                    body.push_str(&format!(
                        "                {}: {value},\n",
                        literal::string(name)
                    ));
                }
                body.push_str("            },\n");
            } else {
                body.push_str(&format!(
                    "            {}: {},\n",
                    literal::string(keyword),
                    literal::json(&unread_in(keyword, value))
                ));
            }
        }
        body + "        })\n"
    }

    /// The schema of a root property, as an expression in `json_schema!`.
    fn property(&self, name: &str, value: &Value, types: &Types) -> String {
        let own = match (name, self.status) {
            ("spec", _) if !self.is_flat => Some(self.derived),
            ("status", Status::Own(index)) => Some(index),
            _ => None,
        };
        match own {
            Some(index) => format!("generator.subschema_for::<{}>()", types.own[index].name),
            None => literal::json(&unread(value)),
        }
    }

    fn flat_schema(&self, version: &Version, types: &Types) -> String {
        let derived = &types.own[self.derived];
        let mut body = String::new();
        let properties = version.schema.get("properties").and_then(Value::as_object);
        let fields: BTreeSet<&str> = match &derived.body {
            Body::Struct { fields, .. } => fields.iter().map(|it| it.name.as_str()).collect(),
            Body::Enum(_) | Body::Choice(_) => BTreeSet::new(),
        };
        let others = properties
            .into_iter()
            .flatten()
            .filter(|(name, _)| !fields.contains(name.as_str()));
        let others = others.map(|(name, value)| {
            let value = self.property(name, value, types);
            format!("            {}: {value},\n", literal::string(name))
        });
        let others: String = others.collect();
        let others = if others.is_empty() {
            others
        } else {
            format!("\n{others}        ")
        };
        body.push_str(&format!(
            "        let properties = json_schema!({{{others}}});\n"
        ));
        body.push_str("        let root = json_schema!({\n            \"title\": null,\n");
        body.push_str(&mark(&version.schema));
        body.push_str("            \"required\": null,\n");
        for (keyword, value) in version
            .schema
            .iter()
            .filter(|(keyword, _)| *keyword != "properties")
        {
            if keyword == "required" {
                body = body.replace("            \"required\": null,\n", "");
            }
            body.push_str(&format!(
                "            {}: {},\n",
                literal::string(keyword),
                literal::json(&unread_in(keyword, value))
            ));
        }
        body.push_str("        });\n");
        body.push_str(&format!(
            "        let mut schema = {}::json_schema(generator);\n        \
             let mut all = properties.as_object().cloned().unwrap_or_default();\n        \
             if let Some(Value::Object(fields)) = schema.remove(\"properties\") {{\n            \
                 all.extend(fields);\n        \
             }}\n        \
             let object = schema.ensure_object();\n        \
             object.insert(\"properties\".into(), all.into());\n        \
             object.extend(root.as_object().cloned().unwrap_or_default());\n        \
             schema\n",
            derived.name
        ));
        body
    }
}

/// The line that keeps kube from rewriting the alternatives of a root.
fn mark(schema: &Object) -> String {
    match schema.contains_key("anyOf") || schema.contains_key("oneOf") {
        true => format!("            \"contains\": {},\n", literal::string(UNREAD)),
        false => String::new(),
    }
}

/// What kube's derive cannot say about a version.
pub(crate) fn losses(version: &Version) -> Vec<Loss> {
    let mut losses = Vec::new();
    if version.scale.is_some() && !version.status {
        losses.push(Loss {
            path: version.name.clone(),
            keyword: "scale".to_owned(),
            why: "kube writes it only beside the status subresource".to_owned(),
        });
    }
    losses
}

/// The name of the root type: that of the options, or the kind's.
pub(crate) fn name(crd: &Crd, options: &Options) -> String {
    options
        .root
        .clone()
        .unwrap_or_else(|| name::root(&crd.names.kind))
}

fn serving(version: &Version) -> Vec<Meta> {
    let mut metas = Vec::new();
    if !version.served {
        metas.push(Meta::word("served = false"));
    }
    match version.deprecated.as_deref() {
        None => {}
        Some("") => metas.push(Meta::word("deprecated")),
        Some(warning) => metas.push(named("deprecated", warning)),
    }
    metas
}

fn paths(scale: &Value) -> Vec<Meta> {
    let keys = [
        ("spec_replicas_path", "specReplicasPath"),
        ("status_replicas_path", "statusReplicasPath"),
        ("label_selector_path", "labelSelectorPath"),
    ];
    let path = |(name, key): (&str, &str)| Some(named(name, scale[key].as_str()?));
    keys.into_iter().filter_map(path).collect()
}

fn fields(column: &Value) -> Vec<Meta> {
    let keys = [
        ("name", "name"),
        ("type_", "type"),
        ("json_path", "jsonPath"),
        ("description", "description"),
        ("format", "format"),
    ];
    let field = |(name, key): (&str, &str)| Some(named(name, column[key].as_str()?));
    let mut metas: Vec<_> = keys.into_iter().filter_map(field).collect();
    if let Some(priority) = column["priority"].as_i64().filter(|it| *it != 0) {
        metas.push(Meta::word(&format!("priority = {priority}")));
    }
    metas
}

fn named(name: &str, value: &str) -> Meta {
    Meta::word(&format!("{name} = {}", literal::string(value)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Options, generate, read};

    #[test]
    fn no_other_type_is_called_like_the_status() {
        let inner = json!({ "type": "object" });
        let outer = json!({ "type": "object", "properties": { "status": inner } });
        let crd = read(&json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": { "name": "things.example.com" },
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": { "kind": "Thing", "plural": "things" },
                "versions": [{
                    "name": "v1", "served": true, "storage": true, "subresources": { "status": {} },
                    // A name without letters adds nothing to the names of the types in it.
                    "schema": { "openAPIV3Schema": { "type": "object", "properties": { "{": outer } } },
                }],
            },
        }));
        let types = generate(&crd.unwrap(), "v1", &Options::default()).unwrap();
        let named = |name: &str| types.source.matches(&format!("pub struct {name} ")).count();
        assert_eq!((named("ThingStatus"), named("ThingStatus2")), (1, 1));
    }
}
