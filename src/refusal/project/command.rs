//! Commands that a project does not allow.

use super::{edit, flag, flag_of, init, list, of, of_webhooks, spokes, status};
use crate::{
    advice::{Advice, Flag, Script},
    error::Failure,
    field::Field,
    project::{FILE, Key, Need, Refused, TEMPLATES},
};

const AGAIN: &str = "`--force` writes its files again, without your changes";
const YOURS: &str = "the file of the controller is yours, and no command changes it";

pub fn failure(refused: Refused) -> Failure {
    let no = |what: String| Failure::refused(what);
    let usage = |what: String| Failure::usage(what);
    match refused {
        Refused::OtherTemplates(theirs) => {
            let failure = no(format!(
                "`{FILE}` was made from template set {theirs}, this operator-forge has template set {TEMPLATES}"
            ));
            match theirs < TEMPLATES {
                true => failure
                    .note("only `update` moves a project to newer templates, so a new binary alone changes nothing")
                    .advise(Script::forge("update")),
                false => failure
                    .note("it was made by a newer release")
                    .newer_tool(),
            }
        }
        Refused::Changed { field, now, then } => no(match (&*now, &*then) {
            ("", _) => format!("`{FILE}` has no `{field}`, which was `{then}`"),
            (_, "") => format!("`{field}: {now}` was added to `{FILE}`"),
            _ => format!("`{field}` was changed from `{then}` to `{now}` in `{FILE}`"),
        })
        .note(format!("it cannot change in a project that exists: {}", why_fixed(field)))
        .note(match &*then {
            "" => format!("take the line out again: `{field}: {now}`"),
            _ => format!("put the line back: `{field}: {then}`"),
        })
        .advise(edit()),
        Refused::Fixed {
            field,
            domain,
            name,
            wanted,
        } => {
            let (what, now, advice) = match field {
                "domain" => ("domain", domain.as_str(), init(&wanted, &wanted, name.as_str())),
                _ => ("name", name.as_str(), init(&wanted, domain.as_str(), &wanted)),
            };
            no(format!("the {what} of a project cannot change from `{now}` to `{wanted}`"))
                .note(format!("{}, so another one would leave all of them behind", why_fixed(field)))
                .note("a project of its own may have it")
                .advise(advice)
        }
        Refused::FinalizerChanged { controller, added } => {
            let (done, back) = match added {
                true => ("added to", "take it out again"),
                false => ("removed from", "put it back"),
            };
            no(format!("`{controller}` was {done} `finalizers` in `{FILE}`"))
                .note(YOURS)
                .note(finalizer_by_hand(added))
                .note(back)
                .advise(edit())
        }
        Refused::NotThere { key, known, meant } => no(format!("`{key}` is not in this project"))
            .note(listed(&known))
            .advise(meant.map_or_else(status, |meant| Advice::Set(of(&meant)))),
        Refused::OtherType {
            key,
            field,
            known,
            given,
        } => no(format!("the {field} of `{key}` is `{known}`, not `{given}`"))
            .note("one group, version and kind is one type")
            .advise(Advice::set(flag_of(field), known)),
        Refused::NoEffect { field, without } => {
            let (name, without) = (flag_of(field), flag_of(without));
            usage(format!("`{name}` has no effect with `{without}=false`")).advise(match field {
                "plural" | "namespaced" | "shortNames" | "fields" | "statusFields" => {
                    Advice::drop(name)
                },
                _ => Advice::switch(format!("{without}=true")),
            })
        }
        Refused::NotAsked { field, value, of } => {
            let example = (of == "deployImage").then(|| "memcached:1.6.39".to_owned());
            let (name, of) = (flag_of(field), flag_of(of));
            usage(format!("`{name} {value}` is given without `{of}`"))
                .note(format!("`{name}` belongs to `{of}`"))
                .advise(Advice::Set(vec![Flag::new(of, example), flag(name, value)]))
        }
        Refused::FieldsOfCopy(field) => usage(format!("`{}` beside `--from-version`", flag_of(field)))
            .note("the new version has the fields of the one that it copies; `edit api --add-field` adds others")
            .advise(Advice::drop(flag_of(field))),
        Refused::BesideImage(field) => {
            let name = flag_of(field);
            let why = match field {
                "controllers" => "the Deployment belongs to the kind's default controller",
                "finalizers" => "its objects are in the cluster, where garbage collection deletes them: it needs no cleanup",
                _ => "an object without a namespace cannot own a Deployment",
            };
            usage(format!("`{name}` beside `--image`")).note(why).advise(Advice::drop(name))
        }
        Refused::NothingToCreate { elsewhere } => {
            let mut flags = vec!["--controller=false".to_owned()];
            if !elsewhere {
                flags.insert(0, "--resource=false".to_owned());
            }
            Failure::usage("there is nothing to create with `--resource=false` and `--controller=false`")
                .advise(Advice::Drop(flags))
        }
        Refused::PathWithResource(path) => {
            usage(format!("`--external-api-path {path}` is given with `--resource`"))
                .note("only the project that defines a type makes its CRD; this project can have a controller for it")
                .advise(Advice::switch("--resource=false"))
        }
        Refused::ApiExists(key) => no(format!("`{key}` exists already"))
            .note(AGAIN)
            .advise(Advice::set("--version", key.version.following().to_string())),
        Refused::NotFromCrd(key) => no(format!("`{key}` exists already, with types of your own"))
            .note("`--force` replaces them by the types of the CRD, without your changes")
            .advise(forced()),
        Refused::OtherOwner(key) => no(format!("`{key}` has another owner in this project"))
            .note("`--external` is for kinds of other projects; without it, this project takes the CRD over")
            .note("`delete api` removes the entry first")
            .advise(status()),
        Refused::SameCrd(key) => no(format!("`{key}` exists already, with the types of this CRD"))
            .note("a CRD that has changed since updates the types, and keeps your edits")
            .advise(status()),
        Refused::ControllerExists(key) => {
            let name = format!("{}-{}", key.kind.singular(), key.version);
            no(format!("`{}` has a controller already", key.kind))
                .note("another controller needs a name of its own")
                .advise(Advice::set("--controller-name", name))
        }
        Refused::NameExists(key, name) => {
            no(format!("`{}` has a controller `{name}` already", key.kind))
                .advise(Advice::set("--controller-name", format!("{name}-2")))
        }
        Refused::NoSource { key, known, other } => no(format!("`{key}` is not in this project"))
            .note(listed(&known))
            .advise(other.map_or(Advice::drop("--from-version"), |other| {
                Advice::set("--from-version", other.to_string())
            })),
        Refused::NotCopied(key) => not_defined(&key)
            .note("only the types of this project can be copied")
            .advise(Advice::drop("--from-version")),
        Refused::NoWebhookAsked => Failure::usage("no webhook is selected")
            .note("defaulting sets fields, validation refuses objects, conversion serves several versions of a kind")
            .note("the flags are `--defaulting`, `--validation` and `--conversion`")
            .advise(Advice::Set(vec![Flag::new("--defaulting", None), Flag::new("--validation", None)])),
        Refused::SpokeGivenTwice(version) => usage(format!("`--spoke {version}` is given twice"))
            .note("each version is converted in one way")
            .advise(Advice::Set(spokes([&version]))),
        Refused::WebhookExists(key, what) => no(format!("`{key}` has a {what} webhook already"))
            .note(AGAIN)
            .advise(forced()),
        Refused::Converted(key, again) => {
            let again = again.map_or("every other version".to_owned(), |it| it.to_string());
            no(format!("`{}` converts {again} already", key.kind))
                .note("`--force` writes the files of its conversion again, without your changes")
                .note("`--spoke` takes another version")
                .advise(forced())
        }
        Refused::SpokeMissing(there) => usage("`--spoke` is missing".to_owned())
            .note(format!("there are several versions: {}", list(&there)))
            .advise(Advice::Set(spokes(&there))),
        Refused::OtherCertificates { now, wanted } => {
            let (now, wanted) = (now.word(), wanted.word());
            no(format!("the certificates of this project are `{now}`, not `{wanted}`"))
                .note("all webhooks of a project share one server and its certificate")
                .advise(Script::forge("edit --certificates").arg(wanted))
        }
        Refused::NotEditable(key) => not_defined(&key)
            .note("its plural, scope and short names are in the CRD of another project, or in Kubernetes")
            .advise(status()),
        Refused::NoApiEdit => Failure::usage("there is nothing to edit")
            .note("`edit api` changes the names and the scope of a kind")
            .note("the flags are `--plural`, `--namespaced` and `--short-name`")
            .advise(Advice::Help),
        Refused::RequiredField { field, of_status, given } => {
            let flag = if of_status { "--add-status-field" } else { "--add-field" };
            let what = format!("the new field `{field}` is required");
            let optional = |mut other: Field| {
                other.markers.optional |= other == field;
                Flag::new(flag, Some(other.to_string()))
            };
            Failure::refused(what)
                .note("objects that are stored lack it: the API server would refuse every change of them")
                .note("make it optional or give it a default; `--force` adds it as it is, for an API that nobody uses yet")
                .advise(Advice::set_all(given.into_iter().map(optional)))
        }
        Refused::Stored { key, what, crd } => {
            let (kind, word) = (&key.kind, what.word());
            no(format!("the {word} of `{kind}` cannot change where the CRD is installed"))
                .note(what.why())
                .note(reinstall(&crd))
                .advise(Advice::switch("--force"))
        }
        Refused::CrdStays { kind, to, crd } => {
            no(format!("`{kind}` cannot become `{to}` where the CRD is installed"))
                .note(format!("both are kinds of `{crd}`, and the API server refuses another kind in a CRD that exists"))
                .note(reinstall(&crd))
                .advise(Advice::switch("--force"))
        }
        Refused::NoDefaultController(key) => {
            no(format!("`{}` has no default controller", key.kind))
                .note("a finalizer is part of the code of a controller")
                .advise(Script::forge("create api").flags(&of(&key)).code("--resource=false --finalizer"))
        }
        Refused::FinalizerStays {
            controller,
            path,
            wanted,
        } => no(match wanted {
            true => format!("no command gives a finalizer to the controller `{controller}`"),
            false => format!("no command takes the finalizer from the controller `{controller}`"),
        })
        .note(YOURS)
        .note(finalizer_by_hand(wanted))
        .advise(Script::edit([path])),
        Refused::NoEdit => Failure::usage("there is nothing to edit")
            .note("`edit` changes settings of the project, `edit api` those of one kind")
            .note("the flags are `--namespaced`, `--owner`, `--license`, `--license-file`, `--certificates`, `--runtime`, `--kubernetes`, `--crypto`, `--crd-description-length` and `--plugins`")
            .advise(Advice::Help),
        Refused::NothingCertified { api, wanted } => {
            let wanted = wanted.word();
            no("the project has no webhooks, so it has no certificates".to_owned())
                .note("the first webhook adds the setting, and the last one removes it")
                .advise(match api {
                    Some(key) => Script::forge("create webhook")
                        .flags(&of(&key))
                        .code("--validation --certificates")
                        .arg(wanted),
                    None => Script::forge("create webhook --help"),
                })
        }
        Refused::ExternalKind(key) => {
            no(format!("the project has `{key}` as a type of another project"))
                .note("delete it from the project first")
                .advise(Script::forge("delete api").flags(&of(&key)).code("--dry-run"))
        }
        Refused::WideEntry { key, own } => {
            let failure = no(format!("`{key}` is cluster-scoped, so the project cannot be namespaced"))
                .note("a namespaced operator has a Role in each namespace, and a Role cannot allow watching such a kind");
            match own {
                true => failure.advise(Script::forge("edit api").flags(&of(&key)).code("--namespaced --force")),
                false => failure
                    .note("delete it from the project first")
                    .advise(Script::forge("delete api").flags(&of(&key)).code("--dry-run")),
            }
        }
        Refused::NothingToDelete => {
            Failure::usage("there is nothing to delete with `--resource=false` and `--controller=false`")
                .advise(Advice::Help)
        }
        Refused::NotDefined(key) => not_defined(&key)
            .note("the project has only controllers or webhooks of it")
            .advise(Advice::switch("--resource=false")),
        Refused::NoController {
            key,
            wanted,
            others,
            near,
        } => {
            let others = others.iter().map(|(name, version)| format!("`{name}` in {version}"));
            let others = list(others);
            no(match wanted {
                Some(name) => format!("`{key}` has no controller `{name}`"),
                None => format!("the default controller of `{}` does not watch `{key}`", key.kind),
            })
            .note(match others.is_empty() {
                true => "no controller watches that kind".to_owned(),
                false => format!("its controllers are {others}"),
            })
            .advise(near.map_or_else(status, |near| Advice::set("--controller-name", near)))
        }
        Refused::Needed { key, by, alone } => {
            let mut failure = no(format!("`{key}` is still needed"));
            for need in by {
                let (why, command) = need_of(&key, need);
                failure = failure.note(why);
                if alone.is_none() {
                    failure = failure.advise(command);
                }
            }
            match alone {
                Some(name) => failure
                    .note(format!("the controller `{name}` alone goes without the API"))
                    .advise(Advice::switch("--resource=false")),
                None => failure,
            }
        }
        Refused::NoWebhookSelected(webhooks) => Failure::usage("no kind of webhook was selected")
            .note("each is deleted by the flag that created it")
            .advise(Advice::Set(of_webhooks(&webhooks))),
        Refused::NoWebhooks(key, versions) => no(format!("`{key}` has no webhooks"))
            .note(match versions.is_empty() {
                true => "no version of the kind has webhooks".to_owned(),
                false => format!("the versions with webhooks: {}", list(&versions)),
            })
            .advise(status()),
        Refused::NoSuchWebhook {
            key,
            what,
            there,
            alone,
        } => {
            let there = of_webhooks(&there);
            let there: Vec<_> = there.iter().flat_map(Flag::words).collect();
            no(format!("`{key}` has no {what} webhook"))
                .note(format!("it has {}", there.join(" ")))
                .advise(match alone {
                    true => status(),
                    false => Advice::drop(format!("--{what}")),
                })
        }
        Refused::NoHub(key) => no(format!("`{key}` is not a hub"))
            .note("conversion is deleted from the version to which others are converted")
            .advise(status()),
        Refused::NotConverted {
            key,
            version,
            there,
        } => no(format!("{version} of `{}` is not converted to {}", key.kind, key.version))
            .note(format!("the versions that are: {}", list(&there)))
            .advise(status()),
        Refused::SameKind(kind) => usage(format!("`{kind}` has that name already"))
            .note("`--to` takes the new name")
            .advise(Advice::Help),
        Refused::KindExists(kind) => no(format!("the group has a `{kind}` already"))
            .note("a rename never merges two kinds")
            .note("`--to` takes a name that is not in use")
            .advise(Advice::Help),
        Refused::NoKind { kind, known, meant } => {
            no(format!("`{kind}` is not defined by this project in that group"))
                .note(listed(&known))
                .advise(meant.map_or_else(status, |(group, kind)| {
                    Advice::Set(vec![flag("--group", group), flag("--kind", kind)])
                }))
        }
        Refused::Owned(path) => no(format!("`{path}` is yours already"))
            .note("`PROJECT` lists it under `owned`, and no command rewrites it")
            .note("`disown` gives it back")
            .advise(Script::forge("status --all")),
        Refused::NotOwned(path, owned) => no(format!("`{path}` was not taken over"))
            .note(match owned.is_empty() {
                true => "`PROJECT` lists no file under `owned`".to_owned(),
                false => {
                    let owned = list(owned.iter().map(|path| format!("`{path}`")));
                    format!("`PROJECT` lists under `owned`: {owned}")
                }
            })
            .note("`own` takes it over")
            .advise(Script::forge("status --all")),
    }
}

/// The reason that a field of a project cannot change.
fn why_fixed(field: &str) -> &'static str {
    match field {
        "domain" => "the API group of every stored object ends with it",
        "projectName" => "every object in a cluster is named by it",
        "templates" => {
            "it says which templates made the files, and only `operator-forge update` makes them anew"
        }
        "image" | "containerCommand" | "containerPort" | "runAsUser" => {
            "the file of the controller is yours, and has it"
        }
        _ => "your tests name the library by it",
    }
}

/// How a cluster follows a change that the API server refuses in a CRD.
fn reinstall(crd: &str) -> String {
    format!(
        "in each cluster that has it: save the objects, delete them with `kubectl delete crd {crd}`, then install and restore; `--force` changes the project"
    )
}

/// The dry run of a command that writes existing files again.
fn forced() -> Advice {
    let flags = ["--force", "--dry-run", "--diff"];
    Advice::Set(flags.map(|flag| Flag::new(flag, None)).to_vec())
}

fn not_defined(key: &Key) -> Failure {
    Failure::refused(format!("`{key}` is not defined by this project"))
}

fn finalizer_by_hand(wanted: bool) -> &'static str {
    match wanted {
        true => {
            "write it by hand: `.finalizer()` in `controller()`, then `finalizer::ensure` and `finalizer::remove` in `reconcile`"
        }
        false => {
            "remove it from the code by hand, and before that from all objects: one that has it could not be deleted"
        }
    }
}

fn need_of(key: &Key, need: Need) -> (String, Script) {
    let version = key.version;
    let controller = || {
        Script::forge("delete api")
            .flags(&of(key))
            .code("--resource=false")
    };
    let webhook = |flags: &[Flag]| Script::forge("delete webhook").flags(flags);
    match need {
        Need::Controller(None) => (format!("its controller watches {version}"), controller()),
        Need::Controller(Some(name)) => (
            format!("its controller `{name}` watches {version}"),
            controller().code("--controller-name").arg(name.as_str()),
        ),
        Need::Webhooks(webhooks) => (
            "it has webhooks".to_owned(),
            webhook(&of(key)).flags(&of_webhooks(&webhooks)),
        ),
        Need::Hub(hub) => (
            format!("{version} is converted to the hub {hub} and back"),
            webhook(&of(&key.in_version(hub)))
                .code("--conversion --spoke")
                .arg(version.to_string()),
        ),
    }
}

/// The number of entries that a note names.
const NAMED: usize = 8;

/// The note that lists the entries of a project.
fn listed<T: ToString>(names: &[T]) -> String {
    let shown = names.iter().take(NAMED).map(T::to_string);
    let shown = list(shown.map(|name| format!("`{name}`")));
    match names.len() {
        0 => "it has no APIs, controllers or webhooks yet".to_owned(),
        1..=NAMED => format!("it has {shown}"),
        all => format!("it has {shown} and {} more", all - NAMED),
    }
}
