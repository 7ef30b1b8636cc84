//! What attributes have to say, because the Rust type does not.

use serde_json::Value;

use crate::{
    doc::{self, Doc, Source},
    literal,
    meta::Meta,
    schema::{Object, is_true, text},
    types::{Field, Own, Type, Types},
};

/// The largest JSON value in an attribute; larger ones are kept in the file of schemas.
const LARGEST: usize = 24;

/// kube rewrites the alternatives of a schema that it can read. `contains` has to be a schema, and this is none, so
/// kube leaves the schema as it is. The CRD has no such keyword, and loses it.
pub(crate) const UNREAD: &str = "not for kube";

/// Leaves out an absent value.
const SKIP: &str = "skip_serializing_if = \"Option::is_none\"";

/// The attributes and the doc comment of a type or a field.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    pub doc: Vec<String>,
    pub serde: Vec<Meta>,
    pub schemars: Vec<Meta>,
    /// Keywords of the schema and their values.
    pub extend: Vec<(String, Value)>,
    /// The schema, if it is kept as it was read.
    pub kept: Option<Object>,
}

impl Attributes {
    /// Adds a doc comment that gives a description.
    fn describe(&mut self, description: &str) {
        let Doc { lines, from } = doc::of(description);
        self.doc = lines;
        match from {
            Source::Comment => {}
            Source::Unwrapped => self.schemars.push(Meta::word("transform = unwrapped")),
            Source::Attribute => {
                self.schemars.push(Meta::word(&format!(
                    "description = {}",
                    literal::string(description)
                )));
            }
        }
    }

    fn extend(&mut self, keyword: &str, value: Value) {
        let unread = ["anyOf", "oneOf", "uniqueItems"].contains(&keyword);
        self.extend.push((keyword.to_owned(), value));
        if unread && !self.extend.iter().any(|(keyword, _)| keyword == "contains") {
            self.extend.push(("contains".to_owned(), UNREAD.into()));
        }
    }

    /// Whether a generated function is used.
    pub(crate) fn uses(&self, function: &str) -> bool {
        let transform = Meta::word(&format!("transform = {function}"));
        self.schemars.contains(&transform)
    }
}

/// The attributes of a generated type.
pub(crate) fn of_type(own: &Own) -> Attributes {
    let mut attributes = Attributes::default();
    for (keyword, value) in &own.extra {
        match (keyword.as_str(), value) {
            ("description", Value::String(text)) => attributes.describe(text),
            _ => attributes.extend(keyword, unread_in(keyword, value)),
        }
    }
    attributes
}

/// The attributes of a field whose type has no schema.
pub(crate) fn of_plain_field(field: &Field) -> Attributes {
    let mut attributes = Attributes::default();
    if let Some(description) = text(&field.schema, "description") {
        attributes.doc = doc::of(description).lines;
    }
    if !field.required {
        attributes.serde.push(Meta::word(SKIP));
    }
    attributes
}

/// The attributes of a field.
pub(crate) fn of_field(field: &Field, types: &Types) -> Attributes {
    let mut attributes = Attributes::default();
    let nullable = is_true(&field.schema, "nullable");
    if let Some(description) = text(&field.schema, "description") {
        attributes.describe(description);
    }
    let said = match types.is_kept(&field.type_) {
        true => false,
        false => say(field, types, &mut attributes),
    };
    if !said {
        attributes.extend.clear();
        attributes.schemars.retain(|meta| meta.is_of_description());
        let mut schema = field.schema.clone();
        schema.remove("description");
        attributes.kept = Some(schema);
    }
    let replaced = attributes.kept.is_some();
    match (field.required, nullable) {
        (true, false) => {}
        (true, true) if replaced => {}
        (true, true) => attributes.schemars.insert(0, Meta::word("required")),
        (false, _) => {
            if replaced || !types.is_plain_option(&field.type_) {
                attributes.serde.push(Meta::word("default"));
            }
            if !replaced && !types.is_plain_option(&field.type_) {
                let with = format!("with = \"{}\"", types.text(&field.type_));
                attributes.schemars.insert(0, Meta::word(&with));
            }
            attributes.serde.push(Meta::word(SKIP));
        }
    }
    attributes
}

/// Says the difference between the schema of a field and that of its type. Returns false if attributes cannot.
fn say(field: &Field, types: &Types, attributes: &mut Attributes) -> bool {
    let wanted = &field.schema;
    let found = types.schema(&field.type_);
    let mut different: Vec<&String> = wanted.keys().chain(found.keys()).collect();
    different.sort();
    different.dedup();
    different.retain(|keyword| wanted.get(*keyword) != found.get(*keyword));
    let is_completed = matches!(field.type_, Type::IntOrString | Type::Quantity);
    let mut validation = Validation::default();
    for keyword in different {
        let inner = |schema: &Object| schema.get(keyword).and_then(Value::as_object).cloned();
        match (keyword.as_str(), wanted.get(keyword)) {
            ("description", Some(_)) => {}
            // operator-runtime sets them from the type.
            ("anyOf", _) if is_completed => return false,
            ("items" | "additionalProperties", Some(value)) => {
                let (Some(wanted), Some(found)) = (inner(wanted), inner(&found)) else {
                    if !small(keyword, value, attributes) {
                        return false;
                    }
                    continue;
                };
                let is_plain = !matches!(field.type_, Type::List(ref it) | Type::Map(ref it) if matches!(**it, Type::Nullable(_)));
                if is_plain && is_undescribed(&wanted, &found) {
                    attributes
                        .schemars
                        .push(Meta::word("transform = undescribed"));
                } else if let Some(inner) = Validation::beyond(&wanted, &found)
                    && keyword == "items"
                {
                    attributes.schemars.push(Meta::call("inner", inner.metas()));
                } else if !small(keyword, value, attributes) {
                    return false;
                }
            }
            (_, Some(value)) if validation.take(keyword, value, wanted) => {}
            (_, Some(value)) => attributes.extend(keyword, unread_in(keyword, value)),
            (_, None) => attributes.extend(keyword, Value::Null),
        }
    }
    if field.type_ == Type::Any && wanted.is_empty() {
        // schemars writes `true`, which no CRD can have there, unless something is said.
        attributes.extend("description", Value::Null);
    }
    let metas = validation.metas();
    attributes.schemars.splice(0..0, metas);
    attributes
        .extend
        .iter()
        .map(|(_, value)| literal::size(value))
        .sum::<usize>()
        <= 2 * LARGEST
}

/// Says a keyword with a schema as it was read, if the schema is small.
fn small(keyword: &str, value: &Value, attributes: &mut Attributes) -> bool {
    let fits = literal::size(value) <= LARGEST;
    if fits {
        attributes.extend(keyword, unread_in(keyword, value));
    }
    fits
}

/// Whether two schemas differ by nothing but the description of a type of k8s-openapi.
fn is_undescribed(wanted: &Object, found: &Object) -> bool {
    let mut found = found.clone();
    found.remove("description").is_some() && found == *wanted
}

/// The value of a keyword, in which kube leaves every schema as it is.
pub(crate) fn unread_in(keyword: &str, value: &Value) -> Value {
    let schemas = [
        "additionalProperties",
        "allOf",
        "anyOf",
        "items",
        "not",
        "oneOf",
    ];
    match schemas.contains(&keyword) {
        true => unread(value),
        false => value.clone(),
    }
}

/// Marks every schema with alternatives, so that kube leaves it as it is.
pub(crate) fn unread(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Object = fields
                .iter()
                .map(|(key, value)| (key.clone(), unread(value)))
                .collect();
            let alternatives = |keyword| fields.get(keyword).is_some_and(Value::is_array);
            if alternatives("anyOf") || alternatives("oneOf") {
                fields.insert("contains".to_owned(), UNREAD.into());
            }
            Value::Object(fields)
        }
        Value::Array(values) => Value::Array(values.iter().map(unread).collect()),
        _ => value.clone(),
    }
}

/// Keywords that schemars has attributes for.
#[derive(Default)]
pub(crate) struct Validation {
    length: Vec<Meta>,
    range: Vec<Meta>,
    pattern: Option<Meta>,
}

impl Validation {
    /// Takes a keyword, if schemars has an attribute for it and writes it for the type of the schema.
    pub(crate) fn take(&mut self, keyword: &str, value: &Value, schema: &Object) -> bool {
        let type_ = text(schema, "type").unwrap_or_default();
        let meta = |name: &str| Meta::word(&format!("{name} = {}", literal::number(value)));
        match (keyword, type_, value) {
            ("minLength", "string", Value::Number(_)) | ("minItems", "array", Value::Number(_)) => {
                self.length.insert(0, meta("min"));
            }
            ("maxLength", "string", Value::Number(_)) | ("maxItems", "array", Value::Number(_)) => {
                self.length.push(meta("max"));
            }
            ("minimum", "integer" | "number", Value::Number(_)) => {
                self.range.insert(0, meta("min"))
            }
            ("maximum", "integer" | "number", Value::Number(_)) => self.range.push(meta("max")),
            ("pattern", "string", Value::String(pattern)) => {
                let pattern = format!("pattern = {}", literal::string(pattern));
                self.pattern = Some(Meta::word(&pattern));
            }
            _ => return false,
        }
        true
    }

    /// What `wanted` has beyond `found`, if there are attributes for all of it.
    fn beyond(wanted: &Object, found: &Object) -> Option<Validation> {
        let mut validation = Validation::default();
        if found
            .iter()
            .any(|(keyword, value)| wanted.get(keyword) != Some(value))
        {
            return None;
        }
        let more = wanted
            .iter()
            .filter(|(keyword, _)| !found.contains_key(*keyword));
        for (keyword, value) in more {
            if !validation.take(keyword, value, wanted) {
                return None;
            }
        }
        Some(validation)
    }

    pub(crate) fn metas(self) -> Vec<Meta> {
        let mut metas = Vec::new();
        if !self.length.is_empty() {
            metas.push(Meta::call("length", self.length));
        }
        if !self.range.is_empty() {
            metas.push(Meta::call("range", self.range));
        }
        metas.extend(
            self.pattern
                .map(|pattern| Meta::call("regex", vec![pattern])),
        );
        metas
    }
}
