//! What templates render: manifests, hooks and notes, in the order in which Helm treats them.

mod hook;
mod kinds;

use std::collections::BTreeMap;

use crate::{Error, chart::decode_fields, go::path};

pub use self::{
    hook::{DeletePolicy, Event, Hook, LogPolicy},
    kinds::{INSTALL_ORDER, UNINSTALL_ORDER},
};

/// The annotation that says what becomes of a resource when its release goes.
pub const RESOURCE_POLICY: &str = "helm.sh/resource-policy";

/// One document of a rendered template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The path of the template.
    pub path: String,
    /// The text.
    pub text: String,
    /// What its head says.
    pub head: Head,
}

/// What is read of a manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// `apiVersion`.
    pub api_version: String,
    /// `kind`.
    pub kind: String,
    /// `metadata`.
    pub metadata: Option<HeadMetadata>,
}

/// What is read of `metadata`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadMetadata {
    /// The name.
    pub name: String,
    /// The annotations.
    pub annotations: BTreeMap<String, String>,
}

/// What templates render, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifests {
    /// The hooks, by the order of kinds. They run by their weights, which is another order.
    pub hooks: Vec<Hook>,
    /// The other manifests, by the order of kinds.
    pub manifests: Vec<Manifest>,
    /// The texts of `NOTES.txt`.
    pub notes: String,
}

decode_fields!(Head, "SimpleHead", "util.SimpleHead", {
    "apiVersion" => api_version,
    "kind" => kind,
    "metadata" => metadata,
});

decode_fields!(
    HeadMetadata,
    "",
    "struct { Name string \"json:\\\"name\\\"\"; Annotations map[string]string \"json:\\\"annotations\\\"\" }",
    {
        "name" => name,
        "annotations" => annotations,
    }
);

/// The documents of a text. They are parted where a line begins with `---`, and what follows on that line belongs to the next one.
pub fn split(text: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    for document in parts(text.trim_start()) {
        if !document.trim().is_empty() {
            documents.push(document.trim_start());
        }
    }
    documents
}

/// The parts between the marks, which are `---` at the beginning of a line with the blanks and tabs behind it.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if let Some(rest) = line.strip_prefix("---") {
            parts.push(&text[start..at]);
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            start = at + 3 + blanks;
        }
        at += line.len();
    }
    parts.push(&text[start..]);
    parts
}

impl Manifest {
    /// Whether its resource stays when the release goes.
    pub fn is_kept(&self) -> bool {
        let metadata = self.head.metadata.as_ref();
        let policy = metadata.and_then(|it| it.annotations.get(RESOURCE_POLICY));
        policy.is_some_and(|it| it.trim().to_lowercase() == "keep")
    }
}

impl Head {
    /// The head of a document that the template at a path renders.
    pub(crate) fn read(path: &str, document: &str) -> Result<Self, Error> {
        let mut head = Self::default();
        crate::chart::read(document, &mut head)
            .map_err(|error| Error::new(format!("YAML parse error on {path}: {error}")))?;
        Ok(head)
    }
}

/// Whether what a template renders is sorted: it is no text for a person, and nothing that only others include.
pub(crate) fn is_sorted(path: &str) -> bool {
    !path.ends_with("NOTES.txt") && !path::base(path).starts_with('_')
}

impl Manifests {
    /// Sorts what the templates of a chart rendered, by their paths. `chart` is its name. Only its own notes are taken, or with
    /// `with_notes_of_dependencies` also those of the charts that it depends on.
    ///
    /// # Errors
    /// A document is no YAML, or its head has other types.
    pub fn of(
        rendered: &BTreeMap<String, String>,
        chart: &str,
        with_notes_of_dependencies: bool,
    ) -> Result<Self, Error> {
        let mut sorted = Self::default();
        let own_notes = path::join(chart, "templates/NOTES.txt");
        for (path, text) in rendered {
            if path.ends_with("NOTES.txt") {
                if with_notes_of_dependencies || *path == own_notes {
                    if !sorted.notes.is_empty() {
                        sorted.notes.push('\n');
                    }
                    sorted.notes.push_str(text);
                }
                continue;
            }
            if is_sorted(path) {
                sorted.add(path, text)?;
            }
        }
        let order = INSTALL_ORDER;
        let hooks = &mut sorted.hooks;
        hooks.sort_by(|a, b| kinds::compare(&a.kind, &b.kind, order));
        sort(&mut sorted.manifests, order);
        Ok(sorted)
    }

    fn add(&mut self, path: &str, text: &str) -> Result<(), Error> {
        for document in split(text) {
            let head = Head::read(path, document)?;
            let manifest = Manifest {
                path: path.to_owned(),
                text: document.to_owned(),
                head,
            };
            match hook::sort(&manifest) {
                hook::Sorted::Manifest => self.manifests.push(manifest),
                hook::Sorted::Hook(hook) => self.hooks.push(hook),
                hook::Sorted::Unknown => {}
            }
        }
        Ok(())
    }

    /// The hooks of an event, in the order in which they run: by weight, and those of equal weight by their names.
    pub fn hooks_of(&self, event: Event) -> Vec<&Hook> {
        let hooks = self.hooks.iter().filter(|it| it.events.contains(&event));
        let mut hooks: Vec<&Hook> = hooks.collect();
        hooks.sort_by_key(|hook| (hook.weight, &hook.name));
        hooks
    }
}

/// Sorts manifests by an order of kinds. Those of one kind stay as they are.
pub fn sort(manifests: &mut [Manifest], order: &[&str]) {
    manifests.sort_by(|a, b| kinds::compare(&a.head.kind, &b.head.kind, order));
}

#[cfg(test)]
mod tests;
