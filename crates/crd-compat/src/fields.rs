//! The fields of a schema: names, types, required and unknown fields, defaults, merge strategies.

use super::{Findings, defaults, limits, rule, schema::Schema, step};

/// Compares two schemas and everything below them.
pub fn compare(before: &Schema, after: &Schema, findings: &mut Findings) {
    if !shape(before, after, findings) {
        return;
    }
    let around = findings.checks.len();
    let checks = defaults::checks(after).filter(|rule| !findings.checks.contains(rule));
    let checks: Vec<_> = checks.collect();
    findings.checks.extend(checks);
    limits::compare(before, after, findings);
    default(before, after, findings);
    defaults::compare(before, after, findings);
    required(before, after, findings);
    unknown(before, after, findings);
    if before.embedded_resource != after.embedded_resource {
        let what = match after.embedded_resource {
            true => "is now an embedded resource",
            false => "is no longer an embedded resource",
        };
        findings.add(&rule::EMBEDDED_RESOURCE_CHANGED, what);
    }
    merging(before, after, findings);
    let any = Schema::any();
    if let Some(new) = &after.items {
        let old = before.items.as_deref().unwrap_or(&any);
        findings.below("[]", |findings| compare(old, new, findings));
    }
    properties(before, after, findings);
    findings.checks.truncate(around);
}

/// Compares the types; false if the schemas have nothing in common to compare further.
fn shape(before: &Schema, after: &Schema, findings: &mut Findings) -> bool {
    if before.nullable && !after.nullable {
        findings.add(&rule::NULLABLE_REMOVED, "may no longer be `null`");
    }
    if !before.nullable && after.nullable {
        findings.add(&rule::NULLABLE_ADDED, "may now be `null`");
    }
    let (old, new) = (before.shape(), after.shape());
    if old == new {
        return true;
    }
    let rule = match (old, new) {
        (_, "") | ("integer", "number") | ("integer" | "string", "int-or-string") => {
            &rule::TYPE_WIDENED
        }
        _ => &rule::TYPE_CHANGED,
    };
    let describe = |shape| match shape {
        "" => "of any type".to_owned(),
        "int-or-string" => "`integer` or `string`".to_owned(),
        name => format!("`{name}`"),
    };
    let what = format!("was {}, now {}", describe(old), describe(new));
    findings.add(rule, what);
    *rule == rule::TYPE_WIDENED
}

fn default(before: &Schema, after: &Schema, findings: &mut Findings) {
    let [old, new] = [before, after].map(|schema| schema.default.as_ref().map(limits::show));
    let what = match (old, new) {
        _ if before.default == after.default => return,
        (Some(old), Some(new)) => format!("default was {old}, now {new}"),
        (None, Some(new)) => format!("now has the default {new}"),
        (Some(old), None) => format!("no longer has a default; it was {old}"),
        (None, None) => return,
    };
    findings.add(&rule::DEFAULT_CHANGED, what);
}

fn required(before: &Schema, after: &Schema, findings: &mut Findings) {
    let has_default = |schema: &Schema, name: &str| {
        let field = schema.properties.get(name);
        field.is_some_and(|field| field.default.is_some())
    };
    let is_resource = findings.place.path.is_empty();
    // Every object has these fields.
    let is_there = |name: &str| match name {
        "apiVersion" | "kind" => is_resource || after.embedded_resource,
        "metadata" => is_resource,
        _ => false,
    };
    for name in &after.required {
        let what = match before.required.contains(name) {
            _ if has_default(after, name) || is_there(name) => continue,
            false => "is now required",
            true if has_default(before, name) => "is required, and no longer has a default",
            true => continue,
        };
        findings.field(name, |it| it.add(&rule::REQUIRED_ADDED, what));
    }
    for name in before.required.difference(&after.required) {
        if after.properties.contains_key(name) {
            let what = "is no longer required";
            findings.field(name, |it| it.add(&rule::REQUIRED_REMOVED, what));
        }
    }
}

/// Compares how fields without a schema are handled.
fn unknown(before: &Schema, after: &Schema, findings: &mut Findings) {
    if after.keeps_unknown() || after.map_values().is_some() {
        return;
    }
    if before.keeps_unknown() {
        let what = "no longer preserves unknown fields";
        findings.add(&rule::PRESERVE_UNKNOWN_REMOVED, what);
    } else if before.map_values().is_some() {
        let what = "is no longer a map";
        findings.add(&rule::ADDITIONAL_PROPERTIES_REMOVED, what);
    }
}

/// Compares how server-side apply merges the value.
fn merging(before: &Schema, after: &Schema, findings: &mut Findings) {
    let quoted = |it: &Option<String>, default| {
        let text = it.as_deref().unwrap_or(default);
        Some(format!("`{text}`"))
    };
    let [old, new] = [before, after].map(|schema| quoted(&schema.list_type, "atomic"));
    let keys = |schema: &Schema| {
        let keys = schema.list_map_keys.iter().map(|key| format!("`{key}`"));
        keys.collect::<Vec<_>>().join(", ")
    };
    if old == new && before.list_map_keys != after.list_map_keys {
        let what = format!("list map keys were {}, now {}", keys(before), keys(after));
        findings.add(&rule::LIST_MAP_KEYS_CHANGED, what);
    } else {
        let rule = match after.list_type.as_deref() {
            None | Some("atomic") => &rule::MERGE_STRATEGY_CHANGED,
            _ => &rule::LIST_TYPE_CHANGED,
        };
        findings.add_if_changed(rule, "list type", old, new);
    }
    let [old, new] = [before, after].map(|schema| quoted(&schema.map_type, "granular"));
    findings.add_if_changed(&rule::MERGE_STRATEGY_CHANGED, "map type", old, new);
}

fn properties(before: &Schema, after: &Schema, findings: &mut Findings) {
    let any = Schema::any();
    let is_resource =
        findings.place.path.is_empty() || (before.embedded_resource && after.embedded_resource);
    // Every resource has and keeps these, whatever its schema says.
    let is_known = |name: &str| is_resource && ["apiVersion", "kind", "metadata"].contains(&name);
    if is_resource {
        always_there(before, after, findings);
    }
    for (name, old) in before.properties.iter().filter(|(name, _)| !is_known(name)) {
        findings.field(name, |findings| {
            match after.properties.get(name).or(after.map_values()) {
                Some(new) if old.nullable && !new.nullable && drops_null(after, name, new) => {
                    findings.add(&rule::NULL_DROPPED, "may no longer be `null`");
                    let never_null = Schema {
                        nullable: false,
                        ..old.clone()
                    };
                    compare(&never_null, new, findings);
                }
                Some(new) => compare(old, new, findings),
                // Without a schema, a `null` and a resource are kept, too.
                None if after.keeps_unknown() => {
                    let kept = Schema {
                        nullable: old.nullable,
                        embedded_resource: old.embedded_resource,
                        ..Schema::any()
                    };
                    compare(old, &kept, findings);
                }
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
            findings.field(name, |findings| compare(unnamed, new, findings));
        }
    }
}

/// Whether an object is as valid without the field as with a `null`, which the API server drops before it applies defaults.
fn drops_null(object: &Schema, name: &str, field: &Schema) -> bool {
    let combinations = [&object.all_of, &object.any_of, &object.one_of];
    let is_checked = object.min_properties.is_some()
        || object.not.is_some()
        || combinations.iter().any(|parts| !parts.is_empty())
        || !object.validations.is_empty();
    !is_checked && field.default.is_none() && !object.required.contains(name)
}

/// Compares the strings that every resource has. A schema may restrict them, and nothing else in `metadata`; a schema that
/// does not name them leaves them unrestricted.
fn always_there(before: &Schema, after: &Schema, findings: &mut Findings) {
    for path in [
        "apiVersion",
        "kind",
        "metadata.name",
        "metadata.generateName",
    ] {
        let string = |schema: &Schema| {
            let mut steps = path.split('.');
            let field = steps.try_fold(schema, |schema, name| schema.properties.get(name));
            Schema {
                type_name: Some("string".to_owned()),
                ..field.cloned().unwrap_or_default()
            }
        };
        let steps: String = path.split('.').map(step).collect();
        findings.below(&steps, |it| compare(&string(before), &string(after), it));
    }
}

/// The words for a removed field. If exactly one new field has the same schema, it may be a renamed one.
fn removed(old: &Schema, before: &Schema, after: &Schema) -> String {
    let is_new = |name: &String| !before.properties.contains_key(name);
    let new = after.properties.iter();
    let mut alike = new.filter(|(name, new)| is_new(name) && *new == old);
    match (alike.next(), alike.next()) {
        (Some((name, _)), None) => format!("was removed, or renamed to `{name}`"),
        _ => "was removed".to_owned(),
    }
}
