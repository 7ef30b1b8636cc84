//! Rules of webhooks: the versions that can be converted, one path and one directory for each entry.

use super::{Entry, clash, path_of};
use crate::name::{Version, WebhookPath};
use crate::project::violation::{Remedy, Violation, violation};
use crate::project::{FILE, Key, Project, Webhooks};

/// The longest DNS label.
const LABEL_MAX: usize = 63;

/// The longest name of a webhook.
const NAME_MAX: usize = 253;

/// An entry with webhooks, and whether its type is one of Kubernetes.
type Called<'a> = (&'a Key, bool, &'a Webhooks);

pub fn check(project: &Project, entries: &[Entry<'_>]) -> Option<Violation> {
    let called = entries.iter();
    let called = called.filter_map(|&(key, it)| Some((key, it.core, it.webhooks.as_ref()?)));
    let called: Vec<Called<'_>> = called.collect();
    let those = |wanted: fn(&Webhooks) -> bool| -> Vec<_> {
        let all = called.iter().copied();
        all.filter(|it| wanted(it.2)).collect()
    };
    let (hubs, asked) = (those(Webhooks::is_hub), those(Webhooks::is_asked));
    hubs.iter()
        .find_map(|(key, _, webhooks)| conversion(project, key, webhooks))
        .or_else(|| one_hub(&hubs))
        .or_else(|| paths(&asked))
        .or_else(|| directories(&asked))
        .or_else(|| names(&asked))
        .or_else(|| service(project, called.first()?.0))
}

/// Hub and spokes are versions of one kind that the project defines.
fn conversion(project: &Project, key: &Key, webhooks: &Webhooks) -> Option<Violation> {
    let (kind, hub, versions) = (&key.kind, key.version, project.versions_of(key));
    if !versions.contains(&hub) {
        return Some(not_converted(key, true));
    }
    if versions.len() == 1 {
        return Some(one_version(key));
    }
    let wrong = |spoke: &&Version| **spoke == hub || !versions.contains(spoke);
    let spoke = *webhooks.spokes.iter().find(wrong)?;
    let mut open = versions
        .difference(&webhooks.spokes)
        .filter(|it| **it != hub);
    let other = open.next().map(|open| Remedy::set([("spoke", open)]));
    if spoke == hub {
        let broken = violation!(key => "{hub} is the hub of `{kind}`, so it cannot be a spoke",
            "spokes are the other versions, which are converted to the hub and from it")
        .by_command(other.unwrap_or(Remedy::Drop(vec!["spoke"])));
        return Some(broken.in_file(format!("remove {hub} from `spoke`")));
    }
    let versions: Vec<_> = versions.iter().map(Version::to_string).collect();
    let broken = violation!(key => "`{kind}` has no version {spoke} to convert")
        .note(format!("its versions are {}", versions.join(", ")))
        .by_command(other.unwrap_or_else(|| another_version(key, spoke)));
    Some(broken.in_file(format!(
        "remove {spoke} from `spoke`, or add that version with `api`"
    )))
}

/// A kind has one hub.
fn one_hub(hubs: &[Called<'_>]) -> Option<Violation> {
    let ((first, ..), (key, ..), _) = clash(hubs, |it| it.0.full_kind(), |it| it.0)?;
    Some(two_hubs(key, first.version))
}

/// The violation by a conversion of a kind that the project does not define; `alone` if no other webhook is asked for.
pub fn not_converted(key: &Key, alone: bool) -> Violation {
    violation!(key => "`{key}` is not defined by this project, so its versions are not converted here",
        "only the project that defines a kind may convert its versions: its CRD names the conversion webhook")
        .by_command(match alone {
            true => Remedy::Inspect,
            false => Remedy::Drop(vec!["conversion", "spoke"]),
        })
        .in_file("remove `conversion` and `spoke`")
}

/// The violation by a conversion where there is one version.
pub fn one_version(key: &Key) -> Violation {
    let (kind, version) = (&key.kind, key.version);
    violation!(key => "`{kind}` has one version, {version}: there is nothing to convert",
        "conversion serves each object in every version of its kind")
    .by_command(another_version(key, version.following()))
    .in_file("remove `conversion` and `spoke`")
}

/// The violation by a second hub, the version of `key`.
pub fn two_hubs(key: &Key, hub: Version) -> Violation {
    let (kind, second) = (&key.kind, key.version);
    violation!(key => "`{kind}` has the hub {hub} already, and cannot have {second}, too",
        "every version is converted to the hub and from it, and the hub is what is stored")
    .by_command(Remedy::set([("version", hub), ("spoke", second)]))
    .in_file("remove `conversion` and `spoke` of one of the two")
}

/// The same violation by a version that the hub converts already.
pub fn already_a_spoke(broken: Violation, hub: &Key) -> Violation {
    let (spoke, version) = (broken.at.version, hub.version);
    broken
        .note(format!("{version} converts {spoke} already"))
        .note(format!("to make {spoke} the hub, move `conversion` and `spoke` to its entry in `{FILE}`, and rewrite the conversions"))
        .by_command(Remedy::Inspect)
}

fn another_version(key: &Key, version: Version) -> Remedy {
    Remedy::Define {
        key: key.in_version(version),
        controller: false,
    }
}

/// Each webhook has a path of its own.
fn paths(asked: &[Called<'_>]) -> Option<Violation> {
    let mut paths = Vec::new();
    for &(key, core, webhooks) in asked {
        for (admission, what, field, verb) in [
            (
                &webhooks.defaulting,
                "defaulting",
                "defaultingPath",
                "mutate",
            ),
            (
                &webhooks.validation,
                "validation",
                "validationPath",
                "validate",
            ),
        ] {
            let Some(admission) = admission else { continue };
            let default = || WebhookPath::of(verb, &key.api_group(core), key.version, &key.kind);
            let path = admission.path.as_ref();
            let path = path.map_or_else(default, ToString::to_string);
            paths.push((key, what, field, path));
        }
    }
    let ((other, first, ..), (key, what, field, path), _) =
        clash(&paths, |it| &it.3, |it| (it.0, it.1))?;
    let broken = violation!(key => "the {what} webhook of `{key}` has the path `{path}`, which the {first} webhook of `{other}` has",
        "the API server tells webhooks apart by their paths")
        .set(field, format!("{path}-2"));
    Some(broken.beside(other))
}

/// The webhooks of two entries need two directories.
fn directories(asked: &[Called<'_>]) -> Option<Violation> {
    let directory = |(key, ..): &Called<'_>| format!("src/webhooks/{}/", path_of(key, '/'));
    let ((other, ..), (key, ..), directory) = clash(asked, directory, |it| it.0)?;
    let (theirs, ours) = (other.api_group(false), key.api_group(false));
    let broken =
        violation!(key => "the webhooks of `{other}` and `{key}` would both be in `{directory}`",
        "their API groups are `{theirs}` and `{ours}`",
        "one of them goes into a project of its own")
        .by_command(Remedy::OwnProject)
        .in_file("remove `webhooks` of one of the two");
    Some(broken.beside(other))
}

/// The API server takes the name of a webhook, `validate.<kind>.<version>.<group>`, as a DNS subdomain.
fn names(asked: &[Called<'_>]) -> Option<Violation> {
    asked.iter().find_map(|(key, core, webhooks)| {
        let verb = match webhooks.validation {
            Some(_) => "validate",
            None => "default",
        };
        let (kind, group) = (key.kind.singular(), key.api_group(*core));
        let name = format!("{verb}.{kind}.{}.{group}", key.version);
        let length = Some(name.len()).filter(|length| *length > NAME_MAX)?;
        let broken = violation!(key => "the name of the webhook, `{name}`, has {length} characters",
            "{NAME_MAX} characters are allowed");
        Some(broken.in_file("shorten `group` or `kind`"))
    })
}

/// The Service of the webhooks, which is a DNS label, is named by the project.
fn service(project: &Project, key: &Key) -> Option<Violation> {
    let name = format!("{}-webhook-service", project.name);
    let length = Some(name.len()).filter(|length| *length > LABEL_MAX)?;
    let most = LABEL_MAX - "-webhook-service".len();
    let broken = violation!(key => "the Service of the webhooks, `{name}`, would have {length} characters",
        "{LABEL_MAX} are allowed (RFC 1035), so a project with webhooks has a name of at most {most}",
        "the name of a project cannot change: another project can have a shorter one");
    let broken = broken.by_command(Remedy::OwnProject);
    Some(broken.in_file("remove `webhooks` everywhere"))
}
