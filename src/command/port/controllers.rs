//! The controllers of a Go project, and its external types.

use kubebuilder_port::Entry;

use super::{Port, crds::name_of};
use crate::{
    advice::{Flag, NextStep, Script},
    command::checklist::{Item, Title},
    error::Failure,
    project::{CreateApi, Key},
    template,
};

impl Port<'_> {
    /// Adds the controllers.
    pub fn controllers(&mut self) {
        for entry in self.entries.clone() {
            if entry.external {
                self.external(&entry);
                continue;
            }
            match self.key_of(&entry) {
                Some(key) => {
                    for name in entry.controllers() {
                        self.controller(&entry, &key, name);
                    }
                }
                None if entry.is_core() => {
                    let what = format!("`{}`", entry.title());
                    let code = self.code_of(&entry);
                    self.leave_out(&what, "no type of Kubernetes has these names", &code);
                }
                // It was reported with its CRD.
                None => {}
            }
        }
    }

    fn controller(&mut self, entry: &Entry, key: &Key, name: Option<&str>) {
        let created = name.map(str::parse).transpose().map_err(Failure::from);
        let created = created.and_then(|controller_name| {
            let create = CreateApi {
                resource: false,
                controller_name,
                ..CreateApi::of(key.gvk())
            };
            let project = self.project.create_api(&create)?;
            let key = create.key_in(&project)?;
            let paths = template::files_of(&project, &key, &create)?;
            Ok((project, key, paths))
        });
        let what = match name {
            Some(name) => format!("the controller `{name}` of `{}`", entry.title()),
            None => format!("the controller of `{}`", entry.title()),
        };
        let sources = self.files.controllers(entry, name);
        let (project, key, paths) = match created {
            Ok(created) => created,
            Err(failure) => return self.leave_out(&what, &failure.what, &sources),
        };
        self.project = project;
        // Of several files, a person knows which is the controller's.
        let (source, candidates) = match sources.as_slice() {
            [one] => (Some(*one), &[][..]),
            several => (None, several),
        };
        for path in paths.iter().filter(|it| it.as_str().starts_with("src/")) {
            let mut item = match source {
                Some(file) => self.permissions(Some(&key), file),
                None => Item::default(),
            };
            self.known.extend(candidates);
            let candidates = candidates.iter().map(|it| format!("it may be in `{it}`"));
            item.notes.extend(candidates);
            self.file(Title::Controllers, source, &what, path.as_str(), item);
        }
    }

    /// Reports an external type: the Go project names a package, and this one needs a type in Rust.
    fn external(&mut self, entry: &Entry) {
        let controllers = entry.controllers();
        let code = self.code_of(entry);
        let sentence = format!(
            "`{}` is a type of the Go package `{}`; its type in Rust is generated from the CRD",
            entry.title(),
            entry.path
        );
        self.not_added(sentence, &code);
        let flag = |name: &str, value: &str| Flag::new(name, Some(value.to_owned()));
        let default = controllers.contains(&None);
        let of = [
            flag("--group", &entry.group),
            flag("--version", &entry.version),
            flag("--kind", &entry.kind),
        ];
        let mut crds = self.crds.found.values();
        let crd = crds.find(|it| (&it.kind, &it.group) == (&entry.kind, &entry.api_group()));
        let script = match crd {
            Some(crd) => Script::forge("create api --from-crd")
                .path(self.path_of(&crd.file))
                .code("--external"),
            None => Script::of("kubectl get crd")
                .arg(name_of(entry))
                .code("-o yaml | operator-forge create api --from-crd - --external"),
        };
        let script = script.flags(&of);
        self.commands.push(NextStep::new(
            format!("add the external type `{}`:", entry.title()),
            match default {
                true => script.code("--controller"),
                false => script,
            },
        ));
        for name in controllers.iter().flatten() {
            let script = Script::forge("create api").flags(&of);
            let script = script.flags(&[Flag::new("--resource=false", None)]);
            self.commands.push(NextStep::new(
                format!("then add its controller {name}:"),
                script.flags(&[flag("--controller-name", name)]),
            ));
        }
        if entry.webhooks.is_asked() {
            let kinds = [
                ("--defaulting", entry.webhooks.defaulting),
                ("--validation", entry.webhooks.validation),
            ];
            let kinds = kinds.into_iter().filter(|(_, asked)| *asked);
            let kinds: Vec<_> = kinds.map(|(name, _)| Flag::new(name, None)).collect();
            self.commands.push(NextStep::new(
                "then add its webhooks:",
                Script::forge("create webhook").flags(&of).flags(&kinds),
            ));
        }
    }
}
