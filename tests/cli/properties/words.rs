//! Random commands: in any words, and about what the project has when they run.

use operator_forge::project::{Key, Project};
use proptest::{
    prelude::*,
    sample::{Index, select},
};

/// The words of a command, or what they are about.
#[derive(Clone, Debug)]
pub enum Wish {
    Words(Vec<String>),
    /// A delete of something that is there.
    Delete(Index),
    /// Webhooks of an API or controller that is there.
    Webhook(Index, &'static str),
    /// Other names or another scope for an API that is there.
    EditApi(Index, &'static str),
    /// Another name for a kind that is there.
    Rename(Index, &'static str),
    /// A version made from one that is there.
    FromVersion(Index, &'static str),
    /// `own`, `disown` or `restore` of a file that it may make sense for.
    Files(&'static str, Index),
}

/// A command and what it is to do where a file is in the way.
#[derive(Clone, Debug)]
pub struct Command {
    pub wish: Wish,
    pub policy: &'static str,
}

/// What `own`, `disown` and `restore` may be about.
pub trait Files {
    fn files(&self, command: &str) -> Vec<String>;
}

impl Command {
    /// The words, if the project has what they are about.
    pub fn words(&self, project: Option<&Project>, files: &impl Files) -> Option<Vec<String>> {
        let mut words = self.wish.words(project, files)?;
        words.extend(split(self.policy));
        Some(words)
    }
}

impl Wish {
    /// The first word, where it does not depend on the project.
    pub fn first(&self) -> Option<&str> {
        match self {
            Self::Words(words) => words.first().map(String::as_str),
            _ => None,
        }
    }

    fn words(&self, project: Option<&Project>, files: &impl Files) -> Option<Vec<String>> {
        if let Self::Words(words) = self {
            return Some(words.clone());
        }
        let project = project?;
        let apis = project.apis().into_iter().map(|api| api.key);
        match self {
            Self::Words(_) => None,
            Self::Delete(at) => pick(at, deletes(project)),
            Self::Webhook(at, kinds) => {
                let key = pick(at, project.resources().map(|(key, _)| key))?;
                Some(about("create webhook", key, kinds))
            }
            Self::EditApi(at, what) => Some(about("edit api", pick(at, apis)?, what)),
            Self::Rename(at, to) => {
                let key = pick(at, apis)?;
                let group = key.group.to_string();
                let kind = key.kind.to_string();
                let words = ["rename", "--group", &group, "--kind", &kind, "--to", to];
                Some(words.map(str::to_owned).to_vec())
            }
            Self::FromVersion(at, version) => {
                let key = pick(at, apis)?;
                let mut words = about("create api", key, "--from-version");
                words.push(key.version.to_string());
                let place = words.iter().position(|word| word == "--version")?;
                words[place + 1] = (*version).to_owned();
                Some(words)
            }
            Self::Files(command, at) => {
                let path = pick(at, files.files(command))?;
                Some(vec![(*command).to_owned(), path])
            }
        }
    }
}

pub fn pick<T>(at: &Index, from: impl IntoIterator<Item = T>) -> Option<T> {
    let mut all: Vec<T> = from.into_iter().collect();
    (!all.is_empty()).then(|| all.swap_remove(at.index(all.len())))
}

fn split(words: &str) -> impl Iterator<Item = String> {
    words.split_whitespace().map(str::to_owned)
}

fn about(command: &str, key: &Key, more: &str) -> Vec<String> {
    let flags = [
        ("--group", key.group.to_string()),
        ("--version", key.version.to_string()),
        ("--kind", key.kind.to_string()),
    ];
    let flags = flags
        .into_iter()
        .flat_map(|(flag, value)| [flag.to_owned(), value]);
    split(command).chain(flags).chain(split(more)).collect()
}

/// Every delete that makes sense, and some that something else is in the way of.
fn deletes(project: &Project) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for api in project.apis() {
        all.push(about("delete api", api.key, ""));
        all.push(about("delete api", api.key, "--keep-files"));
        all.push(about("delete api", api.key, "--controller=false"));
    }
    for controller in project.controllers() {
        let name = match controller.default {
            true => String::new(),
            false => format!(" --controller-name {}", controller.name),
        };
        all.push(about(
            "delete api",
            controller.key,
            &format!("--resource=false{name}"),
        ));
    }
    for hooks in project.webhooks() {
        let mut flags = Vec::new();
        flags.extend(
            hooks
                .webhooks
                .defaulting
                .is_some()
                .then(|| "--defaulting".to_owned()),
        );
        flags.extend(
            hooks
                .webhooks
                .validation
                .is_some()
                .then(|| "--validation".to_owned()),
        );
        let spokes = hooks.webhooks.spokes.iter();
        flags.extend(spokes.map(|spoke| format!("--conversion --spoke {spoke}")));
        all.extend(
            flags
                .iter()
                .map(|flag| about("delete webhook", hooks.key, flag)),
        );
        all.push(about(
            "delete webhook",
            hooks.key,
            &(flags.join(" ") + " --keep-files"),
        ));
    }
    all
}

const GROUPS: [(u32, &[&str]); 3] = [
    (8, &["cache", "ship"]),
    (
        3,
        &[
            "sea-creatures",
            "sea.creatures",
            "type",
            "crate",
            "core",
            "apps",
            "",
        ],
    ),
    (1, &["Cache", "-x"]),
];
const VERSIONS: [(u32, &[&str]); 3] = [
    (9, &["v1", "v1alpha1", "v2"]),
    (2, &["v1beta1", "v10"]),
    (1, &["V1", "1.0", "beta"]),
];
const KINDS: [(u32, &[&str]); 4] = [
    (6, &["Memcached", "Redis"]),
    (
        3,
        &[
            "MemCached",
            "Pod",
            "Deployment",
            "Option",
            "OptionResource",
            "HTTPRoute",
            "HttpRoute",
        ],
    ),
    (
        1,
        &[
            "Self",
            "Context",
            "Nul",
            "K234567890123456789012345678901234567890123456789012345678",
        ],
    ),
    (1, &["memcached", "Foo-Bar", "F00_"]),
];

fn one_of(words: &[(u32, &'static [&'static str])]) -> impl Strategy<Value = &'static str> + use<> {
    let weighted = words
        .iter()
        .map(|(weight, words)| (*weight, select(*words)));
    proptest::strategy::Union::new_weighted(weighted.collect())
}

pub fn create() -> impl Strategy<Value = Vec<String>> {
    let extra = prop_oneof![
        9 => Just(""),
        1 => Just("--resource=false"),
        1 => Just("--controller=false"),
        1 => Just("--namespaced=false"),
        1 => Just("--resource=false --controller-name other"),
        1 => Just("--controller-name other"),
        1 => Just("--controller-name other --finalizer"),
        2 => Just("--finalizer"),
        1 => Just("--image memcached:1.6.39"),
        1 => Just("--finalizer=false --force"),
        1 => Just("--resource=false --finalizer"),
        1 => Just("--controller-name memcached"),
        1 => Just("--plural memcachedes"),
        1 => Just("--from-version v1"),
        1 => Just("--from-version v1alpha1"),
        2 => Just("--field size:int32:min=1:default=3 --field ports:[Port]:optional --field Port.name:string"),
        1 => Just("--field mode:enum=Fast|Slow:default=Slow --status-field phase:string"),
        1 => Just("--field until:Time --field reason:enum=A|B:optional:immutable --force"),
        1 => Just("--field size:int"),
        1 => Just("--field ports:[Port] --controller=false"),
        1 => Just("--short-name mc"),
        1 => Just("--short-name mc,pods"),
        1 => Just("--external-api-path cert::Certificate --external-api-domain io"),
        1 => Just("--resource --external-api-path crate::cert::Certificate"),
        1 => Just("--multigroup"),
        1 => Just("--nonsense"),
        1 => Just("--force"),
        1 => Just("--helm-chart CHART"),
        1 => Just("--helm-chart CHART --helm-storage"),
        1 => Just("--helm-storage"),
    ];
    (one_of(&GROUPS), one_of(&VERSIONS), one_of(&KINDS), extra).prop_map(
        |(group, version, kind, extra)| {
            [
                "create",
                "api",
                "--group",
                group,
                "--version",
                version,
                "--kind",
                kind,
            ]
            .into_iter()
            .chain(extra.split_whitespace())
            .map(placed)
            .collect()
        },
    )
}

/// A word, with the path that it stands for.
fn placed(word: &str) -> String {
    match word {
        "CHART" => concat!(env!("CARGO_MANIFEST_DIR"), "/tests/helm-charts/memcached").to_owned(),
        "SDK" => concat!(env!("CARGO_MANIFEST_DIR"), "/tests/operator-sdk/caches").to_owned(),
        word => word.to_owned(),
    }
}

const HOOKS: [&str; 10] = [
    "",
    "--defaulting",
    "--validation",
    "--defaulting --validation",
    "--programmatic-validation",
    "--conversion",
    "--conversion --spoke v1alpha1",
    "--conversion --spoke v2,v10",
    "--defaulting --defaulting-path /custom",
    "--validation --validation-path Custom",
];

pub fn create_webhook() -> impl Strategy<Value = Vec<String>> {
    let of = select(vec![
        "cache v1 Memcached",
        "cache v1alpha1 Memcached",
        "ship v2 Option",
        "core v1 Pod",
        "core v1 Node",
        "apps v1 Deployment",
        "type v1 Self",
        "cert.io v1 Certificate",
    ]);
    let extra = prop_oneof![
        6 => Just(""),
        1 => Just("--external-api-path cert::Certificate"),
        1 => Just("--external-api-path cert::Certificate --external-api-domain example.com"),
        1 => Just("--external-api-module example.com/cert"),
        1 => Just("--certificates cert-manager"),
        1 => Just("--certificates mounted"),
        1 => Just("--force"),
    ];
    (of, select(&HOOKS[..]), extra).prop_map(|(of, kinds, extra)| {
        let names = ["--group", "--version", "--kind"];
        let of = names
            .into_iter()
            .zip(of.split(' '))
            .flat_map(<[&str; 2]>::from);
        ["create", "webhook"]
            .into_iter()
            .chain(of)
            .chain(kinds.split_whitespace())
            .chain(extra.split_whitespace())
            .map(str::to_owned)
            .collect()
    })
}

/// Deletes of what creates often make, and of what they never do.
fn delete() -> impl Strategy<Value = Vec<String>> {
    let keep = prop_oneof![4 => Just(false), 1 => Just(true)];
    (prop_oneof![create(), create_webhook()], keep).prop_map(|(words, keep)| {
        let mut words = delete_of(&words);
        words.extend(keep.then(|| "--keep-files".to_owned()));
        words
    })
}

/// The delete of the same words.
pub fn delete_of(create: &[String]) -> Vec<String> {
    let says_how = [
        "--plural",
        "--namespaced",
        "--short-name",
        "--field",
        "--status-field",
        "--from-version",
        "--finalizer",
        "--image",
        "--helm-chart",
        "--helm-storage",
        "--certificates",
        "--defaulting-path",
        "--validation-path",
        "--external-api-path",
        "--external-api-domain",
        "--external-api-module",
        "--multigroup",
        "--force",
        "--on-conflict",
    ];
    let mut words = vec!["delete".to_owned()];
    let mut rest = create[1..].iter();
    while let Some(word) = rest.next() {
        let (flag, value) = word.split_once('=').unwrap_or((word, ""));
        if !says_how.contains(&flag) {
            words.push(word.clone());
        } else if value.is_empty()
            && !["--multigroup", "--force", "--finalizer", "--helm-storage"].contains(&flag)
        {
            rest.next();
        }
    }
    words
}

fn edit() -> impl Strategy<Value = Vec<String>> {
    let words = select(vec![
        "edit --namespaced",
        "edit --namespaced=false",
        "edit --owner Somebody",
        "edit --license mit",
        "edit --license none",
        "edit --certificates mounted",
        "edit --certificates cert-manager",
        "edit --domain example.org",
        "edit --plugins grafana",
        "edit --plugins=-grafana,helm",
        "edit --plugins olm,release",
        "edit --kubernetes 1.33",
        "edit --kubernetes 1.37",
        "edit --crd-description-length 0",
        "edit --crd-description-length 200",
        "edit --crypto ring",
        "edit --crypto aws-lc-rs",
        "edit --runtime registry",
        "edit --runtime vendored",
        "edit --runtime path=../operator-runtime",
        "edit api --group cache --version v2 --kind Memcached --plural memcacheds",
        "edit api --group apps --version v1 --kind Deployment --short-name d",
    ]);
    words.prop_map(|words| split(words).collect())
}

pub fn init() -> impl Strategy<Value = Vec<String>> {
    let domain = prop_oneof![9 => Just("example.com"), 1 => Just(""), 1 => Just("Example_com")];
    let extra = prop_oneof![
        6 => Just(""),
        2 => Just("--namespaced"),
        2 => Just("--owner Someone --license mit"),
        2 => Just("--license none"),
        1 => Just("--license bsd"),
        1 => Just("--from-operator-sdk SDK"),
    ];
    // A vendored runtime makes every look at the tree five times as long.
    let runtime = prop_oneof![7 => Just("registry"), 1 => Just("vendored")];
    (domain, extra, runtime).prop_map(|(domain, extra, runtime)| {
        [
            "init",
            "--runtime",
            runtime,
            "--vcs",
            "none",
            "--project-name",
            "history",
            "--domain",
            domain,
        ]
        .into_iter()
        .chain(extra.split_whitespace())
        .map(placed)
        .collect()
    })
}

/// Commands of which each history without a user's changes is made.
fn plain() -> impl Strategy<Value = Wish> {
    let names = [
        "--short-name mc,mem",
        "--short-name=",
        "--plural memcachedes --force",
        "--plural caches --force",
        "--namespaced=false --force",
        "--namespaced=false",
        "--plural pods",
        "--finalizer",
        "--add-field image:string:optional",
        "--add-field mode:enum=Fast|Slow:default=Fast --short-name m",
        "--add-field Port.number:int32:default=80",
        "--add-field size:int32 --force",
        "--add-field image:string",
        "--add-status-field phase:string:optional",
    ];
    let any = any::<Index>;
    prop_oneof![
        9 => create().prop_map(Wish::Words),
        2 => create_webhook().prop_map(Wish::Words),
        4 => (any(), select(&HOOKS[..])).prop_map(|(at, kinds)| Wish::Webhook(at, kinds)),
        2 => delete().prop_map(Wish::Words),
        5 => any().prop_map(Wish::Delete),
        3 => edit().prop_map(Wish::Words),
        3 => (any(), select(names.to_vec())).prop_map(|(at, what)| Wish::EditApi(at, what)),
        2 => (any(), one_of(&KINDS)).prop_map(|(at, to)| Wish::Rename(at, to)),
        2 => (any(), one_of(&VERSIONS)).prop_map(|(at, version)| Wish::FromVersion(at, version)),
        1 => init().prop_map(Wish::Words),
        1 => Just(Wish::Words(vec!["sync".to_owned()])),
        1 => Just(Wish::Words(vec!["undo".to_owned()])),
    ]
}

/// Any command, and a policy with some of them.
pub fn command() -> impl Strategy<Value = Command> {
    let files = select(vec!["own", "disown", "restore"]);
    let wish = prop_oneof![
        12 => plain(),
        2 => (files, any::<Index>()).prop_map(|(command, at)| Wish::Files(command, at)),
    ];
    let policy = prop_oneof![
        7 => Just(""),
        1 => Just("--on-conflict=keep"),
        1 => Just("--on-conflict=take"),
        1 => Just("--on-conflict=markers"),
    ];
    (wish, policy).prop_map(|(wish, policy)| Command { wish, policy })
}

/// A command as it is where nobody has changed a file.
pub fn plain_command() -> impl Strategy<Value = Command> {
    plain().prop_map(|wish| Command { wish, policy: "" })
}
