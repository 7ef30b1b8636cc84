//! The controllers of a Go project, and its external types.

use super::{
    Port,
    checklist::{Item, Title},
    permissions,
};
use crate::{
    advice::{Flag, NextStep, Script},
    error::Failure,
    kubebuilder::Entry,
    project::{ControllerView, CreateApi, Fields, Key},
};

impl Port<'_> {
    /// Adds the controllers.
    pub fn controllers(&mut self) {
        let go = self.go;
        for entry in &go.project.resources {
            if entry.external {
                self.external(entry);
                continue;
            }
            let Some(key) = self.key_of(entry) else {
                continue;
            };
            for name in entry.controllers() {
                self.controller(entry, &key, name);
            }
        }
    }

    fn controller(&mut self, entry: &Entry, key: &Key, name: Option<&str>) {
        let created = name.map(str::parse).transpose().map_err(Failure::from);
        let created = created.and_then(|controller_name| {
            Ok(self.project.create_api(&CreateApi {
                group: key.group.clone(),
                version: key.version,
                kind: key.kind.clone(),
                plural: None,
                namespaced: None,
                short_names: Vec::new(),
                fields: Fields::default(),
                resource: false,
                external: None,
                controller: true,
                controller_name,
                finalizer: None,
                force: false,
            })?)
        });
        let what = match name {
            Some(name) => format!("the controller `{name}` of `{}`", entry.title()),
            None => format!("the controller of `{}`", entry.title()),
        };
        match created {
            Ok(project) => self.project = project,
            Err(failure) => return self.leave_out(what, &failure.what),
        }
        let controllers = self.project.controllers();
        let is_it = |it: &&ControllerView<'_>| {
            let is_named = match name {
                Some(name) => !it.default && it.name == name,
                None => it.default,
            };
            let same = it.key.group == key.group && it.key.kind == key.kind;
            is_named && same && it.key.version == key.version
        };
        let Some(view) = controllers.iter().find(is_it) else {
            return;
        };
        let (path, key) = (view.path(), view.key.clone());
        drop(controllers);
        let source = self.files.controller(entry, name);
        let text = source.and_then(|source| self.files.0.get(source));
        let text = text.map_or("", String::as_str);
        let permissions = permissions::of_controller(&self.project, &key, text);
        let item = Item {
            calls: permissions.calls,
            notes: permissions.notes,
            ..Item::default()
        };
        self.file(Title::Controllers, source, &what, &path, item);
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
        let flag = |name: &str, value: &str| Flag::new(name, Some(value.to_owned()));
        let script = Script::of("kubectl get crd")
            .arg(entry.crd())
            .code("-o yaml | operator-forge create api --from-crd - --external")
            .flags(&[flag("--version", &entry.version)]);
        let default = controllers.contains(&None);
        self.commands.push(NextStep::new(
            format!("add the external type `{}`:", entry.title()),
            match default {
                true => script.code("--controller"),
                false => script,
            },
        ));
        let of = [
            flag("--group", &entry.group),
            flag("--version", &entry.version),
            flag("--kind", &entry.kind),
        ];
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
