//! `sync` after a real git merge: two branches become what one branch would have been, byte for byte.

mod session;

use std::{collections::BTreeMap, fs, path::Path};

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

fn repository() -> TempDir {
    let directory = TempDir::new().unwrap();
    succeed(
        directory.path(),
        "git init -q -b main && git config user.name test && git config user.email test@example.com",
    );
    directory
}

const COMMIT: &str = "git add --all && git commit -qm change";

/// Runs the commands of each branch on it, and brings the second to the first. Whether git found conflicts.
fn merge(
    directory: &Path,
    both: &[&str],
    first: &[&str],
    second: &[&str],
    way: (&str, &str),
) -> bool {
    let all = |commands: &[&str]| {
        commands
            .iter()
            .for_each(|command| succeed(directory, command));
        succeed(directory, COMMIT);
    };
    succeed(
        directory,
        &format!("git config merge.conflictStyle {}", way.1),
    );
    all(both);
    succeed(directory, "git switch -qc second");
    all(second);
    succeed(directory, "git switch -q main");
    all(first);
    let merged = match way.0 {
        "rebase" => shell(directory, "git switch -q second && git rebase -q main"),
        _ => shell(directory, "git merge -q --no-edit second"),
    };
    merged.code != 0
}

/// What the commands make on one branch, or `None` if one of them is refused.
fn on_one_branch(commands: &[&str]) -> Option<Tree> {
    let directory = TempDir::new().unwrap();
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

/// Every pair of steps of the recorded sessions, each on a branch of its own.
#[test]
fn two_branches_become_one() {
    let (mut merges, mut conflicts) = (0, 0);
    for path in consoles("projects") {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let steps = parse(&fs::read_to_string(&path).unwrap());
        let commands: Vec<&str> = steps.iter().map(|step| step.command.as_str()).collect();
        for (at, first) in commands.iter().enumerate().skip(1) {
            for second in &commands[at + 1..] {
                // What comes before both may be needed by either.
                let both = &commands[..at];
                let one: Vec<&str> = both.iter().chain([first, second]).copied().collect();
                let other: Vec<&str> = both.iter().chain([second]).copied().collect();
                let (Some(expected), Some(_)) = (on_one_branch(&one), on_one_branch(&other)) else {
                    continue;
                };
                let way = WAYS[merges % WAYS.len()];
                let what = format!("{name}: {first} | {second} ({} {})", way.0, way.1);
                let directory = repository();
                let conflicted = merge(directory.path(), both, &[first], &[second], way);
                conflicts += usize::from(conflicted);
                let found = settle(&what, directory.path());
                assert_same(&what, &expected, &found);
                merges += 1;
            }
        }
    }
    println!("{merges} merges, {conflicts} with conflicts");
    assert!(
        conflicts > 20,
        "git had no trouble: {conflicts} of {merges}"
    );
}
