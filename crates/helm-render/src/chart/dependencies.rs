//! Which charts of `charts/` are used, under which names, and what a chart takes over of their values.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{Chart, Dependency, version};
use crate::{
    Error,
    values::{self, Nulls, Room, Table, in_chart},
};

/// The most charts that aliases may make of one.
const MOST_CHARTS: usize = 10_000;

/// How often a chart in `charts/` may be compared with one that is listed.
const MOST_COMPARED: usize = 2_000_000;

/// How much aliases and imports may still copy.
struct Left {
    charts: usize,
    compared: usize,
    room: Room,
}

impl Left {
    /// Counts a chart that is copied, with those in it.
    fn take(&mut self, chart: &Chart) -> Result<(), Error> {
        let left = self.charts.checked_sub(1);
        self.charts =
            left.ok_or_else(|| Error::new(format!("aliases make more than {MOST_CHARTS} charts")))?;
        let table = self.room.table(&chart.values);
        table.map_err(in_chart(chart.name()))?;
        chart.dependencies.iter().try_for_each(|it| self.take(it))
    }
}

impl Chart {
    /// Removes the dependencies that conditions and tags switch off, gives aliases to the others, and imports values of theirs.
    /// `given` are the values that the user gives. What Helm warns of is added to `warnings`.
    ///
    /// # Errors
    /// The value of a dependency is no table, or aliases make too many charts.
    pub fn process_dependencies(
        &mut self,
        given: &Table,
        warnings: &mut Vec<String>,
    ) -> Result<(), Error> {
        let wrong =
            |error: Error| Error::new(format!("chart dependencies processing failed: {error}"));
        let left = &mut Left {
            charts: MOST_CHARTS,
            compared: MOST_COMPARED,
            room: Room::new(Room::DEPENDENCIES),
        };
        let name = self.name().to_owned();
        self.enable(given, ("", &name), left, warnings)
            .map_err(wrong)?;
        self.import(&mut left.room, warnings).map_err(wrong)
    }

    /// `path` is that of its values with a dot behind it, and `chart` that of the chart.
    fn enable(
        &mut self,
        given: &Table,
        (path, chart): (&str, &str),
        left: &mut Left,
        warnings: &mut Vec<String>,
    ) -> Result<(), Error> {
        if !self.metadata.has_list {
            return Ok(());
        }
        self.name_dependencies(chart, left)?;
        let values = values::coalesce_within(self, given, Nulls::Remove, warnings, &mut left.room)?;
        let mut removed = BTreeSet::new();
        for dependency in self.metadata.dependencies.iter_mut().flatten() {
            dependency.enabled = is_tagged(dependency, &values, warnings);
            if let Some(is_enabled) = condition(dependency, &values, path, warnings) {
                dependency.enabled = is_enabled;
            }
            if !dependency.enabled {
                removed.insert(dependency.name.clone());
            }
        }
        self.dependencies.retain(|it| !removed.contains(it.name()));
        for dependency in &mut self.dependencies {
            let path = format!("{path}{}.", dependency.name());
            let chart = dependency.path_in(chart);
            dependency.enable(&values, (&path, &chart), left, warnings)?;
        }
        let listed = &mut self.metadata.dependencies;
        listed.retain(|it| it.as_ref().is_some_and(|it| !removed.contains(&it.name)));
        Ok(())
    }

    /// Keeps the charts that nothing lists, and then takes one for each that is listed, under its alias.
    ///
    /// Helm copies such a chart with the charts right in it. Those that are in these still know the path that was theirs before.
    fn name_dependencies(&mut self, path: &str, left: &mut Left) -> Result<(), Error> {
        let listed = self.metadata.dependencies.len();
        let compared = listed.saturating_mul(self.dependencies.len());
        left.compared = left.compared.checked_sub(compared).ok_or_else(|| {
            Error::new(format!(
                "chart {}: its {listed} listed and {} present dependencies are too many to compare",
                self.name(),
                self.dependencies.len()
            ))
        })?;
        let is_wanted = |wanted: &Dependency, chart: &Chart| {
            wanted.name == chart.name()
                && version::is_in_range(&wanted.version, &chart.metadata.version)
        };
        let there = std::mem::take(&mut self.dependencies);
        let is_listed = |chart: &Chart| self.metadata.depends_on().any(|it| is_wanted(it, chart));
        let mut charts: Vec<Chart> = there.iter().filter(|it| !is_listed(it)).cloned().collect();
        for wanted in self.metadata.dependencies.iter_mut().flatten() {
            if let Some(chart) = there.iter().find(|chart| is_wanted(wanted, chart)) {
                left.take(chart)?;
                let mut chart = chart.clone();
                let before = chart.path_in(path);
                for inner in &mut chart.dependencies {
                    let around = inner.path_in(&before);
                    for innermost in &mut inner.dependencies {
                        innermost.parent_path.get_or_insert(around.clone());
                    }
                    inner.parent_path = None;
                }
                if !wanted.alias.is_empty() {
                    chart.metadata.name.clone_from(&wanted.alias);
                }
                charts.push(chart);
            }
            if !wanted.alias.is_empty() {
                wanted.name.clone_from(&wanted.alias);
            }
        }
        for chart in &mut charts {
            chart.parent_path = None;
        }
        self.dependencies = charts;
        Ok(())
    }
}

/// Whether the tags let a dependency be used: one that is true is enough, and without any it is used.
fn is_tagged(dependency: &Dependency, values: &Table, warnings: &mut Vec<String>) -> bool {
    let Some(tags) = values.get("tags").and_then(Json::as_object) else {
        return true;
    };
    let (mut has_true, mut has_false) = (false, false);
    for tag in &dependency.tags {
        match tags.get(tag) {
            None => {}
            Some(Json::Bool(true)) => has_true = true,
            Some(Json::Bool(false)) => has_false = true,
            Some(_) => warnings.push(format!(
                "returned non-bool value: tag {tag} of chart {}",
                dependency.name
            )),
        }
    }
    has_true || !has_false
}

/// What the first of its conditions that is a boolean says.
fn condition(
    dependency: &Dependency,
    values: &Table,
    path: &str,
    warnings: &mut Vec<String>,
) -> Option<bool> {
    let conditions = dependency.condition.trim().split(',');
    for condition in conditions.filter(|it| !it.is_empty()) {
        match values::value(values, &format!("{path}{condition}")) {
            None => {}
            Some(Json::Bool(it)) => return Some(*it),
            Some(_) => warnings.push(format!(
                "returned non-bool value: path {condition} of chart {}",
                dependency.name
            )),
        }
    }
    None
}
