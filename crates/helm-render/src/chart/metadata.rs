//! `Chart.yaml`, and the files that list the charts that it depends on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::{At, Decode, decode_fields, version};
use crate::{
    Error, Map, MapType, Value,
    go::{number::quote, path, printed::is_printed},
};

/// What `Chart.yaml` says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// The name.
    pub name: String,
    /// The address of its home page.
    pub home: String,
    /// The addresses of its sources.
    pub sources: Vec<String>,
    /// The version.
    pub version: String,
    /// A sentence about it.
    pub description: String,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Who keeps it. `None` stands for null, which is not valid.
    pub maintainers: Vec<Option<Maintainer>>,
    /// The address of an image.
    pub icon: String,
    /// `v1` or `v2`; `v1` if the file has none.
    pub api_version: String,
    /// Paths of values that say whether it is used. Helm reads those of dependencies only.
    pub condition: String,
    /// Tags that say whether it is used. Helm reads those of dependencies only.
    pub tags: String,
    /// The version of what it installs.
    pub app_version: String,
    /// Whether it is not to be used any more.
    pub deprecated: bool,
    /// Whatever else is to be known.
    pub annotations: BTreeMap<String, String>,
    /// The range of versions of Kubernetes.
    pub kube_version: String,
    /// The charts that it depends on. `None` stands for null, which is not valid.
    pub dependencies: Vec<Option<Dependency>>,
    /// `application`, `library` or nothing, which is an application.
    pub kind: String,
    /// Whether there is a list of dependencies, be it empty: only then Helm looks at the lists of the charts below.
    pub(super) has_list: bool,
}

/// Somebody who keeps a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Maintainer {
    /// The name.
    pub name: String,
    /// The mail address.
    pub email: String,
    /// The address of a page.
    pub url: String,
}

/// A chart that another one depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dependency {
    /// The name; after [`super::Chart::process_dependencies`], the alias if there is one.
    pub name: String,
    /// The range of versions.
    pub version: String,
    /// Where to get it.
    pub repository: String,
    /// Paths of values with commas between them. The first one that is a boolean says whether the chart is used.
    pub condition: String,
    /// Names in the table `tags` of the values that say whether the chart is used.
    pub tags: Vec<String>,
    /// Whether the chart is used: found out by [`super::Chart::process_dependencies`].
    pub enabled: bool,
    /// What of its values the chart around it takes over: texts, or objects with `child` and `parent`.
    pub import_values: Vec<Json>,
    /// The name under which it is used.
    pub alias: String,
    /// What [`super::Chart::process_dependencies`] made of `import_values`.
    pub imports: Option<Vec<Import>>,
}

/// A part of the values of a chart that the one around it takes over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The path in the values of the chart, with dots.
    pub child: String,
    /// The path in the values of the chart around it, or `.`.
    pub parent: String,
}

/// `Chart.lock`: the versions of dependencies that were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lock {
    /// When it was written.
    pub generated: String,
    /// The digest of the dependencies in `Chart.yaml`.
    pub digest: String,
    /// The dependencies, each with one version.
    pub dependencies: Vec<Option<Dependency>>,
}

decode_fields!(Metadata, "Metadata", "v2.Metadata", {
    "name" => name,
    "home" => home,
    "sources" => sources,
    "version" => version,
    "description" => description,
    "keywords" => keywords,
    "maintainers" => maintainers,
    "icon" => icon,
    "apiVersion" => api_version,
    "condition" => condition,
    "tags" => tags,
    "appVersion" => app_version,
    "deprecated" => deprecated,
    "annotations" => annotations,
    "kubeVersion" => kube_version,
    "dependencies" => dependencies,
    "type" => kind,
});

decode_fields!(Maintainer, "Maintainer", "v2.Maintainer", {
    "name" => name,
    "email" => email,
    "url" => url,
});

decode_fields!(Dependency, "Dependency", "v2.Dependency", {
    "name" => name,
    "version" => version,
    "repository" => repository,
    "condition" => condition,
    "tags" => tags,
    "enabled" => enabled,
    "import-values" => import_values,
    "alias" => alias,
});

decode_fields!(Lock, "Lock", "v2.Lock", {
    "generated" => generated,
    "digest" => digest,
    "dependencies" => dependencies,
});

/// Metadata that notes whether it has a list of dependencies.
struct Listing<'a>(&'a mut Metadata);

impl Decode for Listing<'_> {
    const GO: &'static str = Metadata::GO;

    fn decode(&mut self, value: &Json, at: At<'_>) -> Result<(), String> {
        for (key, value) in value.as_object().into_iter().flatten() {
            if key.eq_ignore_ascii_case("dependencies") {
                self.0.has_list = value.is_array();
            }
        }
        self.0.decode(value, at)
    }
}

impl Metadata {
    /// Reads the text of a `Chart.yaml`, without judging it.
    ///
    /// # Errors
    /// The text is no YAML, or a field has another type.
    pub fn read(text: &str) -> Result<Self, Error> {
        let mut metadata = Self::default();
        metadata.add(text).map_err(Error::new)?;
        Ok(metadata)
    }

    /// Reads a text over what is there.
    pub(super) fn add(&mut self, text: &str) -> Result<(), String> {
        super::decode::read(text, &mut Listing(self))
    }

    /// Makes white space plain, removes characters that cannot be printed, and judges the rest.
    ///
    /// # Errors
    /// The first thing that is not valid.
    pub fn validate(&mut self) -> Result<(), Error> {
        let texts = [
            &mut self.name,
            &mut self.description,
            &mut self.home,
            &mut self.icon,
            &mut self.condition,
            &mut self.tags,
            &mut self.app_version,
            &mut self.kube_version,
        ];
        texts.into_iter().for_each(clean);
        self.sources.iter_mut().for_each(clean);
        self.keywords.iter_mut().for_each(clean);
        if self.api_version.is_empty() {
            return invalid("chart.metadata.apiVersion is required");
        }
        if self.name.is_empty() {
            return invalid("chart.metadata.name is required");
        }
        let name = quote(&self.name);
        if matches!(self.name.as_str(), "." | "..") {
            return invalid(format!("chart.metadata.name {name} is not allowed"));
        }
        if self.name != path::base(&self.name) {
            return invalid(format!("chart.metadata.name {name} is invalid"));
        }
        if self.version.is_empty() {
            return invalid("chart.metadata.version is required");
        }
        if !version::is_version(&self.version) {
            let version = quote(&self.version);
            return invalid(format!("chart.metadata.version {version} is invalid"));
        }
        if !matches!(self.kind.as_str(), "" | "application" | "library") {
            return invalid("chart.metadata.type must be application or library");
        }
        for maintainer in &mut self.maintainers {
            let Some(Maintainer { name, email, url }) = maintainer else {
                return invalid("maintainers must not contain empty or null nodes");
            };
            [name, email, url].into_iter().for_each(clean);
        }
        let mut names = BTreeSet::new();
        for dependency in &mut self.dependencies {
            let Some(dependency) = dependency else {
                return invalid("dependencies must not contain empty or null nodes");
            };
            dependency.validate()?;
            if !names.insert(dependency.shown_name().to_owned()) {
                return invalid(format!(
                    "more than one dependency with name or alias {}",
                    quote(dependency.shown_name())
                ));
            }
        }
        Ok(())
    }

    /// The dependencies.
    pub fn depends_on(&self) -> impl Iterator<Item = &Dependency> {
        self.dependencies.iter().flatten()
    }

    /// The value of `.Chart`: an entry for each field of Go's struct.
    pub fn value(&self) -> Map {
        let text = |text: &String| Value::from(text.as_str());
        let texts = |texts: &[String]| Value::list(texts.iter().map(text).collect::<Vec<_>>());
        let map = |entries: Vec<(&str, Value)>| {
            let entries = entries.into_iter();
            Map::new(
                entries
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect(),
            )
        };
        let annotations = self.annotations.iter();
        let annotations = annotations.map(|(key, value)| (key.clone(), text(value)));
        let maintainers = self.maintainers.iter().map(|it| match it {
            None => Value::Nil,
            Some(it) => Value::Map(map(vec![
                ("Name", text(&it.name)),
                ("Email", text(&it.email)),
                ("URL", text(&it.url)),
            ])),
        });
        let dependencies = self.dependencies.iter().map(|it| match it {
            None => Value::Nil,
            Some(it) => Value::Map(map(vec![
                ("Name", text(&it.name)),
                ("Version", text(&it.version)),
                ("Repository", text(&it.repository)),
                ("Condition", text(&it.condition)),
                ("Tags", texts(&it.tags)),
                ("Enabled", Value::Bool(it.enabled)),
                ("ImportValues", it.import_values_value()),
                ("Alias", text(&it.alias)),
            ])),
        });
        map(vec![
            ("Name", text(&self.name)),
            ("Home", text(&self.home)),
            ("Sources", texts(&self.sources)),
            ("Version", text(&self.version)),
            ("Description", text(&self.description)),
            ("Keywords", texts(&self.keywords)),
            ("Maintainers", Value::list(maintainers.collect::<Vec<_>>())),
            ("Icon", text(&self.icon)),
            ("APIVersion", text(&self.api_version)),
            ("Condition", text(&self.condition)),
            ("Tags", text(&self.tags)),
            ("AppVersion", text(&self.app_version)),
            ("Deprecated", Value::Bool(self.deprecated)),
            (
                "Annotations",
                Value::Map(Map::of(MapType::Strings, annotations.collect())),
            ),
            ("KubeVersion", text(&self.kube_version)),
            (
                "Dependencies",
                Value::list(dependencies.collect::<Vec<_>>()),
            ),
            ("Type", text(&self.kind)),
        ])
    }
}

impl Dependency {
    fn validate(&mut self) -> Result<(), Error> {
        let texts = [
            &mut self.name,
            &mut self.version,
            &mut self.repository,
            &mut self.condition,
        ];
        texts.into_iter().for_each(clean);
        self.tags.iter_mut().for_each(clean);
        let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        match self.alias.chars().all(is_legal) {
            true => Ok(()),
            false => invalid(format!(
                "dependency {} has disallowed characters in the alias",
                quote(&self.name)
            )),
        }
    }

    /// The alias, or else the name.
    fn shown_name(&self) -> &str {
        match self.alias.as_str() {
            "" => &self.name,
            alias => alias,
        }
    }

    fn import_values_value(&self) -> Value {
        let Some(imports) = &self.imports else {
            let values = self.import_values.iter().map(Value::of_json);
            return Value::list(values.collect::<Vec<_>>());
        };
        let imports = imports.iter().map(|it| {
            let entries = [("child", &it.child), ("parent", &it.parent)];
            let entries = entries.map(|(key, text)| (key.to_owned(), Value::from(text.as_str())));
            Value::Map(Map::of(MapType::Strings, entries.into()))
        });
        Value::list(imports.collect::<Vec<_>>())
    }
}

fn invalid<T>(what: impl std::fmt::Display) -> Result<T, Error> {
    Err(Error::new(format!("validation: {what}")))
}

/// Makes white space a blank, and removes what cannot be printed.
fn clean(text: &mut String) {
    let kept = text.chars().filter_map(|c| match c {
        c if c.is_whitespace() => Some(' '),
        c => is_printed(c).then_some(c),
    });
    *text = kept.collect();
}

#[cfg(test)]
mod tests;
