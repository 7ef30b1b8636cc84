//! The fields of a schema: which there are, of which type, required or not, and what is kept of others.

use super::{
    Findings, defaults, limits, rule,
    schema::{Schema, Shape},
    step, validation,
};

/// Compares two schemas and everything below them.
pub fn compare(before: &Schema, after: &Schema, findings: &mut Findings) {
    if !shape(before, after, findings) {
        return;
    }
    limits::compare(before, after, findings);
    validation::compare(before, after, findings);
    default(before, after, findings);
    defaults::compare(before, after, findings);
    required(before, after, findings);
    kept(before, after, findings);
    if before.embedded_resource != after.embedded_resource {
        let now = if after.embedded_resource {
            "is a resource of its own now"
        } else {
            "is no resource of its own any more"
        };
        findings.add(&rule::EMBEDDED_RESOURCE_CHANGED, now);
    }
    merging(before, after, findings);
    let any = Schema::any();
    if let Some(new) = &after.items {
        let old = before.items.as_deref().unwrap_or(&any);
        findings.below("[]", |findings| compare(old, new, findings));
    }
    properties(before, after, findings);
}

/// The type and `nullable`; false if there is nothing in common to compare further.
fn shape(before: &Schema, after: &Schema, findings: &mut Findings) -> bool {
    if before.nullable && !after.nullable {
        findings.add(&rule::NULLABLE_REMOVED, "may no longer be `null`");
    }
    if !before.nullable && after.nullable {
        findings.add(&rule::NULLABLE_ADDED, "may be `null` now");
    }
    let (old, new) = (before.shape(), after.shape());
    if old == new {
        return true;
    }
    let rule = match (old, new) {
        (_, Shape::Any)
        | (Shape::Type("integer"), Shape::Type("number"))
        | (Shape::Type("integer" | "string"), Shape::IntOrString) => &rule::TYPE_WIDENED,
        _ => &rule::TYPE_CHANGED,
    };
    findings.add(
        rule,
        format!("was {}, now {}", describe(old), describe(new)),
    );
    *rule == rule::TYPE_WIDENED
}

fn describe(shape: Shape<'_>) -> String {
    match shape {
        Shape::Any => "of any type".to_owned(),
        Shape::IntOrString => "`integer` or `string`".to_owned(),
        Shape::Type(name) => format!("`{name}`"),
    }
}

fn default(before: &Schema, after: &Schema, findings: &mut Findings) {
    let text = |value: &serde_json::Value| limits::show(value);
    let what = match (&before.default, &after.default) {
        (old, new) if old == new => return,
        (Some(old), Some(new)) => format!("default was {}, now {}", text(old), text(new)),
        (None, Some(new)) => format!("has the default {} now", text(new)),
        (Some(old), _) => format!("has no default any more; it was {}", text(old)),
        (None, None) => return,
    };
    findings.add(&rule::DEFAULT_CHANGED, what);
}

fn required(before: &Schema, after: &Schema, findings: &mut Findings) {
    let has_default = |schema: &Schema, name: &str| {
        schema
            .properties
            .get(name)
            .is_some_and(|field| field.default.is_some())
    };
    let is_resource = findings.place.path.is_empty();
    // What no object can be without.
    let is_there = |name: &str| match name {
        "apiVersion" | "kind" => is_resource || after.embedded_resource,
        "metadata" => is_resource,
        _ => false,
    };
    for name in after
        .required
        .iter()
        .filter(|name| !has_default(after, name) && !is_there(name))
    {
        let what = match before.required.contains(name) {
            false => "is required now",
            true if has_default(before, name) => "is required, and has no default any more",
            true => continue,
        };
        findings.below(&step(name), |findings| {
            findings.add(&rule::REQUIRED_ADDED, what)
        });
    }
    for name in before.required.difference(&after.required) {
        if after.properties.contains_key(name) {
            findings.below(&step(name), |findings| {
                findings.add(&rule::REQUIRED_REMOVED, "is no longer required")
            });
        }
    }
}

/// What becomes of fields that no schema names.
fn kept(before: &Schema, after: &Schema, findings: &mut Findings) {
    if after.keeps_unknown() || after.map_values().is_some() {
        return;
    }
    if before.keeps_unknown() {
        findings.add(
            &rule::PRESERVE_UNKNOWN_REMOVED,
            "no longer keeps fields that it does not name",
        );
    } else if before.map_values().is_some() {
        findings.add(&rule::ADDITIONAL_PROPERTIES_REMOVED, "is no map any more");
    }
}

/// How server-side apply merges it.
fn merging(before: &Schema, after: &Schema, findings: &mut Findings) {
    let list = |schema: &Schema| {
        schema
            .list_type
            .clone()
            .unwrap_or_else(|| "atomic".to_owned())
    };
    let (old, new) = (list(before), list(after));
    if old != new {
        let rule = if new == "atomic" {
            &rule::MERGE_STRATEGY_CHANGED
        } else {
            &rule::LIST_TYPE_CHANGED
        };
        findings.add(rule, format!("list type was `{old}`, now `{new}`"));
    } else if before.list_map_keys != after.list_map_keys {
        let keys = |schema: &Schema| {
            let keys: Vec<String> = schema
                .list_map_keys
                .iter()
                .map(|key| format!("`{key}`"))
                .collect();
            keys.join(", ")
        };
        let what = format!("list map keys were {}, now {}", keys(before), keys(after));
        findings.add(&rule::LIST_MAP_KEYS_CHANGED, what);
    }
    let map = |schema: &Schema| {
        schema
            .map_type
            .clone()
            .unwrap_or_else(|| "granular".to_owned())
    };
    let (old, new) = (map(before), map(after));
    if old != new {
        findings.add(
            &rule::MERGE_STRATEGY_CHANGED,
            format!("map type was `{old}`, now `{new}`"),
        );
    }
}

fn properties(before: &Schema, after: &Schema, findings: &mut Findings) {
    let any = Schema::any();
    let is_resource =
        findings.place.path.is_empty() || (before.embedded_resource && after.embedded_resource);
    // Every resource has these and keeps them, whatever its schema says.
    let is_known = |name: &str| is_resource && ["apiVersion", "kind", "metadata"].contains(&name);
    if is_resource {
        always_there(before, after, findings);
    }
    for (name, old) in before.properties.iter().filter(|(name, _)| !is_known(name)) {
        findings.below(&step(name), |findings| {
            match after.properties.get(name).or(after.map_values()) {
                Some(new) if old.nullable && !new.nullable && drops_null(after, name, new) => {
                    findings.add(&rule::NULL_DROPPED, "may no longer be `null`");
                    let old = Schema {
                        nullable: false,
                        ..old.clone()
                    };
                    compare(&old, new, findings);
                }
                Some(new) => compare(old, new, findings),
                None if after.keeps_unknown() => compare(old, &any.in_place_of(old), findings),
                None => findings.add(&rule::FIELD_REMOVED, removed(old, before, after)),
            }
        });
    }
    let unnamed = before
        .map_values()
        .or(before.keeps_unknown().then_some(&any));
    let Some(unnamed) = unnamed else { return };
    if let Some(new) = after.map_values() {
        findings.below("[*]", |findings| compare(unnamed, new, findings));
    }
    for (name, new) in &after.properties {
        if !before.properties.contains_key(name) && !is_known(name) {
            findings.below(&step(name), |findings| compare(unnamed, new, findings));
        }
    }
}

/// Whether an object without the field is as good as one with a null, which the API server drops before it fills in defaults.
fn drops_null(object: &Schema, name: &str, field: &Schema) -> bool {
    let judges = object.min_properties.is_some()
        || object.not.is_some()
        || [&object.all_of, &object.any_of, &object.one_of]
            .iter()
            .any(|all| !all.is_empty())
        || !object.validations.is_empty();
    !judges && field.default.is_none() && !object.required.contains(name)
}

/// The strings that every resource has: a schema may restrict them, and is as good as one that does not where it names
/// them not. Of the metadata nothing else can be restricted.
fn always_there(before: &Schema, after: &Schema, findings: &mut Findings) {
    for path in [
        &["apiVersion"][..],
        &["kind"],
        &["metadata", "name"],
        &["metadata", "generateName"],
    ] {
        let string = |schema: &Schema| {
            let field = path
                .iter()
                .try_fold(schema, |schema, name| schema.properties.get(*name));
            let mut field = field.cloned().unwrap_or_default();
            field.type_name = Some("string".to_owned());
            field
        };
        let steps: String = path.iter().map(|name| step(name)).collect();
        findings.below(&steps, |findings| {
            compare(&string(before), &string(after), findings)
        });
    }
}

/// A field that is new beside a removed one, and the only one of the same schema, may be the same under another name.
fn removed(old: &Schema, before: &Schema, after: &Schema) -> String {
    let new = after
        .properties
        .iter()
        .filter(|(name, _)| !before.properties.contains_key(*name));
    let mut alike = new.filter(|(_, new)| *new == old);
    match (alike.next(), alike.next()) {
        (Some((name, _)), None) => format!("was removed, or renamed to `{name}`"),
        _ => "was removed".to_owned(),
    }
}
