//! The objects that were rendered, by their kinds.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
};

use builtin_kinds::group_and_version;
use helm_render::yaml;
use serde_json::Value;

use super::{attempt::Rendered, document::Kind, roles::Roles, shape::ANY};

/// How many kinds are kept.
const KINDS: usize = 2_000;

/// A kind of objects that a chart renders or looks up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedKind {
    /// The group; empty for the core.
    pub group: String,
    /// The version. Of several, that which is usual.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The plural, as it stands in roles.
    pub plural: String,
    /// Whether the objects live in namespaces.
    pub namespaced: bool,
    /// Whether plural and scope are those of a kind of Kubernetes, of a well known project or of a CRD of the chart. Otherwise, they
    /// are guessed.
    pub is_known: bool,
    /// The paths of the templates that render it.
    pub templates: Vec<String>,
    /// Whether it is rendered only for hooks.
    pub is_only_hook: bool,
}

#[derive(Default)]
struct Seen {
    versions: BTreeSet<String>,
    templates: BTreeSet<String>,
    is_object: bool,
}

/// The objects that were rendered.
#[derive(Default)]
pub struct Found {
    /// By group and kind.
    kinds: BTreeMap<(String, String), Seen>,
    /// Plural and scope, by group and kind.
    crds: BTreeMap<(String, String), (String, bool)>,
    /// The hashes of what was read.
    read: BTreeSet<u64>,
    /// What the roles among them say.
    pub roles: Roles,
    notes: BTreeSet<String>,
    /// The words in the texts of templates.
    words: BTreeSet<String>,
}

impl Found {
    /// Nothing yet. The text is that of all templates of the chart.
    pub fn new(text: &str) -> Self {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        let words = text.split(|c| !is_part(c)).filter(|it| !it.is_empty());
        Self {
            words: words.map(str::to_owned).collect(),
            ..Self::default()
        }
    }

    /// Adds objects.
    pub fn add(&mut self, objects: &[Rendered]) {
        for object in objects {
            let mut hasher = DefaultHasher::new();
            (&object.template, &object.text).hash(&mut hasher);
            if !self.read.insert(hasher.finish()) {
                continue;
            }
            match yaml::read(&object.text) {
                Ok(value) => self.object(&value, &object.template, ""),
                Err(error) => {
                    let path = &object.template;
                    self.notes.insert(format!(
                        "{path} rendered something that is no YAML: {error}"
                    ));
                }
            }
        }
    }

    /// Adds an object, or those in a list. A list of one kind may leave out the kind of its items.
    fn object(&mut self, object: &Value, template: &str, default_kind: &str) {
        let text = |key| object.get(key).and_then(Value::as_str);
        let kind = text("kind").unwrap_or(default_kind);
        let api_version = text("apiVersion").unwrap_or("v1");
        if kind.is_empty() {
            return;
        }
        if let (Some(of), Some(items)) = (kind.strip_suffix("List"), object.get("items"))
            && let Some(items) = items.as_array()
        {
            items.iter().for_each(|it| self.item(it, template, of));
            return;
        }
        if kind.contains(ANY) || api_version.contains(ANY) {
            let note = format!("The kind of an object in {template} comes from values.");
            self.notes.insert(note);
            return;
        }
        let (group, version) = group_and_version(api_version);
        let is_hook = object
            .pointer("/metadata/annotations/helm.sh~1hook")
            .is_some();
        self.seen(group, version, kind, template, !is_hook);
        if (group, kind) == ("apiextensions.k8s.io", "CustomResourceDefinition") {
            self.crd(object);
        }
        let words = &self.words;
        let is_written = |name: &str| words.contains(name);
        self.roles.add(object, template, &is_written);
    }

    /// Adds an item of a list. Lists in lists do not exist in a cluster.
    fn item(&mut self, item: &Value, template: &str, kind: &str) {
        let is_list = item.get("items").is_some_and(Value::is_array);
        if !is_list {
            self.object(item, template, kind);
        }
    }

    fn seen(&mut self, group: &str, version: &str, kind: &str, template: &str, is_object: bool) {
        let is_new = !self
            .kinds
            .contains_key(&(group.to_owned(), kind.to_owned()));
        if is_new && self.kinds.len() >= KINDS {
            self.notes
                .insert(format!("The chart renders more than {KINDS} kinds."));
            return;
        }
        let seen = self
            .kinds
            .entry((group.to_owned(), kind.to_owned()))
            .or_default();
        seen.versions.insert(version.to_owned());
        seen.templates.insert(template.to_owned());
        seen.is_object |= is_object;
    }

    /// Takes plural and scope from a CRD.
    pub fn crd(&mut self, crd: &Value) {
        let text = |path| crd.pointer(path).and_then(Value::as_str);
        let names = (
            text("/spec/group"),
            text("/spec/names/kind"),
            text("/spec/names/plural"),
        );
        if let (Some(group), Some(kind), Some(plural)) = names {
            let namespaced = text("/spec/scope") != Some("Cluster");
            let of = (group.to_owned(), kind.to_owned());
            self.crds.insert(of, (plural.to_owned(), namespaced));
        }
    }

    /// Whether a template rendered a kind that stands in its text.
    pub fn has(&self, template: &str, kind: &Kind) -> bool {
        let api_version = kind.api_version.as_deref();
        let wanted = api_version.map(group_and_version);
        self.kinds.iter().any(|((group, name), seen)| {
            let fits = wanted.is_none_or(|(it, _)| it == group);
            *name == kind.kind && fits && seen.templates.contains(template)
        })
    }

    /// The templates that rendered CRDs and nothing else.
    pub fn templates_of_crds(&self) -> Vec<String> {
        let is_crd = |of: &(String, String)| of.1 == "CustomResourceDefinition";
        let templates = |crds: bool| {
            let kinds = self.kinds.iter().filter(move |it| is_crd(it.0) == crds);
            kinds.flat_map(|it| it.1.templates.iter())
        };
        let others: BTreeSet<&String> = templates(false).collect();
        let crds = templates(true).filter(|it| !others.contains(it));
        crds.cloned().collect()
    }

    /// Adds a kind that stands in the text of a template and was never rendered.
    pub fn add_unrendered(&mut self, template: &str, kind: &Kind) {
        let name = &kind.kind;
        let known = match &kind.api_version {
            Some(_) => None,
            None => builtin_kinds::of_kind(name),
        };
        let (group, version) = match (&kind.api_version, &known) {
            (Some(api_version), _) => group_and_version(api_version),
            (None, Some(known)) => (known.group, known.version),
            (None, None) => {
                self.notes.insert(format!(
                    "{template} has objects of the kind {name}, but nothing that was tried renders one, and its group is not known."
                ));
                return;
            }
        };
        self.notes.insert(format!(
            "{template} has objects of the kind {name}, but nothing that was tried renders one: it is taken from the text."
        ));
        self.seen(group, version, name, template, true);
    }

    /// The kinds, sorted by group and kind.
    pub fn kinds(&mut self) -> Vec<RenderedKind> {
        let seen = std::mem::take(&mut self.kinds);
        let kinds = seen.iter().map(|((group, kind), seen)| {
            let versions = seen.versions.iter().map(String::as_str);
            let mut it = self.kind(group, kind, versions);
            it.templates = seen.templates.iter().cloned().collect();
            it.is_only_hook = !seen.is_object;
            it
        });
        let kinds: Vec<RenderedKind> = kinds.collect();
        for it in kinds.iter().filter(|it| !it.is_known) {
            self.notes.insert(guess(it));
        }
        self.kinds = seen;
        kinds
    }

    /// The kinds that are looked up, from API versions and kinds.
    pub fn looked_up(&mut self, asked: &BTreeSet<(String, String)>) -> Vec<RenderedKind> {
        let mut by_kind: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
        for (api_version, kind) in asked {
            if api_version.contains(ANY) || kind.contains(ANY) || kind.is_empty() {
                self.notes
                    .insert("A template looks up a kind that comes from values.".to_owned());
                continue;
            }
            let (group, version) = group_and_version(api_version);
            let of = (group.to_owned(), kind.clone());
            by_kind.entry(of).or_default().insert(version);
        }
        let kinds = by_kind.iter();
        let kinds =
            kinds.map(|((group, kind), versions)| self.kind(group, kind, versions.iter().copied()));
        let kinds: Vec<RenderedKind> = kinds.collect();
        for it in kinds.iter().filter(|it| !it.is_known) {
            self.notes.insert(guess(it));
        }
        kinds
    }

    fn kind<'v>(
        &self,
        group: &str,
        kind: &str,
        versions: impl Iterator<Item = &'v str>,
    ) -> RenderedKind {
        let known = builtin_kinds::known(group, kind);
        let crd = self.crds.get(&(group.to_owned(), kind.to_owned())).cloned();
        let versions: Vec<&str> = versions.collect();
        let usual = known.as_ref().map(|it| it.version);
        let usual = usual.filter(|it| versions.contains(it));
        let version = usual.or_else(|| versions.iter().copied().max_by_key(|it| rank(it)));
        let named = crd.or_else(|| known.map(|it| (it.plural, it.namespaced)));
        let is_known = named.is_some();
        let (plural, namespaced) =
            named.unwrap_or_else(|| (builtin_kinds::guessed_plural(kind), true));
        RenderedKind {
            group: group.to_owned(),
            version: version.unwrap_or_default().to_owned(),
            kind: kind.to_owned(),
            plural,
            namespaced,
            is_known,
            templates: Vec::new(),
            is_only_hook: false,
        }
    }

    /// What could not be found out.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.roles.notes();
        notes.extend(self.notes.iter().cloned());
        notes.into_iter().collect()
    }
}

fn guess(it: &RenderedKind) -> String {
    format!(
        "The plural of {} in the group {:?} is guessed to be {}, and its objects to live in namespaces.",
        it.kind, it.group, it.plural
    )
}

/// A stable version comes after a beta one, and that after an alpha one.
fn rank(version: &str) -> (u8, &str) {
    let stability = match version {
        it if it.contains("alpha") => 0,
        it if it.contains("beta") => 1,
        _ => 2,
    };
    (stability, version)
}
