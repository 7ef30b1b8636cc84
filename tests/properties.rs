//! The laws of the engine on random histories: commands, valid and not, with a user's own changes between them. And any
//! text as any name is refused with help, or the project renders.
//!
//! `PROPTEST_CASES` is the number of histories.

mod session;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use operator_forge::{
    error::Failure,
    memory::Memory,
    name::{
        ControllerName, Domain, Group, Invalid, Kind, Plural, ProjectName, RustPath, ShortName,
        Version, WebhookPath,
    },
    project::{CreateApi, CreateWebhook, EditApi, External, InitOptions, License, Owner, Project},
    syntax::{self, Names},
    template,
    tree::{Owner as FileOwner, unix_line_ends},
};
use proptest::{prelude::*, sample::select, test_runner::FileFailurePersistence};
use session::{assert_same, tree};
use tempfile::TempDir;

type Tree = BTreeMap<String, Vec<u8>>;

fn config(cases: u32) -> ProptestConfig {
    let given = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: given
            .and_then(|number| number.parse().ok())
            .unwrap_or(cases),
        max_shrink_iters: 256,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    }
}

/// What a user does to one file; the number picks it among those that are there.
#[derive(Clone, Copy, Debug)]
enum Hand {
    Append,
    Prepend,
    Delete,
    Crlf,
}

#[derive(Clone, Debug)]
enum Step {
    Command(Vec<String>),
    Hand(Hand, FileOwner, usize),
    Foreign(&'static str),
}

fn create() -> impl Strategy<Value = Vec<String>> {
    let group = select(vec![
        "cache",
        "ship",
        "sea-creatures",
        "sea.creatures",
        "type",
        "crate",
        "core",
        "apps",
        "",
        "Cache",
        "-x",
    ]);
    let version = select(vec![
        "v1", "v1alpha1", "v1beta1", "v2", "v10", "V1", "1.0", "beta",
    ]);
    let kind = select(vec![
        "Memcached",
        "MemCached",
        "Pod",
        "Deployment",
        "Option",
        "OptionResource",
        "Self",
        "Context",
        "HTTPRoute",
        "HttpRoute",
        "Nul",
        "K234567890123456789012345678901234567890123456789012345678",
        "memcached",
        "Foo-Bar",
        "F00_",
    ]);
    let extra = prop_oneof![
        6 => Just(""),
        1 => Just("--resource=false"),
        1 => Just("--controller=false"),
        1 => Just("--namespaced=false"),
        1 => Just("--resource=false --controller-name other"),
        1 => Just("--controller-name other"),
        1 => Just("--controller-name memcached"),
        1 => Just("--plural memcachedes"),
        1 => Just("--from-version v1"),
        1 => Just("--from-version v1alpha1"),
        1 => Just("--short-name mc"),
        1 => Just("--short-name mc,pods"),
        1 => Just("--external-api-path cert::Certificate --external-api-domain io"),
        1 => Just("--resource --external-api-path crate::cert::Certificate"),
        2 => Just("--on-conflict=keep"),
        1 => Just("--multigroup"),
        1 => Just("--nonsense"),
    ];
    (group, version, kind, extra).prop_map(|(group, version, kind, extra)| {
        ["create", "api", "--group", group, "--version", version]
            .into_iter()
            .chain(["--kind", kind])
            .chain(extra.split_whitespace())
            .map(str::to_owned)
            .collect()
    })
}

fn create_webhook() -> impl Strategy<Value = Vec<String>> {
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
    let kinds = select(vec![
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
    ]);
    let extra = prop_oneof![
        6 => Just(""),
        1 => Just("--external-api-path cert::Certificate"),
        1 => Just("--external-api-path cert::Certificate --external-api-domain example.com"),
        1 => Just("--external-api-module example.com/cert"),
        1 => Just("--certificates cert-manager"),
        1 => Just("--certificates mounted"),
        1 => Just("--on-conflict=keep"),
    ];
    (of, kinds, extra).prop_map(|(of, kinds, extra)| {
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
fn delete_of(create: &[String]) -> Vec<String> {
    let says_how = [
        "--plural",
        "--namespaced",
        "--short-name",
        "--from-version",
        "--certificates",
        "--defaulting-path",
        "--validation-path",
        "--external-api-path",
        "--external-api-domain",
        "--external-api-module",
        "--multigroup",
        "--on-conflict",
    ];
    let mut words = vec!["delete".to_owned()];
    let mut rest = create[1..].iter();
    while let Some(word) = rest.next() {
        let (flag, value) = word.split_once('=').unwrap_or((word, ""));
        if !says_how.contains(&flag) {
            words.push(word.clone());
        } else if value.is_empty() && flag != "--multigroup" {
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
        "edit --certificates mounted",
        "edit --domain example.org",
        "edit api --group cache --version v1 --kind Memcached --short-name mc,mem",
        "edit api --group cache --version v1alpha1 --kind Memcached --short-name=",
        "edit api --group cache --version v1 --kind Memcached --plural memcachedes --force",
        "edit api --group cache --version v2 --kind Memcached --plural memcacheds",
        "edit api --group ship --version v2 --kind Option --namespaced=false --force",
        "edit api --group apps --version v1 --kind Deployment --short-name d",
    ]);
    words.prop_map(|words| words.split(' ').map(str::to_owned).collect())
}

fn init() -> impl Strategy<Value = Vec<String>> {
    let domain = prop_oneof![5 => Just("example.com"), 1 => Just(""), 1 => Just("Example_com")];
    let extra = prop_oneof![
        4 => Just(""),
        1 => Just("--namespaced"),
        1 => Just("--owner Someone --license mit"),
        1 => Just("--license none"),
        1 => Just("--license bsd"),
    ];
    (domain, extra).prop_map(|(domain, extra)| {
        ["init", "--vcs", "none", "--project-name", "history"]
            .into_iter()
            .chain(["--domain", domain])
            .chain(extra.split_whitespace())
            .map(str::to_owned)
            .collect()
    })
}

fn command() -> impl Strategy<Value = Step> {
    let command = prop_oneof![
        8 => create(),
        5 => create_webhook(),
        6 => delete(),
        3 => edit(),
        1 => init(),
        1 => Just(vec!["sync".to_owned()]),
        1 => Just(vec!["sync".to_owned(), "--on-conflict=keep".to_owned()]),
    ];
    command.prop_map(Step::Command)
}

fn hand() -> impl Strategy<Value = Step> {
    let hand = select(vec![Hand::Append, Hand::Prepend, Hand::Delete, Hand::Crlf]);
    let owner = select(vec![FileOwner::User, FileOwner::Shared, FileOwner::Tool]);
    let foreign = select(vec![
        "src/lib.rs",
        "src/mine.rs",
        "Makefile",
        "config/rbac/kustomization.yaml",
        "src/controllers/cache/memcached.rs",
        "src/webhooks/core/v1/pod/default.rs",
        "config/webhook/kustomization.yaml",
        "config/samples/cache_v1_memcached.yaml",
        "src/api/cache",
    ]);
    prop_oneof![
        3 => (hand, owner, any::<usize>()).prop_map(|(hand, owner, at)| Step::Hand(hand, owner, at)),
        1 => foreign.prop_map(Step::Foreign),
    ]
}

/// A directory with a history, and what has to be true of it afterwards.
struct World {
    directory: TempDir,
    /// Text that a user wrote, by file.
    written: BTreeMap<String, Vec<String>>,
    /// Files that a user deleted.
    deleted: BTreeSet<String>,
    /// Files with CRLF line ends.
    crlf: BTreeSet<String>,
    /// Whether a user has changed anything, or kept a file that the project forgot.
    touched: bool,
}

/// What a command printed and how it ended.
struct Ended {
    code: i32,
    json: serde_json::Value,
}

impl World {
    fn new() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
            written: BTreeMap::new(),
            deleted: BTreeSet::new(),
            crlf: BTreeSet::new(),
            touched: false,
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn tree(&self) -> Tree {
        tree(self.path())
    }

    /// Runs one command, first dry and then for real, and checks what holds for every command.
    fn run(&mut self, arguments: &[String]) -> i32 {
        let before = self.tree();
        let dry = forge(self.path(), arguments, &["--dry-run"]);
        assert_same(
            &format!("a dry run of {arguments:?}"),
            &before,
            &self.tree(),
        );
        let real = forge(self.path(), arguments, &[]);
        assert_eq!(dry.code, real.code, "{arguments:?}, dry and not");
        assert_eq!(
            dry.json["changes"], real.json["changes"],
            "{arguments:?}, dry and not"
        );
        let after = self.tree();
        if real.code == 1 || real.code == 2 {
            assert_same(&format!("refused: {arguments:?}"), &before, &after);
            let help = &real.json["error"]["help"];
            assert!(
                help.as_array().is_some_and(|help| !help.is_empty()),
                "no help: {}",
                real.json
            );
            return real.code;
        }
        self.check_edits(arguments, &before, &after);
        self.forget(arguments, &after);
        if before != after {
            let undo = ["undo".to_owned()];
            for (what, expected) in [("undo", &before), ("undo of undo", &after)] {
                assert_eq!(forge(self.path(), &undo, &[]).code, 0);
                assert_same(&format!("{what} of {arguments:?}"), expected, &self.tree());
            }
        }
        let again = forge(self.path(), &["sync".to_owned()], &["--dry-run"]);
        assert_eq!(
            again.json["changes"],
            serde_json::json!([]),
            "after {arguments:?}"
        );
        if arguments[0] == "edit" {
            let again = forge(self.path(), arguments, &[]);
            assert_eq!(
                again.json["changes"],
                serde_json::json!([]),
                "{arguments:?} again"
            );
        } else if arguments[0] != "sync" {
            assert_eq!(
                forge(self.path(), arguments, &[]).code,
                1,
                "{arguments:?} was accepted twice"
            );
            assert_same(
                &format!("refused again: {arguments:?}"),
                &after,
                &self.tree(),
            );
        }
        real.code
    }

    /// No text of the user is lost, no deleted file of theirs is back, and line ends are as they were.
    fn check_edits(&self, arguments: &[String], before: &Tree, after: &Tree) {
        let memory = Memory::load(self.path()).unwrap();
        for (path, texts) in &self.written {
            let bytes = after
                .get(path)
                .unwrap_or_else(|| panic!("{arguments:?} deleted `{path}`, which was edited"));
            for text in texts {
                assert!(
                    String::from_utf8_lossy(bytes).contains(text.as_str()),
                    "{arguments:?} lost `{text}` in `{path}`"
                );
            }
        }
        for (path, row) in &memory.rows {
            let path = path.as_str();
            let types = arguments[0] == "edit" && path.starts_with("src/api/");
            if row.owner == FileOwner::User && before.contains_key(path) && !types {
                assert_eq!(
                    before[path], after[path],
                    "{arguments:?} wrote the user's `{path}`"
                );
            }
            if row.owner != FileOwner::Tool && self.deleted.contains(path) {
                assert!(
                    !after.contains_key(path),
                    "{arguments:?} made `{path}` again"
                );
            }
        }
        for path in self.crlf.iter().filter(|path| after.contains_key(*path)) {
            let bytes = &after[path];
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(
                bytes.len() - unix_line_ends(bytes).len(),
                lines,
                "{arguments:?} changed line ends of `{path}`"
            );
        }
    }

    /// What is no longer part of the project may be made again by a later create, and then in the tool's own way.
    fn forget(&mut self, arguments: &[String], after: &Tree) {
        let memory = Memory::load(self.path()).unwrap();
        let known: BTreeSet<&str> = memory.rows.keys().map(|path| path.as_str()).collect();
        self.deleted.retain(|path| known.contains(path.as_str()));
        self.crlf.retain(|path| after.contains_key(path));
        // Only files that are made from now on have another header, and a controller keeps to the scope it was made for.
        let stay =
            |word: &String| matches!(word.as_str(), "--keep-files" | "--owner" | "--license");
        let scope = arguments[1..].first().is_some_and(|word| word == "api")
            && arguments[0] == "edit"
            && arguments
                .iter()
                .any(|word| word.starts_with("--namespaced"));
        self.touched |= scope || arguments[0] != "init" && arguments.iter().any(stay);
    }

    /// A user's own change of a file of this owner, if there is one.
    fn hand(&mut self, hand: Hand, owner: FileOwner, at: usize, mark: usize) {
        let Ok(memory) = Memory::load(self.path()) else {
            return;
        };
        let files: Vec<PathBuf> = memory
            .rows
            .iter()
            .filter(|(_, row)| row.owner == owner)
            .map(|(path, _)| self.path().join(path.as_str()))
            .filter(|path| path.is_file())
            .collect();
        let Some(file) = files.get(at % files.len().max(1)) else {
            return;
        };
        self.touched = true;
        let path = file
            .strip_prefix(self.path())
            .unwrap()
            .display()
            .to_string();
        let bytes = fs::read(file).unwrap();
        let text = if path.ends_with(".rs") || path.ends_with(".md") {
            format!("// by hand {mark}")
        } else {
            format!("# by hand {mark}")
        };
        match hand {
            Hand::Delete => {
                fs::remove_file(file).unwrap();
                self.written.remove(&path);
                self.crlf.remove(&path);
                self.deleted.insert(path);
                return;
            }
            Hand::Crlf => {
                let unix = String::from_utf8(unix_line_ends(&bytes).into_owned()).unwrap();
                fs::write(file, unix.replace('\n', "\r\n")).unwrap();
                self.crlf.insert(path);
                return;
            }
            Hand::Append => fs::write(file, [&bytes, text.as_bytes(), b"\n"].concat()).unwrap(),
            Hand::Prepend => fs::write(file, [text.as_bytes(), b"\n", &bytes].concat()).unwrap(),
        }
        self.crlf.remove(&path);
        self.written.entry(path).or_default().push(text);
    }

    /// A file that nobody asked for, if its path is free.
    fn foreign(&mut self, path: &str, mark: usize) {
        let file = self.path().join(path);
        let parent_is_directory = fs::create_dir_all(file.parent().unwrap()).is_ok();
        if parent_is_directory && !file.exists() {
            self.touched = true;
            let text = format!("# foreign {mark}");
            fs::write(&file, format!("{text}\n")).unwrap();
            self.deleted.remove(path);
            self.written.insert(path.to_owned(), vec![text]);
        }
    }
}

/// Runs the tool; whatever it is asked, it ends with one of its own codes and prints JSON.
fn forge(directory: &Path, arguments: &[String], more: &[&str]) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_operator-forge"))
        .args(arguments)
        .args(more)
        .arg("--output=json")
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .expect("the tool runs");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let code = output.status.code().unwrap_or(-1);
    assert!((0..=3).contains(&code), "{arguments:?}: {code}\n{stderr}");
    assert_eq!(stderr, "", "{arguments:?} with JSON");
    let json = serde_json::from_str(&stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{stdout}"));
    Ended { code, json }
}

/// The tree that commands make, or `None` if one is refused.
fn made_by(commands: &[&Vec<String>]) -> Option<Tree> {
    let directory = TempDir::new().unwrap();
    commands
        .iter()
        .all(|arguments| forge(directory.path(), arguments, &[]).code == 0)
        .then(|| tree(directory.path()))
}

/// Laws 2, 3 and 4 on a history without changes by hand.
fn check_laws(world: &World, accepted: &[Vec<String>], before_last: &Tree) {
    let made = world.tree();
    let fresh = TempDir::new().unwrap();
    fs::write(fresh.path().join("PROJECT"), &made["PROJECT"]).unwrap();
    forge(fresh.path(), &["sync".to_owned()], &[]);
    assert_same("law 4, convergence", &made, &tree(fresh.path()));

    let creates: Vec<_> = accepted
        .iter()
        .filter(|words| words[0] == "create")
        .collect();
    let Some((last, earlier)) = creates.split_last() else {
        return;
    };
    let is_create = |words: &&Vec<String>| words[0] == "create";
    if let Some((second, first)) = earlier.split_last()
        && accepted[1..].iter().all(|words| is_create(&words))
    {
        let reversed: Vec<&Vec<String>> = std::iter::once(&accepted[0])
            .chain(first.iter().copied())
            .chain([*last, *second])
            .collect();
        if let Some(reversed) = made_by(&reversed) {
            assert_same(&format!("law 3, {second:?} and {last:?}"), &made, &reversed);
        }
    }
    if accepted.last() == Some(*last) {
        check_inverse(world, last, before_last);
    } else if accepted.iter().any(|words| words[0] == "edit") {
        return;
    }
    fs::write(world.path().join("PROJECT"), &before_last["PROJECT"]).unwrap();
    forge(world.path(), &["sync".to_owned()], &[]);
    assert_same(&format!("law 2, {last:?}"), before_last, &world.tree());
}

/// Law 2 by the delete of the same words. Where certificates come from is said once for all webhooks, so it stays while
/// there are others.
fn check_inverse(world: &World, create: &[String], before: &Tree) {
    let project = |tree: &Tree| Project::read(&tree["PROJECT"]).unwrap();
    let (old, new) = (project(before), project(&world.tree()));
    if old.settings.certificates != new.settings.certificates && !old.webhooks().is_empty() {
        return;
    }
    // A version that was made from another has conversions, which go first.
    if create.iter().any(|word| word == "--from-version") {
        return;
    }
    let mut delete = delete_of(create);
    if delete.iter().any(|word| word == "--conversion") {
        if let Some(at) = delete.iter().position(|word| word == "--spoke") {
            delete.drain(at..at + 2);
        }
        let spokes = |project: &Project| -> BTreeSet<String> {
            let hubs = project.webhooks().into_iter();
            hubs.flat_map(|hub| {
                hub.webhooks
                    .spokes
                    .iter()
                    .map(move |spoke| format!("{} {spoke}", hub.key))
            })
            .collect()
        };
        for spoke in spokes(&new).difference(&spokes(&old)) {
            delete.push(format!("--spoke={}", spoke.rsplit(' ').next().unwrap()));
        }
    }
    let ended = forge(world.path(), &delete, &[]);
    assert_eq!(ended.code, 0, "{delete:?}: {}", ended.json);
    assert_same(&format!("law 2, {delete:?}"), before, &world.tree());
    assert_eq!(forge(world.path(), create, &[]).code, 0, "{create:?} again");
}

fn run_history(first: Vec<String>, steps: Vec<Step>) {
    let mut world = World::new();
    let mut accepted: Vec<Vec<String>> = Vec::new();
    let mut before_last = Tree::new();
    for (mark, step) in std::iter::once(Step::Command(first))
        .chain(steps)
        .enumerate()
    {
        match step {
            Step::Hand(hand, owner, at) => world.hand(hand, owner, at, mark),
            Step::Foreign(path) => world.foreign(path, mark),
            Step::Command(arguments) => {
                let before = world.tree();
                if matches!(world.run(&arguments), 0 | 3) && arguments[0] != "sync" {
                    if arguments[0] == "create" {
                        before_last = before;
                    }
                    accepted.push(arguments);
                }
            }
        }
    }
    if !world.touched && !accepted.is_empty() {
        check_laws(&world, &accepted, &before_last);
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn commands_keep_the_laws(
        first in init(),
        steps in proptest::collection::vec(command(), 1..8),
    ) {
        run_history(first, steps);
    }

    #[test]
    fn what_a_user_did_is_kept(
        first in init(),
        steps in proptest::collection::vec(prop_oneof![command(), hand()], 1..10),
    ) {
        run_history(first, steps);
    }
}

/// A text that is nearly a name, or one that is not at all.
fn name() -> impl Strategy<Value = String> {
    let word = select(vec![
        "self",
        "Self",
        "crate",
        "super",
        "type",
        "Type",
        "async",
        "gen",
        "union",
        "core",
        "std",
        "kube",
        "serde",
        "test",
        "con",
        "Con",
        "nul",
        "Aux",
        "com1",
        "Lpt9",
        "Option",
        "Result",
        "Vec",
        "String",
        "Condition",
        "Api",
        "Client",
        "Context",
        "Controller",
        "Error",
        "Spec",
        "Status",
        "Object",
        "Main",
        "Lib",
        "mod",
        "Mod",
        "Tests",
        "manager",
        "operator",
        "api",
        "controllers",
        "k8s.io",
        "default",
        "Default",
        "2b",
        "v1",
        "V1",
        "r#type",
        "/convert",
        "/Custom//path",
        "cert_manager::v1::Certificate",
        "cert-manager::v1",
        "crate::a::B",
        "_",
        "..",
        "a/../b",
        "--kind",
        "'",
        "\"",
        "\\",
        "{= 1 =}",
        "{% if %}",
        "{{ x }}",
        "${{ x }}",
        "\u{202e}",
        "ß",
        "ﬁ",
        "名",
    ]);
    prop_oneof![
        4 => word.prop_map(str::to_owned),
        3 => "[A-Z][a-zA-Z0-9]{0,62}",
        3 => "[a-z]([a-z0-9-]{0,61}[a-z0-9])?",
        2 => "[a-z][a-z0-9]{0,20}([-.]{1,2}[a-z0-9]{1,20}){0,4}",
        2 => "v[1-9][0-9]{0,3}((alpha|beta)[1-9][0-9]?)?",
        1 => "\\PC{0,70}",
        1 => any::<String>(),
    ]
}

/// The parsed text, or without it a usable one; a refusal has to help, and what it suggests has to be accepted.
fn parse_or<T>(text: &str, usable: &str, parse: fn(&str) -> Result<T, Invalid>) -> T {
    parse(text).unwrap_or_else(|invalid| {
        if let Some(suggestion) = &invalid.suggestion {
            assert!(
                parse(suggestion).is_ok(),
                "{}: `{suggestion}` was suggested for {text:?}",
                invalid.flag
            );
        }
        check_help(text, &invalid.into());
        parse(usable).unwrap()
    })
}

fn check_help(what: &str, failure: &Failure) {
    assert!(!failure.help.is_empty(), "{what:?}: {failure:?}");
    assert!(failure.exit_code() == 1 || failure.exit_code() == 2);
}

/// The types of an API with other names are what they would be if it had been made with them.
fn check_names(project: &Project) {
    let Some(key) = project.apis().first().map(|api| api.key.clone()) else {
        return;
    };
    let wanted = Names {
        plural: "things".to_owned(),
        short_names: vec!["t".to_owned(), "th".to_owned()],
        namespaced: true,
    };
    let edit = EditApi {
        group: key.group.clone(),
        version: key.version,
        kind: key.kind.clone(),
        plural: Some(Plural::parse(&wanted.plural).unwrap()),
        namespaced: Some(true),
        short_names: Some(
            wanted
                .short_names
                .iter()
                .map(|name| ShortName::parse(name).unwrap())
                .collect(),
        ),
        force: true,
    };
    // The plural may be another kind's.
    let Ok((edited, _)) = project.edit_api(&edit) else {
        return;
    };
    let text = |project: &Project| {
        let path = template::types_of(project, &key).unwrap();
        String::from_utf8(template::tree(project).unwrap()[&path].content.to_vec()).unwrap()
    };
    let kind = key.kind.as_str();
    assert_eq!(
        syntax::set_names(&text(project), kind, &wanted).unwrap(),
        text(&edited)
    );
    let back = syntax::names(&text(project), kind).unwrap();
    assert_eq!(
        syntax::set_names(&text(&edited), kind, &back).unwrap(),
        text(project)
    );
}

/// Whatever the project is, it renders, every Rust file of it parses, and `PROJECT` reads back as it was written.
fn check_renders(project: &Project) {
    let tree = template::tree(project).unwrap_or_else(|failure| panic!("{failure:?}"));
    for (path, file) in &tree {
        let text = std::str::from_utf8(&file.content).unwrap();
        if path.extension() == "rs" && !path.as_str().starts_with("crates/") {
            syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}\n{text}"));
        } else if path.extension() == "toml" {
            text.parse::<toml_edit::DocumentMut>()
                .unwrap_or_else(|error| panic!("{path}: {error}\n{text}"));
        } else if matches!(path.extension(), "yaml" | "yml") {
            for document in serde_yaml::Deserializer::from_str(text) {
                <serde_yaml::Value as serde::Deserialize>::deserialize(document)
                    .unwrap_or_else(|error| panic!("{path}: {error}\n{text}"));
            }
        }
    }
    let read = Project::read(project.write().as_bytes()).unwrap_or_else(|failure| {
        panic!("{failure:?}\n{}", project.write());
    });
    assert_eq!(&read, project);
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn any_name_is_refused_with_help_or_renders(
        (domain, project_name, owner) in (name(), name(), name()),
        (group, kind, plural, controller, short) in (name(), name(), name(), name(), name()),
        version in name(),
        (namespaced, resource, with_plural, with_name) in any::<(bool, bool, bool, bool)>(),
    ) {
        let project = Project::init(InitOptions {
            domain: parse_or(&domain, "example.com", Domain::parse),
            name: parse_or(&project_name, "project", ProjectName::parse),
            owner: Owner::parse(&owner).unwrap_or_else(|failure| {
                check_help(&owner, &failure);
                Owner::default()
            }),
            license: License::Apache2,
            header: None,
            namespaced,
        });
        let create = CreateApi {
            group: parse_or(&group, "cache", Group::parse),
            version: parse_or(&version, "v1", Version::parse),
            kind: parse_or(&kind, "Memcached", Kind::parse),
            plural: with_plural.then(|| parse_or(&plural, "memcachedes", Plural::parse)),
            namespaced: None,
            resource: true,
            external: None,
            controller: true,
            controller_name: None,
            short_names: vec![parse_or(&short, "mc", ShortName::parse)],
            force: false,
        };
        let mut project = match project.create_api(&create) {
            Ok(project) => project,
            Err(failure) => {
                check_help(&format!("{create:?}"), &failure);
                project
            }
        };
        let external = (!resource && namespaced).then(|| External {
            path: parse_or(&controller, "a::B", RustPath::parse),
            domain: parse_or(&short, "example.org", Domain::parse),
        });
        let other = CreateApi {
            external: external.clone(),
            controller_name: with_name.then(|| parse_or(&controller, "other", ControllerName::parse)),
            resource,
            plural: None,
            short_names: Vec::new(),
            version: Version::parse("v2").unwrap(),
            ..create
        };
        check_names(&project);
        match project.create_api(&other) {
            Ok(more) => project = more,
            Err(failure) => check_help(&format!("{other:?}"), &failure),
        }
        let hook = CreateWebhook {
            group: other.group,
            version: other.version,
            kind: other.kind,
            plural: None,
            defaulting: true,
            defaulting_path: with_plural.then(|| parse_or(&plural, "/default", WebhookPath::parse)),
            validation: true,
            validation_path: None,
            conversion: resource,
            spokes: Vec::new(),
            external,
            certificates: None,
            force: false,
        };
        match project.create_webhook(&hook) {
            Ok(more) => project = more,
            Err(failure) => check_help(&format!("{hook:?}"), &failure),
        }
        check_renders(&project);
    }
}
