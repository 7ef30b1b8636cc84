//! The permissions that a role or playbook needs, from its files.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use ansible_api::{Entry, Grant, KindRule, Kinds};
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::core::{ApiResource, GroupVersionKind};
use operator_runtime::{Rules, ScopedResource, Verb, in_one_line};

use crate::{
    automation::{Automation, Content},
    options::AnsibleOptions,
};

/// The directories of a project that belong to playbooks in its root.
const BESIDE_PLAYBOOKS: [&str; 6] = [
    "files",
    "group_vars",
    "playbooks",
    "tasks",
    "templates",
    "vars",
];

impl Automation {
    /// The permissions that the role or playbook needs, and that of the finalizer: what their tasks do with which kinds, over all branches,
    /// and what the roles grant that they create. They have notes on what does not follow from the files. The files are
    /// found as for a run, with the [options](AnsibleOptions) that the environment gives; what is not there gives no permission, and
    /// a note.
    pub fn rules(&self) -> Rules {
        let options = AnsibleOptions::default();
        let finalizer = self.finalizer.as_ref().and_then(|it| it.content.as_ref());
        let mut rules = Rules::default();
        for content in [Some(&self.content), finalizer].into_iter().flatten() {
            let of = match content {
                Content::Role(role) => format!("the role `{role}`"),
                Content::Playbook(path) => format!("the playbook `{path}`"),
            };
            let mut files = Files::default();
            match files.entry(content, &options) {
                Ok(entry) => add(&of, &ansible_api::of(&files.all, &entry), &mut rules),
                Err(error) => rules.note(format!("{of}: permissions: {error}")),
            }
            for error in files.unread {
                rules.note(format!("{of}: permissions: it cannot be read: {error}"));
            }
        }
        rules
    }
}

/// The files that may belong to a role or playbook.
#[derive(Default)]
struct Files {
    all: BTreeMap<String, Vec<u8>>,
    unread: Vec<String>,
}

impl Files {
    /// Reads the files, and says what of them runs.
    fn entry(&mut self, content: &Content, options: &AnsibleOptions) -> Result<Entry, String> {
        let found = content.find(&options.roles_path, &options.collections_path);
        let found = found.map_err(|error| in_one_line(&error))?;
        for base in &options.collections_path {
            self.collections(&base.join("ansible_collections"));
        }
        // The first role of a name wins, as for a run: it is read last.
        let here = env::current_dir().unwrap_or_default();
        self.read(&here.join("roles"), "roles");
        for base in options.roles_path.iter().rev() {
            for base in [base.join("roles"), base.clone()] {
                self.roles(&base);
            }
        }
        for name in BESIDE_PLAYBOOKS {
            self.read(&here.join(name), name);
        }
        let path = PathBuf::from(&found.path);
        Ok(match content {
            // A role of a collection.
            Content::Role(_) if !path.is_absolute() => Entry::Role(found.path),
            Content::Role(role) => {
                // Other roles are beside it.
                path.parent().into_iter().for_each(|it| self.roles(it));
                let name = match Path::new(role).is_absolute() {
                    true => path.file_name().unwrap_or_default().to_string_lossy(),
                    false => role.into(),
                };
                let name = format!("roles/{name}");
                self.all
                    .retain(|it, _| !it.starts_with(&format!("{name}/")));
                self.read(&path, &name);
                Entry::Role(name)
            }
            Content::Playbook(_) => {
                let directory = path.parent().unwrap_or(&path);
                let inside = directory.strip_prefix(&here).ok();
                let inside = inside.and_then(Path::to_str).map(str::to_owned);
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                match inside.as_deref() {
                    // The root of a project also has its code.
                    Some("") => {
                        self.books(directory);
                        Entry::Playbook(name.into_owned())
                    }
                    inside => {
                        let inside = inside.unwrap_or("playbooks");
                        self.read(directory, inside);
                        Entry::Playbook(format!("{inside}/{name}"))
                    }
                }
            }
        })
    }

    /// Reads a directory, if it is there.
    fn read(&mut self, directory: &Path, prefix: &str) {
        if directory.is_dir()
            && let Err(error) = ansible_api::read(directory, prefix, &mut self.all)
        {
            self.unread.push(error.to_string());
        }
    }

    /// Reads the roles in a directory, which may also have others things.
    fn roles(&mut self, base: &Path) {
        for path in directories(base) {
            let is_role = ["tasks", "meta", "handlers"]
                .iter()
                .any(|it| path.join(it).is_dir());
            if is_role && let Some(name) = path.file_name().and_then(|it| it.to_str()) {
                let name = format!("roles/{name}");
                self.all
                    .retain(|it, _| !it.starts_with(&format!("{name}/")));
                self.read(&path, &name);
            }
        }
    }

    /// Reads the roles of collections.
    fn collections(&mut self, base: &Path) {
        let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
        for namespace in directories(base) {
            for collection in directories(&namespace) {
                if let (Some(namespace), Some(name)) = (name(&namespace), name(&collection)) {
                    let prefix = format!("ansible_collections/{namespace}/{name}/roles");
                    self.read(&collection.join("roles"), &prefix);
                }
            }
        }
    }

    /// Reads the files of YAML in a directory, but not its directories.
    fn books(&mut self, directory: &Path) {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        for path in entries.map(|it| it.path()) {
            let is_yaml = path
                .extension()
                .is_some_and(|it| it == "yml" || it == "yaml");
            if let Some(name) = path.file_name().and_then(|it| it.to_str())
                && is_yaml
                && path.is_file()
                && let Err(error) = ansible_api::read(&path, name, &mut self.all)
            {
                self.unread.push(error.to_string());
            }
        }
    }
}

/// The directories in a directory, sorted.
fn directories(base: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    let paths = entries.map(|it| it.path()).filter(|it| it.is_dir());
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    paths
}

fn add(of: &str, kinds: &Kinds, rules: &mut Rules) {
    for rule in &kinds.rules {
        let verbs: Vec<Verb> = rule.verbs.iter().copied().map(verb).collect();
        match &rule.subresource {
            None => rules.allow_dynamic(&scoped(rule), &verbs),
            Some(subresource) => {
                rules.allow_dynamic_subresource(&scoped(rule), subresource, &verbs);
            }
        }
    }
    for grant in &kinds.granted {
        rules.allow_rule(policy(grant));
    }
    for (kind, name) in &kinds.bound {
        rules.allow_rule(PolicyRule {
            api_groups: Some(vec!["rbac.authorization.k8s.io".to_owned()]),
            resources: Some(vec![format!("{}s", kind.to_lowercase())]),
            resource_names: Some(vec![name.clone()]),
            verbs: vec![Verb::Bind.to_string()],
            ..PolicyRule::default()
        });
    }
    for note in &kinds.notes {
        rules.note(format!("{of}: permissions: {}", note.trim_end_matches('.')));
    }
}

fn verb(of: ansible_api::Verb) -> Verb {
    match of {
        ansible_api::Verb::Create => Verb::Create,
        ansible_api::Verb::Delete => Verb::Delete,
        ansible_api::Verb::Get => Verb::Get,
        ansible_api::Verb::List => Verb::List,
        ansible_api::Verb::Patch => Verb::Patch,
        ansible_api::Verb::Update => Verb::Update,
        ansible_api::Verb::Watch => Verb::Watch,
    }
}

fn scoped(rule: &KindRule) -> ScopedResource {
    let gvk = GroupVersionKind::gvk(&rule.group, &rule.version, &rule.kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, &rule.plural);
    match rule.namespaced {
        true => ScopedResource::namespaced(resource),
        false => ScopedResource::cluster_scoped(resource),
    }
}

/// The rule as it stands in the role that is created: who creates it has to hold the same.
fn policy(grant: &Grant) -> PolicyRule {
    let some = |texts: &Vec<String>| (!texts.is_empty()).then(|| texts.clone());
    PolicyRule {
        api_groups: some(&grant.api_groups),
        resources: some(&grant.resources),
        verbs: grant.verbs.clone(),
        resource_names: some(&grant.resource_names),
        non_resource_urls: some(&grant.non_resource_urls),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Finalizer;

    /// The rules as `plural: verbs`, sorted.
    fn lines(rules: &Rules) -> Vec<String> {
        let line = |rule: PolicyRule| {
            let resources = rule.resources.unwrap_or_default().join(" ");
            format!("{resources}: {}", rule.verbs.join(" "))
        };
        rules.policy_rules().into_iter().map(line).collect()
    }

    fn write(directory: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = directory.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn rules_are_those_of_the_role_and_of_the_finalizer() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nrules: [{apiGroups: [''], resources: [events], verbs: [watch]}]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nroleRef: {kind: ClusterRole, name: view}\n";
        write(
            base,
            &[
                (
                    "one/tasks/main.yml",
                    "- include_role: {name: two}\n- kubernetes.core.k8s: {src: r.yml}\n",
                ),
                ("one/files/r.yml", role),
                (
                    "two/tasks/main.yml",
                    "- k8s_scale: {api_version: apps/v1, kind: Deployment, name: a, replicas: 1}\n- helm: {}\n",
                ),
                ("three/tasks/main.yml", "- k8s_info: {kind: Pod}\n"),
            ],
        );
        let path = |name: &str| base.join(name).to_string_lossy().into_owned();
        let finalizer = Finalizer::new("a/b").role(&path("three"));
        let rules = Automation::role(&path("one")).finalizer(finalizer).rules();
        assert_eq!(
            lines(&rules),
            [
                "pods: get list",
                "deployments: get list",
                "deployments/scale: get patch",
                "rolebindings: create delete get list patch update watch",
                "roles: create delete get list patch update watch",
                "events: watch",
                "clusterroles: bind",
            ]
        );
        let [note] = rules.notes() else {
            panic!("{:?}", rules.notes())
        };
        assert!(
            note.contains("permissions: roles/two/tasks/main.yml:2 (task `helm`)"),
            "{note}"
        );
    }

    #[test]
    fn a_playbook_has_roles_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        write(
            base,
            &[
                (
                    "books/site.yml",
                    "- hosts: all\n  roles: [one]\n  tasks:\n    - k8s_info: {kind: Node}\n",
                ),
                (
                    "books/roles/one/tasks/main.yml",
                    "- k8s_info: {kind: Pod}\n",
                ),
            ],
        );
        let path = base.join("books/site.yml");
        let rules = Automation::playbook(&path.to_string_lossy()).rules();
        assert_eq!(lines(&rules), ["nodes: get list", "pods: get list"]);
        assert!(rules.notes().is_empty(), "{:?}", rules.notes());
        assert_eq!(rules.cluster_scoped(), ["nodes"]);
    }

    #[test]
    fn what_is_not_there_is_a_note() {
        let rules = Automation::role("nowhere").rules();
        let [note] = rules.notes() else {
            panic!("{:?}", rules.notes())
        };
        let begin = "the role `nowhere`: permissions: the role `nowhere`, in ";
        assert!(note.contains("the role `nowhere`"), "{begin}: {note}");
        assert!(rules.policy_rules().is_empty() && rules.faults().is_empty());
    }
}
