//! The rules of a project, for commands with the flags to change, for files edited by hand with the field.

use super::{change, edit, flag, list, of, spokes, status};
use crate::{
    advice::{Advice, Flag, Script},
    error::Failure,
    name::{Plural, ShortName, Version, kubernetes},
    project::{
        CRD_MAX, FILE, FILE_MAX, Key, LABEL_MAX, LAYOUT, Meant, NAME_MAX, Origin, Rule, Use,
        Violation,
    },
};

/// A broken rule in words.
struct Words {
    what: String,
    notes: Vec<String>,
    /// What to type instead, if a command can break the rule.
    flag: Option<Advice>,
    /// What to write instead in the file.
    field: String,
}

pub fn failure(violation: Violation) -> Failure {
    let words = words(&violation);
    let Violation { at, other, .. } = violation;
    let failure = |what: String| Failure {
        notes: words.notes.clone(),
        ..Failure::refused(what)
    };
    let (what, field) = (&words.what, &words.field);
    let here = match violation.origin {
        Origin::File(line) => {
            let place = place(line);
            let failure = failure(format!("`{place}`: {what}"));
            return failure.note(change(field)).advise(edit());
        }
        Origin::Branches(here) => here,
        origin => {
            let is_kind = |flags: &[Flag]| flags.iter().any(|flag| flag.name == "--kind");
            let advice = match (words.flag, origin) {
                // The flags of the others are those of the command that made the entry.
                (Some(Advice::Drop(_)), Origin::EditApi) => Advice::Help,
                (Some(Advice::Set(flags)), Origin::Rename) if is_kind(&flags) => Advice::Help,
                (Some(advice), _) => advice,
                (None, _) => return failure(what.clone()).note(field).advise(Advice::Help),
            };
            return failure(what.clone()).advise(advice);
        }
    };
    let mut failure = failure(format!(
        "`{FILE}`: the two branches do not go together: {what}"
    ));
    for (key, line) in &here {
        let place = place(*line);
        if *key == at {
            failure = failure.note(format!("`{key}` is at `{place}`; {}", change(field)));
        } else if Some(key) == other.as_ref() {
            failure = failure.note(format!("`{key}` is at `{place}`; change it there"));
        }
    }
    if !here.is_empty() {
        failure = failure.note(format!(
            "`{FILE}` has the text of one branch; `sync` puts in what the other one has"
        ));
    }
    failure.advise(edit())
}

fn place(line: Option<usize>) -> String {
    line.map_or(FILE.to_owned(), |line| format!("{FILE}:{line}"))
}

fn words(violation: &Violation) -> Words {
    let Violation {
        at: key,
        other,
        rule,
        ..
    } = violation;
    let other = other.as_ref().unwrap_or(key);
    let (kind, version) = (&key.kind, key.version);
    let group = key.api_group(false);
    match rule {
        Rule::Unknown(to_be, meant) => unknown(key, *to_be, meant),
        Rule::NotCore => broken(format!("`{key}` is `core`, but Kubernetes has no such type"))
            .note(known_types(key))
            .field("remove `core: true` or correct the group, version or kind"),
        Rule::UnlikeCore(core) => {
            let domain = match core.domain() {
                "" => "none",
                domain => domain,
            };
            broken(format!("`{key}` does not describe Kubernetes' type of that name"))
                .note(format!("its group is `{}`, its domain {domain}, its plural `{}`", core.group, core.plural))
                .field(format!("group: {}", core.group))
        }
        Rule::CoreApi => broken(format!("`{key}` is both `core` and an API of this project"))
            .note("Kubernetes serves that type itself: there is no CRD to make")
            .field("remove `api` or `core`"),
        Rule::NotExternal { core } => broken(match core {
            true => format!("`{key}` is one of Kubernetes' types, not of another project"),
            false => format!("`{key}` is an API of this project, not of another project"),
        })
        .note("its Rust type is known")
        .flag(Advice::drop("--external-api-path"))
        .field("remove `external` and `path`"),
        Rule::NoPath => broken(format!("`{key}` is `external` and has no `path`"))
            .note("the operator needs the Rust type, from a crate that Cargo.toml depends on or from a module of your own")
            .field(PATH),
        Rule::InvalidPath(invalid) => broken(format!("`{key}` has the path `{}`: {}", invalid.found, invalid.fault))
            .note(invalid.rule)
            .field(PATH),
        Rule::OtherDomain(domain) => broken(format!("`{key}` has domain `{}`, the project has `{domain}`", key.domain))
            .note("the APIs of a project share its domain")
            .field(format!("domain: {domain}")),
        Rule::TwoTypes { core, defined } => broken(format!("`{key}` would mean two types"))
            .note(format!("one is in the API group `{}`, the other in `{}`", other.api_group(false), key.api_group(*core)))
            .note("another kind or another group is another type")
            .flag(match defined {
                true => Advice::switch("--resource=false"),
                false => status(),
            })
            .field("remove one of the two"),
        Rule::ClusterScoped { core } => {
            let words = broken(format!("`{key}` is cluster-scoped, but the project is namespaced"))
                .note("a namespaced operator has a Role in each namespace, and a Role cannot allow watching such a kind");
            match core {
                true => words
                    .note("a project without `--namespaced` can watch it, this one or one of its own")
                    .flag(Script::forge("edit --namespaced=false --dry-run --diff"))
                    .field("remove `namespaced: true` at the top of the file"),
                false => words
                    .flag(Advice::switch("--namespaced=true"))
                    .field("api: {crdVersion: v1, namespaced: true}"),
            }
        }
        Rule::Idle => broken(format!("`{key}` has neither an API, a controller nor webhooks"))
            .note("an entry without `api`, `controller`, `controllers` and `webhooks` asks for nothing")
            .field("remove that entry"),
        Rule::TwoEntries => broken(format!("`{key}` has two entries"))
            .note("one group, version and kind has one entry, with its API and its controllers")
            .field("remove one of the two"),
        Rule::OptionsWithoutEntry => broken(format!("there are options for `{key}`, which is not in `resources`"))
            .note(format!("they stand in `plugins`, `{LAYOUT}`, `resources`"))
            .field("remove that entry"),
        Rule::ShortNamesWithoutApi => broken(format!("`{key}` has short names but no `api`"))
            .note("short names belong to the CRD of an API that the project defines")
            .field("remove `shortNames`"),
        Rule::NoGroup => broken(format!("`{kind}` has no API group: group and domain are both empty"))
            .note("the group may be empty when the domain is not")
            .set("--group", "group", "cache.example.com"),
        Rule::NoDot => {
            let (why, instead) = match key.domain.as_str() {
                "" => (
                    "the project has no domain, so the group must bring one",
                    format!("{group}.example.com"),
                ),
                domain => (
                    "the group is empty, and the project's domain is one word",
                    format!("{}.{domain}", kind.singular()),
                ),
            };
            broken(format!("the API group `{group}` has no dot"))
                .note("the API server takes a CRD only in a group that is a domain with at least one dot")
                .note(why)
                .flag(Advice::set("--group", instead))
                .field(format!("group: {group}.example.com"))
        }
        Rule::NoDotElsewhere => broken(format!("the API group `{group}` has no dot"))
            .note("the types of other projects are CRDs, whose groups are domains with at least one dot")
            .flag(Advice::Set(vec![flag("--group", "cert-manager"), flag("--external-api-domain", "io")]))
            .field("domain: io"),
        Rule::Reserved(suffix) => broken(format!("the API group `{group}` is reserved for Kubernetes"))
            .note(format!("the API server refuses CRDs in `{suffix}` that the community has not approved"))
            .note("for a controller of one of Kubernetes' own types, say `--resource=false`")
            .flag(Advice::switch("--resource=false"))
            .field("core: true"),
        Rule::Device(first) => broken(format!("the API group `{group}` begins with a device of Windows"))
            .note(format!("its CRDs would be `config/crd/bases/{group}_….yaml`, and no file there can be called `{first}`"))
            .set("--group", "group", format!("{first}-group")),
        Rule::LongCrd(crd) => broken(format!("the name of the CRD, `{crd}`, has {} characters", crd.len()))
            .note(format!("it is `<plural>.<group>`; {CRD_MAX} characters are allowed, because it names a file, too"))
            .flag(Advice::set("--plural", kind.singular().chars().take(8).collect::<String>()))
            .field("shorten `plural`, `group` or `domain`"),
        Rule::LongFile(length) => broken(format!("group and kind of `{key}` have {length} characters together"))
            .note(format!("they name files such as `<group>_<version>_<kind>.yaml`; {FILE_MAX} characters are allowed"))
            .field("shorten `group` or `kind`"),
        Rule::SameModule(module) => {
            let name = |key: &Key| match key.group.as_str() {
                "" => format!("`{}` (the empty group)", key.domain),
                group => format!("`{group}`"),
            };
            broken(format!("the groups {} and {} would both be the Rust module `{module}`", name(other), name(key)))
                .note("a group's types are in `src/api/<module>`: the names have to differ in letters or digits")
                .set("--group", "group", &other.group)
        }
        Rule::SameFile(file) => broken(format!("`{other}` and `{key}` would both be `{file}`"))
            .note("group, version and kind name the sample together: they have to differ there, too")
            .rename(),
        Rule::OtherPlural(..) | Rule::OtherScope { .. } | Rule::OtherShortNames(..) => {
            differs(key, other.version, rule)
        }
        Rule::SameList(list) => broken(format!("the kinds `{}` and `{kind}` clash", other.kind))
            .note(format!("a list of `{}` or `{kind}` is of kind `{list}`", other.kind))
            .rename(),
        Rule::SameLetters => broken(format!("the kinds `{}` and `{kind}` differ only by upper and lower case", other.kind))
            .note("in lower case a kind is the CRD's singular and, with `_`, a Rust module: both have to be unique")
            .rename()
            .flag(Advice::set("--kind", other.kind.as_str())),
        Rule::SameType(name) => broken(format!("`{}` and `{kind}` would both be the Rust type `{name}`", other.kind))
            .note("a kind whose name Rust or the generated code uses already gets `Resource` behind it")
            .rename(),
        Rule::ShortNameTwice(short, once) => broken(format!("`{kind}` has the short name `{short}` twice"))
            .flag(short_names(once))
            .field(format!("shortNames: [{}]", list(once))),
        Rule::SingularInUse { as_what } => in_use(violation, "singular", &kind.singular(), as_what)
            .rename()
            .flag(Advice::set("--kind", other.kind.as_str())),
        Rule::PluralInUse { plural, as_what } => {
            let instead = match Plural::of(kind) {
                regular if regular != *plural => regular.to_string(),
                _ => format!("{}-resources", kind.singular()),
            };
            in_use(violation, "plural", plural.as_str(), as_what).set("--plural", "plural", instead)
        }
        Rule::ShortNameInUse {
            name,
            as_what,
            left,
        } => in_use(violation, "short name", name.as_str(), as_what)
            .flag(short_names(left))
            .field(format!("remove {name} from `shortNames`")),
        Rule::TwoDefaults => {
            let name = format!("{}-{version}", kind.singular());
            broken(format!("`{kind}` has a controller already"))
                .note(format!("it watches version {}; `--controller-name {name}` adds another one", other.version))
                .flag(Advice::switch("--controller=false"))
                .field(format!("controllers: [{{name: {name}}}]"))
        }
        Rule::SameControllerFile {
            names: [first, second],
            path,
        } => same_controller(key, format!("the controllers `{first}` and `{second}` would both be `{path}`")),
        Rule::SameControllerName(name) => {
            same_controller(key, format!("`{other}` and `{key}` have controllers of one name, `{name}`"))
        }
        Rule::UnknownFinalizer(name) => broken(format!("`finalizers` names `{name}`, which is no controller of `{key}`"))
            .note("the default controller is named `<group>-<kind>`, another one by its `name`")
            .field(format!("remove `{name}` from `finalizers`")),
        Rule::ForeignFinalizer => broken(format!("`{key}` is not defined by this project, and its controller gets no finalizer"))
            .note(format!("it would be put on every {kind} of the cluster, and without the operator none of them could be deleted"))
            .note("write one by hand for the objects that the operator works on: `finalizer::ensure` in `reconcile`")
            .flag(Advice::drop("--finalizer"))
            .field("remove `finalizers`"),
        Rule::NotConverted { alone } => broken(format!("`{key}` is not defined by this project, so its versions are not converted here"))
            .note("only the project that defines a kind may convert its versions: its CRD names the conversion webhook")
            .flag(match alone {
                true => status(),
                false => Advice::Drop(vec!["--conversion".to_owned(), "--spoke".to_owned()]),
            })
            .field("remove `conversion` and `spoke`"),
        Rule::OneVersion => broken(format!("`{kind}` has one version, {version}: there is nothing to convert"))
            .note("conversion serves each object in every version of its kind")
            .flag(another_version(key, version.following()))
            .field("remove `conversion` and `spoke`"),
        Rule::TwoHubs(hub, second) => broken(format!("`{kind}` has the hub {hub} already, and cannot have {second}, too"))
            .note("every version is converted to the hub and from it, and the hub is what is stored")
            .flag(Advice::Set(vec![flag("--version", hub), flag("--spoke", second)]))
            .field("remove `conversion` and `spoke` of one of the two"),
        Rule::HubAsSpoke(instead) => broken(format!("{version} is the hub of `{kind}`, so it is no spoke"))
            .note("`--version` names the hub, `--spoke` the versions that are converted to it")
            .flag(match instead {
                Some(instead) => Advice::Set(spokes([instead])),
                None => Advice::drop("--spoke"),
            })
            .field(format!("remove {version} from `spoke`")),
        Rule::NoSpoke {
            spoke,
            versions,
            other,
        } => broken(format!("`{kind}` has no version {spoke} to convert"))
            .note(format!("its versions are {}", list(versions)))
            .flag(match other {
                Some(other) => Advice::Set(spokes([other])),
                None => another_version(key, *spoke).into(),
            })
            .field(format!("remove {spoke} from `spoke`, or add that version with `api`")),
        Rule::SpokeTwice(spoke) => broken(format!("`{key}` has the spoke {spoke} twice"))
            .note("each version is converted in one way")
            .field("remove one of the two"),
        Rule::HalfConversion { has, lacks } => broken(format!("`{key}` has `{has}` without `{lacks}`"))
            .note("the version with `conversion` is the hub, and `spoke` lists the versions that are converted to it")
            .field(match *has {
                "conversion" => "spoke: [v1alpha1], or remove `conversion`",
                _ => "conversion: true, or remove `spoke`",
            }),
        Rule::PathWithoutWebhook { what, path } => broken(format!("`{key}` has the {what}Path `{path}` without `{what}`"))
            .note("a path without its webhook is called by nobody")
            .field(format!("{what}: true, or remove `{what}Path`")),
        Rule::SamePath {
            path,
            what: [what, first],
        } => broken(format!("the {what} webhook of `{key}` has the path `{path}`, which the {first} webhook of `{other}` has"))
            .note("the API server tells webhooks apart by their paths")
            .set(&format!("--{what}-path"), &format!("{what}Path"), format!("{path}-2")),
        Rule::SameDirectory(directory) => broken(format!("the webhooks of `{other}` and `{key}` would both be in `{directory}`"))
            .note(format!("their API groups are `{}` and `{group}`", other.api_group(false)))
            .note("one of them goes into a project of its own")
            .flag(Script::forge("init --help"))
            .field("remove `webhooks` of one of the two"),
        Rule::LongService(name) => {
            let most = LABEL_MAX - "-webhook-service".len();
            broken(format!("the Service of the webhooks, `{name}`, would have {} characters", name.len()))
                .note(format!("{LABEL_MAX} are allowed (RFC 1035), so a project with webhooks has a name of at most {most}"))
                .note("`init` makes a project of its own, with a shorter `--project-name`")
                .flag(Script::forge("init --help"))
                .field("remove `webhooks` everywhere")
        }
        Rule::LongWebhook(name) => broken(format!("the name of the webhook, `{name}`, has {} characters", name.len()))
            .note(format!("{NAME_MAX} characters are allowed"))
            .field("shorten `group` or `kind`"),
    }
}

const PATH: &str = "path: cert_manager_crds::v1::Certificate";

fn broken(what: String) -> Words {
    Words {
        what,
        notes: Vec::new(),
        flag: None,
        field: String::new(),
    }
}

impl Words {
    fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    fn flag(self, advice: impl Into<Advice>) -> Self {
        let flag = Some(advice.into());
        Self { flag, ..self }
    }

    fn field(self, field: impl Into<String>) -> Self {
        let field = field.into();
        Self { field, ..self }
    }

    /// A value that flag and field take alike.
    fn set(self, flag: &str, field: &str, value: impl ToString) -> Self {
        let value = value.to_string();
        let field = format!("{field}: {value}");
        self.flag(Advice::set(flag, value)).field(field)
    }

    /// Another kind, which a person has to name.
    fn rename(self) -> Self {
        self.flag(status()).field("rename one of the kinds")
    }
}

fn another_version(key: &Key, version: Version) -> Script {
    let flags = super::of_version(key, version);
    Script::forge("create api")
        .flags(&flags)
        .code("--controller=false")
}

fn short_names(names: &[ShortName]) -> Advice {
    match names.is_empty() {
        true => Advice::drop("--short-name"),
        false => Advice::set("--short-name", list(names).replace(", ", ",")),
    }
}

fn same_controller(key: &Key, what: String) -> Words {
    let name = format!("{}-{}", key.kind.singular(), key.version);
    broken(what)
        .note("a controller is named `<group>-<kind>` unless it has a name of its own")
        .flag(Advice::set("--controller-name", &name))
        .field(format!("controllers: [{{name: {name}}}]"))
}

/// Two kinds of a group share a name.
fn in_use(Violation { at, other, .. }: &Violation, what: &str, name: &str, as_what: &str) -> Words {
    let first = &other.as_ref().unwrap_or(at).kind;
    broken(format!(
        "`{name}`, the {what} of `{}`, is already the {as_what} of `{first}`",
        at.kind
    ))
    .note("plurals, singulars and short names share one space in an API group")
}

/// Two versions of a kind that are no one CRD.
fn differs(key: &Key, first: Version, rule: &Rule) -> Words {
    let scope = |namespaced| match namespaced {
        true => "namespaced".to_owned(),
        false => "cluster-wide".to_owned(),
    };
    let quoted = |names: String| match names.is_empty() {
        true => "(none)".to_owned(),
        false => format!("`{names}`"),
    };
    let (what, ours, theirs) = match rule {
        Rule::OtherPlural(ours, theirs) => ("plural", format!("`{ours}`"), format!("`{theirs}`")),
        Rule::OtherShortNames(ours, theirs) => {
            ("short names", quoted(list(ours)), quoted(list(theirs)))
        }
        Rule::OtherScope { namespaced } => ("scope", scope(!namespaced), scope(*namespaced)),
        _ => return broken(String::new()),
    };
    let (kind, version) = (&key.kind, key.version);
    let words = broken(format!(
        "`{kind}` has the {what} {ours} in {version} and {theirs} in {first}"
    ))
    .note("all versions of a kind are one CRD, which has one scope and one set of names");
    match rule {
        Rule::OtherPlural(_, theirs) => words.set("--plural", "plural", theirs),
        Rule::OtherScope { namespaced } => words
            .flag(Advice::switch(format!("--namespaced={namespaced}")))
            .field(format!("namespaced: {namespaced}")),
        Rule::OtherShortNames(_, theirs) => words
            .note("`operator-forge edit api --short-name` gives it to all of them")
            .flag(short_names(theirs))
            .field(format!("shortNames: [{}]", list(theirs))),
        _ => words,
    }
}

fn unknown(key: &Key, to_be: Use, meant: &Meant) -> Words {
    let words = broken(format!("`{key}` is defined neither by this project nor by Kubernetes")).note(match to_be {
        Use::Controller => "a controller needs a Rust type to watch; one of another crate is named by `--external-api-path`",
        Use::Webhook => "a webhook needs a Rust type; one of another crate is named by `--external-api-path`",
    });
    match meant {
        Meant::Version(version) => words
            .note(format!("this project defines it in version {version}"))
            .set("--version", "version", version),
        Meant::Entry(other, is_only) => words
            .note(format!("this project has `{other}`"))
            .flag(match is_only {
                true => Advice::Set(of(other)),
                false => status(),
            })
            .field(format!("group: {}, kind: {}", other.group, other.kind)),
        Meant::Core(core) => {
            let mut flags = vec![
                flag("--group", core.group),
                flag("--version", core.version),
                flag("--kind", core.kind),
            ];
            if to_be == Use::Controller {
                flags.push(Flag::new("--resource=false", None));
            }
            words
                .note(known_types(key))
                .flag(Advice::Set(flags))
                .field(format!(
                    "core: true, group: {}, kind: {}",
                    core.group, core.kind
                ))
        }
        Meant::Nothing => words
            .note(known_types(key))
            .flag(Script::forge("create api").flags(&of(key)))
            .field("api: {crdVersion: v1, namespaced: true}"),
    }
}

fn known_types(key: &Key) -> String {
    let Some(group) = kubernetes::group(key.group.as_str()) else {
        return "Kubernetes' own groups are `core`, `apps`, `batch`, `networking` and so on"
            .to_owned();
    };
    let types = kubernetes::all().filter(|it| it.group == group);
    let types = list(types.map(|it| format!("{}/{}", it.version, it.kind)));
    format!("Kubernetes has in `{}`: {types}", key.group)
}
