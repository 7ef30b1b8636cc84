//! The differences between two CustomResourceDefinitions.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::{
    Error,
    definition::{Crd, Version, read},
};

/// A difference between two definitions.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where it is, as the keys from the root.
    pub path: String,
    /// The value in the first definition.
    pub first: Option<Value>,
    /// The value in the second definition.
    pub second: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: &Option<Value>| {
            let text = value
                .as_ref()
                .map_or("nothing".to_owned(), Value::to_string);
            text.chars().take(200).collect::<String>()
        };
        write!(
            f,
            "{}: {} and {}",
            self.path,
            show(&self.first),
            show(&self.second)
        )
    }
}

/// Compares two definitions keyword by keyword. The order of fields, and what the API server defaults, make no
/// difference; neither does metadata.
///
/// # Errors
/// If one of the values is no definition.
pub fn differences(first: &Value, second: &Value) -> Result<Vec<Difference>, Error> {
    let (first, second) = (normal(&read(first)?), normal(&read(second)?));
    let mut differences = Vec::new();
    compare(
        Some(&first),
        Some(&second),
        &mut String::new(),
        &mut differences,
    );
    Ok(differences)
}

/// A definition as a value in normal form.
fn normal(crd: &Crd) -> Value {
    let versions = crd.versions.iter().map(|it| (it.name.clone(), version(it)));
    json!({
        "group": crd.group,
        "kind": crd.names.kind,
        "plural": crd.names.plural,
        "singular": crd.names.singular,
        "listKind": crd.names.list,
        "shortNames": crd.names.short,
        "categories": crd.names.categories,
        "namespaced": crd.namespaced,
        "approval": crd.approval,
        "versions": versions.collect::<Map<_, _>>(),
    })
}

fn version(version: &Version) -> Value {
    let columns = version.columns.iter().cloned().map(|mut column| {
        if let Some(column) = column.as_object_mut() {
            let is_default =
                |value: &Value| *value == json!(0) || *value == json!("") || value.is_null();
            column.retain(|_, value| !is_default(value));
        }
        column
    });
    json!({
        "served": version.served,
        "storage": version.storage,
        "deprecated": version.deprecated,
        "status": version.status,
        "scale": version.scale,
        "columns": columns.collect::<Vec<_>>(),
        "selectable": version.selectable,
        "schema": version.schema,
    })
}

fn compare(
    first: Option<&Value>,
    second: Option<&Value>,
    path: &mut String,
    differences: &mut Vec<Difference>,
) {
    match (first, second) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let more = b.keys().filter(|key| !a.contains_key(*key));
            for key in a.keys().chain(more) {
                let whole = path.len();
                path.push('/');
                path.push_str(key);
                compare(a.get(key), b.get(key), path, differences);
                path.truncate(whole);
            }
        }
        _ if equal(first, second) => {}
        _ if path.ends_with("/enum") && equal_sets(first, second) => {}
        _ => differences.push(Difference {
            path: path.clone(),
            first: first.cloned(),
            second: second.cloned(),
        }),
    }
}

/// Whether two values are equal; the API server reads every number as a float.
fn equal(first: Option<&Value>, second: Option<&Value>) -> bool {
    match (first, second) {
        (Some(Value::Number(a)), Some(Value::Number(b))) => a.as_f64() == b.as_f64(),
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(Some(a), Some(b)))
        }
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let same = |(key, a): (&String, &Value)| {
                let (a, b) = (Some(a), b.get(key));
                equal(a, b) || key == "enum" && equal_sets(a, b)
            };
            a.len() == b.len() && a.iter().all(same)
        }
        _ => first == second,
    }
}

/// Whether two lists have the same values.
fn equal_sets(first: Option<&Value>, second: Option<&Value>) -> bool {
    let sorted = |value: Option<&Value>| {
        let mut values = value.and_then(Value::as_array).cloned().unwrap_or_default();
        values.sort_by_cached_key(Value::to_string);
        values
    };
    sorted(first) == sorted(second)
}
