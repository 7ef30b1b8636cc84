//! The kinds that were found, with what is done to them.

use std::collections::{BTreeMap, BTreeSet};

use builtin_kinds::{Known, group_and_version, guessed_plural};

use crate::{
    KindRule,
    place::Place,
    roles::Roles,
    scope::UNKNOWN,
    verb::{Verb, needs},
    yaml::Node,
};

/// How many kinds are kept.
const KINDS: usize = 2_000;

/// The short names of kinds, which Ansible takes, too.
const SHORT: &[(&str, &str)] = &[
    ("cj", "CronJob"),
    ("cm", "ConfigMap"),
    ("crd", "CustomResourceDefinition"),
    ("deploy", "Deployment"),
    ("ds", "DaemonSet"),
    ("ep", "Endpoints"),
    ("ev", "Event"),
    ("hpa", "HorizontalPodAutoscaler"),
    ("ing", "Ingress"),
    ("limits", "LimitRange"),
    ("netpol", "NetworkPolicy"),
    ("no", "Node"),
    ("ns", "Namespace"),
    ("pc", "PriorityClass"),
    ("pdb", "PodDisruptionBudget"),
    ("po", "Pod"),
    ("pv", "PersistentVolume"),
    ("pvc", "PersistentVolumeClaim"),
    ("quota", "ResourceQuota"),
    ("rc", "ReplicationController"),
    ("rs", "ReplicaSet"),
    ("sa", "ServiceAccount"),
    ("sc", "StorageClass"),
    ("sts", "StatefulSet"),
    ("svc", "Service"),
];

/// A kind whose plural and scope are known, or guessed.
#[derive(Clone, Debug)]
struct Resolved {
    group: String,
    version: String,
    kind: String,
    plural: String,
    namespaced: bool,
    is_known: bool,
}

#[derive(Default)]
struct Seen {
    resolved: Option<Resolved>,
    verbs: BTreeSet<Verb>,
    places: BTreeSet<Place>,
}

/// What was found.
#[derive(Default)]
pub struct Collected {
    /// By group, kind and subresource.
    kinds: BTreeMap<(String, String, Option<String>), Seen>,
    /// The CRDs of the project.
    crds: Vec<Resolved>,
    /// What its roles and bindings say.
    pub roles: Roles,
    /// What could not be found out.
    pub notes: BTreeSet<String>,
}

impl Collected {
    /// Takes plural and scope from a CRD.
    pub fn crd(&mut self, crd: &Node) {
        let spec = crd.get("spec");
        let names = spec.and_then(|it| it.get("names"));
        let text = |of: Option<&Node>, key: &str| {
            let text = of?.get(key)?.text()?;
            (!text.is_empty() && !text.contains('{')).then(|| text.to_owned())
        };
        let version = spec.and_then(|it| it.get("versions")).map(Node::items);
        let version = version.and_then(<[Node]>::first);
        if let (Some(group), Some(kind), Some(plural)) = (
            text(spec, "group"),
            text(names, "kind"),
            text(names, "plural"),
        ) {
            self.crds.push(Resolved {
                group,
                version: text(version, "name")
                    .or(text(spec, "version"))
                    .unwrap_or_default(),
                kind,
                plural,
                namespaced: text(spec, "scope").as_deref() != Some("Cluster"),
                is_known: true,
            });
        }
    }

    /// Adds verbs on the objects of a kind, or on a subresource. What is not known of the kind is a note.
    pub fn add(
        &mut self,
        api_version: &str,
        kind: &str,
        subresource: Option<&str>,
        verbs: &[Verb],
        place: &Place,
    ) {
        if kind.contains(UNKNOWN) {
            let needs = needs(verbs);
            self.notes.insert(format!(
                "{place}: the kind of an object comes from a variable, so that no permission follows from it: {needs} grants it."
            ));
            return;
        }
        let (group, version) = group_and_version(api_version);
        let is_open = group.contains(UNKNOWN) || (group.is_empty() && version.contains(UNKNOWN));
        let resolved = match is_open {
            true => self.resolve(None, "", kind),
            false => self.resolve(Some(group), version, kind),
        };
        let Some(mut resolved) = resolved else {
            let needs = needs(verbs);
            self.notes.insert(format!(
                "{place}: the group of the kind {kind} is not known, so that no permission follows from it: {needs} grants it."
            ));
            return;
        };
        if is_open {
            self.notes.insert(format!(
                "{place}: the API version of a {kind} comes from a variable: it is taken to be {}.",
                match &*resolved.group {
                    "" => resolved.version.clone(),
                    group => format!("{group}/{}", resolved.version),
                }
            ));
        }
        if resolved.version.contains(UNKNOWN) {
            resolved.version.clear();
        }
        if !resolved.is_known {
            self.notes.insert(format!(
                "{place}: the plural of {} in the group `{}` is guessed to be `{}`, and its objects to live in namespaces: if that is \
                 wrong, {} grants what it needs.",
                resolved.kind,
                resolved.group,
                resolved.plural,
                needs(verbs)
            ));
        }
        if self.kinds.len() >= KINDS {
            self.notes
                .insert(format!("There are more than {KINDS} kinds."));
            return;
        }
        let key = (
            resolved.group.clone(),
            resolved.kind.clone(),
            subresource.map(str::to_owned),
        );
        let seen = self.kinds.entry(key).or_default();
        seen.resolved.get_or_insert(resolved);
        seen.verbs.extend(verbs);
        seen.places.insert(place.clone());
    }

    /// Finds a kind, which may also be a plural or a short name. `None` as its group, or `v1`, which is the default, may be any.
    fn resolve(&self, group: Option<&str>, version: &str, kind: &str) -> Option<Resolved> {
        let of = |it: Known| Resolved {
            group: it.group.to_owned(),
            version: match version {
                "" => it.version.to_owned(),
                version if group == Some(it.group) => version.to_owned(),
                _ => it.version.to_owned(),
            },
            kind: it.kind.to_owned(),
            plural: it.plural,
            namespaced: it.namespaced,
            is_known: true,
        };
        let crds = self.crds.iter().rev();
        let own = crds
            .clone()
            .find(|it| it.kind == kind && group.is_none_or(|group| it.group == group));
        if let Some(own) = own {
            return Some(own.clone());
        }
        if let Some(known) = group.and_then(|group| builtin_kinds::known(group, kind)) {
            return Some(of(known));
        }
        let lower = kind.to_lowercase();
        let short = SHORT.iter().find(|it| it.0 == lower).map(|it| it.1);
        let is_named = |it: &Known| {
            Some(it.kind) == short || it.plural == lower || it.kind.to_lowercase() == lower
        };
        let group = group.filter(|it| !it.is_empty());
        match group {
            Some(group) => {
                let known = builtin_kinds::all().find(|it| it.group == group && is_named(it));
                known.map(of).or_else(|| {
                    Some(Resolved {
                        group: group.to_owned(),
                        version: version.to_owned(),
                        kind: kind.to_owned(),
                        plural: guessed_plural(kind),
                        namespaced: true,
                        is_known: false,
                    })
                })
            }
            None => {
                let known = builtin_kinds::of_kind(kind);
                let known = known.or_else(|| builtin_kinds::all().find(is_named));
                let own = crds
                    .clone()
                    .find(|it| it.kind == kind || it.plural == lower);
                known.map(of).or_else(|| own.cloned())
            }
        }
    }

    /// The rules, sorted by group, kind and subresource.
    pub fn rules(&self) -> Vec<KindRule> {
        let kinds = self.kinds.iter();
        let rules = kinds.filter_map(|((_, _, subresource), seen)| {
            let resolved = seen.resolved.clone()?;
            Some(KindRule {
                group: resolved.group,
                version: resolved.version,
                kind: resolved.kind,
                plural: resolved.plural,
                namespaced: resolved.namespaced,
                is_known: resolved.is_known,
                verbs: seen.verbs.iter().copied().collect(),
                subresource: subresource.clone(),
                tasks: seen.places.iter().map(ToString::to_string).collect(),
            })
        });
        rules.collect()
    }
}
