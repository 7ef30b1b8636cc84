//! `init --from-kubebuilder`: the entries of a Go project, with types from its CRDs, and a list of what a person has to port.

mod admission;
mod checklist;
mod controllers;
mod crds;
mod permissions;
mod read;
mod samples;
mod webhooks;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde_json::Value;

pub use self::read::Go;
use self::{
    checklist::{Checklist, FILE, Item, Title},
    samples::samples,
};
use crate::{
    advice::{NextStep, Script},
    definitions,
    engine::{Request, crd_files, derived::CRDS, next},
    error::{Failure, Result},
    kubebuilder::{Entry, Files},
    plan::{NamedFiles, Rewritten},
    project::{EditSettings, Key, Plugin, PluginEdit, Project},
    template,
    tree::{self, Content, Found, RelPath},
};

/// The request for the project in `root`. It adds the entries of the Go project to `empty`, with their samples, and a list of what is
/// left to a person.
pub fn port(go: &Go, root: &Path, empty: Project) -> Result<Request> {
    let files = go.files()?;
    let mut port = Port {
        go,
        files: &files,
        known: BTreeSet::new(),
        project: empty,
        checklist: Checklist::default(),
        remarks: Vec::new(),
        steps: Vec::new(),
        commands: Vec::new(),
    };
    port.import(&definitions_of(go)?);
    port.controllers();
    port.webhooks()?;
    port.conversions()?;
    let created = port.samples()?;
    port.others();
    port.plugins()?;
    port.finish(root, created)
}

/// The CRDs of the Go project, by name.
///
/// Errors: it defines APIs, and has no CRD. `make manifests` writes them, and some projects keep them out of git.
fn definitions_of(go: &Go) -> Result<BTreeMap<String, Value>> {
    let at = go.directory.join(CRDS);
    let files = match at.is_dir() {
        true => crd_files::directory(&go.directory, &at)?,
        false => Vec::new(),
    };
    let values = definitions::values(&files)?;
    let mut apis = go.project.resources.iter().filter(|it| it.is_api());
    match apis.next() {
        Some(api) if values.is_empty() => Err(Failure::refused(format!(
            "no CustomResourceDefinition in `{}`",
            at.display()
        ))
        .note(format!("the types of `{}` come from its CRD", api.title()))
        .note("`make manifests` in the Go project writes the CRDs")
        .advise(
            Script::anywhere("make -C")
                .path(go.directory.to_string_lossy())
                .code("manifests"),
        )),
        _ => Ok(values),
    }
}

/// A port in progress.
struct Port<'a> {
    go: &'a Go,
    files: &'a Files,
    /// The files in Go that the list names.
    known: BTreeSet<&'a str>,
    project: Project,
    checklist: Checklist,
    remarks: Vec<String>,
    /// One step for each file to port.
    steps: Vec<NextStep>,
    /// Steps with a command, which come after them.
    commands: Vec<NextStep>,
}

impl<'a> Port<'a> {
    /// Reports something that the project does not have, and the `code` in Go that belongs to it.
    fn leave_out(&mut self, what: &str, why: &str, code: &[&'a str]) {
        self.not_added(format!("{what} is left out: {why}"), code);
    }

    /// Reports something that is not added, and the `code` in Go that belongs to it.
    fn not_added(&mut self, sentence: String, code: &[&'a str]) {
        self.known.extend(code);
        self.remarks.push(sentence.clone());
        let notes = code.iter().map(|path| format!("then port `{path}`"));
        self.checklist.add(
            Title::NotAdded,
            Item {
                what: sentence,
                notes: notes.collect(),
                ..Item::default()
            },
        );
    }

    /// The key of an API that the project has, or of a type of Kubernetes.
    fn key_of(&self, entry: &Entry) -> Option<Key> {
        if entry.is_core() {
            return Some(Key {
                group: entry.group.parse().ok()?,
                kind: entry.kind.parse().ok()?,
                domain: self.project.domain.clone(),
                version: entry.version.parse().ok()?,
            });
        }
        let is = |key: &Key| {
            let same = key.kind.as_str() == entry.kind && key.version.to_string() == entry.version;
            same && key.api_group(false) == entry.api_group()
        };
        let mut apis = self.project.resources().filter(|(_, it)| it.api.is_some());
        apis.find(|(key, _)| is(key)).map(|(key, _)| key.clone())
    }

    /// The Go code of an entry that is not added, which the list names beside it.
    fn code_of(&self, entry: &Entry) -> Vec<&'a str> {
        let files = self.files;
        let controllers = entry.controllers().into_iter();
        controllers
            .filter_map(|name| files.controller(entry, name))
            .chain(files.webhook(entry).filter(|_| entry.webhooks.is_asked()))
            .collect()
    }

    /// The text of a Go file; empty without one.
    fn text(&self, source: Option<&str>) -> &'a str {
        let text = source.and_then(|source| self.files.0.get(source));
        text.map_or("", String::as_str)
    }

    /// Lists a file to port.
    fn file(&mut self, title: Title, from: Option<&'a str>, what: &str, to: &str, item: Item) {
        self.known.extend(from);
        let from_code = from.map_or_else(|| what.to_owned(), |from| format!("`{from}`"));
        self.checklist.add(
            title,
            Item {
                what: format!("{from_code} -> `{to}`"),
                ..item
            },
        );
        let from = from.unwrap_or(what);
        self.steps
            .push(NextStep::by_hand(format!("port {from} to {to}")));
    }

    /// The samples with the text of those of the Go project.
    fn samples(&mut self) -> Result<Vec<(RelPath, Content)>> {
        let samples = samples(&self.project, self.files);
        let mut created = Vec::new();
        for (key, text) in samples.of_apis {
            let paths = template::files_of_api(&self.project, &key)?.into_iter();
            let sample = paths.filter(|path| path.extension() == "yaml");
            let content: Content = text.into_bytes().into();
            created.extend(sample.map(|path| (path, content.clone())));
        }
        for path in samples.others {
            let what = format!("`{path}`: it has no object of this project's kinds");
            self.checklist.add(Title::Manifests, Item::of(what));
        }
        Ok(created)
    }

    /// Lists what no entry is about.
    fn others(&mut self) {
        let files = self.files;
        for (path, rule) in files.other_rules(&self.known) {
            let what = format!("`{path}`: `{}`", rule.marker);
            self.checklist.add(Title::Code, Item::of(what));
        }
        for (directory, names) in files.others(&self.known) {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            let place = match directory {
                "" => String::new(),
                directory => format!("`{directory}/`: "),
            };
            let what = format!("{place}{}", names.join(", "));
            self.checklist.add(Title::Code, Item::of(what));
        }
        for (flag, path) in files.flags() {
            let what = format!("`--{flag}`, in `{path}`");
            self.checklist.add(Title::Flags, Item::of(what));
        }
        for path in files.manifests() {
            self.checklist
                .add(Title::Manifests, Item::of(format!("`{path}`")));
        }
        for setting in files.settings() {
            let what = format!("`config/manager/manager.yaml`: {setting}");
            self.checklist.add(Title::Manifests, Item::of(what));
        }
    }

    /// Adds the plugins of the same names, and lists the others.
    fn plugins(&mut self) -> Result<()> {
        for key in self.go.project.plugins.keys() {
            let Some(key) = key.as_str() else { continue };
            let name = match key.strip_prefix("manifests.sdk.operatorframework.io/") {
                Some(_) => Plugin::Olm.word(),
                None => key,
            };
            if let Ok(plugin) = name.parse() {
                self.project = self.project.edit(&EditSettings {
                    plugins: vec![PluginEdit::Add(plugin)],
                    ..EditSettings::default()
                })?;
                continue;
            }
            let what = format!("the plugin `{key}` of kubebuilder, which has no counterpart");
            if !key.starts_with("deploy-image.") {
                self.checklist.add(Title::Manifests, Item::of(what));
            }
        }
        for (kind, image) in self.go.project.images() {
            let what = format!(
                "the Deployment of `{image}` for each `{kind}`: `create api --image` in another project makes a controller to copy"
            );
            self.checklist.add(Title::Code, Item::of(what));
        }
        Ok(())
    }

    fn finish(self, root: &Path, created: Vec<(RelPath, Content)>) -> Result<Request> {
        let Self {
            project,
            checklist,
            remarks,
            steps: mut next,
            commands,
            ..
        } = self;
        let mut named = NamedFiles {
            created,
            ..NamedFiles::default()
        };
        let is_incomplete = !checklist.is_empty();
        next.extend(commands);
        if is_incomplete {
            let path = RelPath::constant(FILE);
            if tree::find(root, &path)? != Found::Absent {
                return Err(Failure::refused(format!("`{FILE}` is in the way"))
                    .note("a port lists there what is left to do by hand")
                    .advise(Script::put_aside(FILE)));
            }
            let text = checklist.markdown(&project.name);
            let list = Rewritten {
                after: Some(text.into_bytes().into()),
                ..Rewritten::default()
            };
            named.rewritten.insert(path, list);
            next.push(NextStep::by_hand(format!(
                "see {FILE} for permissions, and for everything else that is left"
            )));
        }
        next.push(next::manifests());
        Ok(Request {
            named,
            remarks,
            next,
            is_incomplete,
            ..Request::of("init", project)
        })
    }
}
