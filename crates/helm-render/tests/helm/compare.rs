//! Compares two renderings of a chart. Both are as `tests/helm/oracle/chart.go` answers them.

use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{oracle, random};

/// Renders what a request asks for.
pub type Render<'a> = &'a dyn Fn(&Value) -> Value;

/// The random values of each chart.
const RUNS: u64 = 20;

/// What the comparison of a list of charts found.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
    pub differences: Vec<Difference>,
    /// Renderings that fail in both, with one message.
    pub same_messages: usize,
    /// Renderings that fail in both, with two messages.
    pub messages: Vec<Difference>,
}

struct Row {
    chart: String,
    default: &'static str,
    same: u64,
    differences: usize,
}

/// Something that is not the same.
pub struct Difference {
    chart: String,
    values: Value,
    what: String,
    ours: String,
    of_helm: String,
    /// How many renderings of the chart have it.
    times: usize,
}

impl Difference {
    fn is_like(&self, other: &Self) -> bool {
        let texts = |it: &Self| {
            [
                it.chart.clone(),
                it.what.clone(),
                it.ours.clone(),
                it.of_helm.clone(),
            ]
        };
        texts(self) == texts(other)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} with {}: {} ({} times)",
            self.chart, self.values, self.what, self.times
        )?;
        writeln!(f, "    Helm: {}", self.of_helm)?;
        writeln!(f, "    ours: {}", self.ours)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:60} | default | random | differences", "chart")?;
        for row in &self.rows {
            writeln!(
                f,
                "{:60} | {:7} | {:3}/{RUNS} | {}",
                row.chart, row.default, row.same, row.differences
            )?;
        }
        let other: usize = self.messages.iter().map(|it| it.times).sum();
        let failed = self.same_messages + other;
        writeln!(
            f,
            "{} charts, {} differences; {failed} renderings fail in both, {} of them with one message",
            self.rows.len(),
            self.differences.len(),
            self.same_messages,
        )
    }
}

impl Table {
    /// Renders charts with their own values and with random ones.
    pub fn of(charts: &[PathBuf], render: Render<'_>) -> Self {
        let mut table = Self::default();
        for chart in charts {
            table.chart(chart, render);
        }
        table
    }

    fn chart(&mut self, path: &Path, render: Render<'_>) {
        let request = |values: &Value| json!({"kind": "chart", "path": path, "values": values});
        let default = request(&json!({}));
        let of_helm = oracle::ask(&default);
        let before = self.differences.len();
        let is_same = self.rendering(&shown(path), &default, &of_helm, render);
        let default = match (is_same, &of_helm["error"]) {
            (false, _) => "differs",
            (true, Value::Null) => "same",
            (true, _) => "fails",
        };
        let defaults = match &of_helm["values"] {
            Value::Null => &of_helm["defaults"],
            values => values,
        };
        let mut same = 0;
        for run in 0..RUNS {
            let request = request(&random::values(run, defaults, &of_helm["schema"]));
            let of_helm = oracle::ask(&request);
            same += u64::from(self.rendering(&shown(path), &request, &of_helm, render));
        }
        self.rows.push(Row {
            chart: shown(path),
            default,
            same,
            differences: self.differences.len() - before,
        });
    }

    /// Whether both renderings are the same, but for the message of one that fails.
    fn rendering(
        &mut self,
        chart: &str,
        request: &Value,
        of_helm: &Value,
        render: Render<'_>,
    ) -> bool {
        let ours = render(request);
        let mut found = differences(&ours, of_helm);
        if !found.is_empty() {
            found = without_random(found, request, of_helm);
        }
        if found.is_empty() && of_helm["error"].is_string() {
            self.same_messages += 1;
        }
        let mut is_same = true;
        for (what, ours, of_helm) in found {
            let is_message = what == MESSAGE;
            let difference = Difference {
                chart: chart.to_owned(),
                values: request["values"].clone(),
                what,
                ours,
                of_helm,
                times: 1,
            };
            is_same = is_same && is_message;
            let all = match is_message {
                true => &mut self.messages,
                false => &mut self.differences,
            };
            match all.iter_mut().find(|it| it.is_like(&difference)) {
                Some(known) => known.times += 1,
                None => all.push(difference),
            }
        }
        is_same
    }

    /// # Panics
    /// If a rendering is another one.
    #[track_caller]
    pub fn assert_same(&self) {
        println!("{self}");
        for difference in self.messages.iter().take(20) {
            println!("{difference}");
        }
        let first = self.differences.iter().take(50);
        let first: String = first.map(ToString::to_string).collect();
        assert!(
            self.differences.is_empty(),
            "{} differences\n{first}",
            self.differences.len()
        );
    }
}

/// The difference of messages.
const MESSAGE: &str = "message";

/// What differs, with the texts of both.
fn differences(ours: &Value, of_helm: &Value) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    match (ours["error"].as_str(), of_helm["error"].as_str()) {
        (None, None) => {}
        (Some(a), Some(b)) if a == b => return found,
        (Some(a), Some(b)) => return vec![(MESSAGE.to_owned(), a.to_owned(), b.to_owned())],
        (a, b) => {
            let [a, b] = [a, b].map(|it| it.unwrap_or("it renders").to_owned());
            return vec![("error".to_owned(), a, b)];
        }
    }
    let empty = serde_json::Map::new();
    let templates = |side: &Value| side["templates"].as_object().unwrap_or(&empty).clone();
    let (ours_all, all) = (templates(ours), templates(of_helm));
    let names: BTreeSet<&String> = ours_all.keys().chain(all.keys()).collect();
    for name in names {
        let text =
            |all: &serde_json::Map<String, Value>| all.get(name)?.as_str().map(str::to_owned);
        match (text(&ours_all), text(&all)) {
            (a, b) if a == b => {}
            (Some(a), Some(b)) => {
                let (a, b) = first_line(&a, &b);
                found.push((name.clone(), a, b));
            }
            (a, b) => {
                let [a, b] =
                    [a, b].map(|it| if it.is_some() { "there" } else { "missing" }.to_owned());
                found.push((name.clone(), a, b));
            }
        }
    }
    for part in ["manifests", "hooks", "notes", "values"] {
        let (ours, of_helm) = (with_floats(&ours[part]), with_floats(&of_helm[part]));
        if ours != of_helm {
            let (a, b) = first_line(&pretty(&ours), &pretty(&of_helm));
            found.push((part.to_owned(), a, b));
        }
    }
    // Helm has the charts that a chart depends on in a random order.
    let crds = |side: &Value| {
        let crds = side["crds"].as_array().cloned().unwrap_or_default();
        let mut crds: Vec<_> = crds.iter().map(pretty).collect();
        crds.sort();
        crds.concat()
    };
    if crds(ours) != crds(of_helm) {
        let (a, b) = first_line(&crds(ours), &crds(of_helm));
        found.push(("crds".to_owned(), a, b));
    }
    found
}

/// A value whose numbers are all floats, as they are for Helm.
fn with_floats(value: &Value) -> Value {
    match value {
        Value::Number(it) => json!(it.as_f64()),
        Value::Array(items) => items.iter().map(with_floats).collect(),
        Value::Object(entries) => {
            let entries = entries.iter();
            entries
                .map(|(key, it)| (key.clone(), with_floats(it)))
                .collect()
        }
        other => other.clone(),
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

/// The first line that is not the same, with its number.
fn first_line(a: &str, b: &str) -> (String, String) {
    let (mut a, mut b) = (a.split('\n'), b.split('\n'));
    let mut number = 1;
    loop {
        match (a.next(), b.next()) {
            (Some(a), Some(b)) if a == b => number += 1,
            (a, b) => {
                let shown = |it: Option<&str>| match it {
                    Some(it) => format!("line {number}: {it:?}"),
                    None => format!("ends before line {number}"),
                };
                return (shown(a), shown(b));
            }
        }
    }
}

/// Leaves out what Helm itself has otherwise when it renders again: passwords, certificates, times, and the order of maps.
fn without_random(
    found: Vec<(String, String, String)>,
    request: &Value,
    of_helm: &Value,
) -> Vec<(String, String, String)> {
    let mut random = BTreeSet::new();
    for _ in 0..5 {
        let again = oracle::ask(request);
        random.extend(differences(&again, of_helm).into_iter().map(|it| it.0));
    }
    let is_random = |what: &str| random.contains(what);
    let mut found = found;
    found.retain(|(what, ..)| !is_random(what));
    found
}

/// A path as reports name it.
fn shown(path: &Path) -> String {
    let path = path.to_string_lossy();
    match path.split_once("/helm.sh/helm/") {
        Some((_, rest)) => rest.to_owned(),
        None => {
            let names: Vec<_> = path.rsplit('/').take(4).collect();
            names.into_iter().rev().collect::<Vec<_>>().join("/")
        }
    }
}

#[test]
fn differences_are_found() {
    let side = |templates: Value, error: Value| json!({"templates": templates, "error": error});
    let check = |ours: Value, of_helm: Value, expected: &[(&str, &str, &str)]| {
        let found = differences(&ours, &of_helm);
        let found = found.iter();
        let found: Vec<_> = found.map(|(a, b, c)| (&**a, &**b, &**c)).collect();
        assert_eq!(found, expected);
    };
    let a = side(json!({"a": "1\n2"}), Value::Null);
    check(a.clone(), a.clone(), &[]);
    check(
        a.clone(),
        side(json!({"a": "1\n3", "b": ""}), Value::Null),
        &[
            ("a", "line 2: \"2\"", "line 2: \"3\""),
            ("b", "missing", "there"),
        ],
    );
    check(
        a,
        side(json!({}), json!("no")),
        &[("error", "it renders", "no")],
    );
}
