//! Commands that a project does not allow.

use super::{edit, flag, init, list, of, of_version, of_webhooks, spokes, status};
use crate::{
    advice::{Advice, Flag, Script},
    error::Failure,
    project::{FILE, Key, Need, Refused, TEMPLATES},
};

const AGAIN: &str = "`--force` writes its files again and loses what was changed in them";
const YOURS: &str = "the controller is yours since it was generated, and no command changes it";
const OWN_PROJECT: &str = "a project of its own may have it";

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
                    .note("only `update` moves a project to newer templates, so that a new binary changes nothing unasked")
                    .advise(Script::forge("update")),
                false => failure
                    .note("an older binary cannot tell what a newer one meant")
                    .newer_tool(),
            }
        }
        Refused::Changed { field, now, then } => {
            let why = match field {
                "domain" => "the API group of every stored object ends with it",
                "projectName" => "every object in a cluster is named by it",
                "templates" => "it says which templates made the files, and only `operator-forge update` makes them anew",
                _ => "your tests name the library by it",
            };
            no(match (&*now, &*then) {
                ("", _) => format!("`{FILE}` has no `{field}`, which was `{then}`"),
                (_, "") => format!("`{field}: {now}` was added to `{FILE}`"),
                _ => format!("`{field}` was changed from `{then}` to `{now}` in `{FILE}`"),
            })
            .note(format!("it cannot change in a project that exists: {why}"))
            .note(match &*then {
                "" => format!("take the line out again: `{field}: {now}`"),
                _ => format!("put the line back: `{field}: {then}`"),
            })
            .advise(edit())
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
        Refused::OtherPlural { key, known, given } => {
            no(format!("`{key}` has the plural `{known}`, not `{given}`"))
                .note("it is part of every rule about the type")
                .advise(Advice::set("--plural", known.as_str()))
        }
        Refused::OtherPath { key, known, given } => no(format!("`{key}` is `{known}`, not `{given}`"))
            .note("one group, version and kind is one type")
            .advise(Advice::set("--external-api-path", known.as_str())),
        Refused::NothingToCreate { elsewhere } => {
            let mut flags = vec!["--controller=false".to_owned()];
            if !elsewhere {
                flags.insert(0, "--resource=false".to_owned());
            }
            Failure::usage("there is nothing to create with `--resource=false` and `--controller=false`")
                .advise(Advice::Drop(flags))
        }
        Refused::NameWithoutController => {
            Failure::usage("`--controller-name` names no controller with `--controller=false`")
                .advise(Advice::switch("--controller=true"))
        }
        Refused::FinalizerWithoutController => {
            Failure::usage("`--finalizer` is about a controller, and none is made")
                .advise(Advice::switch("--controller"))
        }
        Refused::PathWithResource(path) => {
            usage(format!("`--external-api-path {path}` is given with `--resource`"))
                .note("the CRD of a type of another project is that project's; here it can have a controller")
                .advise(Advice::switch("--resource=false"))
        }
        Refused::FlagWithoutResource(flag) => {
            usage(format!("`{flag}` says how an API is defined, but `--resource=false` defines none"))
                .advise(Advice::drop(flag))
        }
        Refused::ApiExists(key) => no(format!("`{key}` exists already"))
            .note(AGAIN)
            .advise(Advice::set("--version", key.version.following().to_string())),
        Refused::ControllerExists(key) => {
            let name = format!("{}-{}", key.kind.singular(), key.version);
            no(format!("`{}` has a controller already", key.kind))
                .note("another one needs a name of its own")
                .advise(Advice::set("--controller-name", name))
        }
        Refused::NameExists(key, name) => {
            no(format!("`{}` has a controller `{name}` already", key.kind))
                .advise(Advice::set("--controller-name", format!("{name}-2")))
        }
        Refused::VersionWithoutResource => {
            Failure::usage("`--from-version` defines a version, but `--resource=false` defines none")
                .advise(Advice::drop("--resource=false"))
        }
        Refused::NoSource { key, known, other } => no(format!("`{key}` is not in this project"))
            .note(listed(&known))
            .advise(other.map_or(Advice::drop("--from-version"), |other| {
                Advice::set("--from-version", other.to_string())
            })),
        Refused::NotCopied(key) => not_defined(&key)
            .note("its types are not here, so they cannot be copied")
            .advise(Advice::drop("--from-version")),
        Refused::NoWebhookAsked => Failure::usage("no kind of webhook was asked for")
            .note("defaulting fills in what an object leaves open, validation refuses what is wrong, conversion serves several versions of a kind")
            .note("it is `--defaulting`, `--validation`, `--conversion` or several of them")
            .advise(Advice::Set(vec![Flag::new("--defaulting", None), Flag::new("--validation", None)])),
        Refused::MoreAboutNothing {
            flag: name,
            value,
            of,
        } => usage(format!("`{name} {value}` is given without `{of}`"))
            .note("it says more about a webhook that is not asked for")
            .advise(Advice::Set(vec![Flag::new(of, None), flag(name, value)])),
        Refused::SpokeGivenTwice(version) => usage(format!("`--spoke {version}` is given twice"))
            .note("each version is converted in one way")
            .advise(Advice::Set(spokes([&version]))),
        Refused::WebhookExists(key, what) => no(format!("`{key}` has a {what} webhook already"))
            .note(AGAIN)
            .advise(forced()),
        Refused::Converted(key, again) => {
            let again = again.map_or("every other version".to_owned(), |it| it.to_string());
            no(format!("`{}` converts {again} already", key.kind))
                .note("`--force` writes the files of its conversion again and loses what was changed in them")
                .note("`--spoke` takes another version")
                .advise(forced())
        }
        Refused::OpenSpokes(kind, open) => Failure::usage("`--spoke` is missing")
            .note(format!("`{kind}` has several versions that are not converted yet"))
            .advise(Advice::Set(spokes(&open))),
        Refused::OtherCertificates { now, wanted } => {
            let (now, wanted) = (now.word(), wanted.word());
            no(format!("the certificates of this project are `{now}`, not `{wanted}`"))
                .note("all webhooks of a project have one server, and that has one certificate")
                .advise(Script::forge("edit --certificates").arg(wanted))
        }
        Refused::NotEditable(key) => not_defined(&key)
            .note("its plural, scope and short names are in a CRD that is not made here, or in Kubernetes")
            .advise(status()),
        Refused::NoApiEdit => Failure::usage("there is nothing to edit")
            .note("`edit api` changes how a kind is called by others, and where its objects live")
            .note("it takes `--plural`, `--namespaced` and `--short-name`")
            .advise(Advice::Help),
        Refused::Stored { key, what, crd } => {
            let word = what.word();
            no(format!("the {word} of `{}` cannot change where the CRD is installed", key.kind))
                .note(what.why())
                .note(format!("in each cluster that has it: save the objects, `kubectl delete crd {crd}`, then install and restore"))
                .note("`--force` is for who will do that, or has no such cluster")
                .advise(Advice::switch("--force"))
        }
        Refused::NoDefaultController(key) => {
            no(format!("`{}` has no default controller", key.kind))
                .note("a finalizer is code of a controller, and comes with it")
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
            .note("they are `--namespaced`, `--owner`, `--license`, `--license-file`, `--certificates` and `--runtime`")
            .advise(Advice::Help),
        Refused::NothingCertified { api, wanted } => {
            let wanted = wanted.word();
            no("the project has no webhooks, and nothing else has a certificate of its own".to_owned())
                .note("the first webhook brings the setting, the last one takes it along")
                .advise(match api {
                    Some(key) => Script::forge("create webhook")
                        .flags(&of(&key))
                        .code("--validation --certificates")
                        .arg(wanted),
                    None => Script::forge("create webhook --help"),
                })
        }
        Refused::WideEntry { key, own } => {
            let failure = no(format!("`{key}` is cluster-scoped, so the project cannot be namespaced"))
                .note("a namespaced operator has a Role in each namespace, and a Role cannot allow watching such a kind");
            match own {
                true => failure.advise(Script::forge("edit api").flags(&of(&key)).code("--namespaced --force")),
                false => failure
                    .note("it has to go from the project first")
                    .advise(Script::forge("delete api").flags(&of(&key)).code("--dry-run")),
            }
        }
        Refused::DomainStays {
            domain,
            name,
            wanted,
        } => no(format!("the domain of a project cannot change from `{domain}` to `{wanted}`"))
            .note("the API group of every stored object ends with it, so another one would leave all of them behind")
            .note(OWN_PROJECT)
            .advise(init(&wanted, &wanted, name.as_str())),
        Refused::NameStays {
            domain,
            name,
            wanted,
        } => no(format!("the name of a project cannot change from `{name}` to `{wanted}`"))
            .note("every object in a cluster is named by it, so another one would leave all of them behind")
            .note(OWN_PROJECT)
            .advise(init(&wanted, domain.as_str(), &wanted)),
        Refused::NothingToDelete => {
            Failure::usage("there is nothing to delete with `--resource=false` and `--controller=false`")
                .advise(Advice::Help)
        }
        Refused::NotDefined(key) => not_defined(&key)
            .note("what the project has of it is what watches it or is asked about it")
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
                true => "nothing is defaulted, validated or converted there".to_owned(),
                false => format!("of its versions, {} has", list(&versions)),
            })
            .advise(status()),
        Refused::NoSuchWebhook {
            key,
            what,
            there,
            alone,
        } => {
            let there = of_webhooks(&there).into_iter();
            let there = there.flat_map(|flag| [Some(flag.name), flag.value]).flatten();
            no(format!("`{key}` has no {what} webhook"))
                .note(format!("it has {}", there.collect::<Vec<_>>().join(" ")))
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
            .note(format!("these versions are: {}", list(&there)))
            .advise(status()),
        Refused::SpokeMissing { hub, there } => Failure::usage("`--spoke` is missing")
            .note(format!("several versions are converted to {hub}"))
            .advise(Advice::Set(spokes(&there))),
        Refused::SameKind(kind) => usage(format!("`{kind}` is called so already"))
            .note("`--to` takes the name that it gets")
            .advise(Advice::Help),
        Refused::KindExists(kind) => no(format!("there is a `{kind}` in that group already"))
            .note("two kinds do not become one")
            .note("`--to` takes a name that is not in use")
            .advise(Advice::Help),
        Refused::NoKind {
            kind,
            domain,
            known,
            meant,
            ..
        } => {
            let known: Vec<_> = known
                .iter()
                .map(|(group, kind)| match group.as_str() {
                    "" => format!("{domain}, Kind {kind}"),
                    group => format!("{group}, Kind {kind}"),
                })
                .collect();
            no(format!("`{kind}` is not defined by this project in that group"))
                .note(listed(&known))
                .advise(meant.map_or_else(status, |(group, kind)| {
                    Advice::Set(vec![flag("--group", group), flag("--kind", kind)])
                }))
        }
        Refused::CrdStays(rename, crd) => {
            let (kind, to) = (&rename.kind, &rename.to);
            no(format!("`{kind}` cannot become `{to}` where the CRD is installed"))
                .note(format!("both are kinds of `{crd}`, and the API server refuses another kind in a CRD that exists"))
                .note("in each cluster that has it: save the objects, delete the CRD, which deletes them, then install and restore")
                .advise(Advice::switch("--force"))
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

/// Shows the changes of a command that writes again what exists.
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
            webhook(&of_version(key, hub))
                .code("--conversion --spoke")
                .arg(version.to_string()),
        ),
    }
}

/// The number of entries that a note names.
const NAMED: usize = 8;

/// The entries of a project, in a note.
fn listed<T: ToString>(names: &[T]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let names = list(
        names
            .iter()
            .take(NAMED)
            .map(|name| format!("`{}`", name.to_string())),
    );
    match (names.is_empty(), more) {
        (true, _) => "it has no APIs, controllers or webhooks yet".to_owned(),
        (false, 0) => format!("it has {names}"),
        (false, more) => format!("it has {names} and {more} more"),
    }
}
