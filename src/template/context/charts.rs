//! The variables of the templates for kinds with a Helm chart.

use std::collections::BTreeMap;

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

/// The charts of the project, each once. A chart has the storage of Helm if any of its kinds has.
pub fn charts(project: &Project) -> Vec<Value> {
    let mut charts: BTreeMap<&ChartPath, bool> = BTreeMap::new();
    for (_, resource) in project.resources() {
        if let Some(path) = &resource.chart {
            *charts.entry(path).or_default() |= resource.helm_storage;
        }
    }
    let charts = charts.into_iter().map(|(path, helm_storage)| {
        let mut chart = chart(path);
        chart["helm_storage"] = json!(helm_storage);
        chart
    });
    charts.collect()
}

/// The controllers that install charts.
pub fn releases(controllers: &[Subject]) -> Vec<&Value> {
    let installing = controllers
        .iter()
        .filter(|it| it.scope == Scope::ChartController);
    installing.map(|it| &it.value).collect()
}
