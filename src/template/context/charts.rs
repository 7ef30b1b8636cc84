//! The variables of the templates for kinds with a Helm chart.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Subject;
use crate::{
    name::{ChartPath, rust::Module},
    project::Project,
    template::catalogue::Scope,
};

/// A chart.
pub fn chart(path: &ChartPath) -> Value {
    json!({
        // Its name.
        "name": path.name(),
        // Its directory.
        "directory": path.as_str(),
        // Its function in `src/charts.rs`.
        "function": Module::of_chart(path).ident,
    })
}

/// The charts of the project, each once.
pub fn charts(project: &Project) -> Vec<Value> {
    let charts = project.resources().filter_map(|(_, it)| it.chart.as_ref());
    let charts: BTreeSet<&ChartPath> = charts.collect();
    charts.into_iter().map(chart).collect()
}

/// The controllers that install charts.
pub fn releases(controllers: &[Subject]) -> Vec<&Value> {
    let installing = controllers
        .iter()
        .filter(|it| it.scope == Scope::ChartController);
    installing.map(|it| &it.value).collect()
}
