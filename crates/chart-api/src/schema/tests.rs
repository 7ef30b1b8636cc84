mod others;
mod rules;

use helm_render::chart::File;
use serde_json::json;

use super::*;
use rules::{broken_rules, misfits};

const TOP: &str = "{apiVersion: v2, name: top, version: 1.0.0, dependencies: []}";

fn chart(files: &[(&str, &str)]) -> Chart {
    let mut files: Vec<File> = files
        .iter()
        .map(|(name, text)| File::new(*name, text.as_bytes()))
        .collect();
    if !files.iter().any(|it| it.name == "Chart.yaml") {
        files.push(File::new("Chart.yaml", TOP.as_bytes()));
    }
    Chart::from_files(files).unwrap()
}

/// The schema of a chart, which obeys the rules.
fn checked(files: &[(&str, &str)]) -> Schema {
    let schema = of(&chart(files));
    assert_eq!(broken_rules(&schema.schema), Vec::<String>::new());
    schema
}

/// Checks the schema of a field `a` whose JSON schema is given, and the end of what is noted.
fn check(given: Json, schema: Json, note: &str) {
    check_draft("", given, schema, note);
}

fn check_draft(draft: &str, given: Json, schema: Json, note: &str) {
    let whole = json!({
        "$schema": draft,
        "definitions": {
            "text": {"type": "string", "description": "d"},
            "self": {"type": "object", "properties": {"again": {"$ref": "#/definitions/self"}}},
        },
        "properties": {"a": given},
    });
    let made = checked(&[("values.schema.json", &whole.to_string())]);
    let mut field = made.schema["properties"]["a"].clone();
    let is_nullable = field.as_object_mut().unwrap().remove("nullable");
    assert_eq!(is_nullable, Some(json!(true)));
    assert_eq!(field, schema, "{given}");
    let notes = made.notes.join("\n");
    let fits = if note.is_empty() {
        notes.is_empty()
    } else {
        notes.contains(note)
    };
    assert!(fits, "{given}: {notes}");
}

#[test]
fn types() {
    let anything = json!({"x-kubernetes-preserve-unknown-fields": true});
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    check(json!({}), anything.clone(), "");
    check(json!(true), anything.clone(), "");
    check(
        json!(false),
        anything.clone(),
        "`a`: Helm refuses any value here",
    );
    check(
        json!({"type": "boolean", "title": "t"}),
        json!({"type": "boolean", "description": "t"}),
        "",
    );
    check(
        json!({"type": ["string", "null"]}),
        json!({"type": "string"}),
        "",
    );
    check(
        json!({"type": ["integer", "string"]}),
        json!({"x-kubernetes-int-or-string": true}),
        "",
    );
    check(
        json!({"type": ["boolean", "string"]}),
        anything.clone(),
        "`a`: may be of the types `boolean` and `string`",
    );
    check(json!({"type": "object"}), open.clone(), "");
    check(
        json!({"required": ["x"]}),
        json!({"type": "object", "required": ["x"], "x-kubernetes-preserve-unknown-fields": true}),
        "",
    );
    check(
        json!({"additionalProperties": false}),
        json!({"type": "object"}),
        "",
    );
    check(
        json!({"patternProperties": {"^x": {}}, "additionalProperties": false}),
        open.clone(),
        "`patternProperties` is left",
    );
    check(
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"type": "object", "additionalProperties": {"type": "string", "nullable": true}}),
        "",
    );
    check(
        json!({"properties": {"x": {"type": "integer"}}, "additionalProperties": {"type": "string"}}),
        json!({"type": "object", "properties": {"x": {"type": "integer", "nullable": true}}, "x-kubernetes-preserve-unknown-fields": true}),
        "`additionalProperties` is left",
    );
    let list = json!({"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true, "nullable": true}});
    check(json!({"type": "array"}), list.clone(), "");
    check(
        json!({"items": [{"type": "string"}]}),
        list.clone(),
        "`items` is left",
    );
    check(
        json!({"prefixItems": [{}], "uniqueItems": true}),
        list,
        "`prefixItems` and `uniqueItems` are left",
    );
}

#[test]
fn checks_of_values() {
    let text = |checks: Json| {
        let mut schema = json!({"type": "string"});
        schema
            .as_object_mut()
            .unwrap()
            .extend(checks.as_object().unwrap().clone());
        schema
    };
    check(
        json!({"enum": ["x", null]}),
        text(json!({"allOf": [{"enum": ["x"]}]})),
        "",
    );
    check(
        json!({"const": "x"}),
        text(json!({"allOf": [{"enum": ["x"]}]})),
        "",
    );
    check_draft(
        "http://json-schema.org/draft-04/schema#",
        json!({"type": "string", "const": "x"}),
        text(json!({})),
        "",
    );
    check(
        json!({"enum": [1, 2.0]}),
        json!({"type": "integer", "allOf": [{"enum": [1, 2.0]}]}),
        "",
    );
    check(
        json!({"type": "array", "items": {"type": "string"}, "enum": [["x"]]}),
        json!({"type": "array", "items": {"type": "string", "nullable": true}}),
        "`enum` is left",
    );
    check(
        json!({"type": "string", "pattern": "^a", "minLength": 1, "minimum": 2}),
        text(json!({"pattern": "^a", "minLength": 1})),
        "",
    );
    check(
        json!({"type": "string", "pattern": "(?=a)"}),
        text(json!({})),
        "`a`: `pattern` is left to Helm, which checks it when it renders",
    );
    check(
        json!({"type": "string", "format": "uri", "not": {}}),
        text(json!({})),
        "`not` and `format` are left",
    );
    check(
        json!({"type": "integer", "format": "int32", "minimum": 0.5}),
        json!({"type": "integer"}),
        "`minimum` is left",
    );
    check(
        json!({"type": "number", "minimum": 1, "exclusiveMinimum": 1, "maximum": 3, "exclusiveMaximum": 4, "multipleOf": 0.1}),
        json!({"type": "number", "minimum": 1, "exclusiveMinimum": true, "maximum": 3}),
        "`multipleOf` is left",
    );
    check(
        json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
        json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
        "",
    );
}

#[test]
fn combined() {
    let open = |properties: Json| json!({"type": "object", "properties": properties, "x-kubernetes-preserve-unknown-fields": true});
    let text = json!({"type": "string", "nullable": true});
    let anything = json!({"x-kubernetes-preserve-unknown-fields": true, "nullable": true});
    check(
        json!({"$ref": "#/definitions/text"}),
        json!({"type": "string", "description": "d"}),
        "",
    );
    let beside = json!({"$ref": "#/definitions/text", "minLength": 1});
    check(
        beside.clone(),
        json!({"type": "string", "description": "d", "minLength": 1}),
        "",
    );
    check_draft(
        "http://json-schema.org/draft-07/schema#",
        beside,
        json!({"type": "string", "description": "d"}),
        "",
    );
    check(
        json!({"$ref": "https://example.com"}),
        json!({"x-kubernetes-preserve-unknown-fields": true}),
        "`a`: what `$ref` leads to",
    );
    check(
        json!({"$ref": "#/definitions/self"}),
        open(json!({"again": anything})),
        "`a.again`: the schema contains itself",
    );
    check(
        json!({"allOf": [{"properties": {"x": {"type": "string"}}}, {"properties": {"y": {"type": "string"}}}, {"if": {}, "then": {}}]}),
        open(json!({"x": text, "y": text})),
        "`if` is left",
    );
    check(
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        json!({"type": "string"}),
        "",
    );
    check(
        json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"x-kubernetes-int-or-string": true}),
        "",
    );
    check(
        json!({"anyOf": [{"type": "string", "pattern": "^a"}, {"const": "b"}]}),
        json!({"type": "string", "anyOf": [{"pattern": "^a"}, {"enum": ["b"]}]}),
        "",
    );
    check(
        json!({"type": "object", "oneOf": [{"required": ["x"]}, {"required": ["y"]}]}),
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        "which schema of `oneOf` fits is left to Helm",
    );
    check(
        json!({"anyOf": [{"properties": {"x": {"type": "string"}}}, {"properties": {"x": {"type": "string"}, "y": {}}, "additionalProperties": false}]}),
        open(json!({"x": text, "y": anything})),
        "which schema of `anyOf`",
    );
}

#[test]
fn required_is_what_has_no_default() {
    let schema = r#"{"required": ["a", "b"], "properties": {
        "b": {"type": "object", "required": ["c", "d"]}, "e": {"items": {"required": ["x"]}}}}"#;
    let values = "{b: {c: 1}, e: [{x: 1}]}";
    let made = checked(&[("values.schema.json", schema), ("values.yaml", values)]).schema;
    assert_eq!(made["required"], json!(["a"]));
    assert_eq!(made["properties"]["b"]["required"], json!(["d"]));
    assert_eq!(
        made["properties"]["b"]["properties"]["c"]["type"],
        json!("integer")
    );
    assert_eq!(made["properties"]["e"]["items"]["required"], json!(["x"]));
}

#[test]
fn values_say_the_rest() {
    let values = "{replicas: 1, image: {tag: ''}, none: null, more: {x: 0.5}}";
    let made = checked(&[("values.yaml", values)]);
    assert!(made.is_inferred);
    assert_eq!(made.notes.len(), 1);
    let mut described = made.clone();
    described.describe("# How many\nreplicas: 1\n");
    let replicas = &described.schema["properties"]["replicas"];
    assert_eq!(replicas["description"], "How many");
    assert_eq!(
        misfits(
            &made.schema,
            &json!({"replicas": 3, "unknown": 1, "more": null})
        ),
        ""
    );
    assert_eq!(
        misfits(&made.schema, &json!({"replicas": "abc"})),
        "/replicas: \"abc\" is no integer\n"
    );
    let schema = r#"{"properties": {"replicas": {}, "more": {"additionalProperties": false}}}"#;
    let made = checked(&[("values.yaml", values), ("values.schema.json", schema)]);
    assert_eq!(made.schema["properties"]["replicas"]["type"], "integer");
    assert_eq!(
        made.schema["properties"]["more"],
        json!({"type": "object", "nullable": true})
    );
    assert_eq!(made.notes, Vec::<String>::new());
}

#[test]
fn charts_in_charts() {
    let top = "{apiVersion: v2, name: top, version: 1.0.0, dependencies: [
        {name: sub, version: '*', alias: one, condition: 'one.enabled,two.on', tags: [t]}, {name: sub, version: '*'}, {name: gone, version: '*'}]}";
    let made = checked(&[
        ("Chart.yaml", top),
        (
            "values.yaml",
            "{one: {size: 1, extra: x}, global: {a: 1}, gone: {b: true}}",
        ),
        (
            "charts/sub/Chart.yaml",
            "{apiVersion: v2, name: sub, version: 1.0.0, description: A sub}",
        ),
        (
            "charts/sub/values.yaml",
            "{port: 80, size: 2, global: {c: x}}",
        ),
        (
            "charts/sub/values.schema.json",
            r#"{"required": ["must"], "properties": {"port": {"type": "integer"}, "size": {}, "must": {}}, "additionalProperties": false}"#,
        ),
        (
            "charts/other/Chart.yaml",
            "{apiVersion: v2, name: other, version: 1.0.0, type: library}",
        ),
        ("charts/other/values.yaml", "key: false"),
    ]);
    let fields = made.schema["properties"].as_object().unwrap();
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["global", "gone", "one", "other", "sub", "tags", "two"]
    );
    let type_of = |path: &str| made.schema.pointer(path).unwrap()["type"].clone();
    assert_eq!(type_of("/properties/one/properties/enabled"), "boolean");
    assert_eq!(type_of("/properties/one/properties/extra"), "string");
    assert_eq!(type_of("/properties/one/properties/size"), "integer");
    assert_eq!(type_of("/properties/one/properties/port"), "integer");
    assert_eq!(type_of("/properties/one/properties/global"), "object");
    assert_eq!(type_of("/properties/other/properties/key"), "boolean");
    assert_eq!(type_of("/properties/gone/properties/b"), "boolean");
    assert_eq!(type_of("/properties/global/properties/a"), "integer");
    assert_eq!(type_of("/properties/global/properties/c"), "string");
    assert_eq!(type_of("/properties/two/properties/on"), "boolean");
    assert_eq!(fields["one"]["description"], "A sub");
    assert_eq!(fields["one"].get("required"), None);
    assert_eq!(
        fields["one"].get("x-kubernetes-preserve-unknown-fields"),
        None
    );
    assert_eq!(fields["tags"]["additionalProperties"]["type"], "boolean");
    let noted = made
        .notes
        .iter()
        .any(|it| it.starts_with("`one`: `required` is left"));
    assert!(noted, "{:?}", made.notes);
}

#[test]
fn hostile_schemas_end() {
    let doubling = |count: usize| -> Table {
        let one = |at: usize| {
            let next = json!({"$ref": format!("#/definitions/{}", at + 1)});
            (
                at.to_string(),
                json!({"description": "x".repeat(100), "allOf": [next], "properties": {"a": next, "b": next}}),
            )
        };
        (0..count).map(one).collect()
    };
    let chain = |at: usize| {
        let next = json!({"$ref": format!("#/definitions/{}", at + 1)});
        (at.to_string(), json!({"properties": {"a": next}}))
    };
    let wide: Vec<Json> = (0..3000)
        .map(|at| json!({"properties": {at.to_string(): {}}}))
        .collect();
    let start = json!({"$ref": "#/definitions/0"});
    for schema in [
        json!({"allOf": [start], "definitions": doubling(60)}),
        json!({"allOf": [start], "definitions": (0..5000).map(chain).collect::<Table>()}),
        json!({"anyOf": wide}),
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}], "anyOf": [{"$ref": "#"}, {"not": {"$ref": "#"}}]}),
        json!({"properties": {"a": {"type": "string", "pattern": "(".repeat(10_000)}}}),
        json!([1]),
    ] {
        let made = checked(&[("values.schema.json", &schema.to_string())]);
        assert!(made.schema.to_string().len() < 4 << 20);
        assert!(made.notes.len() <= 101);
    }
    let made = checked(&[("values.schema.json", "{"), ("values.yaml", "a: 1")]);
    assert_eq!(made.notes, ["`spec`: values.schema.json cannot be read"]);
}

#[test]
fn aliases_make_no_more_than_bearable() {
    let list = |name: &str| {
        let one = |at: usize| format!("{{name: {name}, version: '*', alias: x{at}}}, ");
        let all: String = (0..30).map(one).collect();
        format!("dependencies: [{all}]}}")
    };
    let file = |name: &str, of: &str| {
        format!(
            "{{apiVersion: v2, name: {name}, version: 1.0.0, {}",
            list(of)
        )
    };
    let values = format!("{{text: {}}}", "x".repeat(10_000));
    let made = checked(&[
        ("Chart.yaml", &file("top", "a")),
        ("charts/a/Chart.yaml", &file("a", "b")),
        ("charts/a/charts/b/Chart.yaml", &file("b", "c")),
        ("charts/a/charts/b/charts/c/Chart.yaml", &file("c", "d")),
        ("charts/a/charts/b/charts/c/values.yaml", &values),
    ]);
    let is_noted =
        |note: &String| note.ends_with("the schema is too large, and anything is accepted");
    assert!(made.notes.iter().any(is_noted));
    assert!(made.schema.to_string().len() < 4 << 20);
}

#[test]
fn fields_for_a_person() {
    let values = "{a: {b: [x], c: {}}, d: null, e: {labels: {f: g}}, _g: 1, h: 2}";
    let fields = first_fields(&chart(&[("values.yaml", values)]), 4);
    let shown = fields
        .iter()
        .map(|it| format!("{}: {}, {}", it.path, it.kind, it.default));
    let shown: Vec<String> = shown.collect();
    assert_eq!(
        shown,
        [
            "a.b: list of text, [\"x\"]",
            "a.c: object, {}",
            "d: anything, null",
            "e.labels: map of text, {\"f\":\"g\"}"
        ]
    );
}

#[test]
fn fields_that_have_to_be_set_come_first() {
    let schema = r#"{"required": ["z", "auth", "off"], "properties": {
        "z": {"type": "string"},
        "auth": {"type": "object", "required": ["user", "more"], "properties": {"user": {"type": "string"}}},
        "db": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        "off": {"type": "object", "required": ["x"], "properties": {"x": {"type": "integer"}}},
        "unset": {"type": "object", "required": ["y"], "properties": {"y": {"type": "integer"}}}}}"#;
    let values = "{a: 1, auth: {more: m}, db: {name: null}}";
    let chart = chart(&[("values.schema.json", schema), ("values.yaml", values)]);
    let shown = |count| {
        let fields = first_fields(&chart, count).into_iter();
        let shown = fields.map(|it| format!("{}: {}, {}", it.path, it.kind, it.required));
        shown.collect::<Vec<_>>()
    };
    assert_eq!(
        shown(6),
        [
            "auth.user: text, true",
            "db.name: text, true",
            "off.x: whole number, true",
            "z: text, true",
            "a: whole number, false",
            "auth.more: text, false",
        ]
    );
    assert_eq!(shown(1), ["auth.user: text, true"]);
}
