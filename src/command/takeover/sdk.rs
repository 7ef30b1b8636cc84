//! A Helm operator or an Ansible operator of operator-sdk on disk. Nothing is written there.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use guarded_yaml as yaml;
use serde::Deserialize;
use serde_yaml::Value;

use super::{
    manager::Container,
    samples::{SAMPLES, Sample},
    watches::{self, Fault, Watch},
};
use crate::{
    advice::{Advice, Script},
    command::{
        create_chart::source::Source,
        former_project::{GO, HELM},
    },
    engine::crd_files,
    error::{Failure, Result},
    tree,
};

/// The file that names the charts.
pub const WATCHES: &str = "watches.yaml";

/// The project file.
const PROJECT: &str = "PROJECT";

/// Where the CRDs are; the second is that of old projects.
pub const CRDS: [&str; 2] = ["config/crd/bases", "deploy/crds"];

/// Where the Deployment and its patches are.
const MANIFESTS: [&str; 2] = ["config/manager", "config/default"];

/// The Deployment of old projects.
const OLD_MANIFEST: &str = "deploy/operator.yaml";

/// What the working directory of a Helm operator is called in its image.
const HOMES: [&str; 3] = ["/opt/helm/", "${HOME}/", "$HOME/"];

/// An operator, and where it is.
pub struct Sdk {
    /// The directory, as the command line names it.
    pub directory: PathBuf,
    /// Its `PROJECT`, if it has one.
    pub project: ProjectFile,
    /// Its kinds.
    pub watches: Vec<Watch>,
}

/// The project file of operator-sdk.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProjectFile {
    domain: Option<String>,
    /// The name, which prefixes the names in its manifests.
    pub project_name: Option<String>,
    /// Whether it watches selected namespaces.
    pub namespaced: bool,
    layout: Value,
}

/// What a CRD says of a kind.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The plural.
    pub plural: Option<String>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Short names for kubectl.
    pub short: Vec<String>,
    /// The names of its versions.
    pub versions: Vec<String>,
    /// Categories for kubectl.
    pub categories: Vec<String>,
    /// The columns that kubectl shows, by version; those of old CRDs are of all versions.
    columns: Vec<(Option<String>, Value)>,
}

impl Names {
    /// The arguments of `#[kube(…)]` for the categories and the columns of a version. The age is a column of every kind.
    pub fn arguments(&self, version: &str) -> Vec<String> {
        let categories = self.categories.iter();
        let categories = categories.map(|name| format!("category = {name:?},"));
        let is_of = |of: &Option<String>| of.as_deref().is_none_or(|of| of == version);
        let columns = self.columns.iter().filter(|(of, _)| is_of(of));
        categories
            .chain(columns.filter_map(|(_, column)| of_column(column)))
            .collect()
    }
}

impl Sdk {
    /// Reads `watches.yaml` and `PROJECT` in `directory`, to take its kinds over into `root`.
    ///
    /// Errors: the directories are the same; there is no such operator; a file is broken.
    pub fn open(directory: PathBuf, root: &Path) -> Result<Self> {
        let directory = HELM.directory(directory, root)?;
        let project = project_file(&directory)?;
        let text = tree::read(&directory.join(WATCHES));
        let text =
            text.map_err(|error| no_watches(&directory, root, &project, &error.to_string()))?;
        let watches = watches::read(&String::from_utf8_lossy(&text));
        let watches = watches.map_err(|fault| refusal(&directory, fault))?;
        Ok(Self {
            directory,
            project,
            watches,
        })
    }

    /// Whether roles or playbooks run for its objects.
    pub fn is_ansible(&self) -> bool {
        self.watches.iter().any(Watch::is_ansible)
    }

    /// The domain: that of `PROJECT`, or what all groups have behind the first dot.
    pub fn domain(&self) -> Result<String> {
        if let Some(domain) = &self.project.domain {
            return Ok(domain.clone());
        }
        let rest = |watch: &Watch| watch.group.split_once('.').map(|(_, rest)| rest.to_owned());
        let first = rest(&self.watches[0]);
        match first.filter(|first| self.watches.iter().all(|it| rest(it).as_ref() == Some(first))) {
            Some(domain) => Ok(domain),
            None => Err(Failure::usage(format!(
                "`{}` does not say the domain of the project",
                self.directory.display()
            ))
            .note(format!(
                "it has no `{PROJECT}` with a domain, and the groups of `{WATCHES}` have different ones"
            ))
            .note("a group of another domain stays as it is")
            .advise(Advice::set("--domain", "example.com"))),
        }
    }

    /// The chart of an entry.
    pub fn chart(&self, watch: &Watch) -> Result<Source> {
        let chart = watch.chart.as_str();
        let home = HOMES.iter().find_map(|home| chart.strip_prefix(home));
        let path = Path::new(home.unwrap_or(chart));
        let is_inner =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        let full = self.directory.join(path);
        let is_inside = path.components().all(is_inner)
            && tree::full(&full).starts_with(tree::full(&self.directory));
        if !is_inside || !full.exists() {
            let failure = Failure::refused(format!(
                "no chart `{chart}` in `{}`",
                self.directory.display()
            ));
            return Err(failure
                .note(format!("`{WATCHES}` names it for `{}`", watch.title()))
                .note("it is a path in the directory of the operator, to a directory or a `.tgz`")
                .advise(self.edit()));
        }
        Source::read(&full.to_string_lossy(), &full)
    }

    /// The command that edits `watches.yaml`.
    pub fn edit(&self) -> Script {
        edit(&self.directory, WATCHES)
    }

    /// What the CRDs say, by group and kind.
    pub fn names(&self) -> Result<BTreeMap<(String, String), Names>> {
        let mut names = BTreeMap::new();
        for at in CRDS.map(|at| self.directory.join(at)) {
            if !at.is_dir() {
                continue;
            }
            for file in crd_files::directory(&self.directory, &at)? {
                let text = String::from_utf8_lossy(&file.bytes);
                for document in yaml::documents::<Value>(&text).unwrap_or_default() {
                    if let Some((key, found)) = of_crd(&document) {
                        names.entry(key).or_insert(found);
                    }
                }
            }
        }
        Ok(names)
    }

    /// The text of a file, if there is one.
    pub fn text(&self, path: &str) -> Option<String> {
        let bytes = tree::read(&self.directory.join(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The first of some files or directories that exists.
    pub fn first<'a>(&self, paths: &[&'a str]) -> Option<&'a str> {
        let mut paths = paths.iter();
        paths
            .find(|path| self.directory.join(path).exists())
            .copied()
    }

    /// The container of the operator.
    pub fn container(&self) -> Container {
        let of = MANIFESTS.iter().flat_map(|directory| self.files(directory));
        let of = of.map(|(_, text)| text);
        Container::read(of.chain(self.text(OLD_MANIFEST)))
    }

    /// The samples.
    pub fn samples(&self) -> Vec<Sample> {
        Sample::read(self.files(SAMPLES))
    }

    /// The files of YAML in a directory, and their texts.
    fn files(&self, directory: &str) -> Vec<(String, String)> {
        let names = tree::names(&self.directory.join(directory)).into_iter();
        let names = names.filter(|name| name.ends_with(".yaml") || name.ends_with(".yml"));
        let paths = names.map(|name| format!("{directory}/{name}"));
        let file = |path: String| Some((path.clone(), self.text(&path)?));
        paths.filter_map(file).collect()
    }
}

/// The kind of a CRD, of any version of that format, and its names.
fn of_crd(document: &Value) -> Option<((String, String), Names)> {
    let text = |value: &Value, key: &str| Some(value.get(key)?.as_str()?.to_owned());
    if text(document, "kind")? != "CustomResourceDefinition" {
        return None;
    }
    let spec = document.get("spec")?;
    let names = spec.get("names")?;
    let texts = |value: Option<&Value>| value.and_then(Value::as_sequence).cloned();
    let words = |key: &str| -> Vec<String> {
        let words = texts(names.get(key)).unwrap_or_default();
        let word = |it: &Value| Some(it.as_str()?.to_owned());
        words.iter().filter_map(word).collect()
    };
    let columns_of = |value: &Value, version: Option<String>| {
        let columns = texts(value.get("additionalPrinterColumns")).unwrap_or_default();
        let columns = columns.into_iter();
        columns
            .map(|column| (version.clone(), column))
            .collect::<Vec<_>>()
    };
    let versions = texts(spec.get("versions")).unwrap_or_default();
    let mut columns = columns_of(spec, None);
    for version in &versions {
        columns.extend(columns_of(version, text(version, "name")));
    }
    let versions = versions.iter().filter_map(|it| text(it, "name"));
    let found = Names {
        plural: text(names, "plural"),
        namespaced: text(spec, "scope").as_deref() != Some("Cluster"),
        short: words("shortNames"),
        versions: versions.chain(text(spec, "version")).collect(),
        categories: words("categories"),
        columns,
    };
    Some(((text(spec, "group")?, text(names, "kind")?), found))
}

/// A column as an argument of `#[kube(…)]`; `None` for the age, which is there.
fn of_column(column: &Value) -> Option<String> {
    let text = |key: &str| column.get(key)?.as_str();
    let path = text("jsonPath").or(text("JSONPath"))?;
    if path == ".metadata.creationTimestamp" {
        return None;
    }
    let mut arguments = vec![
        format!("name = {:?}", text("name")?),
        format!("type_ = {:?}", text("type")?),
        format!("json_path = {path:?}"),
    ];
    for key in ["description", "format"] {
        arguments.extend(text(key).map(|text| format!("{key} = {text:?}")));
    }
    let priority = column.get("priority").and_then(Value::as_i64);
    let priority = priority.filter(|it| *it != 0);
    arguments.extend(priority.map(|it| format!("priority = {it}")));
    Some(format!("printcolumn({}),", arguments.join(", ")))
}

fn edit(directory: &Path, file: &str) -> Script {
    let path = directory.join(file);
    Script::anywhere("${EDITOR:-vi}").path(path.to_string_lossy())
}

fn project_file(directory: &Path) -> Result<ProjectFile> {
    let Ok(text) = tree::read(&directory.join(PROJECT)) else {
        return Ok(ProjectFile::default());
    };
    let project: Result<Option<ProjectFile>, _> = yaml::read(&String::from_utf8_lossy(&text));
    project.map(Option::unwrap_or_default).map_err(|error| {
        let place = directory.join(PROJECT);
        let place = error.place(&place.to_string_lossy());
        Failure::refused(format!("cannot read `{place}`: {}", error.what))
            .note("the domain and the name of the project are in it")
            .advise(edit(directory, PROJECT))
    })
}

/// Whether the layout of a project has a part between dots, such as `go` of `go.kubebuilder.io/v4`.
fn has_layout(project: &ProjectFile, part: &str) -> bool {
    let all = match &project.layout {
        Value::Sequence(all) => all.clone(),
        one => vec![one.clone()],
    };
    let layouts = all.iter().filter_map(Value::as_str);
    let keys = layouts.filter_map(|layout| layout.split('/').next());
    keys.into_iter()
        .any(|key| key.split('.').any(|it| it == part))
}

/// The refusal of a directory without `watches.yaml`.
fn no_watches(directory: &Path, root: &Path, project: &ProjectFile, why: &str) -> Failure {
    let shown = directory.to_string_lossy();
    let failure = Failure::refused(format!(
        "`{shown}` has no operator of operator-sdk with charts, roles or playbooks"
    ));
    if has_layout(project, "operator-forge") {
        return failure
            .note("it is a project of operator-forge")
            .advise(Script::forge("-C").arg(shown).code("status"));
    }
    if has_layout(project, "go") {
        return failure
            .note("it has a Go project of kubebuilder")
            .advise(GO.init(root, directory));
    }
    failure
        .note(format!("its `{WATCHES}` cannot be read: {why}"))
        .note(
            "for a chart or a role alone: `create api --helm-chart` or `create api --ansible-role`",
        )
        .advise(Advice::drop(HELM.flag))
}

/// The refusal of a `watches.yaml`.
fn refusal(directory: &Path, fault: Fault) -> Failure {
    let path = directory.join(WATCHES);
    let path = path.to_string_lossy();
    let failure = match fault {
        Fault::Yaml(error) => {
            let what = error.what.trim_start_matches('.');
            Failure::refused(format!("cannot read `{}`: {what}", error.place(&path)))
                .note("operator-sdk would refuse this file, too")
        }
        Fault::Mixed => Failure::refused(format!("`{path}` has charts, and roles or playbooks"))
            .note("an operator of operator-sdk has one of the two"),
        Fault::Missing(at, field) => {
            Failure::refused(format!("entry {at} of `{path}` has no `{field}`"))
                .note("each entry has the version and the kind of the objects, and the chart that they are releases of, or the role or playbook that runs for them")
        }
        Fault::Twice(first, second, title) => Failure::refused(format!(
            "entries {first} and {second} of `{path}` are both of `{title}`"
        ))
        .note("the objects of a kind have one chart, role or playbook"),
        Fault::Empty => Failure::refused(format!("`{path}` has no entry"))
            .note("each entry names a kind and its chart, role or playbook"),
    };
    failure.advise(edit(directory, WATCHES))
}
