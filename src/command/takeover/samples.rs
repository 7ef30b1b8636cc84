//! The samples of the former operator. The one here gets what such a sample sets beyond the values of the chart: operator-sdk copies
//! all of them into its samples, and an object that repeats a default keeps it when the chart changes.

use guarded_yaml as yaml;
use serde_json::{Map, Value};

use super::watches::Watch;

/// The directory with the samples.
pub const SAMPLES: &str = "config/samples";

/// The spec of the sample that is generated.
const EMPTY: &str = "\nspec: {}\n";

/// An object of a sample.
pub struct Sample {
    /// Its file in the former project.
    path: String,
    object: Value,
}

impl Sample {
    /// The objects in files with these paths and texts. The list for kustomize is none.
    pub fn read(files: impl IntoIterator<Item = (String, String)>) -> Vec<Self> {
        let mut samples = Vec::new();
        for (path, text) in files {
            let documents: Vec<Value> = yaml::documents(&text).unwrap_or_default();
            for object in documents {
                if object["kind"].is_string() && object["kind"] != "Kustomization" {
                    let path = path.clone();
                    samples.push(Self { path, object });
                }
            }
        }
        samples
    }

    /// Whether it is an object of an entry.
    pub fn is_of(&self, watch: &Watch) -> bool {
        let version = format!("{}/{}", watch.group, watch.version);
        self.object["apiVersion"] == version && self.object["kind"] == watch.kind
    }

    /// The kind and the name of the object, and its file.
    pub fn title(&self) -> String {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let kind = text(&self.object["kind"]);
        let name = text(&self.object["metadata"]["name"]);
        format!("`{kind}` `{name}` in `{}`", self.path)
    }

    /// What its spec sets beyond the values of the chart.
    pub fn values(&self, defaults: &Map<String, Value>) -> Map<String, Value> {
        let spec = self.object["spec"].as_object();
        spec.map(|spec| beyond(spec, defaults)).unwrap_or_default()
    }
}

/// The values that differ from the defaults.
fn beyond(values: &Map<String, Value>, defaults: &Map<String, Value>) -> Map<String, Value> {
    let mut others = Map::new();
    for (name, value) in values {
        match (value, defaults.get(name)) {
            (value, Some(default)) if value == default => {}
            (Value::Object(inner), Some(Value::Object(defaults))) => {
                let inner = beyond(inner, defaults);
                if !inner.is_empty() {
                    others.insert(name.clone(), inner.into());
                }
            }
            (value, _) => {
                others.insert(name.clone(), value.clone());
            }
        }
    }
    others
}

/// The text of the generated sample with these values.
pub fn with_values(sample: &str, values: &Map<String, Value>) -> String {
    if values.is_empty() {
        return sample.to_owned();
    }
    let lines = yaml::lines(values);
    let lines = lines.lines().map(|line| format!("  {line}\n"));
    sample.replace(EMPTY, &format!("\nspec:\n{}", lines.collect::<String>()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::command::takeover::watches;

    #[test]
    fn a_sample_has_what_the_chart_has_not() {
        let text = "apiVersion: a.b/v1\nkind: C\nspec: {a: 1, b: {c: 'yes', d: 2}, e: {f: 1}, g: [1], h: null}\n---\nkind: Kustomization\n";
        let samples = Sample::read([("x.yaml".to_owned(), text.to_owned())]);
        let [sample] = &samples[..] else {
            panic!("one sample");
        };
        let watches = "- {group: a.b, version: v1, kind: C, chart: d}\n";
        let watch = &watches::read(watches).unwrap()[0];
        assert!(sample.is_of(watch) && sample.title() == "`C` `` in `x.yaml`");
        let defaults = json!({ "a": 1, "b": { "c": "no", "d": 2 }, "e": { "f": 1 }, "h": 1 });
        let values = sample.values(defaults.as_object().unwrap());
        let expected = "metadata: {}\nspec:\n  b:\n    c: \"yes\"\n  g:\n  - 1\n  h: null\n";
        assert_eq!(with_values("metadata: {}\nspec: {}\n", &values), expected);
        assert_eq!(with_values(EMPTY, &Map::new()), EMPTY);
    }
}
