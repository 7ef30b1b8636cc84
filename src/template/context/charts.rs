//! The variables of the templates for kinds with a Helm chart.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Subject;
use crate::{
    name::{ChartPath, rust::Module},
    project::{Project, Resource},
    template::catalogue::Scope,
};

/// The longest directory with which rustfmt leaves a call on one line.
const MAX_DIRECTORY: usize = 38;

/// A chart.
pub fn chart(path: &ChartPath) -> Value {
    json!({
        // Its name.
        "name": path.name(),
        // Its directory.
        "directory": path.as_str(),
        // Its function in `src/charts.rs`.
        "function": Module::of_chart(path).ident,
        // Whether rustfmt would break the call with the directory.
        "is_long": path.as_str().len() > MAX_DIRECTORY,
    })
}

/// The charts of the project, each once.
pub fn charts(project: &Project) -> Vec<Value> {
    let resources = project.resources();
    let paths: BTreeSet<_> = resources.filter_map(|(_, it)| it.chart.as_ref()).collect();
    paths.into_iter().map(chart).collect()
}

/// The chart that the controller of a kind installs, and how.
pub fn installed(resource: &Resource) -> Option<Value> {
    let mut chart = chart(resource.chart.as_ref()?);
    chart["helm_storage"] = json!(resource.helm_storage);
    Some(chart)
}

/// The controllers that install charts.
pub fn releases(controllers: &[Subject]) -> Vec<&Value> {
    let installing = controllers
        .iter()
        .filter(|it| it.scope == Scope::ChartController);
    installing.map(|it| &it.value).collect()
}
