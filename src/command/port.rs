//! `init --from-kubebuilder`: the entries of a Go project, with types from its CRDs, and a list of what a person has to port.

mod admission;
mod controllers;
mod conversions;
mod crds;
mod definitions;
mod libraries;
pub mod names;
mod permissions;
mod read;
mod samples;
mod webhooks;

use std::{collections::BTreeSet, path::Path};

use kubebuilder_port::{Definitions, Entry, Files, PLACES, Tally, is_main, renamed, settle};

pub use self::read::{Go, refusal};
use self::{
    permissions::{Asking, Permissions},
    samples::samples,
};
use crate::{
    advice::{NextStep, Script},
    command::checklist::{Checklist, FILE, Item, Title},
    engine::{Request, next},
    error::{Failure, Result},
    name::ProjectName,
    plan::NamedFiles,
    project::{EditSettings, Key, Plugin, PluginEdit, Project},
    template,
    tree::{Content, RelPath},
};

/// The request for the project in `root`. It adds the entries of the Go project to `empty`, with their samples, and a list of what is
/// left to a person. `crds` are the directories of CRDs that the command line names, seen from `base`.
pub fn port(go: &Go, crds: &[String], base: &Path, root: &Path, empty: Project) -> Result<Request> {
    let files = go.files()?;
    let definitions = definitions::search(&files, base, crds)?;
    refuse_without(&definitions, go, crds)?;
    let settled = settle(&go.project, &definitions, &files);
    let own_groups = settled.entries.iter().filter(|it| it.is_api());
    let mut port = Port {
        go,
        base,
        files: &files,
        crds: &definitions,
        has_named_crds: !crds.is_empty(),
        own_groups: own_groups.map(Entry::api_group).collect(),
        entries: settled.entries,
        known: BTreeSet::new(),
        ruled: BTreeSet::new(),
        project: empty,
        checklist: Checklist::default(),
        tally: Tally::default(),
        remarks: settled.remarks,
        steps: Vec::new(),
        commands: Vec::new(),
    };
    if go.project.is_version_2 {
        port.remarks.push(
            "`PROJECT` has version 2, which tells neither controllers nor webhooks: they are those of the Go code".to_owned(),
        );
    }
    port.remarks.extend(definitions.differing.iter().cloned());
    port.import();
    port.refuse_nothing()?;
    port.controllers();
    port.webhooks()?;
    port.conversions()?;
    let mut created = port.samples()?;
    created.extend(port.names()?);
    port.libraries();
    port.others();
    port.plugins()?;
    port.finish(root, created)
}

/// The head of the list, with how much the port has.
fn intro(project: &ProjectName, tally: &str) -> String {
    let intro = format!(
        "# Porting {project} from Go\n\n\
         This project was made by `operator-forge init --from-kubebuilder`, which leaves the following to you. Paths before an\n\
         arrow are in the Go project. The file is yours: edit it, and delete it when nothing is left.\n"
    );
    match tally {
        "" => intro,
        tally => format!("{intro}\nThe port has {tally}.\n"),
    }
}

/// Refuses a project that defines APIs and has no CRD. `make manifests` writes them, and some projects keep them out of git.
fn refuse_without(definitions: &Definitions, go: &Go, crds: &[String]) -> Result<()> {
    let mut apis = go.project.resources.iter().filter(|it| it.is_api());
    let Some(api) = apis.next().filter(|_| definitions.found.is_empty()) else {
        return Ok(());
    };
    let places = match crds {
        [] => format!("{PLACES} of `{}`", go.directory.display()),
        named => named
            .iter()
            .map(|it| format!("`{it}`"))
            .collect::<Vec<_>>()
            .join(", "),
    };
    let failure = Failure::refused(format!("no CustomResourceDefinition in {places}"))
        .note(format!("the types of `{}` come from its CRD", api.title()));
    let unreadable = definitions.unreadable.values().take(3).cloned();
    let failure = unreadable.fold(failure, Failure::note);
    Err(with_crds(failure, go))
}

/// Adds how a port gets its CRDs to a refusal.
fn with_crds(failure: Failure, go: &Go) -> Failure {
    let directory = go.directory.to_string_lossy();
    failure
        .note("`make manifests` in the Go project writes the CRDs; `--crds DIR` names a directory that has them")
        .advise(Script::anywhere("make -C").path(directory).code("manifests"))
}

/// A port in progress.
struct Port<'a> {
    go: &'a Go,
    /// The directory that the command works in.
    base: &'a Path,
    files: &'a Files,
    crds: &'a Definitions,
    /// Whether the command line names the directories of the CRDs.
    has_named_crds: bool,
    /// The API groups that the Go project defines.
    own_groups: BTreeSet<String>,
    /// The entries, as the CRDs have them.
    entries: Vec<Entry>,
    /// The files in Go that the list names.
    known: BTreeSet<&'a str>,
    /// The files whose RBAC markers it has.
    ruled: BTreeSet<&'a str>,
    project: Project,
    checklist: Checklist,
    tally: Tally,
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
            .flat_map(|name| files.controllers(entry, name))
            .chain(files.webhook(entry).filter(|_| entry.webhooks.is_asked()))
            .collect()
    }

    /// Refuses a project none of whose kinds could be added: it would have nothing to build on.
    fn refuse_nothing(&self) -> Result<()> {
        if !self.tally.kinds.has_failed() {
            return Ok(());
        }
        let directory = self.go.directory.to_string_lossy();
        let what = format!("no kind of the Go project `{directory}` can be added");
        let reasons = self.remarks.iter().take(8).cloned();
        let failure = reasons.fold(Failure::refused(what), Failure::note);
        Err(with_crds(failure, self.go))
    }

    /// The permissions that a file asks for, for the controller of a type or for any.
    fn permissions(&mut self, of: Option<&Key>, file: &'a str) -> Item {
        self.ruled.insert(file);
        let Some(code) = self.files.code.get(file) else {
            return Item::default();
        };
        let file = Asking {
            code,
            of,
            is_main: is_main(file),
        };
        let permissions = Permissions::of(&self.project, &self.own_groups, file);
        for is_done in permissions.resources {
            self.tally.permissions.add(is_done);
        }
        let mut item = permissions.item;
        if of.is_some() {
            for finalizer in &code.finalizers {
                item.calls.push(".finalizer()".to_owned());
                item.notes.push(format!(
                    "its objects have the finalizer `{finalizer}`, which `finalizer::run` takes: keep this name"
                ));
            }
            item.calls.dedup();
        }
        item
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
        let asking = files.with(|code| !code.rules.is_empty());
        for path in asking
            .filter(|path| !self.ruled.contains(path))
            .collect::<Vec<_>>()
        {
            let item = self.permissions(None, path);
            if !item.calls.is_empty() || !item.notes.is_empty() {
                let what = format!("`{path}`");
                self.checklist
                    .add(Title::Permissions, Item { what, ..item });
            }
        }
        for (title, all) in [
            (Title::Code, files.others(&self.known)),
            (Title::Tests, files.tests()),
        ] {
            for (directory, names) in all {
                let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                let place = match directory {
                    "" => String::new(),
                    directory => format!("`{directory}/`: "),
                };
                let what = format!("{place}{}", names.join(", "));
                self.checklist.add(title, Item::of(what));
            }
        }
        for (flag, path) in files.flags() {
            let of_manager = match renamed(flag) {
                Some(name) => format!(": the manager has `--{name}`"),
                None => String::new(),
            };
            let what = format!("`--{flag}`, in `{path}`{of_manager}");
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
            mut remarks,
            steps: mut next,
            commands,
            tally,
            ..
        } = self;
        let tally = tally.to_string();
        if !tally.is_empty() {
            remarks.insert(0, format!("the port has {tally}"));
        }
        let mut named = NamedFiles {
            created,
            ..NamedFiles::default()
        };
        let mut left = Vec::new();
        next.extend(commands);
        if !checklist.is_empty() {
            let path = RelPath::constant(FILE);
            let list = checklist.file(root, &path, &intro(&project.name, &tally))?;
            named.rewritten.insert(path, list);
            let see = format!("see {FILE} for permissions, and for everything else that is left");
            left.push(see.clone());
            next.push(NextStep::by_hand(see));
        }
        next.push(next::manifests());
        Ok(Request {
            named,
            remarks,
            next,
            left,
            ..Request::of("init", project)
        })
    }
}
