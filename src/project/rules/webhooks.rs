//! Rules of webhooks: what can be converted, one path and one directory for each.

use std::collections::{BTreeMap, BTreeSet};

use super::{Check, Violation};
use crate::name::rust::Module;
use crate::name::{Version, WebhookPath};
use crate::project::{Admission, Key, Project, Webhooks};

fn all(project: &Project) -> impl Iterator<Item = (&Key, bool, &Webhooks)> {
    project
        .resources()
        .filter_map(|(key, resource)| Some((key, resource.core, resource.webhooks.as_ref()?)))
}

/// The versions of a kind that the project defines.
pub fn versions_of(project: &Project, key: &Key) -> BTreeSet<Version> {
    project
        .resources()
        .filter(|(other, resource)| {
            resource.api.is_some()
                && (&other.group, &other.kind, &other.domain)
                    == (&key.group, &key.kind, &key.domain)
        })
        .map(|(other, _)| other.version)
        .collect()
}

/// The version of a kind that the others are converted to.
pub fn hub_of(project: &Project, key: &Key) -> Option<Version> {
    all(project)
        .filter(|(other, _, _)| {
            (&other.group, &other.kind, &other.domain) == (&key.group, &key.kind, &key.domain)
        })
        .find_map(|(other, _, webhooks)| webhooks.is_hub().then_some(other.version))
}

/// Hubs and spokes are versions of one kind that the project defines, and a kind has one hub.
pub fn conversions(project: &Project) -> Check {
    let mut hubs: BTreeMap<_, Version> = BTreeMap::new();
    for (key, _, webhooks) in all(project).filter(|(_, _, webhooks)| webhooks.is_hub()) {
        let versions = versions_of(project, key);
        if !versions.contains(&key.version) {
            return Err(not_defined_here(key));
        }
        if versions.len() == 1 {
            return Err(one_version(key));
        }
        let unconverted = versions
            .iter()
            .find(|version| **version != key.version && !webhooks.spokes.contains(version));
        for spoke in &webhooks.spokes {
            if *spoke == key.version {
                return Err(own_spoke(key, unconverted));
            }
            if !versions.contains(spoke) {
                return Err(no_such_version(key, *spoke, &versions, unconverted));
            }
        }
        let first = *hubs
            .entry((&key.group, &key.domain, &key.kind))
            .or_insert(key.version);
        if first != key.version {
            return Err(two_hubs(key, first, key.version));
        }
    }
    Ok(())
}

/// Who does not define a kind does not convert it.
pub fn not_defined_here(key: &Key) -> Violation {
    Violation::new(
        Some(key),
        format!("`{key}` is not defined by this project, so its versions are not converted here"),
    )
    .note("a CRD names the webhook that converts, and this one is somebody else's")
    .flag(super::STATUS)
    .field("remove `conversion` and `spoke`")
}

/// There is nothing to convert.
pub fn one_version(key: &Key) -> Violation {
    let create = format!(
        "operator-forge create api --group {} --version {} --kind {} --controller=false",
        shell_group(key),
        key.version.following(),
        key.kind
    );
    Violation::new(
        Some(key),
        format!(
            "`{}` has one version, {}: there is nothing to convert",
            key.kind, key.version
        ),
    )
    .note("conversion serves each object in every version of its kind")
    .flag(create)
    .field("remove `conversion` and `spoke`")
}

/// A second hub; `hub` was there before.
pub fn two_hubs(key: &Key, hub: Version, second: Version) -> Violation {
    Violation::new(
        Some(key),
        format!(
            "`{}` has the hub {hub} already, and cannot have {second}, too",
            key.kind
        ),
    )
    .note("every version is converted to the hub and from it, and the hub is what is stored")
    .flag(format!("--version {hub} --spoke {second}"))
    .field("remove `conversion` and `spoke` of one of the two")
}

fn own_spoke(key: &Key, other: Option<&Version>) -> Violation {
    let violation = Violation::new(
        Some(key),
        format!(
            "{} is the hub of `{}`, so it is no spoke",
            key.version, key.kind
        ),
    )
    .note("`--version` names the hub, `--spoke` the versions that are converted to it")
    .field(format!("remove {} from `spoke`", key.version));
    match other {
        Some(other) => violation.flag(format!("--spoke {other}")),
        None => violation.flag(format!("leave out --spoke {}", key.version)),
    }
}

fn no_such_version(
    key: &Key,
    spoke: Version,
    versions: &BTreeSet<Version>,
    other: Option<&Version>,
) -> Violation {
    let known: Vec<_> = versions.iter().map(ToString::to_string).collect();
    let violation = Violation::new(
        Some(key),
        format!("`{}` has no version {spoke} to convert", key.kind),
    )
    .note(format!("its versions are {}", known.join(", ")))
    .field(format!(
        "remove {spoke} from `spoke`, or add that version with `api`"
    ));
    match other {
        Some(other) => violation.flag(format!("--spoke {other}")),
        None => violation.flag(format!(
            "operator-forge create api --group {} --version {spoke} --kind {} --controller=false",
            shell_group(key),
            key.kind
        )),
    }
}

fn shell_group(key: &Key) -> &str {
    match key.group.as_str() {
        "" => "''",
        group => group,
    }
}

/// Each webhook has a path of its own. Of two that meet, one of `last` is told.
pub fn paths(project: &Project, last: Option<&Key>) -> Check {
    let mut asked: Vec<_> = all(project)
        .flat_map(|(key, core, webhooks)| paths_of(key, core, webhooks))
        .collect();
    asked.sort_by_key(|asked| Some(asked.key) == last);
    let mut seen = BTreeMap::new();
    for Asked { key, what, path } in asked {
        if let Some((other, other_what)) = seen.insert(path.clone(), (key, what)) {
            return Err(Violation::new(Some(key), format!("the {what} webhook of `{key}` has the path `{path}`, which the {other_what} webhook of `{other}` has"))
                .note("the API server tells webhooks apart by their paths")
                .flag(format!("--{what}-path {path}-2"))
                .field(format!("{what}Path: {path}-2")));
        }
    }
    Ok(())
}

struct Asked<'a> {
    key: &'a Key,
    what: &'static str,
    path: String,
}

fn paths_of<'a>(
    key: &'a Key,
    core: bool,
    webhooks: &'a Webhooks,
) -> impl Iterator<Item = Asked<'a>> {
    let asked = |admission: &Option<Admission>, what, verb| {
        let Admission { path } = admission.as_ref()?;
        let path = match path {
            Some(path) => path.to_string(),
            None => WebhookPath::of(verb, &key.api_group(core), key.version, &key.kind),
        };
        Some(Asked { key, what, path })
    };
    let both = [
        asked(&webhooks.defaulting, "defaulting", "mutate"),
        asked(&webhooks.validation, "validation", "validate"),
    ];
    both.into_iter().flatten()
}

/// The webhooks of two entries must not meet in one directory.
pub fn directories(project: &Project) -> Check {
    let mut directories: BTreeMap<_, &Key> = BTreeMap::new();
    for (key, _, _) in all(project).filter(|(_, _, webhooks)| webhooks.is_asked()) {
        let group = Module::of_group(&key.group, &key.domain).file().to_owned();
        let directory = format!(
            "src/webhooks/{group}/{}/{}/",
            key.version,
            Module::of_kind(&key.kind).file()
        );
        if let Some(other) = directories.insert(directory.clone(), key) {
            return Err(Violation::new(
                Some(key),
                format!("the webhooks of `{other}` and `{key}` would both be in `{directory}`"),
            )
            .note(format!(
                "their API groups are `{}` and `{}`",
                other.api_group(false),
                key.api_group(false)
            ))
            .note("one of them goes into a project of its own")
            .flag("operator-forge init --help")
            .field("remove `webhooks` of one of the two"));
        }
    }
    Ok(())
}

/// The Service of the webhooks, which is a DNS label, is named by the project.
pub fn service(project: &Project) -> Check {
    let name = format!("{}-webhook-service", project.name);
    if all(project).next().is_none() || name.len() <= LABEL_MAX {
        return Ok(());
    }
    let most = LABEL_MAX - "-webhook-service".len();
    Err(Violation::new(
        None,
        format!("the Service of the webhooks, `{name}`, would have {} characters", name.len()),
    )
    .note(format!("{LABEL_MAX} are allowed (RFC 1035), so a project with webhooks has a name of at most {most}"))
    .note("`init` makes a project of its own, with a shorter `--project-name`")
    .flag("operator-forge init --help")
    .field("remove `webhooks` everywhere"))
}

/// The longest DNS label.
const LABEL_MAX: usize = 63;

/// The longest name of a webhook, and of a path.
const NAME_MAX: usize = 253;

/// The API server takes the name of a webhook, `validate.<kind>.<version>.<group>`, as a DNS subdomain.
pub fn names(project: &Project) -> Check {
    for (key, core, webhooks) in all(project).filter(|(_, _, webhooks)| webhooks.is_asked()) {
        let verb = if webhooks.validation.is_some() {
            "validate"
        } else {
            "default"
        };
        let name = format!(
            "{verb}.{}.{}.{}",
            key.kind.singular(),
            key.version,
            key.api_group(core)
        );
        if name.len() > NAME_MAX {
            return Err(Violation::new(
                Some(key),
                format!(
                    "the name of the webhook, `{name}`, has {} characters",
                    name.len()
                ),
            )
            .note(format!("{NAME_MAX} characters are allowed"))
            .flag("an API in a shorter group, or with a shorter kind")
            .field("shorten `group` or `kind`"));
        }
    }
    Ok(())
}
