//! The values of a chart with those of the charts that it depends on.

use std::collections::BTreeMap;

use helm_render::{
    chart::{Chart, Dependency},
    values::{GLOBAL, Table},
};
use serde_json::Value as Json;

use super::{
    convert::{Defaults, convert},
    infer::{fill, fill_object, infer},
    merge::{Of, both, either},
    node::{Node, Object, Rest, Shape},
    progress::{NODE_BYTES, Progress},
};

/// The characters of a description.
const MOST_OF_DESCRIPTION: usize = 300;
/// How many names a path in a condition may have.
const MOST_OF_CONDITION: usize = 10;

/// The node of a chart's values.
pub(super) fn node(chart: &Chart, progress: &mut Progress) -> Node {
    let imports = |it: &Dependency| !it.import_values.is_empty();
    let imports = chart.metadata.depends_on().any(imports);
    let mut object = object(chart, &chart.values, !imports, progress);
    if has_tags(chart) && object.rest != Rest::Refused {
        let tags = Node::map(Shape::Boolean.into());
        object.properties.insert("tags".to_owned(), tags);
    }
    if chart.schema.is_none() {
        progress.note(
            "the chart has no values.schema.json, so types are guessed from values.yaml, and fields that it does not name are accepted",
        );
    }
    object.into()
}

/// The object of a chart's values, whose defaults are those that the chart has or that the charts around it give it.
///
/// `are_all` tells whether there are surely no other defaults. Nothing is required of a chart that others use: it may be switched off.
fn object(chart: &Chart, defaults: &Table, are_all: bool, progress: &mut Progress) -> Object {
    let mut object = of_schema(chart, defaults, are_all, progress);
    let dependencies = dependencies(chart);
    let own = defaults.iter();
    let own = own.filter(|(name, _)| !dependencies.contains_key(name.as_str()));
    let own: Table = own.map(|(key, it)| (key.clone(), it.clone())).collect();
    fill_object(&mut object, &own, progress);

    let mut globals = Vec::new();
    for (name, dependency) in &dependencies {
        if progress.is_over() {
            object.rest = Rest::Judged;
            break;
        }
        let given = defaults.get(*name).and_then(Json::as_object);
        let node = progress.within(name, |progress| dependency.node(given, progress));
        let shared = node.object().and_then(|it| it.properties.get(GLOBAL));
        globals.extend(shared.cloned());
        let node = match object.properties.remove(*name) {
            Some(mut said) => {
                // Helm asks it of the values with the defaults of the other chart.
                said.require_nothing();
                both(said, node)
            }
            None => node,
        };
        object.properties.insert((*name).to_owned(), node);
    }
    if !globals.is_empty() && object.rest != Rest::Refused {
        globals.extend(object.properties.remove(GLOBAL));
        let shared = globals.into_iter().reduce(|a, b| either(a, b, Of::Samples));
        let shared = open(shared.unwrap_or_default());
        object.properties.insert(GLOBAL.to_owned(), shared);
    }
    for dependency in chart.metadata.depends_on() {
        for path in dependency.condition.split(',') {
            progress.spend(NODE_BYTES + path.len());
            if progress.is_over() {
                break;
            }
            declare_switch(&mut object, path.trim());
        }
    }
    object
}

fn of_schema(chart: &Chart, defaults: &Table, are_all: bool, progress: &mut Progress) -> Object {
    let Some(schema) = &chart.schema else {
        return Object::default();
    };
    let text = schema.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(schema);
    let Ok(schema) = serde_json::from_slice::<Json>(text) else {
        progress.note("values.schema.json cannot be read");
        return Object::default();
    };
    let defaults = Defaults {
        values: Some(defaults),
        are_all,
    };
    match convert(&schema, defaults, progress).shape {
        Shape::Object(object) => object,
        Shape::Map(_) => {
            progress
                .note("`additionalProperties` is left to Helm, which checks it when it renders");
            Object {
                rest: Rest::Judged,
                ..Object::default()
            }
        }
        _ => Object::default(),
    }
}

/// What is known of a chart under one name.
#[derive(Default)]
struct Use<'a> {
    /// The charts that it may be: several versions may be in `charts/`.
    charts: Vec<&'a Chart>,
}

impl Use<'_> {
    /// The node of its values, of which the chart around it gives some.
    fn node(&self, given: Option<&Table>, progress: &mut Progress) -> Node {
        let mut node: Option<Node> = None;
        for chart in &self.charts {
            let made = progress.node(2 * NODE_BYTES, |progress| {
                let defaults = merged(given, &chart.values);
                let mut object = object(chart, &defaults, false, progress);
                declare_given(&mut object, given, progress);
                let shared = object.properties.remove(GLOBAL);
                let mut shared = open(shared.unwrap_or(Object::default().into()));
                if let Some(values) = defaults.get(GLOBAL) {
                    progress.within(GLOBAL, |it| fill(&mut shared, GLOBAL, values, it));
                }
                object.properties.insert(GLOBAL.to_owned(), shared);
                let description = chart.metadata.description.trim().chars();
                let description: String = description.take(MOST_OF_DESCRIPTION).collect();
                progress.spend(description.len());
                Node {
                    description: (!description.is_empty()).then_some(description),
                    ..object.into()
                }
            });
            let made = made.unwrap_or(Shape::Anything.into());
            node = Some(match node {
                Some(node) => either(node, made, Of::Schemas),
                None => made,
            });
        }
        node.unwrap_or_else(|| {
            let mut object = Object::default();
            let made = progress.node(NODE_BYTES, |progress| {
                fill_object(&mut object, given.unwrap_or(&Table::new()), progress);
            });
            made.map_or(Shape::Anything.into(), |()| object.into())
        })
    }
}

/// The charts that one depends on, by the names that their values have.
fn dependencies(chart: &Chart) -> BTreeMap<&str, Use<'_>> {
    let mut uses: BTreeMap<&str, Use<'_>> = BTreeMap::new();
    for listed in chart.metadata.depends_on() {
        let name = match listed.alias.as_str() {
            "" => &listed.name,
            alias => alias,
        };
        let charts = chart.dependencies.iter();
        let charts = charts.filter(|it| it.name() == listed.name);
        uses.entry(name).or_default().charts = charts.collect();
    }
    for other in &chart.dependencies {
        let is_listed = |it: &Dependency| it.name == other.name();
        if !chart.metadata.depends_on().any(is_listed) {
            uses.entry(other.name()).or_default().charts.push(other);
        }
    }
    uses
}

fn has_tags(chart: &Chart) -> bool {
    let mut listed = chart.metadata.depends_on();
    listed.any(|it| !it.tags.is_empty()) || chart.dependencies.iter().any(has_tags)
}

/// Default values under those that are given. A null that is given stands for no default, but the type is still known.
fn merged(given: Option<&Table>, defaults: &Table) -> Table {
    let mut all = defaults.clone();
    for (key, value) in given.into_iter().flatten() {
        match (all.get_mut(key), value) {
            (Some(Json::Object(there)), Json::Object(value)) => {
                *there = merged(Some(value), there);
            }
            (Some(_), Json::Null) => {}
            (_, value) => {
                all.insert(key.clone(), value.clone());
            }
        }
    }
    all
}

/// Declares what the chart around one gives it, also if the chart's own schema refuses it: that one counts only if it is used.
fn declare_given(object: &mut Object, given: Option<&Table>, progress: &mut Progress) {
    for (name, value) in given.into_iter().flatten() {
        if !object.properties.contains_key(name) && object.rest == Rest::Refused {
            let node = progress.within(name, |progress| infer(name, value, progress));
            object.properties.insert(name.clone(), node);
        }
    }
}

/// Declares the boolean at the path of a condition.
fn declare_switch(object: &mut Object, path: &str) {
    let names: Vec<&str> = path.split('.').take(MOST_OF_CONDITION + 1).collect();
    let ([tables @ .., last], true) = (names.as_slice(), names.len() <= MOST_OF_CONDITION) else {
        return;
    };
    if path.is_empty() || object.rest == Rest::Refused && !object.properties.contains_key(names[0])
    {
        return;
    }
    let mut object = object;
    for name in tables {
        let inner = object.properties.entry((*name).to_owned());
        let inner = inner.or_insert_with(|| Object::default().into());
        if let Shape::Unsaid = inner.shape {
            inner.shape = Shape::Object(Object::default());
        }
        match inner.object_mut() {
            Some(inner) => object = inner,
            None => return,
        }
    }
    let switch = object.properties.entry((*last).to_owned());
    switch.or_insert_with(|| Shape::Boolean.into());
}

/// Lets an object have fields that it does not name: all charts share the globals.
fn open(mut node: Node) -> Node {
    if let Some(object) = node.object_mut() {
        object.rest = Rest::Accepted;
    }
    node
}
