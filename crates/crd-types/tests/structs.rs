//! Structs for types that were chosen.

use crd_types::{Field, Shape, Structure, Type, structs};
use serde_json::{Value, json};

fn field(name: &str, type_: Type<Shape>, keywords: Value) -> Field {
    Field {
        name: name.to_owned(),
        type_,
        required: false,
        keywords: keywords.as_object().cloned().unwrap_or_default(),
    }
}

fn structure(fields: Vec<Field>, rules: Vec<Value>) -> Structure {
    Structure { fields, rules }
}

#[test]
fn rules_of_a_type_are_not_repeated_at_its_fields() {
    let url = field("url", Type::String, json!({}));
    let rule =
        json!({ "rule": "!has(oldSelf.url) || has(self.url)", "message": "url cannot be removed" });
    let source = Shape::Struct("Source".to_owned(), structure(vec![url], vec![rule]));
    let rules = json!([{ "rule": "self == oldSelf", "message": "source cannot change" }]);
    let keywords = json!({ "x-kubernetes-validations": rules });
    let spec = structure(
        vec![field("source", Type::Own(source), keywords)],
        Vec::new(),
    );
    let made = structs("Page", &[], &spec, &Structure::default());
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
    let letters = || Type::Own(Shape::Enum(vec!["A".to_owned(), "B".to_owned()]));
    let fields = [
        ("size", Type::Int32),
        ("reason", letters()),
        ("mode", letters()),
    ];
    let order = fields.clone().map(|(name, _)| name);
    let fields = fields.map(|(name, type_)| field(name, type_, json!({})));
    let spec = structure(fields.into(), Vec::new());
    let made = structs("Page", &["Mode"], &spec, &Structure::default());
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

#[test]
fn a_sample_has_what_is_required_and_values_of_types_of_kubernetes() {
    let required = |name: &str, type_: Type<Shape>, keywords: Value| Field {
        required: true,
        ..field(name, type_, keywords)
    };
    let secret = Type::Known("k8s_openapi::api::core::v1::SecretKeySelector");
    let port = structure(
        vec![required("number", Type::Int32, json!({ "minimum": 1 }))],
        Vec::new(),
    );
    let ports = Type::List(Box::new(Type::Own(Shape::Struct("Port".to_owned(), port))));
    let spec = structure(
        vec![
            required("secret", secret.clone(), json!({})),
            required("ports", ports, json!({ "minItems": 2 })),
            field("timeout", Type::Duration, json!({ "default": "1h" })),
            field("optional", secret, json!({})),
        ],
        Vec::new(),
    );
    assert_eq!(
        spec.sample(),
        json!({
            "ports": [{ "number": 1 }, { "number": 2 }],
            "secret": { "key": "example", "name": "example" },
            "timeout": "1h",
        })
    );
}

#[test]
fn limits_are_attributes_of_schemars_whatever_the_type_is_called() {
    let limit = json!({ "pattern": "^[0-9]+s$" });
    let list = Type::List(Box::new(Type::Duration));
    let fields = vec![
        field("timeout", Type::Duration, limit.clone()),
        field("delays", list, json!({ "items": limit })),
    ];
    let made = structs(
        "Page",
        &[],
        &structure(fields, Vec::new()),
        &Structure::default(),
    );
    for attribute in [
        r#"    #[schemars(regex(pattern = "^[0-9]+s$"))]"#,
        r#"    #[schemars(inner(regex(pattern = "^[0-9]+s$")))]"#,
    ] {
        let mut lines = made.spec.fields.lines();
        assert!(lines.any(|line| line == attribute), "{}", made.spec.fields);
    }
}
