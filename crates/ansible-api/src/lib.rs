#![doc = include_str!("../README.md")]

mod expression;
mod files;
mod found;
mod jinja;
mod lookups;
mod modules;
mod objects;
mod place;
mod roles;
mod scope;
mod task;
mod template;
mod tokens;
mod value;
mod verb;
mod walk;
mod yaml;

use std::collections::BTreeMap;

use self::{files::Files, found::Collected, scope::Scope, walk::Walk};
pub use self::{files::read, roles::Grant, verb::Verb};

/// What runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A role: its name, whose files are in `roles/NAME/`, or the path of its directory.
    Role(String),
    /// The path of a playbook.
    Playbook(String),
}

/// A permission that tasks need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindRule {
    /// The group; empty for the core.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The plural, as it stands in roles.
    pub plural: String,
    /// Whether the objects live in namespaces.
    pub namespaced: bool,
    /// Whether plural and scope are those of a kind of Kubernetes, of a well known project or of a CRD in the files. Otherwise, they
    /// are guessed.
    pub is_known: bool,
    /// The verbs, sorted.
    pub verbs: Vec<Verb>,
    /// The subresource, such as `scale`, if the rule is for one.
    pub subresource: Option<String>,
    /// Where it comes from: file, line and task, sorted.
    pub tasks: Vec<String>,
}

/// What a role or playbook asks of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    /// The permissions, one for each kind and subresource, sorted by group and kind.
    pub rules: Vec<KindRule>,
    /// What the roles grant that it creates. Who creates them has to hold these rights, or `escalate`.
    pub granted: Vec<Grant>,
    /// The roles that its bindings refer to and that it does not create, `Role` or `ClusterRole` and the name. It takes `bind` on each.
    pub bound: Vec<(String, String)>,
    /// What could not be found out, each in a sentence that says where, and what to write.
    pub notes: Vec<String>,
}

/// Finds what a role or playbook asks of a cluster. `files` are those of the project, by their paths with `/` in it: `roles/…`,
/// `playbooks/…`; [`read`] reads them from a directory. The result is the same each time.
pub fn of(files: &BTreeMap<String, Vec<u8>>, entry: &Entry) -> Kinds {
    let files = Files(files);
    let mut found = Collected::default();
    for path in files.below("") {
        let is_like = path.ends_with(".j2") || path.ends_with(".json") || files::is_yaml(path);
        let text = files
            .text(path)
            .filter(|it| is_like && it.contains("CustomResourceDefinition"));
        let documents = text.map(|text| template::read(&text).documents);
        for node in documents.into_iter().flatten().flatten() {
            let is_crd = |it: &yaml::Node| {
                let kind = it.get("kind").and_then(yaml::Node::text);
                kind == Some("CustomResourceDefinition")
            };
            if is_crd(&node) {
                found.crd(&node);
            }
        }
    }
    let walk = Walk::of(files, entry);
    for source in &walk.sources {
        modules::add(&walk, source, &mut found);
    }
    for (path, context) in &walk.texts {
        let scope = Scope::new(&walk.contexts[*context].variables, &walk.variables);
        if let Some(text) = files.text(path).filter(|it| it.contains("k8s")) {
            lookups::add(&text, path, &scope, &mut found);
        }
    }
    let (bound, notes) = found.roles.bound();
    let mut all = walk.notes;
    all.extend(found.notes.iter().cloned());
    all.extend(notes);
    Kinds {
        rules: found.rules(),
        granted: found.roles.grants(),
        bound,
        notes: all.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests;
