//! What is tried, one attempt after the other, to reach every branch of the templates.

use std::collections::BTreeSet;

use helm_render::{
    chart::{self, Chart},
    values::Table,
};
use serde_json::{Value, json};

use super::{
    attempt::{Attempt, Outcome, Renderer, VERSIONS},
    found::Found,
    reference::is_true,
    scan::{self, Goal, Scan},
    shape::{self, Path, VARIANTS},
    wishes::Wishes,
};

/// How many values of `values.yaml` are changed one by one.
const VALUES: usize = 2_000;

/// The words by which charts switch on objects.
const SWITCHES: [&str; 4] = ["enabled", "enable", "create", "install"];

/// Kinds that stand for each other.
const ALIKE: [&[&str]; 3] = [
    &["Deployment", "DaemonSet", "StatefulSet"],
    &["Issuer", "ClusterIssuer"],
    &["Role", "ClusterRole"],
];

/// What the search found.
pub struct Search {
    /// The objects.
    pub found: Found,
    /// What was rendered, and what failed.
    pub renderer: Renderer,
    /// What the texts say.
    pub scan: Scan,
    /// The values of the chart and of all that it depends on.
    defaults: Value,
    /// The paths of the booleans among the values, and of conditions and tags of dependencies.
    booleans: Vec<Path>,
    /// Values that somebody gives.
    samples: Vec<Value>,
    /// What could not be found out.
    pub notes: Vec<String>,
}

fn without_conditions(chart: &mut Chart) {
    for dependency in chart.metadata.dependencies.iter_mut().flatten() {
        dependency.condition.clear();
        dependency.tags.clear();
    }
    chart.dependencies.iter_mut().for_each(without_conditions);
}

/// Takes out the listed dependencies that are not there: they render nothing, and Helm would refuse the chart.
fn without_missing(chart: &mut Chart) -> Vec<String> {
    let missing: Vec<String> = chart
        .missing_dependencies()
        .into_iter()
        .map(str::to_owned)
        .collect();
    let listed = &mut chart.metadata.dependencies;
    listed.retain(|it| it.as_ref().is_none_or(|it| !missing.contains(&it.name)));
    missing
}

/// The paths of conditions and tags.
fn switches(chart: &Chart, prefix: &Path, all: &mut Vec<Path>) {
    for listed in chart.metadata.depends_on() {
        for condition in listed.condition.split(',').map(str::trim) {
            if !condition.is_empty() {
                let parts = condition.split('.').map(str::to_owned);
                all.push(prefix.iter().cloned().chain(parts).collect());
            }
        }
        for tag in &listed.tags {
            all.push(vec!["tags".to_owned(), tag.clone()]);
        }
    }
    for dependency in &chart.dependencies {
        let name = dependency.name();
        switches(dependency, &shape::below(prefix, name), all);
    }
}

/// The paths of booleans. Those of `global` in dependencies are copies.
fn booleans(value: &Value, path: &mut Path, all: &mut Vec<Path>) {
    match value {
        Value::Bool(_) if all.len() < VALUES => all.push(path.clone()),
        Value::Object(entries) => {
            for (name, entry) in entries {
                if path.is_empty() || name != "global" {
                    path.push(name.clone());
                    booleans(entry, path, all);
                    path.pop();
                }
            }
        }
        _ => {}
    }
}

fn texts(chart: &Chart, all: &mut String) {
    for file in &chart.templates {
        all.push_str(&file.text());
        all.push('\n');
    }
    chart.dependencies.iter().for_each(|it| texts(it, all));
}

impl Search {
    /// Prepares the search: reads the templates and renders nothing yet.
    pub fn of(chart: &Chart, samples: &[Table]) -> Self {
        let mut notes = Vec::new();
        let mut chart = chart.clone();
        // Which versions of Kubernetes it takes, and whether it is a library, plays no part here.
        chart.metadata.kube_version.clear();
        let missing = without_missing(&mut chart);
        if !missing.is_empty() {
            let names = missing.join(", ");
            notes.push(format!("The chart depends on charts that are not in charts/: {names}. What they render is not known."));
        }
        let mut all = chart.clone();
        without_conditions(&mut all);
        if let Err(error) = all.process_dependencies(&Table::new(), &mut Vec::new()) {
            notes.push(error.to_string());
        }
        let defaults = all.render_values(&Table::new(), &mut Vec::new());
        let defaults = defaults.map_or_else(|_| json!({}), Value::Object);
        let mut paths = Vec::new();
        switches(&all, &Vec::new(), &mut paths);
        switches(&chart, &Vec::new(), &mut paths);
        booleans(&defaults, &mut Vec::new(), &mut paths);
        let mut seen = BTreeSet::new();
        paths.retain(|it| seen.insert(it.clone()));
        let given = samples.iter().cloned().map(Value::Object);
        let own = chart
            .files
            .iter()
            .filter(|it| it.name.starts_with("ci/") && it.name.ends_with("-values.yaml"));
        let own = own
            .filter_map(|it| chart::values(&it.text()).ok())
            .map(Value::Object);
        let samples = given.chain(own).collect();
        let mut written = String::new();
        texts(&chart, &mut written);
        let mut found = Found::new(&written);
        let (renderer, plain) = Renderer::new(&chart);
        found.add(&plain);
        Self {
            found,
            renderer,
            scan: scan::of(&all),
            defaults,
            booleans: paths,
            samples,
            notes,
        }
    }

    /// Has a value that is the kind of an object take the other kinds that usually stand there.
    fn compare_kinds(&mut self) {
        for (template, path) in self.scan.kinds_from_values.clone() {
            let now = shape::value(&self.defaults, &path).and_then(Value::as_str);
            let now = now.unwrap_or("Deployment").to_owned();
            let alike = ALIKE.iter().find(|it| it.contains(&now.as_str()));
            for kind in alike.into_iter().flat_map(|it| it.iter()) {
                self.scan.shape.compare(&path, &json!(kind));
            }
            let path = path.join(".");
            self.notes.push(format!("The kind of an object in {template} is the value {path}: others may be given than those that were tried."));
        }
    }

    /// Tries everything.
    pub fn run(&mut self) {
        self.compare_kinds();
        let bases = self.bases();
        for base in &bases {
            self.attempt(with(base));
        }
        let (default, on) = (json!({}), self.switched(true, |_| true));
        for base in [&default, &on] {
            self.environments(base);
        }
        let goals = std::mem::take(&mut self.scan.goals);
        // CRDs are large, and there is nothing more to find in them.
        for template in self.found.templates_of_crds() {
            let mut own = goals.iter().filter(|it| it.template == template);
            let has_all = own.all(|it| {
                it.kind
                    .as_ref()
                    .is_none_or(|kind| self.found.has(&template, kind))
            });
            if has_all {
                self.renderer.leave_out(&template);
            }
        }
        let (kinds, mut branches): (Vec<&Goal>, Vec<&Goal>) =
            goals.iter().partition(|it| it.kind.is_some());
        for &goal in &kinds {
            self.reach(goal, &[default.clone(), on.clone()]);
        }
        // What roles grant may differ from branch to branch.
        let grants = |goal: &&Goal| ["role", "rbac"].iter().any(|it| goal.template.contains(it));
        branches.sort_by_key(|it| !grants(it));
        for goal in branches {
            self.enter(goal);
        }
        self.change_values(&[default, on]);
        for goal in kinds {
            self.reach(goal, &bases);
        }
        self.scan.goals = goals;
    }

    fn attempt(&mut self, attempt: Attempt) -> Option<Outcome> {
        let outcome = self.renderer.run(&attempt)?;
        self.found.add(&outcome.objects);
        Some(outcome)
    }

    /// Values in which the booleans of some paths are all the same.
    fn switched(&self, to: bool, takes: impl Fn(&Path) -> bool) -> Value {
        let mut over = json!({});
        for path in self.booleans.iter().filter(|it| takes(it)) {
            shape::set(&mut over, Some(&self.defaults), path, json!(to));
        }
        over
    }

    /// The values to begin with: those of the chart, those that are given, and everything on or off.
    fn bases(&self) -> Vec<Value> {
        let mut bases = vec![json!({})];
        bases.extend(self.samples.iter().cloned());
        let is_switch = |path: &Path| {
            path.last()
                .is_some_and(|it| SWITCHES.contains(&it.as_str()))
        };
        bases.push(self.switched(true, |_| true));
        bases.push(self.switched(true, is_switch));
        let is_boolean: BTreeSet<&Path> = self.booleans.iter().collect();
        for variant in 0..VARIANTS {
            let mut full = self.switched(true, |_| true);
            for (path, _) in self.scan.shape.leaves() {
                let now =
                    shape::value(&full, &path).or_else(|| shape::value(&self.defaults, &path));
                let is_empty = !now.is_some_and(is_true);
                if let Some(shape) = self.scan.shape.get(&path)
                    && is_empty
                    && !is_boolean.contains(&path)
                {
                    shape::set(
                        &mut full,
                        Some(&self.defaults),
                        &path,
                        shape.example(variant),
                    );
                }
            }
            bases.push(full);
        }
        bases.push(self.switched(false, |_| true));
        bases.push(self.switched(false, is_switch));
        bases
    }

    /// Renders with other clusters and releases.
    fn environments(&mut self, base: &Value) {
        let apis = |is_there: bool| {
            let apis = self.scan.apis.iter().cloned();
            apis.map(|it| (it, is_there)).collect()
        };
        let base = with(base);
        let mut all = Vec::new();
        for apis in [apis(true), apis(false)] {
            all.push(Attempt {
                apis,
                ..base.clone()
            });
        }
        if self.scan.asks_for_version {
            for version in VERSIONS {
                for apis in [apis(true), apis(false)] {
                    let version = Some(version);
                    all.push(Attempt {
                        apis,
                        version,
                        ..base.clone()
                    });
                }
            }
        }
        for (is_upgrade, finds) in [(true, false), (false, true), (true, true)] {
            all.push(Attempt {
                is_upgrade,
                finds,
                ..base.clone()
            });
        }
        for attempt in all {
            self.attempt(attempt);
        }
    }

    /// The attempts that a goal asks for.
    fn attempts(&self, goal: &Goal, base: &Value, variant: usize) -> Vec<Attempt> {
        let mut wishes = Wishes::default();
        // The innermost conditions count most: they are wished for first.
        let guards = goal.guards.iter().rev();
        wishes.wish_all(guards.map(|(condition, holds)| (&**condition, *holds)));
        let mut over = base.clone();
        wishes.set(&mut over, &self.defaults, &self.scan.shape, variant);
        let is_upgrade = wishes.is_upgrade.unwrap_or(false);
        let attempt = Attempt {
            apis: wishes.apis,
            is_upgrade,
            namespace: wishes.namespace,
            ..with(&over)
        };
        let mut all = vec![attempt.clone()];
        if wishes.asks_for_version {
            let others = VERSIONS.into_iter().map(|version| Attempt {
                version: Some(version),
                ..attempt.clone()
            });
            all.extend(others);
        }
        all
    }

    /// Tries to render the kind of a goal.
    fn reach(&mut self, goal: &Goal, bases: &[Value]) {
        let Some(kind) = &goal.kind else {
            return;
        };
        for base in bases {
            for variant in 0..VARIANTS {
                if self.renderer.is_spent() {
                    return;
                }
                for attempt in self.attempts(goal, base, variant) {
                    if self.found.has(&goal.template, kind) {
                        return;
                    }
                    self.attempt(attempt);
                }
            }
        }
    }

    /// Tries to take a branch, once without an error.
    fn enter(&mut self, goal: &Goal) {
        for variant in 0..VARIANTS {
            if self.renderer.is_spent() {
                return;
            }
            let mut fails = false;
            for attempt in self.attempts(goal, &json!({}), variant) {
                let outcome = self.attempt(attempt);
                fails |= outcome.is_some_and(|it| it.fails(&goal.template));
            }
            if !fails {
                break;
            }
        }
    }

    /// Changes one value at a time.
    fn change_values(&mut self, bases: &[Value]) {
        let leaves = self.scan.shape.leaves().into_iter();
        let literals = leaves
            .flat_map(|(path, literals)| literals.iter().map(move |it| (path.clone(), it.clone())));
        let flips = self
            .booleans
            .iter()
            .flat_map(|path| [true, false].map(|it| (path.clone(), json!(it))));
        let changes: Vec<(Path, Value)> = flips.chain(literals).collect();
        for (path, value) in changes {
            for base in bases {
                if self.renderer.is_spent() {
                    return;
                }
                let now = shape::value(base, &path).or_else(|| shape::value(&self.defaults, &path));
                if now != Some(&value) {
                    let mut over = base.clone();
                    shape::set(&mut over, Some(&self.defaults), &path, value.clone());
                    self.attempt(with(&over));
                }
            }
        }
    }
}

fn with(values: &Value) -> Attempt {
    Attempt {
        values: values.as_object().cloned().unwrap_or_default(),
        ..Attempt::default()
    }
}
