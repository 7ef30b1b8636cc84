//! What the pages tell people to type: every fenced command runs, and every command in running text parses.
//!
//! A block is ```` ```sh ```` (each line succeeds, or says `# … exit code N`) or ```` ```console ```` (prints and ends as
//! shown). Words behind `sh` say what its lines need that no test has: they are the keys of [`MARKS`]. In such a block the
//! lines of operator-forge, `cd` and `mkdir` run all the same, and of a line that calls `make` whether its targets are there.
//! A block of code goes into the file that it names, or is compared with it (`page.rs`). `tests/projects/pages.rs` runs what
//! compiles.
//! The blocks of a page run in its order, in one directory; what it takes for granted is in [`BEFORE`].

use crate::page::{Block, Page, Shell, with_exit_codes, without_needs};
use crate::session;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use clap::{Command, CommandFactory, error::ErrorKind};
use operator_forge::cli::Cli;

/// What the lines of a marked block need.
const MARKS: [&str; 4] = ["compile", "cluster", "image", "network"];

/// A git repository with a project in it, in which somebody may commit.
const PROJECT: &str = "cd \"$PAGE\" && rm -rf demo && mkdir demo && cd demo && git init -q -b main . \
     && git config user.name me && git config user.email me@example.com && git config core.editor true \
     && operator-forge init -q --domain example.com --runtime registry";
/// An API in it.
const V1ALPHA1: &str =
    "operator-forge create api -q --group cache --version v1alpha1 --kind Memcached";
/// Another version of it, or an API by itself.
const V1: &str = "operator-forge create api -q --group cache --version v1 --kind Memcached";
/// The Makefile of this repository.
const REPOSITORY: &str = "cd \"$PAGE\" && cp \"$CARGO_MANIFEST_DIR/Makefile\" .";
/// A definition as a release has it, and as it is without a field.
const RELEASED: &str = "mkdir -p config/crd/bases && crd=config/crd/bases/cache.example.com_memcacheds.yaml \
     && printf '%s\\n' 'apiVersion: apiextensions.k8s.io/v1' 'kind: CustomResourceDefinition' \
        'metadata: {name: memcacheds.cache.example.com}' 'spec:' '  group: cache.example.com' \
        '  names: {kind: Memcached, plural: memcacheds}' '  scope: Namespaced' '  versions:' \
        '  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {' \
        '      type: object, properties: {size: {type: integer}}}}}}}' > $crd \
     && git add . && git commit -q -m released && git tag v1.0.0 \
     && sed 's/size/replicas/' $crd > new && mv new $crd";

/// What is run before the block of a page that has this line.
const BEFORE: &[(&str, &str, &[&str])] = &[
    ("README.md", "make demo ", &[REPOSITORY]),
    ("CONTRIBUTING.md", "cargo build ", &[REPOSITORY]),
    ("CONTRIBUTING.md", "make lint ", &[REPOSITORY]),
    (
        "docs/ansible.md",
        "operator-forge init caches ",
        &["mkdir roles && cp -r $ROLES/memcached roles"],
    ),
    (
        "docs/changing-a-project.md",
        "operator-forge delete webhook ",
        &[
            PROJECT,
            "operator-forge create api -q --group cache --version v1alpha1 --kind Memcached --controller=false",
            V1,
            "operator-forge create api -q --group cache --version v1 --kind Memcached --resource=false --controller-name backup",
            "operator-forge create webhook -q --group cache --version v1 --kind Memcached --validation --conversion",
        ],
    ),
    (
        "docs/changing-a-project.md",
        "operator-forge edit ",
        &[
            PROJECT,
            "operator-forge edit -q --namespaced",
            V1,
            "operator-forge create webhook -q --group cache --version v1 --kind Memcached --validation",
        ],
    ),
    (
        "docs/changing-a-project.md",
        "operator-forge create api ",
        &[PROJECT, V1ALPHA1],
    ),
    (
        "docs/coming-from-kubebuilder.md",
        "operator-forge init ",
        &["cd \"$PAGE\" && cp -R \"$GO/media-operator\" ."],
    ),
    (
        "docs/compatibility.md",
        "$ operator-forge check ",
        &[PROJECT, V1, RELEASED],
    ),
    (
        "docs/conversion.md",
        "pub fn spoke() ",
        &[
            PROJECT,
            V1ALPHA1,
            "operator-forge create api -q --group cache --version v1 --kind Memcached --controller=false",
            "operator-forge create webhook -q --group cache --version v1 --kind Memcached --conversion",
        ],
    ),
    (
        "docs/conversion.md",
        "operator-forge delete webhook ",
        &[
            "operator-forge create api -q --group cache --version v2 --kind Memcached --from-version v1",
        ],
    ),
    ("docs/external-types.md", "kubectl get crd ", &[PROJECT]),
    ("docs/fields.md", "operator-forge create api", &[PROJECT]),
    (
        "docs/getting-started.md",
        "$ operator-forge create api ",
        &["printf 'pub mod mine;\\n' > src/controllers.rs"],
    ),
    ("docs/generated-project.md", "  scaffold:", &[PROJECT]),
    (
        "docs/helm-charts.md",
        "operator-forge init cache-operator-rs ",
        &["cd \"$PAGE\" && cp -R \"$SDK/caches\" cache-operator"],
    ),
    (
        "docs/helm-charts.md",
        "operator-forge init caches ",
        &["mkdir charts && cp -r $CHARTS/memcached charts"],
    ),
    (
        "docs/manager.md",
        "pub fn controller() ",
        &[PROJECT, V1ALPHA1],
    ),
    ("docs/project-file.md", "domain: ", &[PROJECT]),
    ("docs/helm.md", "operator-forge edit ", &[PROJECT, V1ALPHA1]),
    (
        "docs/merging.md",
        "git merge ",
        &[
            PROJECT,
            "git add . && git commit -q -m init && git checkout -q -b other",
            V1ALPHA1,
            "git add . && git commit -q -m theirs && git checkout -q main",
            "operator-forge create api -q --group web --version v1 --kind Proxy",
            "git add . && git commit -q -m ours",
        ],
    ),
    (
        "docs/deploy-image.md",
        "operator-forge create api ",
        &[PROJECT],
    ),
    (
        "docs/monitoring.md",
        "operator-forge edit ",
        &[PROJECT, V1ALPHA1],
    ),
    ("docs/olm.md", "operator-forge edit ", &[PROJECT, V1ALPHA1]),
    (
        "docs/releases.md",
        "operator-forge edit ",
        &[PROJECT, V1ALPHA1],
    ),
    (
        "docs/webhooks.md",
        "operator-forge create webhook ",
        &[
            PROJECT,
            V1ALPHA1,
            "operator-forge create api -q --group cache --version v1 --kind Memcached --controller=false",
        ],
    ),
];

pub fn pages() -> Vec<Page> {
    let root = session::repository();
    let entries = [
        "",
        "docs",
        "docs/decisions",
        "docs/tutorials",
        "crates/operator-runtime",
        "crates/operator-runtime/decisions",
        "crates/operator-runtime/src/guide",
    ]
    .into_iter()
    .flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        path.extension().is_some_and(|extension| extension == "md")
            && !path.ends_with("changelog.md")
            && !path.ends_with("CHANGELOG.md")
    });
    paths.sort();
    paths.iter().map(|path| Page::read(path)).collect()
}

#[test]
fn every_block_runs() {
    let (mut ran, mut code) = (0, 0);
    let mut marked = BTreeMap::<&str, usize>::new();
    let mut prepared = BTreeSet::new();
    let mut shells = BTreeMap::new();
    for page in pages() {
        // It goes on where another page ends.
        let before = match page.name.as_str() {
            "docs/tutorials/multiversion.md" => shells.remove("docs/tutorials/cronjob.md"),
            _ => None,
        };
        let mut shell = before.unwrap_or_else(Shell::new);
        for block in &page.blocks {
            let place = format!("{}:{}", page.name, block.line);
            let is_before = |(name, line, _): &(&str, &str, _)| {
                *name == page.name && block.text.lines().any(|it| it.starts_with(line))
            };
            let first = BEFORE.iter().position(is_before);
            if let Some(at) = first.filter(|at| prepared.insert(*at)) {
                let step = shell.run(&BEFORE[at].2.join("\n"));
                assert_eq!(step.code, 0, "before {place}\n{}", step.output);
            }
            match block.language.as_str() {
                "sh" | "console" => {
                    for mark in &block.marks {
                        let mark = MARKS.into_iter().find(|it| it == mark);
                        *marked.entry(mark.expect(&place)).or_default() += 1;
                    }
                    ran += usize::from(block.marks.is_empty());
                    run(&mut shell, block, &place);
                }
                "rust" | "yaml" | "toml" if page.name.starts_with("docs/") => {
                    block.apply(&place, &shell.now, false);
                    code += 1;
                }
                language => check_other(language, &block.text, &place),
            }
        }
        shells.insert(page.name, shell);
    }
    assert_eq!(
        prepared.len(),
        BEFORE.len(),
        "a block has changed its first word"
    );
    println!("{ran} blocks of commands run, {code} of code, marked: {marked:?}");
    assert!(ran >= 30 && code >= 20, "{ran}, {code}");
}

/// Runs the commands of a block that no mark keeps from it.
fn run(shell: &mut Shell, block: &Block, place: &str) {
    if block.language == "console" {
        for expected in session::parse(&block.text) {
            let found = shell.run(&expected.command);
            assert_eq!(
                (found.output, found.code),
                (expected.output, expected.code),
                "{place}"
            );
        }
        return;
    }
    let text = match block.marks.is_empty() {
        true => block.text.clone(),
        false => without_needs(&block.text),
    };
    let step = shell.run(&with_exit_codes(&text));
    assert_eq!(step.code, 0, "{place}\n{text}\n{}", step.output);
}

/// A block in another language has no commands, which would not run.
fn check_other(language: &str, text: &str, place: &str) {
    let programs = ["$", "operator-forge", "make", "cargo", "git", "kubectl"];
    let is_command = |line: &str| programs.iter().any(|it| line.split(' ').next() == Some(it));
    let is_shell = ["", "bash", "shell", "shell-session"].contains(&language);
    assert!(
        !is_shell || !text.lines().any(is_command),
        "{place}: a block of commands is `sh` or `console`"
    );
}

/// What clap says of the words behind the program's name, where it is wrong.
fn wrong(words: &[String]) -> Option<String> {
    use ErrorKind::{
        DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion, InvalidValue,
        MissingRequiredArgument, MissingSubcommand,
    };
    let is_open = |word: &&String| word.contains('…');
    let words = words.iter().filter(|word| !is_open(word));
    let line = std::iter::once("operator-forge".to_owned()).chain(words.cloned());
    let error = Cli::command().try_get_matches_from(line).err()?;
    let is_placeholder = |value: String| {
        value
            .chars()
            .all(|c| c.is_ascii_uppercase() || "<>_".contains(c))
    };
    match error.kind() {
        // Running text may name a command without the rest.
        DisplayHelp
        | DisplayVersion
        | DisplayHelpOnMissingArgumentOrSubcommand
        | MissingRequiredArgument
        | MissingSubcommand => None,
        InvalidValue => {
            let value = error.get(clap::error::ContextKind::InvalidValue);
            (!value.is_some_and(|value| is_placeholder(value.to_string())))
                .then(|| error.to_string())
        }
        _ => Some(error.to_string()),
    }
}

#[test]
fn every_command_in_running_text_parses() {
    let cli = Cli::command();
    let names: Vec<&str> = cli.get_subcommands().map(Command::get_name).collect();
    let makefiles = ["Makefile", "templates/project/Makefile.tera"];
    let makefiles =
        makefiles.map(|path| fs::read_to_string(session::repository().join(path)).unwrap());
    let is_target = |word: &str| {
        let is_it = |text: &String| {
            text.lines()
                .any(|line| line.starts_with(&format!("{word}:")))
        };
        makefiles.iter().any(is_it)
    };
    let (mut commands, mut targets) = (0, 0);
    let mut errors = Vec::new();
    for page in pages() {
        for span in page.spans() {
            for command in span.split(['|', '&', ';']) {
                let words = shlex::split(command.trim()).unwrap_or_default();
                let first = words.first().map(String::as_str).unwrap_or_default();
                let words = match first {
                    "operator-forge" => &words[1..],
                    // A table of commands leaves out the program.
                    _ if words.len() > 1 && words[1] != "=" && names.contains(&first) => &words[..],
                    "make" => {
                        let is_word = |word: &&String| {
                            word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
                        };
                        for word in words[1..].iter().filter(is_word) {
                            targets += 1;
                            if !is_target(word) {
                                errors.push(format!("{}: no target `{word}`", page.name));
                            }
                        }
                        continue;
                    }
                    _ => continue,
                };
                commands += 1;
                errors.extend(
                    wrong(words).map(|error| format!("{}: `{command}`: {error}", page.name)),
                );
            }
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    println!("{commands} commands, {targets} targets");
    assert!(commands > 80 && targets > 60, "{commands}, {targets}");
}

/// The flags that kubebuilder's commands have, of which people know the names.
const KUBEBUILDER: [(&[&str], &str); 4] = [
    (
        &["init"],
        "domain project-name repo owner license license-file fetch-deps skip-go-version-check multigroup namespaced \
         plugins project-version",
    ),
    (
        &["create", "api"],
        "group version kind plural resource controller controller-name namespaced force make ssa external-api-path \
         external-api-domain external-api-module plugins",
    ),
    (
        &["create", "webhook"],
        "group version kind plural defaulting programmatic-validation conversion spoke defaulting-path validation-path \
         external-api-path external-api-domain external-api-module force make plugins",
    ),
    (
        &["edit"],
        "multigroup namespaced license license-file owner plugins",
    ),
];

#[test]
fn each_flag_of_kubebuilder_has_an_answer_and_a_row() {
    let page =
        fs::read_to_string(session::repository().join("docs/coming-from-kubebuilder.md")).unwrap();
    for (path, flags) in KUBEBUILDER {
        let mut command = Cli::command();
        command.build();
        for name in path {
            command = command.find_subcommand(name).unwrap().clone();
        }
        for flag in flags.split_whitespace() {
            let is_it = |argument: &clap::Arg| {
                argument
                    .get_long_and_visible_aliases()
                    .is_some_and(|names| names.contains(&flag))
            };
            assert!(
                command.get_arguments().any(is_it),
                "{path:?} has no --{flag}"
            );
            assert!(
                page.contains(&format!("--{flag}`")),
                "the page has no --{flag}"
            );
        }
    }
}

/// The pages of a command and of those that it holds.
fn man_pages(command: &Command, name: &str) -> Vec<String> {
    let inner = command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set());
    let inner = inner.flat_map(|inner| man_pages(inner, &format!("{name}-{}", inner.get_name())));
    inner.chain([format!("{name}.1")]).collect()
}

#[test]
fn each_command_has_a_man_page() {
    let directory = session::scratch();
    let step = session::shell(directory.path(), "operator-forge man-pages share/man1");
    assert_eq!((&*step.output, step.code), ("", 0));
    let mut expected = man_pages(&Cli::command(), "operator-forge");
    expected.sort();
    let pages = session::tree(&directory.path().join("share/man1"));
    assert_eq!(
        pages.keys().collect::<Vec<_>>(),
        expected.iter().collect::<Vec<_>>()
    );
    let page = String::from_utf8_lossy(&pages["operator-forge-create-webhook.1"]);
    assert!(
        page.contains("defaulting") && page.contains("Examples"),
        "{page}"
    );
}

/// The value of a line `key = "value"`.
fn value_of(path: &str, key: &str) -> String {
    let text = fs::read_to_string(session::repository().join(path)).unwrap();
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(&format!("{key} = \"")));
    value.unwrap().trim_end_matches('"').to_owned()
}

#[test]
fn the_pages_name_the_oldest_rust() {
    let read = |path: &str| fs::read_to_string(session::repository().join(path)).unwrap();
    let tool = value_of("Cargo.toml", "rust-version");
    let runtime = value_of("crates/operator-runtime/Cargo.toml", "rust-version");
    assert_eq!(
        value_of("templates/project/Cargo.toml.tera", "rust-version"),
        runtime
    );
    let page = read("docs/getting-started.md");
    let sentence = format!("Rust {tool} or newer (generated operators build with {runtime})");
    assert!(page.contains(&sentence), "{sentence}");
    assert!(read("crates/operator-runtime/README.md").contains(&format!("version is {runtime},")));
}

#[test]
fn the_page_of_webhooks_names_what_can_be_wrong_with_a_field() {
    let root = session::repository();
    let code = fs::read_to_string(root.join("crates/operator-runtime/src/webhook/field_errors.rs"))
        .unwrap();
    let page = fs::read_to_string(root.join("docs/webhooks.md")).unwrap();
    let methods: Vec<&str> = code
        .lines()
        .filter_map(|line| {
            line.trim()
                .strip_prefix("pub fn ")?
                .split_once("(&mut self, path")
        })
        .map(|(name, _)| name)
        .collect();
    assert!(methods.len() > 5, "{methods:?}");
    for name in methods {
        assert!(page.contains(&format!("`{name}(path, ")), "{name}");
    }
}

/// The anchor of a heading, as GitHub and mdbook make it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text
        .chars()
        .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The targets of links in a page, outside of its blocks.
fn links(page: &Page) -> Vec<String> {
    let after = page.text.split("](").skip(1);
    let targets = after.filter_map(|rest| rest.split_once(')'));
    let targets = targets.map(|(target, _)| target.to_owned());
    targets
        .filter(|it| !it.contains("://") && !it.contains(' '))
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = session::repository();
    let mut count = 0;
    for page in pages() {
        let path = root.join(&page.name);
        for link in links(&page)
            .iter()
            .filter(|link| !link.starts_with("crate::"))
        {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => path.parent().unwrap().join(file),
            };
            assert!(target.exists(), "{}: there is no `{link}`", page.name);
            if !place.is_empty() {
                let text = fs::read_to_string(&target).unwrap();
                let headings = text.lines().filter(|line| line.starts_with('#'));
                let is_there = headings.map(anchor).any(|it| it == place);
                assert!(is_there, "{}: there is no heading `{link}`", page.name);
            }
            count += 1;
        }
    }
    assert!(count > 150, "{count}");
}

#[test]
fn the_book_has_every_page() {
    let root = session::repository();
    let summary = Page::read(&root.join("docs/SUMMARY.md"));
    let listed: BTreeSet<PathBuf> = links(&summary)
        .iter()
        .map(|link| root.join("docs").join(link).canonicalize().unwrap())
        .collect();
    let inside = [
        "docs",
        "docs/decisions",
        "docs/reference",
        "docs/tutorials",
        "crates/operator-runtime/decisions",
        "crates/operator-runtime/src/guide",
    ];
    for folder in inside {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path().canonicalize().unwrap();
            let is_page = path.extension().is_some_and(|it| it == "md");
            assert!(
                !is_page || path.ends_with("SUMMARY.md") || listed.contains(&path),
                "docs/SUMMARY.md does not list {}",
                path.display()
            );
        }
    }
}
