//! The Rust type that has a field.

use k8s_openapi::schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde_json::Value;

/// The schema of a type, with references to named types.
pub(super) fn outline<K: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<K>()
}

/// The name of the type that has the field at `path`, such as `spec.ports[].name`. Types that derive `KubeSchema` have no name here.
pub(super) fn owner(root: &Schema, path: &str) -> Option<String> {
    let mut here = root.as_value();
    let mut named = here.get("title").and_then(Value::as_str);
    let mut owner = None;
    for step in path.split('.') {
        owner = named;
        let end = step.find(['[', '{']).unwrap_or(step.len());
        let (name, inside) = step.split_at(end);
        let is_own = own_field(here, name).is_some();
        (here, named) = resolved(root, field(here, name)?, named);
        for step in inside.split_inclusive([']', '}']) {
            let inner = here.get(if step == "[]" {
                "items"
            } else {
                "additionalProperties"
            });
            (here, named) = resolved(root, inner?, named);
        }
        // A variant is one of its enum; another object inside belongs to a type without a name.
        let is_inside = named == owner && here.get("properties").is_some();
        named = named.filter(|_| !(is_own && is_inside));
    }
    owner.map(str::to_owned)
}

/// The schema of a field, which may be one of a variant only.
fn field<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    own_field(schema, name).or_else(|| variants(schema).find_map(|variant| field(variant, name)))
}

fn own_field<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

/// Follows references to named types, also those of an `Option`.
fn resolved<'a>(
    root: &'a Schema,
    mut schema: &'a Value,
    mut named: Option<&'a str>,
) -> (&'a Value, Option<&'a str>) {
    let reference = |schema: &'a Value| schema.get("$ref").and_then(Value::as_str);
    loop {
        let to = reference(schema).or_else(|| variants(schema).find_map(reference));
        let Some((to, definition)) = to.and_then(|to| Some((to, root.pointer(to)?))) else {
            return (schema, named);
        };
        named = to.rsplit('/').next();
        schema = definition;
    }
}

fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    let keys = ["allOf", "anyOf", "oneOf"].into_iter();
    keys.filter_map(|key| schema.get(key)?.as_array()).flatten()
}

#[cfg(test)]
#[allow(dead_code, reason = "only the schemas of these types are used")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(schemars::JsonSchema, serde::Serialize)]
    struct Root {
        spec: Spec,
    }

    #[derive(schemars::JsonSchema, serde::Serialize)]
    struct Spec {
        size: u8,
        ports: Option<Vec<Port>>,
        named: BTreeMap<String, Port>,
    }

    #[derive(schemars::JsonSchema, serde::Serialize)]
    struct Port {
        source: Option<Source>,
        inline: Inline,
    }

    #[derive(schemars::JsonSchema, serde::Serialize)]
    #[schemars(inline)]
    struct Inline {
        field: u8,
    }

    #[derive(schemars::JsonSchema, serde::Serialize)]
    enum Source {
        Git { branch: String },
    }

    #[test]
    fn the_owner_of_a_field_is_its_struct_or_enum() {
        let root = outline::<Root>();
        let check = |path, expected| assert_eq!(owner(&root, path).as_deref(), expected, "{path}");
        check("spec", Some("Root"));
        check("spec.size", Some("Spec"));
        check("spec.ports[]", Some("Spec"));
        check("spec.ports[].source", Some("Port"));
        check("spec.named{}.source.Git", Some("Source"));
        check("spec.named{}.source.Git.branch", Some("Source"));
        check("spec.ports[].inline", Some("Port"));
        check("spec.ports[].inline.field", None);
        check("spec.none", None);
        check("", None);
    }
}
