//! The normal form of schemas, in which two of them are compared.
//!
//! Keys and unordered lists are sorted, and keywords with the value that they have anyway are left out, such as
//! `nullable: false`. So two schemas are equal if the API server treats them equally.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::{Error, MAX_DEPTH, MAX_SCHEMAS, error};

pub(crate) type Object = Map<String, Value>;

/// A schema that was written as an object.
pub(crate) fn object(schema: Value) -> Object {
    match schema {
        Value::Object(schema) => schema,
        _ => Object::new(),
    }
}

/// Where a keyword contains schemas.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The value is a schema.
    Schema,
    /// The value is a list of schemas.
    List,
    /// The value is a map to schemas.
    Map,
    /// The value is a list without order.
    Set,
    /// The value is a list without order, whose order is kept for readers.
    Values,
    /// The value is taken as it is.
    Plain,
}

/// The keywords that the API server knows.
const KEYWORDS: &[(&str, Kind)] = &[
    ("additionalItems", Kind::Schema),
    ("additionalProperties", Kind::Schema),
    ("allOf", Kind::List),
    ("anyOf", Kind::List),
    ("default", Kind::Plain),
    ("description", Kind::Plain),
    ("enum", Kind::Values),
    ("example", Kind::Plain),
    ("exclusiveMaximum", Kind::Plain),
    ("exclusiveMinimum", Kind::Plain),
    ("externalDocs", Kind::Plain),
    ("format", Kind::Plain),
    ("items", Kind::Schema),
    ("maxItems", Kind::Plain),
    ("maxLength", Kind::Plain),
    ("maxProperties", Kind::Plain),
    ("maximum", Kind::Plain),
    ("minItems", Kind::Plain),
    ("minLength", Kind::Plain),
    ("minProperties", Kind::Plain),
    ("minimum", Kind::Plain),
    ("multipleOf", Kind::Plain),
    ("not", Kind::Schema),
    ("nullable", Kind::Plain),
    ("oneOf", Kind::List),
    ("pattern", Kind::Plain),
    ("patternProperties", Kind::Map),
    ("properties", Kind::Map),
    ("required", Kind::Set),
    ("title", Kind::Plain),
    ("type", Kind::Plain),
    ("uniqueItems", Kind::Plain),
    ("x-kubernetes-embedded-resource", Kind::Plain),
    ("x-kubernetes-int-or-string", Kind::Plain),
    ("x-kubernetes-list-map-keys", Kind::Set),
    ("x-kubernetes-list-type", Kind::Plain),
    ("x-kubernetes-map-type", Kind::Plain),
    ("x-kubernetes-preserve-unknown-fields", Kind::Plain),
    ("x-kubernetes-validations", Kind::Plain),
];

/// The values of `type`.
const TYPES: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];

/// The keywords whose value is true or false.
const FLAGS: &[&str] = &[
    "exclusiveMaximum",
    "exclusiveMinimum",
    "nullable",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
];

/// The keywords whose value is a number.
const NUMBERS: &[&str] = &["maximum", "minimum", "multipleOf"];

/// The keywords whose value is an integer.
const COUNTS: &[&str] = &[
    "maxItems",
    "maxLength",
    "maxProperties",
    "minItems",
    "minLength",
    "minProperties",
];

/// The fields of a CEL rule.
const RULE: &[&str] = &[
    "rule",
    "message",
    "messageExpression",
    "reason",
    "fieldPath",
    "optionalOldSelf",
];

/// The keywords whose value has to be a string.
const STRINGS: &[&str] = &[
    "description",
    "format",
    "pattern",
    "title",
    "type",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
];

/// The value of a keyword that is a schema, or none.
pub(crate) fn text<'a>(schema: &'a Object, keyword: &str) -> Option<&'a str> {
    schema.get(keyword).and_then(Value::as_str)
}

/// Whether a keyword is `true`.
pub(crate) fn is_true(schema: &Object, keyword: &str) -> bool {
    schema.get(keyword) == Some(&Value::Bool(true))
}

/// A keyword that is left out of a schema, with its path.
pub(crate) struct Unknown {
    pub path: String,
    pub keyword: String,
}

/// Brings schemas into the normal form, and counts them.
pub(crate) struct Normalizer {
    schemas: usize,
    /// The keywords that were left out, because the API server does not know them.
    pub unknown: Vec<Unknown>,
}

impl Normalizer {
    pub(crate) fn new() -> Self {
        Normalizer {
            schemas: 0,
            unknown: Vec::new(),
        }
    }

    /// The normal form of a schema; `path` is for errors.
    pub(crate) fn schema(
        &mut self,
        schema: &Value,
        path: &mut String,
        depth: usize,
    ) -> Result<Object, Error> {
        self.schemas += 1;
        if depth > MAX_DEPTH {
            return Err(Error::Deep(path.clone()));
        }
        if self.schemas > MAX_SCHEMAS {
            return Err(Error::Large);
        }
        let Some(schema) = schema.as_object() else {
            return Err(invalid(path, "it is not an object"));
        };
        if schema.contains_key("$ref") {
            return Err(invalid(path, "the API server allows no `$ref`"));
        }
        let mut normal = Object::new();
        for (keyword, value) in schema {
            if let Some(value) = self.keyword(keyword, value, path, depth)? {
                normal.insert(keyword.clone(), value);
            }
        }
        Ok(sorted(normal))
    }

    /// The normal form of a keyword's value; none if the keyword says nothing.
    fn keyword(
        &mut self,
        keyword: &str,
        value: &Value,
        path: &mut String,
        depth: usize,
    ) -> Result<Option<Value>, Error> {
        let Some((_, kind)) = KEYWORDS.iter().find(|(known, _)| *known == keyword) else {
            self.unknown.push(Unknown {
                path: path.clone(),
                keyword: keyword.to_owned(),
            });
            return Ok(None);
        };
        if says_nothing(keyword, value) {
            return Ok(None);
        }
        if STRINGS.contains(&keyword) && !value.is_string() {
            return Err(invalid(path, &format!("`{keyword}` is not a string")));
        }
        if FLAGS.contains(&keyword) && !value.is_boolean() {
            return Err(invalid(path, &format!("`{keyword}` is not a boolean")));
        }
        if NUMBERS.contains(&keyword) && !value.is_number() {
            return Err(invalid(path, &format!("`{keyword}` is not a number")));
        }
        if COUNTS.contains(&keyword) && !plain(value).is_i64() {
            return Err(invalid(path, &format!("`{keyword}` is not an integer")));
        }
        if keyword == "type" && !TYPES.iter().any(|known| value == known) {
            return Err(invalid(path, &format!("there is no type {value}")));
        }
        let whole = path.len();
        let normal = match kind {
            Kind::Schema if value.is_boolean() && keyword == "additionalProperties" => {
                value.clone()
            }
            Kind::Schema => {
                path.push_str(if keyword == "items" { "[]" } else { "{}" });
                Value::Object(self.schema(value, path, depth + 1)?)
            }
            Kind::List => Value::Array(self.list(keyword, value, path, depth)?),
            Kind::Map => Value::Object(self.map(keyword, value, path, depth)?),
            Kind::Set | Kind::Values => {
                let Some(values) = value.as_array() else {
                    return Err(invalid(path, &format!("`{keyword}` is not a list")));
                };
                if *kind == Kind::Set && !values.iter().all(Value::is_string) {
                    return Err(invalid(
                        path,
                        &format!("`{keyword}` is not a list of strings"),
                    ));
                }
                let mut values: Vec<_> = values.iter().map(plain).collect();
                if *kind == Kind::Set {
                    values.sort_by_cached_key(Value::to_string);
                    values.dedup();
                }
                Value::Array(values)
            }
            Kind::Plain if keyword == "x-kubernetes-validations" => {
                let fields = value.as_array().into_iter().flatten();
                let fields = fields.filter_map(Value::as_object).flat_map(Object::keys);
                let unknown = fields.filter(|field| !RULE.contains(&field.as_str()));
                self.unknown.extend(unknown.map(|field| Unknown {
                    path: path.clone(),
                    keyword: format!("{keyword}[].{field}"),
                }));
                rules(value).map_err(|why| invalid(path, &why))?
            }
            Kind::Plain if keyword == "externalDocs" && !are_texts(value) => {
                return Err(invalid(path, "`externalDocs` is not an object of strings"));
            }
            Kind::Plain => plain(value),
        };
        path.truncate(whole);
        Ok(Some(normal))
    }

    fn list(
        &mut self,
        keyword: &str,
        value: &Value,
        path: &mut String,
        depth: usize,
    ) -> Result<Vec<Value>, Error> {
        let Some(values) = value.as_array() else {
            return Err(invalid(path, &format!("`{keyword}` is not a list")));
        };
        let whole = path.len();
        let mut normal = Vec::new();
        for (index, value) in values.iter().enumerate() {
            let _ = write!(path, "({keyword} {index})");
            normal.push(Value::Object(self.schema(value, path, depth + 1)?));
            path.truncate(whole);
        }
        Ok(normal)
    }

    fn map(
        &mut self,
        keyword: &str,
        value: &Value,
        path: &mut String,
        depth: usize,
    ) -> Result<Object, Error> {
        let Some(values) = value.as_object() else {
            return Err(invalid(path, &format!("`{keyword}` is not an object")));
        };
        let whole = path.len();
        let mut normal = Object::new();
        for (name, value) in values {
            let _ = write!(path, ".{name}");
            normal.insert(
                name.clone(),
                Value::Object(self.schema(value, path, depth + 1)?),
            );
            path.truncate(whole);
        }
        Ok(sorted(normal))
    }
}

/// Whether a keyword has the value that it has without being written.
fn says_nothing(keyword: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(false) => {
            keyword != "default" && keyword != "example" && keyword != "additionalProperties"
        }
        Value::Array(values) => {
            let lists = [
                "required",
                "enum",
                "allOf",
                "anyOf",
                "oneOf",
                "x-kubernetes-validations",
                "x-kubernetes-list-map-keys",
            ];
            values.is_empty() && lists.contains(&keyword)
        }
        Value::Object(values) => values.is_empty() && keyword == "properties",
        Value::String(text) => text.is_empty() && keyword != "default" && keyword != "example",
        Value::Number(_) | Value::Bool(true) => false,
    }
}

/// Whether a value is an object of strings.
pub(crate) fn are_texts(value: &Value) -> bool {
    let fields = value.as_object();
    fields.is_some_and(|fields| fields.values().all(Value::is_string))
}

/// CEL rules, without the fields that say nothing. The error is the reason that they are none.
fn rules(rules: &Value) -> Result<Value, String> {
    const KEYWORD: &str = "x-kubernetes-validations";
    let Some(rules) = rules.as_array() else {
        return Err(format!("`{KEYWORD}` is not a list"));
    };
    let rule = |rule: &Value| {
        let Value::Object(mut rule) = plain(rule) else {
            return Err(format!("a rule of `{KEYWORD}` is not an object"));
        };
        rule.retain(|field, value| RULE.contains(&field.as_str()) && !says_nothing(field, value));
        for (field, value) in &rule {
            let (is, type_) = match field.as_str() {
                "optionalOldSelf" => (value.is_boolean(), "boolean"),
                _ => (value.is_string(), "string"),
            };
            if !is {
                return Err(format!("`{field}` of `{KEYWORD}` is not a {type_}"));
            }
        }
        Ok(Value::Object(rule))
    };
    rules.iter().map(rule).collect()
}

/// A value with sorted keys, and whole numbers as integers.
pub(crate) fn plain(value: &Value) -> Value {
    match value {
        Value::Array(values) => Value::Array(values.iter().map(plain).collect()),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| (key.clone(), plain(value)));
            Value::Object(sorted(fields.collect()))
        }
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 2e15 => {
                Value::from(float as i64)
            }
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

/// serde_json sorts keys only without its feature `preserve_order`.
pub(crate) fn sorted(object: Object) -> Object {
    let mut entries: Vec<_> = object.into_iter().collect();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    entries.into_iter().collect()
}

/// The keywords that a Rust type depends on.
const OF_TYPES: &[&str] = &[
    "additionalProperties",
    "default",
    "description",
    "enum",
    "format",
    "items",
    "nullable",
    "oneOf",
    "properties",
    "required",
    "type",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
];

/// A schema without the keywords that no Rust type depends on.
pub(crate) fn shape(schema: &Object) -> Object {
    let inner = |value: &Value| match value {
        Value::Object(schema) => Value::Object(shape(schema)),
        other => other.clone(),
    };
    let keep = |(keyword, value): (&String, &Value)| {
        let value = match (keyword.as_str(), value) {
            ("items" | "additionalProperties", value) => inner(value),
            ("properties", Value::Object(properties)) => Value::Object(
                properties
                    .iter()
                    .map(|(name, schema)| (name.clone(), inner(schema)))
                    .collect(),
            ),
            // A quantity is recognized by its pattern.
            ("pattern", _) if is_true(schema, "x-kubernetes-int-or-string") => value.clone(),
            (keyword, _) if OF_TYPES.contains(&keyword) => value.clone(),
            _ => return None,
        };
        Some((keyword.clone(), value))
    };
    schema.iter().filter_map(keep).collect()
}

fn invalid(path: &str, why: &str) -> Error {
    error::Error::Schema {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}
