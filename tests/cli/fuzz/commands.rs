//! Whole commands on a real project of which one file is somebody else's: what is refused leaves every file as it is, and
//! nothing outside of the project is touched whatever the file says.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use clap::Parser;
use operator_forge::{
    apply::{self, Real, Transaction},
    cli::Cli,
    command,
    error::Failure,
    report::Report,
    tree::Digest,
};
use proptest::{collection::vec, option, prelude::*, sample::select, strategy::Union};
use tempfile::TempDir;
use walkdir::WalkDir;

use super::{
    Tested, is_helpful,
    mutation::{Bytes, mutated},
    run::fuzz,
};

/// A directory in memory where the system has one: each command waits for the disk.
fn directory() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        TempDir::new_in(memory).unwrap()
    } else {
        TempDir::new().unwrap()
    }
}

fn run(directory: &Path, words: &str) -> Result<u8, Failure> {
    let first = [
        "operator-forge",
        "--quiet",
        "--no-input",
        "--color",
        "never",
        "-C",
    ]
    .map(Into::into);
    let words = words.split(' ').map(Into::into);
    let cli = Cli::try_parse_from(
        first
            .into_iter()
            .chain([directory.as_os_str().to_owned()])
            .chain(words),
    );
    let cli = cli.unwrap_or_else(|error| panic!("{error}"));
    command::run(&cli, &mut Report::new(&cli.global, &[]))
}

/// Files with their bytes, and directories.
type Contents = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// What is below `root`, as far as it is wanted by its path.
fn contents(root: &Path, wanted: impl Fn(&Path) -> bool) -> Contents {
    let entries = WalkDir::new(root)
        .min_depth(1)
        .into_iter()
        .map(Result::unwrap);
    let entries = entries.map(|entry| {
        (
            entry.path().strip_prefix(root).unwrap().to_path_buf(),
            entry,
        )
    });
    entries
        .filter(|(path, _)| wanted(path))
        .map(|(path, entry)| {
            (
                path,
                entry
                    .file_type()
                    .is_file()
                    .then(|| fs::read(entry.path()).unwrap()),
            )
        })
        .collect()
}

/// Puts back what was there.
fn restore(root: &Path, before: &Contents) {
    for (path, bytes) in contents(root, |_| true).into_iter().rev() {
        let full = root.join(&path);
        match before.get(&path) {
            Some(old) if *old == bytes => {}
            _ if bytes.is_none() && !full.is_symlink() => fs::remove_dir_all(full).unwrap(),
            _ => fs::remove_file(full).unwrap(),
        }
    }
    for (path, bytes) in before {
        let full = root.join(path);
        match bytes {
            None => fs::create_dir_all(full).unwrap(),
            Some(bytes) if !full.exists() => fs::write(full, bytes).unwrap(),
            Some(_) => {}
        }
    }
}

fn is_local(path: &Path) -> bool {
    path.starts_with(".operator-forge/local")
}

/// A project with a bit of everything, and what its directory holds.
fn project() -> &'static Contents {
    static PROJECT: OnceLock<Contents> = OnceLock::new();
    PROJECT.get_or_init(|| {
        let home = directory();
        let root = home.path().join("project");
        fs::create_dir(&root).unwrap();
        for words in [
            "init --domain example.com --project-name demo --vcs none",
            "create api --group cache --version v1 --kind Memcached",
            "create webhook --group cache --version v1 --kind Memcached --defaulting --validation",
            "own src/controllers.rs",
            "create api --group cache --version v2 --kind Memcached --from-version v1",
        ] {
            run(&root, words).unwrap_or_else(|failure| panic!("{words}: {failure}"));
        }
        fs::create_dir_all(root.join("config/crd/bases")).unwrap();
        fs::write(
            root.join("config/crd/bases/a.yaml"),
            &super::seeds::definitions()[0],
        )
        .unwrap();
        contents(&root, |_| true)
    })
}

const COMMANDS: [&str; 27] = [
    "sync",
    "sync --on-conflict keep",
    "sync --on-conflict take",
    "sync --on-conflict markers",
    "sync --dry-run --diff --output json",
    "check",
    "check --crds -C/config/crd/bases",
    "status",
    "diff",
    "undo",
    "update",
    "create api --group crew --version v1 --kind Captain",
    "create api --group cache --version v3 --kind Memcached --from-version v1",
    "create webhook --group cache --version v2 --kind Memcached --defaulting",
    "delete api --group cache --version v1 --kind Memcached",
    "delete webhook --group cache --version v1 --kind Memcached --validation",
    "delete webhook --group cache --version v2 --kind Memcached --conversion --spoke v1",
    "edit --owner Somebody",
    "edit --namespaced",
    "edit api --group cache --version v1 --kind Memcached --short-name m",
    "edit api --group cache --version v1 --kind Memcached --namespaced=false --force",
    "rename --group cache --kind Memcached --to Cache",
    "own src/api.rs",
    "disown src/controllers.rs",
    "restore src/api.rs",
    "init --domain example.com",
    "check --crds config/crd/bases/a.yaml",
];

/// Files that a command reads.
const READ: [&str; 14] = [
    "PROJECT",
    "PROJECT",
    ".operator-forge/PROJECT",
    ".operator-forge/lock",
    ".operator-forge/base/Cargo.toml",
    ".operator-forge/base/config/manager/manager.yaml",
    ".operator-forge/local/lock",
    ".operator-forge/local/undo",
    "Cargo.toml",
    "config/rbac/kustomization.yaml",
    "config/crd/bases/a.yaml",
    "src/api.rs",
    "src/api/cache/v1/memcached.rs",
    ".gitattributes",
];

#[test]
fn commands_refuse_or_do_all() {
    let home = directory();
    let root = home.path().join("project");
    restore_into(&root, project());
    let outside = home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let file = |path: &'static str| {
        let seeds = vec![project()[Path::new(path)].clone().expect("a file")];
        mutated(seeds).prop_map(move |bytes| (path, bytes)).boxed()
    };
    fuzz(
        "commands",
        20,
        || (Union::new(READ.map(file)), select(&COMMANDS[..])),
        |((path, bytes), words)| {
            fs::write(root.join(path), &bytes.0).unwrap();
            let before = contents(&root, |path| !is_local(path));
            let words = words.replace("-C/", &format!("{}/", root.display()));
            let words = words.replace("crds config", &format!("crds {}/config", root.display()));
            let result = run(&root, &words);
            let after = contents(&root, |path| !is_local(path));
            let checked = (|| {
                prop_assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
                match result {
                    Ok(_) => Ok(()),
                    Err(failure) => {
                        is_helpful(&failure)?;
                        prop_assert!(
                            before == after,
                            "{} wrote before it said {}",
                            words,
                            failure
                        );
                        Ok(())
                    }
                }
            })();
            restore(&root, project());
            checked
        },
    );
}

fn restore_into(root: &Path, contents: &Contents) {
    fs::create_dir(root).unwrap();
    restore(root, contents);
}

/// A journal whose sum is right, whatever else is wrong with it.
fn sealed(body: &[u8]) -> Vec<u8> {
    let mut bytes = body.to_vec();
    bytes.extend(format!("\nsum {}\n", Digest::exact(body)).into_bytes());
    bytes
}

const PATHS: [&str; 24] = [
    "a",
    "b",
    "dir/x",
    "dir/y/z",
    "PROJECT",
    "new/deep/file",
    "link",
    "link/kept",
    "link/new",
    "link/empty/x",
    "link/empty",
    "dir/link/kept",
    "../outside/kept",
    "../outside/empty",
    "/etc/hosts",
    ".git/config",
    ".GIT/hooks/x",
    ".operator-forge/lock",
    ".operator-forge/local/lock",
    ".Operator-Forge/Local/x",
    "git~1/config",
    ".g\u{200c}it/config",
    "dir/../../outside/kept",
    "dir",
];

/// A journal by its parts, most of which are right.
fn journals() -> impl Strategy<Value = Bytes> {
    let side = || option::of(("[ab]{0,3}", option::of(0..0o10_000u32)));
    let step = (select(&PATHS[..]), side(), side());
    let parts = (
        any::<bool>(),
        vec(select(&PATHS[..]), 0..3),
        vec(step, 0..4),
    );
    let right = parts.prop_map(|(made_root, directories, steps)| {
        let (mut head, mut texts) = (
            "operator-forge journal 1\ncommand x\n".to_owned(),
            String::new(),
        );
        if made_root {
            head += "root\n";
        }
        directories
            .iter()
            .for_each(|path| head += &format!("directory {path}\n"));
        for (path, before, after) in steps {
            let mut side = |side: Option<(String, Option<u32>)>| match side {
                None => "-".to_owned(),
                Some((text, mode)) => {
                    texts += &text;
                    let mode = mode.map_or(String::new(), |mode| format!(":{mode:o}"));
                    format!("{}{mode}", text.len())
                }
            };
            let (before, after) = (side(before), side(after));
            head += &format!("file - {before} {after} {path}\n");
        }
        format!("{head}\n{texts}").into_bytes()
    });
    let written = b"operator-forge journal 1\ncommand create api\ndirectory new\nfile tool 1:644 2 a\nfile user - 1 new/b\n\naab1".to_vec();
    let changed = mutated(vec![written]).prop_map(|bytes| bytes.0);
    prop_oneof![3 => right.prop_map(|body| sealed(&body)), 2 => changed.clone().prop_map(|body| sealed(&body)), 1 => changed]
        .prop_map(Bytes)
}

#[test]
fn journals_stay_in_the_project() {
    let home = directory();
    let (root, outside) = (home.path().join("project"), home.path().join("outside"));
    fs::create_dir_all(outside.join("empty")).unwrap();
    fs::write(outside.join("kept"), "a").unwrap();
    fs::create_dir_all(root.join(".operator-forge/local")).unwrap();
    fs::create_dir_all(root.join("dir")).unwrap();
    fs::create_dir_all(root.join(".git")).unwrap();
    for path in [
        "PROJECT",
        "a",
        "dir/x",
        ".git/config",
        ".operator-forge/lock",
        ".operator-forge/local/lock",
    ] {
        fs::write(root.join(path), "a").unwrap();
    }
    #[cfg(unix)]
    for link in ["link", "dir/link"] {
        std::os::unix::fs::symlink(&outside, root.join(link)).unwrap();
    }
    let before = contents(&root, |_| true);
    let around = contents(&outside, |_| true);
    let lock = || {
        let text = b"7 operator-forge x\nboot\n".to_vec();
        prop_oneof![Just(Bytes(Vec::new())), mutated(vec![text])]
    };
    fuzz(
        "journal",
        80,
        || (journals(), lock(), any::<bool>()),
        |(journal, lock, is_record)| {
            let local = root.join(".operator-forge/local");
            fs::write(local.join("lock"), &lock.0).unwrap();
            fs::write(
                local.join(if *is_record { "undo" } else { "journal" }),
                &journal.0,
            )
            .unwrap();
            let checked = settled(&root, &before, &outside, &around);
            if contents(&outside, |_| true) != around {
                fs::remove_dir_all(&outside).unwrap();
                fs::create_dir(&outside).unwrap();
                restore(&outside, &around);
            }
            if !is_intact(&root, &before) {
                restore_links(&root, &before, &outside);
            }
            let _ = fs::remove_dir_all(&local);
            fs::create_dir_all(&local).unwrap();
            fs::write(local.join("lock"), "a").unwrap();
            checked
        },
    );
}

fn is_intact(root: &Path, before: &Contents) -> bool {
    contents(root, |path| !is_local(path))
        .iter()
        .eq(before.iter().filter(|(path, _)| !is_local(path)))
}

/// [`restore`] with the links in it.
fn restore_links(root: &Path, before: &Contents, outside: &Path) {
    let _ = fs::remove_dir_all(root);
    fs::create_dir(root).unwrap();
    for (path, bytes) in before {
        let full = root.join(path);
        match bytes {
            #[cfg(unix)]
            None if path.ends_with("link") => std::os::unix::fs::symlink(outside, full).unwrap(),
            None => fs::create_dir_all(full).unwrap(),
            Some(bytes) => fs::write(full, bytes).unwrap(),
        }
    }
}

/// Goes by the journal as the next command would, then by the record as `undo` would.
fn settled(root: &Path, before: &Contents, outside: &Path, around: &Contents) -> Tested {
    let disk = Real::new(root);
    if let Err(error) = apply::pending(&disk) {
        is_helpful(&error.into())?;
    }
    prop_assert!(is_intact(root, before), "looking changed something");
    if let Err(failure) = apply::recover(&disk).map_err(Failure::from) {
        is_helpful(&failure)?;
        prop_assert!(
            is_intact(root, before),
            "something was written before {failure}"
        );
    }
    match apply::last(&disk) {
        Ok(undo) => {
            let mut turn = Transaction::begin(&disk, "undo")
                .map_err(|error| TestCaseError::fail(error.to_string()))?;
            if let Err(error) = apply::apply(&mut turn, undo.steps) {
                is_helpful(&error.into())?;
            }
        }
        Err(error) => is_helpful(&error.into())?,
    }
    prop_assert_eq!(&contents(outside, |_| true), around);
    let git = contents(&root.join(".git"), |_| true);
    prop_assert_eq!(
        git.into_iter().collect::<Vec<_>>(),
        [(PathBuf::from("config"), Some(b"a".to_vec()))]
    );
    Ok(())
}
