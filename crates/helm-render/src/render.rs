//! From a chart and values to the objects that Helm would install.

use std::{
    any::Any,
    collections::{BTreeMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use crate::{
    Error,
    chart::{Capabilities, Chart, Crd, Release, scope},
    engine::{self, Lookup, Memory},
    limit::Limits,
    manifest::{self, Head, Manifests},
    sprig::Reused,
    value::Held,
    values::Table,
};

/// What a rendering depends on beside the chart and its values.
#[derive(Clone, Default)]
pub struct Options {
    /// What `.Release` says.
    pub release: Release,
    /// What `.Capabilities` says.
    pub capabilities: Capabilities,
    /// Whether a key that a map lacks is an error, as with `--strict`.
    pub strict: bool,
    /// Whether values are not checked against `values.schema.json`, as with `--skip-schema-validation`.
    pub skips_schemas: bool,
    /// Whether the notes of dependencies follow those of the chart, as with `--render-subchart-notes`.
    pub adds_notes_of_dependencies: bool,
    /// What the rendering may use.
    pub limits: Limits,
    /// What `lookup` finds. By default, nothing, as in `helm template`.
    pub lookup: Option<Arc<Lookup>>,
}

/// What a chart renders.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The text of each template that is no partial, by its path.
    pub templates: BTreeMap<String, String>,
    /// The objects in the order in which Helm installs them, the hooks, and the notes.
    pub manifests: Manifests,
    /// The files of `crds/`, which are no templates.
    pub crds: Vec<Crd>,
    /// The values that the templates saw.
    pub values: Table,
    /// What Helm would log: values that do not fit, and the like.
    pub warnings: Vec<String>,
}

/// The stack of a rendering, in bytes. Only what templates use of it is taken from memory.
pub const STACK: usize = 512 << 20;

/// Renders a chart with values, which come before those of the chart.
///
/// The rendering has a thread of its own, because templates may call each other deeply, and this function waits for it.
///
/// # Errors
/// In the words of Helm: the chart does not fit the version of Kubernetes, the values do not fit the schema, a template fails, or a
/// rendered text is no YAML. Also, the limits are reached, or this crate has a fault and would panic.
pub fn render(chart: &Chart, given: &Table, options: &Options) -> Result<Rendered, Error> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("helm-render".to_owned());
        let run = || rendered(chart, given, options);
        let thread = thread.stack_size(STACK).spawn_scoped(scope, run);
        let thread =
            thread.map_err(|error| Error::new(format!("no thread to render in: {error}")))?;
        thread.join().unwrap_or_else(|panic| Err(of_panic(&*panic)))
    })
}

fn of_panic(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref().copied());
    let text = text.unwrap_or("no message");
    Error::new(format!("rendering template failed: {text}"))
}

fn rendered(chart: &Chart, given: &Table, options: &Options) -> Result<Rendered, Error> {
    let mut warnings = Vec::new();
    let (chart, values) = prepared(chart, given, options, &mut warnings)?;
    let templates = execute(&chart, &values, options, None)?;
    let with_notes = options.adds_notes_of_dependencies;
    let manifests = Manifests::of(&templates, chart.name(), with_notes)?;
    Ok(Rendered {
        templates,
        manifests,
        crds: chart.crds(),
        values,
        warnings,
    })
}

/// The chart with the dependencies that it uses, and the values that its templates see.
fn prepared(
    chart: &Chart,
    given: &Table,
    options: &Options,
    warnings: &mut Vec<String>,
) -> Result<(Chart, Table), Error> {
    chart.check_installable()?;
    let mut chart = chart.clone();
    chart.process_dependencies(given, warnings)?;
    let values = chart.render_values(given, warnings)?;
    if !options.skips_schemas {
        chart.check_schemas(&values)?;
    }
    chart.check_kube_version(&options.capabilities.kube_version)?;
    Ok((chart, values))
}

fn execute(
    chart: &Chart,
    values: &Table,
    options: &Options,
    parsed: Option<Memory>,
) -> Result<BTreeMap<String, String>, Error> {
    let _held = Held::begin();
    let templates = scope::templates(chart, values, &options.release, &options.capabilities);
    let settings = engine::Settings {
        strict: options.strict,
        limits: options.limits,
        lookup: options.lookup.clone(),
        parsed,
    };
    engine::render(&templates, &settings).map_err(Error::new)
}

/// Renders a chart again and again, to learn what it can render: what was parsed and judged before is remembered. Nothing of it may be
/// installed: keys are made once, and come again in each rendering.
///
/// It takes a thread with a stack of [`STACK`] bytes, and stays there.
#[derive(Default)]
pub struct Trials {
    parsed: Memory,
    /// The hashes of the documents that were judged to be right.
    judged: HashSet<u64>,
    _keys: Reused,
}

impl Trials {
    /// The texts of the templates, as [`render`] gives them.
    ///
    /// # Errors
    /// As [`render`].
    pub fn render(
        &mut self,
        chart: &Chart,
        given: &Table,
        options: &Options,
    ) -> Result<BTreeMap<String, String>, Error> {
        // What is remembered of a rendering that panics is whole: it is added in the end.
        let rendered = catch_unwind(AssertUnwindSafe(|| self.rendered(chart, given, options)));
        rendered.unwrap_or_else(|panic| Err(of_panic(&*panic)))
    }

    fn rendered(
        &mut self,
        chart: &Chart,
        given: &Table,
        options: &Options,
    ) -> Result<BTreeMap<String, String>, Error> {
        let (chart, values) = prepared(chart, given, options, &mut Vec::new())?;
        let templates = execute(&chart, &values, options, Some(self.parsed.clone()))?;
        for (path, text) in templates.iter().filter(|it| manifest::is_sorted(it.0)) {
            for document in manifest::split(text) {
                let mut hasher = DefaultHasher::new();
                document.hash(&mut hasher);
                let hash = hasher.finish();
                if !self.judged.contains(&hash) {
                    Head::read(path, document)?;
                    self.judged.insert(hash);
                }
            }
        }
        Ok(templates)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chart::File;

    fn chart(template: &str) -> Chart {
        let files = [
            ("Chart.yaml", "{apiVersion: v2, name: a, version: 1.0.0}"),
            (
                "templates/_a.tpl",
                "{{ define \"a\" }}{{ .Values.a }}{{ end }}",
            ),
            ("templates/a.yaml", template),
        ];
        let files = files.map(|(name, text)| File::new(name, text.as_bytes()));
        Chart::from_files(files.to_vec()).unwrap()
    }

    fn values(values: serde_json::Value) -> Table {
        values.as_object().cloned().unwrap()
    }

    #[test]
    fn a_trial_gives_what_a_rendering_gives() {
        let mut trials = Trials::default();
        let texts = [
            "a: {{ include \"a\" . }}",
            "",
            "a: {{ include \"a\" . }}",
            "{{ include \"a\" . }}",
            "a: {{ .Values.a.b }}",
            "{{ end }}",
        ];
        for text in texts {
            for given in [json!({"a": 1}), json!({"a": "[b"}), json!({"a": {"b": 2}})] {
                let (chart, given, options) = (chart(text), values(given), Options::default());
                let tried = trials.render(&chart, &given, &options);
                let rendered = render(&chart, &given, &options).map(|it| it.templates);
                let shown = |it: Result<_, Error>| it.map_err(|error| error.to_string());
                assert_eq!(shown(tried), shown(rendered), "{text} {given:?}");
            }
        }
    }

    #[test]
    fn only_trials_give_a_key_again() {
        let chart = chart("key: {{ (genCA \"a\" 1).Key | quote }}");
        let options = Options::default();
        let render = || render(&chart, &Table::new(), &options).unwrap().templates;
        let mut trials = Trials::default();
        let mut tried = || trials.render(&chart, &Table::new(), &options).unwrap();
        assert_eq!(tried(), tried());
        assert_ne!(render(), render());
    }
}
