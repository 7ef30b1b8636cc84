//! What is wrong with the files of a chart whatever the values are.

use std::{fmt, thread};

use crate::{
    chart::{self, Chart, Dependency, schema},
    engine,
    exec::Templates,
    go::path,
    manifest,
    render::STACK,
};

/// A file of a chart that cannot be read: the chart renders with no values at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The path in the chart, such as `charts/child/templates/x.yaml`.
    pub path: String,
    /// The line, if it is known.
    pub line: Option<usize>,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, what } = self;
        match line {
            Some(line) => write!(f, "{path}:{line}: {what}"),
            None => write!(f, "{path}: {what}"),
        }
    }
}

/// The files of a loaded chart that no values mend: a `values.schema.json` that is no JSON or no schema, a template with an error of
/// syntax, a CRD that is no YAML. Those of charts that values switch off are left out.
pub fn faults(chart: &Chart) -> Vec<Fault> {
    let found = thread::scope(|scope| {
        let thread = thread::Builder::new().name("helm-render".to_owned());
        let thread = thread.stack_size(STACK).spawn_scoped(scope, || {
            let mut faults = Vec::new();
            add(chart, "", &mut faults);
            faults
        });
        thread.ok()?.join().ok()
    });
    let mut faults = found.unwrap_or_default();
    add_crds(chart, &mut faults);
    faults
}

fn add(chart: &Chart, prefix: &str, faults: &mut Vec<Fault>) {
    if let Some(schema) = &chart.schema
        && let Some((line, what)) = schema::fault(schema)
    {
        faults.push(Fault {
            path: format!("{prefix}values.schema.json"),
            line,
            what,
        });
    }
    let mut templates = Templates::new(engine::functions(None));
    for file in &chart.templates {
        // Helm reads no others of a library.
        if chart.is_library() && !path::base(&file.name).starts_with('_') {
            continue;
        }
        let path = format!("{prefix}{}", file.name);
        if let Err(error) = templates.parse(&path, &file.text()) {
            faults.push(of_template(path, &error.to_string()));
        }
    }
    for dependency in &chart.dependencies {
        let name = dependency.name();
        let is_it = |it: &&Dependency| it.name == name;
        let mut listed = chart.metadata.depends_on().filter(is_it);
        if listed.all(|it| it.condition.is_empty() && it.tags.is_empty()) {
            add(dependency, &format!("{prefix}charts/{name}/"), faults);
        }
    }
}

/// The fault of an error such as `template: templates/x.yaml:3:7: unexpected …`.
fn of_template(path: String, error: &str) -> Fault {
    let place = format!("template: {path}:");
    let placed = error.strip_prefix(&place).and_then(|rest| {
        let (at, what) = rest.split_once(": ")?;
        let line = at.split(':').next()?.parse().ok()?;
        Some((Some(line), what))
    });
    let (line, what) = placed.unwrap_or((None, error));
    Fault {
        line,
        what: what.to_owned(),
        path,
    }
}

fn add_crds(chart: &Chart, faults: &mut Vec<Fault>) {
    let name = format!("{}/", chart.name());
    for crd in chart.crds() {
        let text = crd.file.text();
        let mut documents = manifest::split(&text).into_iter();
        if let Some(error) = documents.find_map(|it| chart::values(it).err()) {
            faults.push(Fault {
                path: crd.path.strip_prefix(&name).unwrap_or(&crd.path).to_owned(),
                line: None,
                what: error.to_string(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::File;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let top = "{apiVersion: v2, name: top, version: 1.0.0, dependencies: [{name: used, version: 1.0.0}, {name: idle, version: 1.0.0, condition: idle.enabled}]}";
        let child = |name: &str| format!("{{apiVersion: v2, name: {name}, version: 1.0.0}}");
        let own = [
            ("Chart.yaml", top.to_owned()),
            ("charts/used/Chart.yaml", child("used")),
            ("charts/idle/Chart.yaml", child("idle")),
        ];
        let own = own.map(|(name, text)| File::new(name, text.as_bytes()));
        let given = files
            .iter()
            .map(|(name, text)| File::new(*name, text.as_bytes()));
        let chart = Chart::from_files(own.into_iter().chain(given).collect()).unwrap();
        faults(&chart).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_values_mend_is_no_fault() {
        let fine = [
            ("values.schema.json", r#"{"required": ["a"]}"#),
            (
                "templates/a.yaml",
                r#"a: {{ required "name a" .Values.a }}{{ fail "no" }}"#,
            ),
            ("templates/b.yaml", r#"{{ include "nowhere" . }}"#),
            ("crds/a.yaml", "# nothing\n---\nkind: A\n"),
            ("charts/idle/templates/a.yaml", "{{ if }}"),
            ("charts/idle/values.schema.json", "no"),
        ];
        assert_eq!(found(&fine), [""; 0]);
    }

    #[test]
    fn what_no_values_mend_is_named_with_its_line() {
        for (path, text, fault) in [
            (
                "values.schema.json",
                "{\n\"type\": object}",
                "values.schema.json:2: ",
            ),
            (
                "values.schema.json",
                r#"{"type": "objekt"}"#,
                "values.schema.json: no valid schema: ",
            ),
            (
                "values.schema.json",
                "[]",
                "values.schema.json: no valid schema: ",
            ),
            (
                "values.schema.json",
                r#"{"$ref": "https://example.com/a.json"}"#,
                "values.schema.json: no valid schema: ",
            ),
            (
                "templates/a.yaml",
                "a: 1\nb: {{ .Values.b }\n",
                "templates/a.yaml:2: ",
            ),
            (
                "templates/a.yaml",
                "a: 1\n\nb: {{ nowhere 1 }}\n",
                "templates/a.yaml:3: function \"nowhere\" not defined",
            ),
            (
                "templates/_a.tpl",
                "{{ define \"a\" }}\n",
                "templates/_a.tpl:2: ",
            ),
            (
                "templates/NOTES.txt",
                "{{ end }}",
                "templates/NOTES.txt:1: ",
            ),
            (
                "charts/used/templates/a.yaml",
                "{{ if }}",
                "charts/used/templates/a.yaml:1: ",
            ),
            ("crds/a.yaml", "a: [\n", "crds/a.yaml: "),
            ("charts/used/crds/a.yaml", "a", "charts/used/crds/a.yaml: "),
        ] {
            let found = found(&[(path, text)]);
            assert_eq!(found.len(), 1, "{path} {text}");
            assert!(found[0].starts_with(fault), "{}", found[0]);
        }
    }
}
