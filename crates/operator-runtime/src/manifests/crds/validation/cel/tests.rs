//! Rules are judged as `apiextensions` does it.

mod oracle;
mod random;

use serde_json::{Value, json};

use super::{
    Fault, compile,
    declared::{declare, escape},
    functions::functions,
    types::Type,
};

/// What a rule costs, why it does not compile, or nothing if it is not judged.
fn cost(rule: &str) -> Option<Result<u64, String>> {
    let text = json!({ "type": "string" });
    let schema: Value = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "maxLength": 10 },
            "names": { "type": "array", "items": text, "maxItems": 5 },
            "open": { "type": "array", "items": { "type": "object", "properties": { "x-y": text, "list": { "type": "array", "items": text } } } },
            "namespace": text,
            "size": { "type": "integer" },
            "labels": { "type": "object", "additionalProperties": text, "maxProperties": 3 },
        },
    });
    let schema = serde_json::from_value(schema).unwrap();
    let declared = declare(&schema, false, "").unwrap();
    match compile(rule, &declared, false, &Type::Bool) {
        Ok(checked) => Some(Ok(super::cost::estimate(&checked, &declared, None).0.most)),
        Err(Fault::Wrong { why, .. }) => Some(Err(why)),
        Err(Fault::Unknown) => None,
    }
}

/// The numbers are those of `apiextensions` 1.37.
#[test]
fn costs_are_counted_as_by_the_api_server() {
    for (rule, expected) in [
        ("true", 0),
        ("self.size > 1", 3),
        ("self.name == 'a'", 3),
        ("self.name.startsWith('ab')", 3),
        ("self.names.all(n, n.matches('^[a-z]+$'))", 3_145_753),
        ("self.namespace.contains('-')", 1_844_674_407_370_955_266),
        (
            "has(self.labels.a) || self.labels.exists(k, k == self.name)",
            26,
        ),
        (
            "self.open.all(o, o.x__dash__y != '' && o.list.all(x, x != o.x__dash__y))",
            1_037_648_155_771_509_153,
        ),
        (
            "self.names.map(n, n + '-').join(',').size() < 9",
            1_844_674_407_372_528_209,
        ),
    ] {
        assert_eq!(cost(rule), Some(Ok(expected)), "{rule}");
    }
}

#[test]
fn a_rule_that_does_not_compile_says_why() {
    for (rule, expected) in [
        ("self.size", "its result is of type int, and not bool"),
        (
            "self.sizes > 1",
            "the object has no field `sizes`, but `size`",
        ),
        (
            "size > 1",
            "`size` is not known; there is `self`, and there are the variables of loops",
        ),
        ("self.size == '1'", "`==` does not take int and string"),
        (
            "self.name.startWith('a')",
            "there is no function `startWith`, but `startsWith`",
        ),
        (
            "slef.startsWith('a')",
            "`slef` is not known; there is `self`, and there are the variables of loops",
        ),
        (
            "self.names.all(n > 1)",
            "`all` does not take these arguments",
        ),
        (
            "self.names.exist(n, n == '')",
            "there is no function `exist`, but `exists`",
        ),
        (
            "optional.off(1) == 1",
            "there is no function `optional.off`, but `optional.of`",
        ),
        (
            "self.names.all(n.x, true)",
            "the name of a variable is needed",
        ),
        (
            "self.name.matches('(')",
            "the pattern `(` is not a regular expression: unclosed group",
        ),
        (
            "self.names == ['a', 1]",
            "a value of type int is among those of type string",
        ),
        ("self.size > 1 &&", "it ends too early"),
        ("self.size > > 1", "`>` cannot be there"),
        ("if(true)", "`if` is a reserved word"),
        ("'\\q' == ''", "a text has an invalid escape sequence"),
        (
            "duration('1 h') > duration('1h')",
            "`duration` cannot convert its argument",
        ),
        (
            "'%d'.format(['a']) == ''",
            "`%d` does not format a value of type string",
        ),
    ] {
        assert_eq!(cost(rule), Some(Err(expected.to_owned())), "{rule}");
    }
}

#[test]
fn what_is_unknown_is_not_judged() {
    let nested = format!("{}true{}", "(".repeat(300), ")".repeat(300));
    let long = format!("0{} > 1", "+1".repeat(300));
    for rule in [
        "self.name.anagramOf('a')",
        "math.greatest(self.size, 1) > 1",
        "regex.replace(self.name, 'a', 'b') == ''",
        "cel.bind(x, self.size, x > 1)",
        "self.names.sumOf(n, n.size()) > 1",
        "type(self.name) == net.Host",
        "google.protobuf.Empty{} != null",
        &nested,
        &long,
    ] {
        assert_eq!(cost(rule), None, "{rule}");
    }
}

#[test]
fn the_table_of_functions_is_read() {
    let functions = functions();
    let count: usize = functions.values().map(Vec::len).sum();
    assert_eq!((functions.len(), count), (154, 339));
    assert_eq!(functions["_<=_"].len(), 14);
    let kinds = super::functions::TABLE
        .trim()
        .lines()
        .filter_map(|line| line.split(" | ").nth(1));
    assert!(
        kinds
            .into_iter()
            .all(|kind| super::functions::Cost::named(kind).is_some())
    );
    assert!(functions["sort"].iter().all(|overload| overload.is_method));
}

#[test]
fn names_are_escaped() {
    for (name, expected) in [
        ("a", Some("a")),
        (
            "a-b.c/d__e",
            Some("a__dash__b__dot__c__slash__d__underscores__e"),
        ),
        ("namespace", Some("__namespace__")),
        ("é", None),
        ("1a", None),
        ("", None),
    ] {
        assert_eq!(escape(name).as_deref(), expected, "{name}");
    }
}
