//! RBAC markers of a controller in Go as calls on `Controller` in Rust.

use std::collections::{BTreeMap, BTreeSet};

use kubebuilder_port::{Built, Code, Rule};

use crate::command::checklist::Item;
use crate::{
    name::kubernetes,
    project::{Key, Project},
};

/// The verbs that `.owns` has.
const OWN: [&str; 5] = ["create", "get", "list", "patch", "watch"];

/// The verbs that `.watches` has.
const READ: [&str; 3] = ["get", "list", "watch"];

/// The verbs on events that every operator has.
const WRITE_EVENT: [&str; 3] = ["create", "patch", "update"];

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

/// The permissions that a file asks for, and what they are in Rust.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// The calls, and what has none.
    pub item: Item,
    /// For each resource of each marker, whether a call has it, or every operator.
    pub resources: Vec<bool>,
}

/// A file that asks for permissions.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// Its code.
    pub code: &'a Code,
    /// The type of the controller that becomes of it: `Controller::external`, which grants reading its own kind. kubebuilder scaffolds
    /// markers to write that kind, so only that for its status becomes a call.
    pub of: Option<&'a Key>,
    /// Whether it is that of the program, which has the leader election.
    pub is_main: bool,
}

/// Resources in one rule or several: the plural, also with a subresource, in an API group; and the object's name.
type Resources = BTreeMap<(String, String, Option<String>), BTreeSet<String>>;

impl Permissions {
    /// What the markers of a file become in a project. `own_groups` are the API groups that the Go project defines.
    pub fn of(project: &Project, own_groups: &BTreeSet<String>, file: Asking<'_>) -> Self {
        let mut permissions = Self::default();
        let mut resources = Resources::new();
        for rule in &file.code.rules {
            if let Some(note) = note(rule) {
                permissions.item.notes.push(note);
                let all = rule.groups.len().max(1) * rule.resources.len().max(1);
                permissions.resources.extend(vec![false; all]);
                continue;
            }
            for group in &rule.groups {
                for resource in &rule.resources {
                    let names = rule.names.iter().map(|name| Some(name.clone()));
                    let names: Vec<_> = match rule.names.is_empty() {
                        true => vec![None],
                        false => names.collect(),
                    };
                    let is_known = permissions.is_known(project, own_groups, group, resource);
                    permissions.resources.push(is_known);
                    for name in names.into_iter().filter(|_| is_known) {
                        let verbs = resources.entry((group.clone(), resource.clone(), name));
                        verbs.or_default().extend(rule.verbs.iter().cloned());
                    }
                }
            }
        }
        permissions.builds(file);
        for (of, verbs) in resources {
            permissions.resource(project, file, of, verbs);
        }
        permissions
    }

    /// Whether the resource has a kind in the project. Notes what is to do if not.
    fn is_known(
        &mut self,
        project: &Project,
        own_groups: &BTreeSet<String>,
        group: &str,
        resource: &str,
    ) -> bool {
        let plural = resource.split('/').next().unwrap_or_default();
        if is_event(group, plural) || kind_of(project, group, plural).is_some() {
            return true;
        }
        let note = match own_groups.contains(group) {
            true => format!(
                "`{resource}` of `{group}` is a type of the Go project that this one does not have yet: it needs a call when its kind is added"
            ),
            false => format!(
                "`{resource}` of `{group}` belongs to another project: `create api --from-crd … --external` makes its type"
            ),
        };
        if !self.item.notes.contains(&note) {
            self.item.notes.push(note);
        }
        false
    }

    /// Adds the watches, which have permissions without a marker.
    fn builds(&mut self, file: Asking<'_>) {
        let Built { owned, watched, .. } = &file.code.built;
        let is_other =
            |kind: &&String| file.of.is_none_or(|key| kind.as_str() != key.kind.as_str());
        // In another file, they are of a controller that this project does not have.
        let (owned, watched) = match file.of {
            Some(_) => (owned, watched),
            None => return,
        };
        let owns = owned.iter().filter(is_other);
        self.item
            .calls
            .extend(owns.map(|kind| format!(".owns::<{kind}>()")));
        let watches = watched.iter().filter(is_other);
        self.item
            .calls
            .extend(watches.map(|kind| format!(".watches::<{kind}>(map)")));
    }

    /// Adds the call for the verbs on a resource.
    fn resource(
        &mut self,
        project: &Project,
        file: Asking<'_>,
        (group, resource, name): (String, String, Option<String>),
        mut verbs: BTreeSet<String>,
    ) {
        let (plural, subresource) = match resource.split_once('/') {
            Some((plural, subresource)) => (plural, Some(subresource)),
            None => (resource.as_str(), None),
        };
        let is_own = file.of.is_some_and(|key| {
            let core = project.resource(key).is_some_and(|it| it.core);
            let own = project.plural(key).map(ToString::to_string);
            key.api_group(core) == group && own.as_deref() == Some(plural)
        });
        // `.owns` grants the finalizers of the own kind.
        if is_own && matches!(subresource, None | Some("finalizers")) {
            return;
        }
        // `status::patch` needs one verb, and the status is read with its object.
        if is_own && subresource == Some("status") {
            let writes = ["patch", "update"].iter().any(|it| verbs.contains(*it));
            verbs = writes.then(|| "patch".to_owned()).into_iter().collect();
        }
        // Every operator writes events, and holds its Lease.
        if is_event(&group, plural) {
            verbs.retain(|verb| !WRITE_EVENT.contains(&verb.as_str()));
        }
        if file.is_main && (group.as_str(), plural) == ("coordination.k8s.io", "leases") {
            return;
        }
        let Some(kind) = kind_of(project, &group, plural) else {
            return;
        };
        if subresource.is_none() && file.of.is_some() {
            self.retain_beyond_watch(file.code, &kind, &mut verbs);
        }
        let Built { owned, watched, .. } = &file.code.built;
        let is_watched = file.of.is_some() && (owned.contains(&kind) || watched.contains(&kind));
        if is_watched && subresource == Some("status") {
            verbs.remove("get");
        }
        let named = VERBS.iter().filter(|(verb, _)| verbs.contains(*verb));
        let named: Vec<_> = named.map(|(_, name)| format!("Verb::{name}")).collect();
        if named.is_empty() {
            return;
        }
        let verbs = named.join(", ");
        self.item.calls.push(match (subresource, name) {
            (Some(subresource), _) => {
                format!(".needs_subresource::<{kind}>(\"{subresource}\", &[{verbs}])")
            }
            (None, Some(name)) => format!(".needs_named::<{kind}>({name:?}, &[{verbs}])"),
            (None, None) => format!(".needs::<{kind}>(&[{verbs}])"),
        });
    }

    /// Drops the verbs that a watch of the kind has.
    fn retain_beyond_watch(&mut self, code: &Code, kind: &str, verbs: &mut BTreeSet<String>) {
        let is_owned = code.built.owned.contains(kind);
        let granted: &[&str] = match (is_owned, code.built.watched.contains(kind)) {
            (true, _) => &OWN,
            (_, true) => &READ,
            _ => &[],
        };
        verbs.retain(|verb| !granted.contains(&verb.as_str()));
        if !is_owned {
            return;
        }
        // Objects that a controller owns are applied, and garbage collection deletes them with their owner.
        if verbs.remove("delete") {
            self.item.notes.push(format!(
                "`delete` of `{kind}`: `.prunes::<{kind}>()` in place of `.owns` for `applier.delete_owned` and children that come and \
                 go; `.needs::<{kind}>(&[Verb::Delete])` for a call of your own"
            ));
        }
        verbs.remove("update");
    }
}

/// What to say about a rule that no call has: it is not about whole types, or a verb is not known.
fn note(rule: &Rule) -> Option<String> {
    let marker = &rule.marker;
    if let (Some(namespace), true) = (&rule.namespace, has_types(rule)) {
        return Some(format!(
            "`{marker}` is for one namespace, and a call is for all that the operator watches: it needs a Role and a RoleBinding of \
             your own in `config/rbac/`, with `namespace: {namespace}`"
        ));
    }
    (!has_types(rule))
        .then(|| format!("`{marker}` has no call: it needs a role of your own in `config/rbac/`"))
}

/// Whether a rule is about whole types, with verbs that are known.
fn has_types(rule: &Rule) -> bool {
    let is_known = |verb: &String| VERBS.iter().any(|(known, _)| known == verb);
    let words = rule.groups.iter().chain(&rule.resources);
    let is_plain = |word: &String| {
        word.chars()
            .all(|c| c.is_ascii_alphanumeric() || "-./".contains(c))
    };
    // RBAC cannot restrict these by name, and a subresource has no call with a name.
    let is_by_name = rule.names.is_empty()
        || !rule.resources.iter().any(|it| it.contains('/'))
            && !["create", "deletecollection"]
                .iter()
                .any(|it| rule.verbs.iter().any(|verb| verb == it));
    !rule.has_more
        && is_by_name
        && !rule.groups.is_empty()
        && !rule.resources.is_empty()
        && words.into_iter().all(is_plain)
        && rule.verbs.iter().all(is_known)
}

/// Whether a resource is that of events.
fn is_event(group: &str, plural: &str) -> bool {
    matches!((group, plural), ("" | "events.k8s.io", "events"))
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
        let groups = ["media.example.com".to_owned()].into();
        let file = Asking {
            code: &Code::read(text),
            of: Some(video),
            is_main: false,
        };
        let found = Permissions::of(&project, &groups, file).item;
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
                "`delete` of `Deployment`: `.prunes::<Deployment>()` in place of `.owns` for `applier.delete_owned` and children that come and \
                 go; `.needs::<Deployment>(&[Verb::Delete])` for a call of your own",
            ],
        );
    }

    #[test]
    fn names_and_leases() {
        check(
            "// +kubebuilder:rbac:groups=\"\",resources=secrets,resourceNames=a;b,verbs=get;update;\n\
             // +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;update\n\
             // +kubebuilder:rbac:groups=\"\",resources=events,verbs=create;list\n",
            &[
                ".needs::<Event>(&[Verb::List])",
                ".needs_named::<Secret>(\"a\", &[Verb::Get, Verb::Update])",
                ".needs_named::<Secret>(\"b\", &[Verb::Get, Verb::Update])",
                ".needs::<Lease>(&[Verb::Get, Verb::Update])",
            ],
            &[],
        );
    }

    #[test]
    fn the_program_has_a_lease_without_a_call() {
        let project = empty("example.com", false);
        let marker = |fields: &str| format!("// +kubebuilder:rbac:{fields}\n");
        let text = marker("groups=coordination.k8s.io,resources=leases,verbs=get;create")
            + &marker("groups=\"\",resources=nodes,verbs=list")
            + "b.Owns(&corev1.Pod{})";
        let file = Asking {
            code: &Code::read(&text),
            of: None,
            is_main: true,
        };
        let found = Permissions::of(&project, &BTreeSet::new(), file);
        assert_eq!(found.item.calls, [".needs::<Node>(&[Verb::List])"]);
        assert_eq!(found.resources, [true, true]);
    }

    #[test]
    fn what_no_type_says_is_a_note() {
        let own_role = |marker: &str| {
            let note =
                format!("`{marker}` has no call: it needs a role of your own in `config/rbac/`");
            check(&format!("// {marker}"), &[], &[&note]);
        };
        own_role("+kubebuilder:rbac:groups=\"\",resources=secrets,resourceNames=a,verbs=create");
        own_role("+kubebuilder:rbac:groups=*,resources=*,verbs=*");
        own_role("+kubebuilder:rbac:urls=/metrics,verbs=get");
        let marker = "+kubebuilder:rbac:groups=\"\",resources=secrets,namespace=a,verbs=get";
        let note = format!(
            "`{marker}` is for one namespace, and a call is for all that the operator watches: it needs a Role and a RoleBinding of \
             your own in `config/rbac/`, with `namespace: a`"
        );
        check(&format!("// {marker}"), &[], &[&note]);
        let subtitles =
            "+kubebuilder:rbac:groups=media.example.com,resources=subtitles/status,verbs=get";
        let note = "`subtitles/status` of `media.example.com` is a type of the Go project that this one does not have yet: it needs \
                    a call when its kind is added";
        check(&format!("// {subtitles}"), &[], &[note]);
    }
}
