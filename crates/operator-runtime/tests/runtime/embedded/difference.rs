//! The differences between two schemas, keyword by keyword.

use std::collections::BTreeSet;

use serde_json::Value;

/// A keyword that differs between two schemas.
#[derive(Debug)]
#[allow(dead_code, reason = "`Debug` reads the fields")]
pub struct Difference {
    pub path: String,
    pub keyword: String,
    pub go: Value,
    pub rust: Value,
}

/// Descriptions are ignored: Go has the comments of its sources, k8s-openapi those of the API's
/// documentation.
pub fn differences(path: &str, go: &Value, rust: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(path, go, rust, &mut found);
    found
}

fn compare(path: &str, go: &Value, rust: &Value, found: &mut Vec<Difference>) {
    for keyword in keys(go, rust) {
        let [of_go, of_rust] = [go, rust].map(|schema| schema.get(keyword).unwrap_or(&Value::Null));
        let mut differ = |path: String, keyword: &str, go: &Value, rust: &Value| {
            found.push(Difference {
                path,
                keyword: keyword.to_owned(),
                go: go.clone(),
                rust: rust.clone(),
            });
        };
        match keyword {
            "description" => {}
            "properties" => {
                for name in keys(of_go, of_rust) {
                    let path = format!("{path}.{name}");
                    match (of_go.get(name), of_rust.get(name)) {
                        (Some(go), Some(rust)) => compare(&path, go, rust, found),
                        (go, rust) => {
                            let [go, rust] = [go, rust].map(|of| of.is_some().into());
                            found.push(Difference {
                                path,
                                keyword: keyword.to_owned(),
                                go,
                                rust,
                            });
                        }
                    }
                }
            }
            "items" | "additionalProperties" if of_go.is_object() && of_rust.is_object() => {
                compare(&format!("{path}[]"), of_go, of_rust, found);
            }
            _ if normal(of_go) == normal(of_rust) => {}
            _ => differ(path.to_owned(), keyword, of_go, of_rust),
        }
    }
}

fn keys<'a>(a: &'a Value, b: &'a Value) -> BTreeSet<&'a str> {
    let objects = [a, b].into_iter().filter_map(Value::as_object);
    objects
        .flat_map(|object| object.keys().map(String::as_str))
        .collect()
}

/// `1` equals `1.0`, as in JSON.
fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().into(),
        Value::Array(all) => all.iter().map(normal).collect(),
        _ => value.clone(),
    }
}
