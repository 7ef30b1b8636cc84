//! From a chart and values to the objects that Helm would install.

use std::{collections::BTreeMap, sync::Arc, thread};

use crate::{
    Error,
    chart::{Capabilities, Chart, Crd, Release, scope},
    engine::{self, Lookup},
    limit::Limits,
    manifest::Manifests,
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
const STACK: usize = 512 << 20;

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
        thread.join().unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref().copied());
            let text = text.unwrap_or("no message");
            Err(Error::new(format!("rendering template failed: {text}")))
        })
    })
}

fn rendered(chart: &Chart, given: &Table, options: &Options) -> Result<Rendered, Error> {
    chart.check_installable()?;
    let mut chart = chart.clone();
    let mut warnings = Vec::new();
    chart.process_dependencies(given, &mut warnings)?;
    let values = chart.render_values(given, &mut warnings)?;
    if !options.skips_schemas {
        chart.check_schemas(&values)?;
    }
    chart.check_kube_version(&options.capabilities.kube_version)?;
    let templates = execute(&chart, &values, options)?;
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

fn execute(
    chart: &Chart,
    values: &Table,
    options: &Options,
) -> Result<BTreeMap<String, String>, Error> {
    let _held = Held::begin();
    let templates = scope::templates(chart, values, &options.release, &options.capabilities);
    let settings = engine::Settings {
        strict: options.strict,
        limits: options.limits,
        lookup: options.lookup.clone(),
    };
    engine::render(&templates, &settings).map_err(Error::new)
}
