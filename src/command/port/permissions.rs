//! RBAC markers of a controller in Go as calls on `Controller` in Rust.

use std::collections::{BTreeMap, BTreeSet};

use super::checklist::Item;
use crate::{
    kubebuilder::{self, Rule},
    name::kubernetes,
    project::{Key, Project},
};

/// The verbs that `.owns` has.
const OWN: [&str; 5] = ["create", "get", "list", "patch", "watch"];

/// The verbs that `.watches` has.
const READ: [&str; 3] = ["get", "list", "watch"];

/// The verbs, and their names in Rust.
const VERBS: [(&str, &str); 12] = [
    ("bind", "Bind"),
    ("create", "Create"),
    ("delete", "Delete"),
    ("deletecollection", "DeleteCollection"),
    ("escalate", "Escalate"),
    ("get", "Get"),
    ("impersonate", "Impersonate"),
    ("list", "List"),
    ("patch", "Patch"),
    ("update", "Update"),
    ("use", "Use"),
    ("watch", "Watch"),
];

/// The permissions of a controller for objects of `key` in the file with this `text`: `Controller::external`, which grants reading
/// its own kind. kubebuilder scaffolds markers to write that kind, so only that for its status becomes a call.
pub fn of_controller(project: &Project, key: &Key, text: &str) -> Item {
    let core = project.resource(key).is_some_and(|it| it.core);
    let plural = project.plural(key).map(ToString::to_string);
    let own = (key.api_group(core), plural.unwrap_or_default());
    let rules = kubebuilder::rules(text);
    let owned = kubebuilder::built(text, "Owns");
    let watched = kubebuilder::built(text, "Watches");
    let mut item = Item::default();
    let mut rest: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for rule in &rules {
        if !has_types(rule) {
            item.notes.push(format!(
                "`{}` has no call: it needs a role of your own in `config/rbac/`",
                rule.marker
            ));
            continue;
        }
        for group in &rule.groups {
            // controller-gen reads both as the core group.
            let group = if group == "core" { "" } else { group };
            for resource in &rule.resources {
                let verbs = rest.entry((group.to_owned(), resource.clone()));
                verbs.or_default().extend(rule.verbs.iter().cloned());
            }
        }
    }
    // A watch has permissions without a marker, too.
    let is_other = |kind: &&&str| **kind != key.kind.as_str();
    let owns = owned.iter().filter(is_other);
    item.calls
        .extend(owns.map(|kind| format!(".owns::<{kind}>()")));
    let watches = watched.iter().filter(is_other);
    item.calls
        .extend(watches.map(|kind| format!(".watches::<{kind}>(map)")));
    for ((group, resource), mut verbs) in rest {
        let (plural, subresource) = match resource.split_once('/') {
            Some((plural, subresource)) => (plural, Some(subresource)),
            None => (resource.as_str(), None),
        };
        let is_own = (&group, plural) == (&own.0, &own.1);
        // `.owns` grants the finalizers of the own kind.
        let is_left = is_own && matches!(subresource, None | Some("finalizers"));
        if is_granted(&group, plural) || is_left {
            continue;
        }
        // `status::patch` needs one verb, and the status is read with its object.
        if is_own && subresource == Some("status") {
            let writes = ["patch", "update"].iter().any(|it| verbs.contains(*it));
            verbs = writes.then(|| "patch".to_owned()).into_iter().collect();
        }
        let Some(kind) = kind_of(project, &group, plural) else {
            item.notes.push(format!(
                "`{resource}` of `{group}` belongs to another project: `create api --from-crd … --external` makes its type"
            ));
            continue;
        };
        if subresource.is_none() {
            let has = |kinds: &BTreeSet<&str>| kinds.contains(kind.as_str());
            let granted: &[&str] = match (has(&owned), has(&watched)) {
                (true, _) => &OWN,
                (_, true) => &READ,
                _ => &[],
            };
            verbs.retain(|verb| !granted.contains(&verb.as_str()));
            // Objects that a controller owns are applied, and garbage collection deletes them.
            if has(&owned) {
                verbs.retain(|verb| !["delete", "update"].contains(&verb.as_str()));
            }
        }
        let named = VERBS.iter().filter(|(verb, _)| verbs.contains(*verb));
        let named: Vec<_> = named.map(|(_, name)| format!("Verb::{name}")).collect();
        if named.is_empty() {
            continue;
        }
        let verbs = named.join(", ");
        item.calls.push(match subresource {
            Some(subresource) => {
                format!(".needs_subresource::<{kind}>(\"{subresource}\", &[{verbs}])")
            }
            None => format!(".needs::<{kind}>(&[{verbs}])"),
        });
    }
    item
}

/// Whether a rule is about whole types, with verbs that are known.
fn has_types(rule: &Rule) -> bool {
    let is_known = |verb: &String| VERBS.iter().any(|(known, _)| known == verb);
    let words = rule.groups.iter().chain(&rule.resources);
    let is_plain = |word: &String| {
        word.chars()
            .all(|c| c.is_ascii_alphanumeric() || "-./".contains(c))
    };
    !rule.is_special
        && !rule.groups.is_empty()
        && !rule.resources.is_empty()
        && words.into_iter().all(is_plain)
        && rule.verbs.iter().all(is_known)
}

/// Whether every operator may do it: write events, and hold its lease.
fn is_granted(group: &str, plural: &str) -> bool {
    matches!(
        (group, plural),
        ("" | "events.k8s.io", "events") | ("coordination.k8s.io", "leases")
    )
}

/// The kind with a plural in an API group: one of Kubernetes, or one of the project.
fn kind_of(project: &Project, group: &str, plural: &str) -> Option<String> {
    let mut core = kubernetes::all();
    if let Some(core) = core.find(|it| (it.api_group, it.plural) == (group, plural)) {
        return Some(core.kind.to_owned());
    }
    let is = |key: &Key| key.api_group(false) == group;
    let mut entries = project.resources();
    let found = entries.find(|(key, it)| it.has_types() && is(key) && it.plural.as_str() == plural);
    found.map(|(key, _)| key.kind.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::testing::{create, empty};

    #[track_caller]
    fn check(text: &str, calls: &[&str], notes: &[&str]) {
        let mut project = empty("example.com", false);
        for entry in ["media v1 Video", "media v1 Playlist"] {
            project = project.create_api(&create(entry)).unwrap();
        }
        let (video, _) = project.resources().nth(1).unwrap();
        assert_eq!(video.kind.as_str(), "Video");
        let found = of_controller(&project, video, text);
        assert_eq!((found.calls, found.notes), (own(calls), own(notes)));
    }

    fn own(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn the_own_kind_and_events_need_no_call() {
        check(
            "// +kubebuilder:rbac:groups=media.example.com,resources=videos;videos/finalizers,verbs=get;update\n\
             // +kubebuilder:rbac:groups=\"\";events.k8s.io,resources=events,verbs=create;patch\n\
             For(&mediav1.Video{}).\n",
            &[],
            &[],
        );
    }

    #[test]
    fn subresources_of_the_own_kind_are_calls() {
        check(
            "// +kubebuilder:rbac:groups=media.example.com,resources=videos/status,verbs=get;update;patch\n\
             // +kubebuilder:rbac:groups=media.example.com,resources=videos/scale,verbs=get\n",
            &[
                ".needs_subresource::<Video>(\"scale\", &[Verb::Get])",
                ".needs_subresource::<Video>(\"status\", &[Verb::Patch])",
            ],
            &[],
        );
        let reads = "groups=media.example.com,resources=videos/status,verbs=get";
        check(&format!("// +kubebuilder:rbac:{reads}"), &[], &[]);
    }

    #[test]
    fn owned_and_watched_kinds_have_their_verbs() {
        check(
            "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update;patch;delete\n\
             // +kubebuilder:rbac:groups=core,resources=secrets,verbs=get\n\
             // +kubebuilder:rbac:groups=\"\",resources=configmaps,verbs=get;list;watch;delete\n\
             // +kubebuilder:rbac:groups=media.example.com,resources=playlists,verbs=get;list\n\
             // +kubebuilder:rbac:groups=apps,resources=deployments/scale,verbs=patch\n\
             // +kubebuilder:rbac:groups=cert-manager.io,resources=issuers,verbs=get\n\
             .Owns(&appsv1.Deployment{}).Watches(&corev1.ConfigMap{}, f)\n",
            &[
                ".owns::<Deployment>()",
                ".watches::<ConfigMap>(map)",
                ".needs::<ConfigMap>(&[Verb::Delete])",
                ".needs::<Secret>(&[Verb::Get])",
                ".needs_subresource::<Deployment>(\"scale\", &[Verb::Patch])",
                ".needs::<Playlist>(&[Verb::Get, Verb::List])",
            ],
            &[
                "`issuers` of `cert-manager.io` belongs to another project: `create api --from-crd … --external` makes its type",
            ],
        );
    }

    #[test]
    fn what_no_type_says_is_a_note() {
        let marker = "+kubebuilder:rbac:groups=\"\",resources=secrets,resourceNames=a,verbs=get";
        let note = format!("`{marker}` has no call: it needs a role of your own in `config/rbac/`");
        check(&format!("// {marker}"), &[], &[&note]);
        let marker = "+kubebuilder:rbac:groups=*,resources=*,verbs=*";
        let note = format!("`{marker}` has no call: it needs a role of your own in `config/rbac/`");
        check(&format!("// {marker}"), &[], &[&note]);
    }
}
