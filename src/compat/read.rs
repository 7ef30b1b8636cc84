//! Definitions out of YAML: one or several documents, lists as `kubectl get crds -o yaml` prints them, other kinds between.

use serde_yaml::Value;

use super::{Release, definition::Definition};
use crate::{
    error::{Failure, Result},
    yaml,
};

const KIND: &str = "CustomResourceDefinition";
const API_VERSION: &str = "apiextensions.k8s.io/v1";

impl Release {
    /// Adds the definitions in `text`, which is called `source` in refusals, and returns how many there were.
    ///
    /// Errors: it is no YAML, a definition is not of `apiextensions.k8s.io/v1` or has a field of the wrong type, or one of
    /// its name is there already.
    pub fn read(&mut self, source: &str, text: &str) -> Result<usize> {
        // Other files may hold what is no YAML, such as a chart's templates.
        if !text.contains(KIND) {
            return Ok(0);
        }
        let before = self.definitions.len();
        let documents = yaml::documents(text).map_err(|error| {
            Failure::refused(format!("cannot read `{source}` as YAML: {error}"))
                .note("it has to hold CustomResourceDefinitions, as they are applied to a cluster")
                .note("a chart is rendered first")
                .help("helm template CHART | operator-forge check --crds -")
        })?;
        for value in documents {
            self.add(source, value)?;
        }
        Ok(self.definitions.len() - before)
    }

    fn add(&mut self, source: &str, mut value: Value) -> Result<()> {
        let text = |key: &str| {
            value
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (kind, api_version) = (text("kind"), text("apiVersion"));
        if kind == "List" || kind == format!("{KIND}List") {
            if let Some(Value::Sequence(items)) = value.get_mut("items") {
                for mut item in std::mem::take(items) {
                    // What a typed list holds may leave out its kind.
                    if let (true, Value::Mapping(item)) = (kind != "List", &mut item) {
                        item.entry("kind".into()).or_insert(KIND.into());
                        item.entry("apiVersion".into())
                            .or_insert(api_version.as_str().into());
                    }
                    self.add(source, item)?;
                }
            }
            return Ok(());
        }
        if kind != KIND {
            return Ok(());
        }
        let name = value
            .get("metadata")
            .and_then(|metadata| metadata.get("name"));
        let name = name
            .and_then(Value::as_str)
            .unwrap_or("a definition without a name")
            .to_owned();
        let refuse = |what: String| {
            Failure::refused(format!("cannot read `{name}` in `{source}`")).note(what)
        };
        if api_version != API_VERSION {
            return Err(refuse(format!(
                "it is of `{api_version}`, which no Kubernetes since 1.22 serves"
            ))
            .help(format!(
                "compare with a release whose definitions are of {API_VERSION}"
            )));
        }
        let definition: Definition = serde_yaml::from_value(value).map_err(|error| {
            refuse(error.to_string()).help(format!("kubectl apply --dry-run=server -f {source}"))
        })?;
        if self.definitions.insert(name.clone(), definition).is_some() {
            return Err(
                refuse("a definition of that name was read before".to_owned())
                    .help("name the file or the directory of one release"),
            );
        }
        Ok(())
    }
}
