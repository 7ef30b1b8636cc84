//! What each template of a chart and of those that it depends on sees, and in which order Helm takes them.

use std::{collections::BTreeMap, rc::Rc};

use super::{Capabilities, Chart, files::Files};
use crate::{Map, MapType, Value, go::path, values::Table};

/// What `.Release` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The name. The default is `release-name`, as `helm template` has it.
    pub name: String,
    /// The namespace. The default is `default`.
    pub namespace: String,
    /// The number of the revision. The default is 1.
    pub revision: i64,
    /// Whether it is an upgrade and no installation. The default is no.
    pub is_upgrade: bool,
}

/// A template with what it sees.
#[derive(Clone)]
pub struct Template {
    /// Its name in errors and in `.Template.Name`, such as `parent/charts/child/templates/x.yaml`.
    pub name: String,
    /// `.Template.BasePath`, such as `parent/charts/child/templates`.
    pub base_path: String,
    /// The text.
    pub text: Rc<str>,
    /// The dot. All templates of one chart share the map.
    pub dot: Map,
}

impl Default for Release {
    fn default() -> Self {
        Self {
            name: "release-name".to_owned(),
            namespace: "default".to_owned(),
            revision: 1,
            is_upgrade: false,
        }
    }
}

impl Release {
    /// The value of `.Release`.
    pub fn value(&self) -> Value {
        Value::Map(Map::new(BTreeMap::from([
            ("Name".to_owned(), Value::from(self.name.as_str())),
            ("Namespace".to_owned(), Value::from(self.namespace.as_str())),
            ("IsUpgrade".to_owned(), Value::Bool(self.is_upgrade)),
            ("IsInstall".to_owned(), Value::Bool(!self.is_upgrade)),
            ("Revision".to_owned(), Value::Int(self.revision)),
            ("Service".to_owned(), Value::from("Helm")),
        ])))
    }
}

impl Template {
    /// Whether only others use it: it is parsed, and renders nothing of its own.
    pub fn is_partial(&self) -> bool {
        path::base(&self.name).starts_with('_')
    }

    /// Sets `.Template`. Helm does it right before it executes the template.
    pub fn begin(&self) {
        let entries = BTreeMap::from([
            ("Name".to_owned(), Value::from(self.name.as_str())),
            ("BasePath".to_owned(), Value::from(self.base_path.as_str())),
        ]);
        let template = Map::of(MapType::Values, entries);
        self.dot.set("Template", Value::Map(template));
    }
}

/// All templates of a chart, in the order in which Helm parses them and then executes them: those with more `/` in their names
/// first, and those of equal number from Z to A. Of two with one name the later one counts.
///
/// `values` are those of [`Chart::render_values`].
pub fn templates(
    chart: &Chart,
    values: &Table,
    release: &Release,
    capabilities: &Capabilities,
) -> Vec<Template> {
    let values = match Value::of_json(&serde_json::Value::Object(values.clone())) {
        Value::Map(map) => Value::Map(map.as_type(MapType::Values)),
        other => other,
    };
    let shared = Shared {
        release: release.value(),
        capabilities: capabilities.value(),
    };
    let mut templates = BTreeMap::new();
    shared.add(chart, chart.name(), true, values, &mut templates);
    let mut templates: Vec<Template> = templates.into_values().collect();
    let depth = |template: &Template| template.name.matches('/').count();
    templates.sort_by(|a, b| (depth(b), &b.name).cmp(&(depth(a), &a.name)));
    templates
}

struct Shared {
    release: Value,
    capabilities: Value,
}

impl Shared {
    /// Adds the templates of a chart, after those of its dependencies, and gives the map that they see.
    fn add(
        &self,
        chart: &Chart,
        full_path: &str,
        is_root: bool,
        values: Value,
        templates: &mut BTreeMap<String, Template>,
    ) -> Map {
        let metadata = chart.metadata.value();
        metadata.set("IsRoot", Value::Bool(is_root));
        let charts = Map::new(BTreeMap::new());
        let dot = Map::new(BTreeMap::from([
            ("Chart".to_owned(), Value::Map(metadata)),
            ("Files".to_owned(), Files::of(&chart.files).value()),
            ("Release".to_owned(), self.release.clone()),
            ("Capabilities".to_owned(), self.capabilities.clone()),
            ("Values".to_owned(), values.clone()),
            ("Subcharts".to_owned(), Value::Map(charts.clone())),
        ]));
        for dependency in &chart.dependencies {
            let name = dependency.name();
            let own = below(&values, name).unwrap_or_else(|| Map::new(BTreeMap::new()));
            let own = Value::Map(own.as_type(MapType::Values));
            let path = dependency.path_in(full_path);
            let dot = self.add(dependency, &path, false, own, templates);
            charts.set(name, Value::Map(dot));
        }
        for file in &chart.templates {
            if chart.is_library() && !path::base(&file.name).starts_with('_') {
                continue;
            }
            let name = path::join(full_path, &file.name);
            let template = Template {
                name: name.clone(),
                base_path: path::join(full_path, "templates"),
                text: file.text().into(),
                dot: dot.as_type(MapType::Values),
            };
            templates.insert(name, template);
        }
        dot
    }
}

/// The table of a chart in the values of the one around it. A dot in its name parts a path, as it does in Helm.
fn below(values: &Value, name: &str) -> Option<Map> {
    let Value::Map(values) = values else {
        return None;
    };
    name.split('.')
        .try_fold(values.clone(), |map, part| match map.get(part)? {
            Value::Map(map) => Some(map),
            _ => None,
        })
}
