//! What a default value tells of the values that may take its place.

use helm_render::values::Table;
use serde_json::Value as Json;

use super::{
    merge::{Of, either},
    node::{Node, Object, Rest, Shape},
    progress::{NODE_BYTES, Progress},
};

/// Adds to a node what a default value tells of the parts that it says nothing of.
pub(super) fn fill(node: &mut Node, key: &str, value: &Json, progress: &mut Progress) {
    match (&mut node.shape, value) {
        (Shape::Unsaid, _) => {
            let description = node.description.take();
            let checks = std::mem::take(&mut node.checks);
            *node = Node {
                description,
                checks,
                ..infer(key, value, progress)
            };
        }
        (Shape::Object(object), Json::Object(values)) => fill_object(object, values, progress),
        _ => {}
    }
}

/// Adds to an object what default values tell of its fields.
pub(super) fn fill_object(object: &mut Object, values: &Table, progress: &mut Progress) {
    for (name, value) in values {
        if progress.is_over() {
            return;
        }
        match object.properties.get_mut(name) {
            Some(node) => progress.within(name, |progress| fill(node, name, value, progress)),
            None if object.rest == Rest::Accepted => {
                let node = progress.within(name, |progress| infer(name, value, progress));
                object.properties.insert(name.clone(), node);
            }
            None => {}
        }
    }
}

/// What a value tells of those that may take its place.
pub(super) fn infer(key: &str, value: &Json, progress: &mut Progress) -> Node {
    progress.is_inferred = true;
    guess(key, value, false, progress)
}

fn guess(key: &str, value: &Json, is_amount: bool, progress: &mut Progress) -> Node {
    let node = progress.node(NODE_BYTES, |progress| match value {
        Json::Null => Shape::Anything.into(),
        Json::Bool(_) => Shape::Boolean.into(),
        Json::Number(number) => of_number(key, number.is_f64(), is_amount).into(),
        Json::String(text) => of_text(key, text, is_amount).into(),
        Json::Array(items) => of_items(key, items, progress),
        Json::Object(values) => of_table(key, values, progress),
    });
    node.unwrap_or(Shape::Anything.into())
}

fn of_number(key: &str, is_float: bool, is_amount: bool) -> Shape {
    match is_float {
        _ if is_amount && (is_float || is_cpu(key)) => Shape::Anything,
        true => Shape::Number,
        false if is_amount || takes_both(key) => Shape::IntOrText,
        false => Shape::Integer,
    }
}

fn of_text(key: &str, text: &str, is_amount: bool) -> Shape {
    let is_number = is_quantity(text);
    // People write `true`, `0.5` and `cpu: 0.5` without quotes as well.
    let is_anything = matches!(text, "true" | "false")
        || is_number && text.contains('.')
        || is_cpu(key) && (is_number || is_amount);
    match is_anything {
        true => Shape::Anything,
        false if text.is_empty() || is_number || is_amount || takes_both(key) => Shape::IntOrText,
        false => Shape::Text,
    }
}

fn of_items(key: &str, items: &[Json], progress: &mut Progress) -> Node {
    let key = key.strip_suffix('s').unwrap_or(key);
    let items = progress.within("[]", |progress| {
        let mut nodes = items.iter().map(|item| guess(key, item, false, progress));
        nodes.by_ref().reduce(|a, b| either(a, b, Of::Samples))
    });
    Node::list(items.unwrap_or(Shape::Anything.into()))
}

fn of_table(key: &str, values: &Table, progress: &mut Progress) -> Node {
    let is_text = |value: &Json| value.is_string() || value.is_null();
    if holds_texts(key) && values.values().all(is_text) {
        return Node::map(Shape::Text.into());
    }
    let is_amount = matches!(key, "limits" | "requests");
    let mut object = Object::default();
    for (name, value) in values {
        if progress.is_over() {
            break;
        }
        let node = progress.within(name, |progress| guess(name, value, is_amount, progress));
        object.properties.insert(name.clone(), node);
    }
    object.into()
}

fn is_cpu(key: &str) -> bool {
    key.to_ascii_lowercase().ends_with("cpu")
}

/// Whether values of the key are numbers to some and texts to others.
fn takes_both(key: &str) -> bool {
    const ENDS: [&str; 7] = [
        "port",
        "Port",
        "axUnavailable",
        "axSurge",
        "inAvailable",
        "tag",
        "Tag",
    ];
    ENDS.iter().any(|end| key.ends_with(end))
}

/// Whether the values in a table of that key are texts by the rules of Kubernetes.
fn holds_texts(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let ends = ["annotations", "labels", "nodeselector"];
    ends.iter().any(|end| key.ends_with(end))
}

/// Whether a text is a number or a quantity of Kubernetes, such as `8Gi`.
fn is_quantity(text: &str) -> bool {
    let number = text.trim_start_matches(['+', '-']);
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let unit = number.trim_start_matches(is_part);
    let number = &number[..number.len() - unit.len()];
    let is_number = number.parse::<f64>().is_ok();
    let is_exponent = || {
        let power = unit.strip_prefix(['e', 'E']);
        power.is_some_and(|it| it.parse::<i32>().is_ok())
    };
    const UNITS: [&str; 16] = [
        "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
    ];
    is_number && (UNITS.contains(&unit) || is_exponent())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values() {
        let check = |key: &str, value: Json, words: &str| {
            let node = infer(key, &value, &mut Progress::new());
            assert_eq!(node.words(), words, "{key}: {value}");
        };
        check("a", json!(null), "anything");
        check("a", json!(true), "true or false");
        check("a", json!(3), "whole number");
        check("a", json!(0.5), "number");
        check("a", json!("x"), "text");
        check("a", json!("true"), "anything");
        check("a", json!(""), "text or whole number");
        check("a", json!("8080"), "text or whole number");
        check("a", json!("8Gi"), "text or whole number");
        check("a", json!("1e3"), "text or whole number");
        check("a", json!("0.5"), "anything");
        check("a", json!("1.2.3"), "text");
        check("cpu", json!("100m"), "anything");
        check("imageTag", json!("v1"), "text or whole number");
        check("nodePort", json!(80), "text or whole number");
        check("ports", json!([80]), "list of text or whole number");
        check("maxSurge", json!("25%"), "text or whole number");
        check("a", json!([]), "list of anything");
        check("a", json!(["x", "y"]), "list of text");
        check("a", json!(["x", 1]), "list of text or whole number");
        check("a", json!(["x", true]), "list of anything");
        check("a", json!([[1], [0.5]]), "list of list of number");
        check("a", json!({}), "object");
        check("podLabels", json!({}), "map of text");
        check("labels", json!({"enabled": true}), "object");
        check("nodeSelector", json!({"a": "b"}), "map of text");
    }

    #[test]
    fn objects_in_lists_are_one() {
        let value =
            json!([{"a": 1, "b": "x"}, {"a": "y", "c": {"limits": {"cpu": 1, "memory": 2}}}]);
        let node = infer("x", &value, &mut Progress::new());
        let Shape::List(items) = node.shape else {
            panic!("no list");
        };
        let fields = &items.object().unwrap().properties;
        assert_eq!(fields["a"].words(), "text or whole number");
        assert_eq!(fields["b"].words(), "text");
        let limits = &fields["c"].object().unwrap().properties["limits"];
        assert_eq!(
            limits.object().unwrap().properties["cpu"].words(),
            "anything"
        );
    }
}
