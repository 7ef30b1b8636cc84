//! The schema of a chart's values, as that of a CRD.
//!
//! It refuses no values that Helm accepts, with the exception of types that are guessed from `values.yaml`; what it cannot say is
//! left to Helm, which checks the values again when it renders.

mod charts;
mod checks;
mod comments;
mod convert;
mod infer;
mod merge;
mod node;
mod pattern;
mod progress;

use helm_render::{chart::Chart, values::Table};
use serde_json::Value as Json;

use self::{
    node::{Node, Object, Shape},
    progress::Progress,
};

/// The schema of a chart's values.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// The structural schema for `spec` in a CRD. It has no defaults: the chart has them, and an object must not freeze them.
    pub schema: Json,
    /// What the schema could not say, each a sentence that names the field.
    pub notes: Vec<String>,
    /// Whether a part of it is guessed from `values.yaml`.
    pub is_inferred: bool,
}

impl Schema {
    /// Adds what the comments in the text of the chart's `values.yaml` say of its fields, as their descriptions. A chart that is
    /// loaded does not have the text any more.
    pub fn describe(&mut self, values: &str) {
        comments::describe(&mut self.schema, values);
    }
}

/// A field of a chart's values.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Where it is, with dots: `image.repository`.
    pub path: String,
    /// Its type in words: `whole number`.
    pub kind: String,
    /// Its default value.
    pub default: Json,
    /// Whether the schema requires it, and no default has it.
    pub required: bool,
}

/// The schema of a chart's values, of the chart as it was loaded.
pub fn of(chart: &Chart) -> Schema {
    let mut progress = Progress::new();
    let node = charts::node(chart, &mut progress);
    Schema {
        schema: node.json(),
        is_inferred: progress.is_inferred,
        notes: progress.into_notes(),
    }
}

/// The first fields, for a person, at most `count`: those that have to be set, then those of `values.yaml`. They have the order of the
/// values in memory, which is that of the file only where `serde_json` keeps it. Fields whose names begin with `_` are left out: they are
/// the chart's own.
pub fn first_fields(chart: &Chart, count: usize) -> Vec<Field> {
    let node = charts::node(chart, &mut Progress::new());
    let mut fields = Vec::new();
    if let Some(object) = node.object() {
        add_required("", Some(&chart.values), object, &mut fields);
        fields.truncate(count);
        add_fields("", &chart.values, Some(object), count, &mut fields);
    }
    fields
}

/// Adds the fields of `object` that have to be set. An object that nobody has to set requires nothing, unless the chart sets it.
fn add_required(prefix: &str, values: Option<&Table>, object: &Object, fields: &mut Vec<Field>) {
    let missing = object.required.iter();
    for name in missing.filter(|name| !object.properties.contains_key(*name)) {
        fields.push(Field::required(format!("{prefix}{name}"), None));
    }
    for (name, node) in &object.properties {
        let value = values.and_then(|values| values.get(name));
        let of_value = value.and_then(Json::as_object);
        let is_required = object.required.contains(name);
        let before = fields.len();
        if let Some(inner) = node.object().filter(|_| is_required || of_value.is_some()) {
            add_required(&format!("{prefix}{name}."), of_value, inner, fields);
        }
        if is_required && fields.len() == before {
            fields.push(Field::required(format!("{prefix}{name}"), Some(node)));
        }
    }
}

impl Field {
    fn required(path: String, node: Option<&Node>) -> Self {
        Self {
            path,
            kind: node.map_or("anything".to_owned(), Node::words),
            default: Json::Null,
            required: true,
        }
    }
}

fn add_fields(
    prefix: &str,
    values: &Table,
    object: Option<&Object>,
    count: usize,
    fields: &mut Vec<Field>,
) {
    let values = values.iter().filter(|(name, _)| !name.starts_with('_'));
    for (name, value) in values {
        if fields.len() >= count {
            return;
        }
        let node = object.and_then(|it| it.properties.get(name));
        match value {
            Json::Object(inner) if !inner.is_empty() && !node.is_some_and(is_map) => {
                let prefix = format!("{prefix}{name}.");
                add_fields(&prefix, inner, node.and_then(Node::object), count, fields);
            }
            _ if fields.iter().any(|it| it.path == format!("{prefix}{name}")) => {}
            _ => fields.push(Field {
                path: format!("{prefix}{name}"),
                kind: node.map_or("anything".to_owned(), Node::words),
                default: value.clone(),
                required: false,
            }),
        }
    }
}

fn is_map(node: &Node) -> bool {
    matches!(node.shape, Shape::Map(_))
}

#[cfg(test)]
mod tests;
