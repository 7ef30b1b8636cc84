//! Entries of `watches.yaml` of an Ansible operator: what runs, and the calls of `Automation` and `Finalizer` that say how.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    Takeover,
    body::Body,
    duration,
    sdk::{Sdk, WATCHES},
    watches::{AnsibleFinalizer, Watch},
};
use crate::{
    advice::{Advice, Script},
    command::{
        copy::{self, Original},
        create_ansible::{
            self,
            source::{self, Source},
        },
    },
    error::{Failure, Result},
    name::AnsiblePath,
    plan::{CopiedFile, Rewritten},
    tree::{self, RelPath},
};

/// What the working directory of an Ansible operator is called in its image.
const HOMES: [&str; 3] = ["/opt/ansible/", "${HOME}/", "$HOME/"];

/// The collections that it needs.
const REQUIREMENTS: &str = "requirements.yml";

/// The collections that every operator here has.
const OURS: [&str; 2] = ["kubernetes.core", "operator_sdk.util"];

/// Where Molecule's tests are, and the kustomization that they build.
const MOLECULE: [&str; 2] = ["molecule", "config/testing"];

/// What operator-sdk or Ansible would use of a directory, and is not copied.
const OTHERS: [&str; 14] = [
    "action_plugins",
    "ansible.cfg",
    "collections",
    "files",
    "filter_plugins",
    "group_vars",
    "host_vars",
    "inventory",
    "library",
    "lookup_plugins",
    "module_utils",
    "tasks",
    "templates",
    "vars",
];

impl Sdk {
    /// What an entry runs; `None` if it is neither in the directory of the operator nor a role of a collection.
    fn content(&self, role: Option<&str>, playbook: Option<&str>) -> Option<AnsiblePath> {
        // operator-sdk runs the playbook of an entry with both.
        if let Some(playbook) = playbook {
            let file = self.inside(bare(playbook))?;
            let name = file.file_name()?.to_str()?;
            return AnsiblePath::of_playbook(name)
                .ok()
                .filter(|_| file.is_file());
        }
        let role = role?;
        let name = bare(role).strip_prefix("roles/").unwrap_or(bare(role));
        let is_here = || {
            self.inside(&format!("roles/{name}"))
                .is_some_and(|it| it.is_dir())
        };
        match !name.contains('/') && is_here() {
            true => AnsiblePath::of_role(name).ok(),
            false => role.parse().ok().filter(|it: &AnsiblePath| !it.is_local()),
        }
    }

    /// A path in the directory of the operator; `None` if it leads elsewhere.
    fn inside(&self, path: &str) -> Option<PathBuf> {
        let full = tree::full(&self.directory.join(path));
        full.starts_with(tree::full(&self.directory))
            .then_some(full)
    }
}

/// A path without the directory of the operator in its image.
fn bare(path: &str) -> &str {
    let home = HOMES.iter().find_map(|home| path.strip_prefix(home));
    home.unwrap_or(path)
        .trim_start_matches("./")
        .trim_end_matches('/')
}

impl Takeover<'_> {
    /// What an entry runs.
    pub fn runs(&self, watch: &Watch) -> Result<AnsiblePath> {
        let found = self
            .sdk
            .content(watch.role.as_deref(), watch.playbook.as_deref());
        found.ok_or_else(|| {
            let named = watch.playbook.as_deref().or(watch.role.as_deref());
            let what = match watch.playbook {
                Some(_) => "playbook",
                None => "role",
            };
            Failure::refused(format!(
                "no {what} `{}` in `{}`",
                named.unwrap_or_default(),
                self.sdk.directory.display()
            ))
            .note(format!("`{WATCHES}` names it for `{}`", watch.title()))
            .note("it is a directory in `roles`, the path of a playbook, or NAMESPACE.COLLECTION.ROLE")
            .advise(self.sdk.edit())
        })
    }

    /// Copies all roles and playbooks, and takes the collections over that no operator here has.
    pub fn ansible(&mut self) -> Result<()> {
        for name in tree::names(&self.sdk.directory.join("roles")) {
            let path = format!("roles/{name}");
            let shown = self
                .sdk
                .directory
                .join(&path)
                .to_string_lossy()
                .into_owned();
            match self.sdk.inside(&path).filter(|full| full.is_dir()) {
                Some(full) if full.file_name().is_some_and(|it| it == &*name) => {
                    let role = Source::in_directory(&shown, full)?;
                    self.place(&role.original())?;
                    if let Some(lost) = role.loses() {
                        self.setting(lost);
                    }
                }
                Some(_) | None if self.sdk.directory.join(&path).is_file() => {}
                _ => self.left_out(format!(
                    "`{path}` is left out: it is a link to another directory"
                )),
            }
        }
        let playbooks = self.playbooks()?;
        let files = playbooks.iter();
        self.place(&Original {
            what: "playbook",
            shown: "playbooks",
            from: None,
            to: "playbooks",
            anchor: "playbooks".to_owned(),
            files: files.map(|(path, bytes)| (&**path, &**bytes)).collect(),
        })?;
        for name in OTHERS {
            if self.sdk.first(&[name]).is_some() {
                self.left_out(format!(
                    "`{name}` of the former project is left out: Ansible looks for such files beside a playbook, in `playbooks`, or in a role"
                ));
            }
        }
        self.collections()?;
        self.permissions();
        self.molecule()
    }

    /// Copies a role, or the playbooks.
    fn place(&mut self, original: &Original<'_>) -> Result<()> {
        self.named.copied.extend(self.copied(original)?);
        Ok(())
    }

    /// The copies of an original, of which nothing is there yet.
    fn copied(&self, original: &Original<'_>) -> Result<BTreeMap<RelPath, CopiedFile>> {
        let copied = copy::of(self.root, original)?;
        if let Some(file) = copied.in_the_way() {
            return Err(Failure::refused(format!("`{file}` is in the way"))
                .note(format!(
                    "`{}` is the place of the {} `{}`",
                    original.to, original.what, original.shown
                ))
                .advise(Script::put_aside(original.to)));
        }
        Ok(copied.files())
    }

    /// The files in a directory of the operator, by their paths there; none without the directory.
    fn files(&self, name: &str) -> Result<BTreeMap<String, Vec<u8>>> {
        let Some(directory) = self.sdk.inside(name).filter(|it| it.is_dir()) else {
            return Ok(BTreeMap::new());
        };
        let found = tree::search(&directory, std::slice::from_ref(&directory), |entry| {
            entry.file_name() != ".git"
        });
        let found = found.map_err(|it| unreadable(&it.path, &it.error))?;
        let paths = found.into_iter();
        paths
            .map(|(path, bytes)| Ok((source::below(&directory, &path, name)?, bytes)))
            .collect()
    }

    /// Copies the tests that Molecule runs, and the manifests that they install.
    fn molecule(&mut self) -> Result<()> {
        let mut has_tests = false;
        for directory in MOLECULE {
            let files = self.files(directory)?;
            has_tests |= !files.is_empty();
            let files = files.iter();
            let copied = self.copied(&Original {
                what: "tests",
                shown: directory,
                from: None,
                to: directory,
                anchor: directory.to_owned(),
                files: files.map(|(path, bytes)| (&**path, &**bytes)).collect(),
            })?;
            // No newer ones are merged later, so they have no base.
            let written = copied.into_iter().map(|(path, file)| {
                let (before, row) = (None, None);
                let after = file.new;
                (path, Rewritten { before, after, row })
            });
            self.named.rewritten.extend(written);
        }
        if has_tests {
            let sentence = "the tests in `molecule` and the manifests that they install in `config/testing` are the former ones. Remove the paths in \
                 `config/testing/kustomization.yaml` that this project has not, such as patches of `../default`";
            self.setting(sentence.to_owned());
        }
        Ok(())
    }

    /// The files in `playbooks`, and the playbooks that entries name elsewhere, by their paths in `playbooks`.
    fn playbooks(&self) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut files = self.files("playbooks")?;
        for watch in &self.sdk.watches {
            let finalizer = watch.finalizer.as_ref();
            let finalizer = finalizer.and_then(|it| it.playbook.as_deref());
            let named = watch.playbook.as_deref().into_iter().chain(finalizer);
            for path in named
                .map(bare)
                .filter(|path| !path.starts_with("playbooks/"))
            {
                let Some(full) = self.sdk.inside(path).filter(|it| it.is_file()) else {
                    continue;
                };
                let name = path.rsplit('/').next().unwrap_or(path);
                let bytes = tree::read(&full).map_err(|error| unreadable(&full, &error))?;
                let there = files.insert(name.to_owned(), bytes.clone());
                if there.is_some_and(|there| there != bytes) {
                    return Err(
                        Failure::refused(format!("two playbooks are called `{name}`"))
                            .note(format!(
                                "`{path}` is one of them, and both would be in `playbooks`"
                            ))
                            .note("rename one of the two, there and in `watches.yaml`")
                            .advise(self.sdk.edit()),
                    );
                }
            }
        }
        Ok(files)
    }

    /// Lists the permissions that do not follow from what the entries run.
    fn permissions(&mut self) {
        let text = |it: &CopiedFile| Some(it.new.as_ref()?.to_vec());
        let copied = self.named.copied.iter();
        let files = copied.filter_map(|(path, it)| Some((path.to_string(), text(it)?)));
        let files: BTreeMap<String, Vec<u8>> = files.collect();
        let mut notes = BTreeSet::new();
        for watch in &self.sdk.watches {
            let finalizer = watch.finalizer.as_ref();
            let finalizer = finalizer
                .and_then(|it| self.sdk.content(it.role.as_deref(), it.playbook.as_deref()));
            let main = self
                .sdk
                .content(watch.role.as_deref(), watch.playbook.as_deref());
            for path in main.into_iter().chain(finalizer) {
                notes.extend(ansible_api::of(&files, &create_ansible::entry(&path)).notes);
            }
        }
        for note in notes {
            self.setting(format!("permissions: {}", note.trim_end_matches('.')));
        }
    }

    /// Writes `requirements.yml` with the collections that roles and playbooks use, and that no operator here has anyway.
    fn collections(&mut self) -> Result<()> {
        let Some(text) = self.sdk.text(REQUIREMENTS) else {
            return Ok(());
        };
        let mut all: Value = guarded_yaml::read(&text).unwrap_or_default();
        if !all.is_object() {
            self.left_out(format!(
                "`{REQUIREMENTS}` of the former project is left out: it is no map with `collections` and `roles`"
            ));
            return Ok(());
        }
        let Some(collections) = all.get_mut("collections").and_then(Value::as_array_mut) else {
            return Ok(());
        };
        let copied = self.named.copied.values();
        let texts = copied.filter_map(|it| Some(String::from_utf8_lossy(it.new.as_ref()?)));
        let texts: Vec<_> = texts.collect();
        let mut unused = Vec::new();
        collections.retain(|it| {
            let Some(name) = it.get("name").unwrap_or(it).as_str() else {
                return true;
            };
            // A file that is no collection of Galaxy, such as an archive, has another name than in the tasks.
            let is_plain = name.split('.').count() == 2 && !name.contains('/');
            let is_unused = is_plain && !texts.iter().any(|text| text.contains(name));
            if is_unused && !OURS.contains(&name) {
                unused.push(format!("`{name}`"));
            }
            !is_unused && !OURS.contains(&name)
        });
        let is_empty = collections.is_empty() && all.get("roles").is_none();
        if !unused.is_empty() {
            self.setting(format!(
                "no role or playbook names {}, which the former `{REQUIREMENTS}` has for Molecule or an older kubernetes.core, and the new one \
                 has not",
                unused.join(" and ")
            ));
        }
        if is_empty {
            return Ok(());
        }
        self.setting(format!(
            "`{REQUIREMENTS}` has no {}: they are installed anyway, in the versions of `ansible/install.sh`",
            OURS.map(|it| format!("`{it}`")).join(" and ")
        ));
        let written = Rewritten {
            before: None,
            after: Some(guarded_yaml::text(&all).into_bytes().into()),
            row: None,
        };
        self.named
            .rewritten
            .insert(RelPath::constant(REQUIREMENTS), written);
        Ok(())
    }

    /// The body of the function that makes the `Automation` of an entry, which runs `path`. What it cannot say is listed.
    pub fn automation(&mut self, watch: &Watch, path: &AnsiblePath) -> String {
        let title = watch.title();
        let mut body = Body::default();
        let named = watch.finalizer.as_ref();
        if let Some(finalizer) = named {
            self.finalizer(&title, finalizer, &mut body);
        }
        let mut calls = Vec::new();
        if let Some(vars) = watch.vars.as_ref().filter(|it| !it.is_empty()) {
            calls.push(body.vars(vars));
        }
        match watch.reconcile_period.as_ref().map(duration::seconds) {
            Some(Some(seconds)) => {
                calls.push(format!("reconcile_period(Duration::from_secs({seconds}))"));
            }
            Some(None) => self.left_out(format!(
                "the `reconcilePeriod` of `{title}` is left out: it is no duration"
            )),
            None => {}
        }
        let flags = [
            ("manage_status", watch.manage_status, true),
            (
                "watch_dependent_resources",
                watch.watch_dependent_resources,
                true,
            ),
            (
                "watch_cluster_scoped_resources",
                watch.watch_cluster_scoped_resources,
                false,
            ),
            (
                "watch_annotations_changes",
                watch.watch_annotations_changes,
                false,
            ),
            ("snake_case_parameters", watch.snake_case_parameters, true),
        ];
        for (name, value, default) in flags {
            if let Some(value) = value.filter(|it| *it != default) {
                calls.push(format!("{name}({value})"));
            }
        }
        for kind in &watch.blacklist {
            let [group, version, kind] = [&kind.group, &kind.version, &kind.kind];
            calls.push(format!("blacklist({group:?}, {version:?}, {kind:?})"));
        }
        let first = self
            .sdk
            .watches
            .iter()
            .find(|it| it.mark_unsafe != Some(true));
        if first.is_some_and(|first| first.title() == title) {
            let kinds = self
                .sdk
                .watches
                .iter()
                .filter(|it| it.mark_unsafe != Some(true));
            let kinds: Vec<String> = kinds.map(|it| format!("`{}`", it.kind)).collect();
            let title = kinds.join(", ");
            self.setting(format!(
                "no `markUnsafe: true` for {title}: the former operator evaluates templates in the objects, so that whoever may write one can \
                 run any program as the operator. Here they are text. Only if objects have templates on purpose: `.evaluate_objects(true)`"
            ));
        }
        if watch.manage_status == Some(false) && !watch.is_foreign() {
            self.setting(format!(
                "`{title}` has `manageStatus: false`: the test of its controller waits for `Ready`, which only its tasks can set then"
            ));
        }
        calls.extend(named.map(|_| "finalizer(finalizer)".to_owned()));
        self.expanded(watch);
        body.chain("", &made("Automation", path), &calls, "");
        body.0
    }

    /// Adds the statements that make a finalizer.
    fn finalizer(&mut self, title: &str, finalizer: &AnsibleFinalizer, body: &mut Body) {
        let mut calls = Vec::new();
        let (role, playbook) = (finalizer.role.as_deref(), finalizer.playbook.as_deref());
        if role.or(playbook).is_some() {
            match self.sdk.content(role, playbook) {
                Some(path) => calls.push(format!("{}({:?})", path.word(), path.name())),
                None => self.left_out(format!(
                    "what the finalizer of `{title}` runs is left out: it is not there"
                )),
            }
        }
        if let Some(vars) = finalizer.vars.as_ref().filter(|it| !it.is_empty()) {
            calls.push(body.vars(vars));
        }
        let made = format!("Finalizer::new({:?})", finalizer.name);
        body.chain("let finalizer = ", &made, &calls, ";");
    }

    /// Lists the variables of the environment that operator-sdk puts into an entry.
    fn expanded(&mut self, watch: &Watch) {
        let vars = watch
            .vars
            .iter()
            .chain(watch.finalizer.iter().filter_map(|it| it.vars.as_ref()));
        let texts: String = vars
            .map(|it| Value::Object(it.clone()).to_string())
            .collect();
        let names = texts
            .split("${")
            .skip(1)
            .filter_map(|it| it.split_once('}'));
        let names: BTreeSet<String> = names.map(|(name, _)| format!("`${{{name}}}`")).collect();
        if !names.is_empty() {
            let names: Vec<String> = names.into_iter().collect();
            self.setting(format!(
                "the vars of `{}` have {}, which the former operator takes from its environment: `std::env::var` in the controller does that where the \
                 whole value is one; add the others",
                watch.title(),
                names.join(", ")
            ));
        }
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::refused(format!("cannot read `{}`: {error}", path.display()))
        .note("it is beside what is copied")
        .advise(Advice::Again)
}

/// The call that makes what runs `path`.
fn made(of: &str, path: &AnsiblePath) -> String {
    format!("{of}::{}({:?})", path.word(), path.name())
}
