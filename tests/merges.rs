//! `sync` after a real git merge: two branches become what one branch would have been, byte for byte.

mod session;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use session::{assert_same, consoles, parse, shell, tree};
use tempfile::TempDir;

type Tree = BTreeMap<String, Vec<u8>>;

/// How the second branch comes to the first, and how git shows what it cannot merge.
const WAYS: [(&str, &str); 4] = [
    ("merge", "merge"),
    ("merge", "diff3"),
    ("merge", "zdiff3"),
    ("rebase", "merge"),
];

#[track_caller]
fn succeed(directory: &Path, command: &str) {
    let step = shell(directory, command);
    assert_eq!(step.code, 0, "{command}\n{}", step.output);
}

/// A repository that holds `files` in its first commit.
fn repository(files: &Tree, style: &str) -> TempDir {
    let directory = TempDir::new().unwrap();
    place(files, directory.path());
    succeed(
        directory.path(),
        &format!(
            "git init -q -b main && git config user.name test && git config user.email test@example.com \
             && git config merge.conflictStyle {style} && git config gc.auto 0 && {COMMIT}"
        ),
    );
    directory
}

const COMMIT: &str = "git add --all && git commit -qm change";

/// Runs `second` on a branch and `first` on main, and brings the two together. Whether git found conflicts.
fn merge(directory: &Path, first: &str, second: &str, way: &str) -> bool {
    succeed(
        directory,
        &format!(
            "git switch -qc second && {{ {second}\n}} && {COMMIT} && git switch -q main && {{ {first}\n}} && {COMMIT}"
        ),
    );
    let merged = match way {
        "rebase" => shell(directory, "git switch -q second && git rebase -q main"),
        _ => shell(directory, "git merge -q --no-edit second"),
    };
    merged.code != 0
}

fn place(files: &Tree, directory: &Path) {
    for (path, bytes) in files {
        let file = directory.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
}

/// What the commands make of `files` on one branch, or `None` if one of them is refused.
fn on_one_branch(files: &Tree, commands: &[&str]) -> Option<Tree> {
    let directory = TempDir::new().unwrap();
    place(files, directory.path());
    let done = |command: &&str| shell(directory.path(), command).code == 0;
    commands.iter().all(done).then(|| tree(directory.path()))
}

/// One `sync` after the merge, and nothing is left to do.
#[track_caller]
fn settle(what: &str, directory: &Path) -> Tree {
    let sync = shell(directory, "operator-forge sync");
    assert_eq!(sync.code, 0, "{what}\n{}", sync.output);
    let check = shell(directory, "operator-forge sync --dry-run --output json");
    assert!(
        check.code == 0 && check.output.contains("\"changes\":[]"),
        "{what}\n{}",
        check.output
    );
    tree(directory)
}

/// Pairs of steps of the recorded sessions, each on a branch of its own: neighbours, and each with the last.
#[test]
fn two_branches_become_one() {
    let (mut merges, mut conflicts) = (0, 0);
    for path in consoles("projects") {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let steps = parse(&fs::read_to_string(&path).unwrap());
        let commands: Vec<&str> = steps.iter().map(|step| step.command.as_str()).collect();
        let mut before = Tree::new();
        for at in 1..commands.len() {
            before = on_one_branch(&before, &[commands[at - 1]]).expect("the session succeeds");
            let first = commands[at];
            let partners: BTreeSet<usize> = [at + 1, commands.len() - 1].into();
            for partner in partners.range(at + 1..commands.len()) {
                let second = commands[*partner];
                let expected = on_one_branch(&before, &[first, second]);
                if expected.is_none() || on_one_branch(&before, &[second]).is_none() {
                    continue;
                }
                let (way, style) = WAYS[merges % WAYS.len()];
                let what = format!("{name}: {first} | {second} ({way} {style})");
                let directory = repository(&before, style);
                conflicts += usize::from(merge(directory.path(), first, second, way));
                assert_same(&what, &expected.unwrap(), &settle(&what, directory.path()));
                merges += 1;
            }
        }
    }
    println!("{merges} merges, {conflicts} with conflicts");
    assert!(
        conflicts * 2 > merges,
        "git had no trouble: {conflicts} of {merges}"
    );
}
