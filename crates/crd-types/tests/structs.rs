//! Structs for schemas that were chosen.

use crd_types::{ORDER, TYPE, structs};
use serde_json::{Value, json};

fn spec(properties: Value, order: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, ORDER: order })
}

#[test]
fn rules_of_a_type_are_not_repeated_at_its_fields() {
    let mut source = spec(json!({ "url": { "type": "string" } }), &["url"]);
    source[TYPE] = json!("Source");
    source["x-kubernetes-validations"] = json!([
        { TYPE: true, "rule": "!has(oldSelf.url) || has(self.url)", "message": "url cannot be removed" },
        { "rule": "self == oldSelf", "message": "source cannot change" },
    ]);
    let made = structs(
        "Page",
        &[],
        &spec(json!({ "source": source }), &["source"]),
        &Value::Null,
    );
    assert_eq!(
        made.spec.fields,
        "    #[serde(skip_serializing_if = \"Option::is_none\")]\n    \
             #[x_kube(validation = Rule::new(\"self == oldSelf\").message(\"source cannot change\"))]\n    \
             pub source: Option<Source>,\n"
    );
    assert!(
        made.others.contains("url cannot be removed"),
        "{}",
        made.others
    );
}

#[test]
fn fields_have_the_order_that_was_chosen_and_names_that_are_free() {
    let letters = json!({ "type": "string", "enum": ["A", "B"] });
    let properties = json!({ "size": { "type": "integer", "format": "int32" }, "reason": letters, "mode": letters });
    let order = ["size", "reason", "mode"];
    let made = structs("Page", &["Mode"], &spec(properties, &order), &Value::Null);
    let names: Vec<_> = made
        .spec
        .values
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, order);
    // kube's derive imports a `Reason`, and the file has a `Mode`.
    for name in ["SpecReason", "SpecMode"] {
        assert!(
            made.others.contains(&format!("pub enum {name} {{")),
            "{}",
            made.others
        );
    }
}
