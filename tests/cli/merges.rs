//! `sync` after a real git merge: two branches become what one branch would have been, byte for byte.

use crate::session;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    thread,
};

use session::{Step, assert_same, projects, shell, tree};
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
    let projects = projects();
    let counts: Vec<(usize, usize)> = thread::scope(|scope| {
        let sessions: Vec<_> = projects
            .iter()
            .map(|(name, steps)| scope.spawn(|| pairs_of(name, steps)))
            .collect();
        sessions
            .into_iter()
            .map(|session| session.join().expect("every pair becomes one"))
            .collect()
    });
    let merges: usize = counts.iter().map(|(merges, _)| merges).sum();
    let conflicts: usize = counts.iter().map(|(_, conflicts)| conflicts).sum();
    println!("{merges} merges, {conflicts} with conflicts");
    assert!(
        conflicts * 2 > merges,
        "git had no trouble: {conflicts} of {merges}"
    );
}

/// How many pairs of a session were merged, and how many of them with conflicts.
fn pairs_of(name: &str, steps: &[Step]) -> (usize, usize) {
    let (mut merges, mut conflicts) = (0, 0);
    let commands: Vec<&str> = steps.iter().map(|step| step.command.as_str()).collect();
    let mut before = Tree::new();
    for at in 1..commands.len() {
        before = on_one_branch(&before, &[commands[at - 1]]).expect("the session succeeds");
        let first = commands[at];
        let partners: BTreeSet<usize> = [at + 1, commands.len() - 1].into();
        for partner in partners.range(at + 1..commands.len()) {
            let second = commands[*partner];
            let expected = on_one_branch(&before, &[first, second]);
            let (Some(expected), Some(_)) = (expected, on_one_branch(&before, &[second])) else {
                continue;
            };
            let (way, style) = WAYS[merges % WAYS.len()];
            let what = format!("{name}: {first} | {second} ({way} {style})");
            let directory = repository(&before, style);
            conflicts += usize::from(merge(directory.path(), first, second, way));
            assert_same(&what, &expected, &settle(&what, directory.path()));
            merges += 1;
        }
    }
    (merges, conflicts)
}

/// Without the hundreds of files of a vendored runtime, which differ in nothing that matters here.
const INIT: &str =
    "operator-forge init -q --domain example.com --project-name demo --vcs none --runtime registry";
const API: &str = "operator-forge create api -q --group cache --version v1alpha1 --kind Memcached";
const OTHER: &str = "operator-forge create api -q --group cache --version v1 --kind Redis";
const WEBHOOK: &str = "operator-forge create webhook -q --group cache --version v1alpha1 --kind Memcached --defaulting";
const SECOND: &str =
    "operator-forge create api -q --group cache --version v1 --kind Memcached --controller=false";

/// What one `sync` makes of two branches.
struct Merged {
    directory: TempDir,
    sync: session::Step,
}

impl Merged {
    #[track_caller]
    fn new(both: &[&str], first: &str, second: &str, (way, style): (&str, &str)) -> Self {
        let before = on_one_branch(&Tree::new(), both).expect("the commands succeed");
        let directory = repository(&before, style);
        merge(directory.path(), first, second, way);
        let sync = shell(directory.path(), "operator-forge sync");
        Self { directory, sync }
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.directory.path().join(path)).unwrap_or_default()
    }

    #[track_caller]
    fn assert_settled(&self) {
        let check = shell(self.directory.path(), "operator-forge sync --dry-run");
        assert!(
            check.output.contains("nothing to change"),
            "{}\n{}",
            self.sync.output,
            check.output
        );
    }
}

/// What is alike on both branches is there once.
#[test]
fn the_same_command_on_both_branches_is_done_once() {
    for way in [WAYS[0], WAYS[3]] {
        for (both, command) in [
            (&[INIT][..], API),
            (&[INIT, API][..], WEBHOOK),
            (&[INIT, API][..], SECOND),
        ] {
            let merged = Merged::new(both, command, command, way);
            let what = format!("{command} twice ({} {})", way.0, way.1);
            assert_eq!(merged.sync.code, 0, "{what}\n{}", merged.sync.output);
            let commands: Vec<&str> = both.iter().chain([&command]).copied().collect();
            let expected = on_one_branch(&Tree::new(), &commands).unwrap();
            assert_same(&what, &expected, &tree(merged.directory.path()));
        }
    }
}

/// Until the file is added, git goes on to say that nobody has merged it.
#[test]
fn a_generated_file_is_merged_once() {
    let edit = "sed -i '7i// mine' src/api.rs";
    let both = format!("{API} && {OTHER}");
    let merged = Merged::new(&[INIT], edit, &both, WAYS[0]);
    let text = merged.read("src/api.rs");
    assert!(text.contains("// mine"), "{}\n{text}", merged.sync.output);
    for text in ["pub mod cache {", "::Memcached>()", "::Redis>()"] {
        assert_eq!(merged.read("src/api.rs").matches(text).count(), 1, "{text}");
    }
    merged.assert_settled();
}

/// In a file that the tool merges, a comment of the user wins over the template's. Here both are the user's.
#[test]
fn comments_of_both_branches_stay_in_conflict() {
    let append = |text: &str| format!("echo '# {text}.' >> config/rbac/service_account.yaml");
    for way in WAYS {
        let merged = Merged::new(&[INIT], &append("first"), &append("second"), way);
        let text = merged.read("config/rbac/service_account.yaml");
        for comment in ["# first.", "# second."] {
            assert!(
                text.contains(comment),
                "{way:?}\n{}\n{text}",
                merged.sync.output
            );
        }
        let told = "`config/rbac/service_account.yaml` has conflict markers";
        assert!(merged.sync.output.contains(told), "{}", merged.sync.output);
        assert_eq!(merged.sync.code, 3, "{}", merged.sync.output);
    }
}

/// Edits of both branches, in User and Shared files, survive a merge of two APIs.
#[test]
fn edits_of_both_branches_are_kept() {
    for way in WAYS {
        let merged = Merged::new(
            &[INIT],
            &format!(
                "{API} && echo '// first' >> src/controllers/cache/memcached.rs && echo '*.first' >> .gitignore \
                 && sed -i 's/cpu: 10m/cpu: 20m/' config/manager/manager.yaml \
                 && sed -i '/^\\[dependencies\\]/a first = \"1\"' Cargo.toml"
            ),
            &format!(
                "{OTHER} && echo '// second' >> src/controllers/cache/redis.rs && echo '*.second' >> .gitignore \
                 && sed -i 's/cpu: 500m/cpu: 750m/' config/manager/manager.yaml \
                 && sed -i '/^\\[dependencies\\]/a second = \"1\"' Cargo.toml"
            ),
            way,
        );
        let what = format!("{way:?}\n{}", merged.sync.output);
        assert_eq!(merged.sync.code, 0, "{what}");
        for (path, texts) in [
            ("src/controllers/cache/memcached.rs", &["// first"][..]),
            ("src/controllers/cache/redis.rs", &["// second"]),
            (".gitignore", &["*.first", "*.second"]),
            ("config/manager/manager.yaml", &["cpu: 20m", "cpu: 750m"]),
            ("Cargo.toml", &["first = \"1\"", "second = \"1\""]),
            ("src/api.rs", &["Memcached", "Redis"]),
            (
                "config/rbac/api_roles.yaml",
                &["cache-memcached-viewer", "cache-redis-viewer"],
            ),
        ] {
            let text = merged.read(path);
            for wanted in texts {
                assert_eq!(
                    text.matches(wanted).count().min(1),
                    1,
                    "{what}\n{path} lacks {wanted}\n{text}"
                );
            }
            assert!(!text.contains("<<<<<<<"), "{what}\n{path}\n{text}");
        }
        merged.assert_settled();
    }
}

/// One branch deletes an API that the other one edits: the edited file stays, and is told.
#[test]
fn a_deletion_meets_an_edit() {
    let delete = "git show HEAD~1:PROJECT > PROJECT && operator-forge sync -q";
    for way in [WAYS[0], WAYS[1]] {
        let before = on_one_branch(&Tree::new(), &[INIT]).unwrap();
        let directory = repository(&before, way.1);
        succeed(directory.path(), &format!("{API} && {COMMIT}"));
        let edit = "echo '// edited' >> src/controllers/cache/memcached.rs";
        merge(
            directory.path(),
            delete,
            &format!("{edit} && {OTHER}"),
            way.0,
        );
        let sync = shell(directory.path(), "operator-forge sync");
        assert!(matches!(sync.code, 0 | 3), "{}", sync.output);
        let text = |path: &str| fs::read_to_string(directory.path().join(path)).unwrap();
        assert!(text("src/controllers/cache/memcached.rs").ends_with("// edited\n"));
        assert!(!text("PROJECT").contains("Memcached"));
        assert!(text("src/api.rs").contains("Redis") && !text("src/api.rs").contains("Memcached"));
        let check = shell(directory.path(), "operator-forge sync --dry-run");
        assert!(
            check.output.contains("nothing to change"),
            "{}",
            check.output
        );
    }
}

/// Both branches change one key of `PROJECT`: it is named with both values, nothing is written, and a flag settles it.
#[test]
fn one_key_changed_on_both_branches_is_the_users_to_settle() {
    let license = |name: &str| {
        format!("sed -i 's/license: .*/license: {name}/' PROJECT && operator-forge sync -q")
    };
    let merged = Merged::new(&[INIT], &license("mit"), &license("none"), WAYS[0]);
    assert_eq!(merged.sync.code, 1, "{}", merged.sync.output);
    for wanted in ["license", "`mit`", "`none`", "--on-conflict keep"] {
        assert!(
            merged.sync.output.contains(wanted),
            "{}",
            merged.sync.output
        );
    }
    let root = merged.directory.path();
    let taken = shell(root, "operator-forge sync --on-conflict take");
    assert!(matches!(taken.code, 0 | 3), "{}", taken.output);
    assert!(merged.read("PROJECT").contains("license: none"));
    merged.assert_settled();
}

/// Until `sync`, no other command takes the text of one branch for the project, and none is lost where it was committed.
#[test]
fn an_unsettled_merge_drops_nothing() {
    // Of the second pair, no file is another one on both branches.
    for (both, first, second) in [(&[INIT][..], API, OTHER), (&[INIT, API], WEBHOOK, SECOND)] {
        let before = on_one_branch(&Tree::new(), both).unwrap();
        let directory = repository(&before, "merge");
        merge(directory.path(), first, second, "merge");
        let other = shell(directory.path(), "operator-forge own Makefile");
        assert_eq!(other.code, 1, "{}", other.output);
        assert!(
            other.output.contains("help: operator-forge sync"),
            "{}",
            other.output
        );
        succeed(
            directory.path(),
            "git checkout -q --ours . && git add --all && git commit -qm merge",
        );
        let expected = on_one_branch(&before, &[first, second]).unwrap();
        let found = settle("committed with the text of one branch", directory.path());
        assert_same("committed with the text of one branch", &expected, &found);
    }
}

/// An edit of one branch and what the other one generated come together in a generated file, before and after the commit.
#[test]
fn an_edit_meets_what_the_other_branch_generated() {
    let edit = "echo '// mine' >> src/controllers.rs";
    let commit = "git add --all && git commit -qm merge";
    for (first, second, then) in [
        (edit, API, "true"),
        (API, edit, "true"),
        (edit, API, commit),
    ] {
        let before = on_one_branch(&Tree::new(), &[INIT]).unwrap();
        let directory = repository(&before, "merge");
        let root = directory.path();
        assert!(merge(root, first, second, "merge"), "git found no conflict");
        succeed(root, then);
        let status = shell(root, "operator-forge status");
        let told = "Edited src/controllers.rs (tool; `sync` would merge it)";
        assert!(status.output.contains(told), "{}", status.output);
        let sync = shell(root, "operator-forge sync");
        assert_eq!(sync.code, 3, "{}", sync.output);
        let text = fs::read_to_string(root.join("src/controllers.rs")).unwrap();
        assert!(text.contains("memcached::controller()"), "{text}");
        assert!(text.ends_with("// mine\n"), "{text}");
        let again = shell(root, "operator-forge sync");
        assert!(
            again.output.contains("nothing to change"),
            "{}",
            again.output
        );
    }
}

/// Where git keeps no sides (markers were added to the index, or another tool merged), the text is enough.
#[test]
fn markers_without_git_are_enough() {
    let before = on_one_branch(&Tree::new(), &[INIT]).unwrap();
    for style in ["merge", "diff3", "zdiff3"] {
        let directory = repository(&before, style);
        // An older project, whose attributes let git merge line by line.
        succeed(
            directory.path(),
            &format!("sed -i '/ -merge$/d' .gitattributes && {COMMIT}"),
        );
        assert!(
            merge(directory.path(), API, OTHER, "merge"),
            "git found no conflict"
        );
        succeed(directory.path(), "git add --all && rm -rf .git");
        let sync = shell(directory.path(), "operator-forge sync");
        assert_eq!(sync.code, 0, "{style}\n{}", sync.output);
        let mut expected = on_one_branch(&before, &[API, OTHER]).unwrap();
        let mut found = tree(directory.path());
        for files in [&mut expected, &mut found] {
            files.remove(".gitattributes");
        }
        assert_same(style, &expected, &found);
    }
}

/// A generated file that somebody edited on one branch is not written anew without a word, whichever branch it was.
#[test]
fn an_edit_of_a_generated_file_is_reported() {
    let edited = format!("{API} && echo '// mine' >> src/api.rs");
    for (first, second) in [(edited.as_str(), OTHER), (OTHER, edited.as_str())] {
        let merged = Merged::new(&[INIT], first, second, WAYS[0]);
        let told = "`src/api.rs` was edited on one of the merged branches";
        assert_eq!(merged.sync.code, 1, "{}", merged.sync.output);
        assert!(merged.sync.output.contains(told), "{}", merged.sync.output);
        let taken = shell(
            merged.directory.path(),
            "operator-forge sync --on-conflict take",
        );
        assert_eq!(taken.code, 3, "{}", taken.output);
        let told = "the edit is dropped: `git log --all --patch -- src/api.rs` shows it";
        assert!(taken.output.contains(told), "{}", taken.output);
        merged.assert_settled();
    }
}

/// What is kept is the edit, on whichever branch it was, and not the text that git happened to leave.
#[test]
fn an_edit_of_a_generated_file_is_kept() {
    let edited = format!("{API} && echo '// mine' >> src/api.rs");
    for (first, second) in [(edited.as_str(), OTHER), (OTHER, edited.as_str())] {
        let merged = Merged::new(&[INIT], first, second, WAYS[0]);
        let kept = shell(
            merged.directory.path(),
            "operator-forge sync --on-conflict keep",
        );
        assert_eq!(kept.code, 3, "{}", kept.output);
        let text = merged.read("src/api.rs");
        assert!(text.ends_with("// mine\n"), "{text}");
        merged.assert_settled();
    }
}

/// However a merge was committed with the text of one branch, no command takes the other branch's files away unasked, and the
/// line to paste puts its entry back.
#[test]
fn what_a_commit_lost_is_put_back() {
    let before = on_one_branch(&Tree::new(), &[INIT]).unwrap();
    let (ours, theirs) = ("git add --all && git commit -qm ours", "second");
    for merge in [
        format!("git merge -q --squash {theirs}; {ours}"),
        format!("git merge -q {theirs}; {ours} && git commit -q --allow-empty -m later"),
        format!("git cherry-pick {theirs}; {ours}"),
        format!(
            "git switch -q {theirs} && git rebase -q main; git add --all && GIT_EDITOR=true git rebase --continue"
        ),
        format!("git merge -q --no-edit -X theirs {theirs}"),
    ] {
        let directory = repository(&before, "merge");
        let root = directory.path();
        succeed(
            root,
            &format!(
                "git switch -qc second && {OTHER} && {COMMIT} && git switch -q main && {API} && {COMMIT}"
            ),
        );
        shell(root, &merge);
        let check = shell(root, "operator-forge check");
        let sync = shell(root, "operator-forge sync");
        for refused in [&check, &sync] {
            assert_eq!(refused.code, 1, "{merge}\n{}", refused.output);
            let told = "`PROJECT` has lost the entry of ";
            assert!(refused.output.contains(told), "{merge}\n{}", refused.output);
        }
        let line = sync
            .output
            .lines()
            .find_map(|line| line.strip_prefix("help: "));
        succeed(root, line.expect("a line to paste"));
        let expected = on_one_branch(&before, &[API, OTHER]).unwrap();
        assert_same(&merge, &expected, &settle(&merge, root));
    }
}

/// One branch changes the options of a kind that the other one deletes or renames: that is one thing, which both changed.
#[test]
fn options_meet_a_deletion() {
    let options = "operator-forge edit api -q --group cache --version v1alpha1 --kind Memcached --short-name mc >/dev/null";
    for removal in [
        "operator-forge delete api -q --group cache --version v1alpha1 --kind Memcached",
        "operator-forge rename -q --group cache --kind Memcached --to Cache >/dev/null",
    ] {
        for (policy, is_kept) in [("keep", false), ("take", true)] {
            let merged = Merged::new(&[INIT, API], removal, options, WAYS[0]);
            assert_eq!(merged.sync.code, 1, "{}", merged.sync.output);
            for wanted in ["both branches changed `resources, ", "--on-conflict keep"] {
                assert!(
                    merged.sync.output.contains(wanted),
                    "{}",
                    merged.sync.output
                );
            }
            let settled = shell(
                merged.directory.path(),
                &format!("operator-forge sync --on-conflict {policy}"),
            );
            assert!(matches!(settled.code, 0 | 3), "{}", settled.output);
            let project = merged.read("PROJECT");
            assert_eq!(project.contains("kind: Memcached"), is_kept, "{project}");
            assert_eq!(project.contains("- mc"), is_kept, "{project}");
            merged.assert_settled();
        }
    }
}

/// git is not told of a settled merge while a file has markers: it would commit them.
#[test]
fn markers_come_before_git_add() {
    let edit =
        |api: &str, word: &str| format!("{api} && sed -i 's/^IMG ?= .*/IMG ?= {word}/' Makefile");
    let merged = Merged::new(
        &[INIT],
        &edit(API, "first"),
        &edit(OTHER, "second"),
        WAYS[0],
    );
    let told = "resolve `Makefile`, then mark the merge as resolved: `git add --all .`";
    assert!(merged.sync.output.contains(told), "{}", merged.sync.output);
    // Nor where the file is nothing to the project.
    let edit = |api: &str, word: &str| format!("{api} && echo '// {word}' > src/mine.rs");
    let merged = Merged::new(
        &[INIT],
        &edit(API, "first"),
        &edit(OTHER, "second"),
        WAYS[0],
    );
    let told = "resolve `src/mine.rs`, then mark the merge as resolved: `git add --all .`";
    assert!(merged.sync.output.contains(told), "{}", merged.sync.output);
}

/// Where both branches wrote into one place of a User file, the choice is the user's, and nothing else waits for it.
#[test]
fn markers_in_a_users_file_are_reported() {
    let edit = |api: &str, word: &str| {
        format!("{api} && echo '// {word}' >> src/controllers/cache/memcached.rs")
    };
    let webhook = edit(WEBHOOK, "second");
    let merged = Merged::new(&[INIT, API], &edit(OTHER, "first"), &webhook, WAYS[0]);
    assert_eq!(merged.sync.code, 3, "{}", merged.sync.output);
    let text = merged.read("src/controllers/cache/memcached.rs");
    assert!(text.contains("<<<<<<<") && text.contains("// first") && text.contains("// second"));
    let note = "`src/controllers/cache/memcached.rs` has conflict markers";
    assert!(merged.sync.output.contains(note), "{}", merged.sync.output);
    merged.assert_settled();
}

/// A file that was taken over is the user's, and git merges it as any other of theirs.
#[test]
fn an_owned_file_is_merged_by_git() {
    let own = "operator-forge own -q src/controllers.rs";
    let first = "sed -i '1i// first' src/controllers.rs";
    let second = "echo '// second' >> src/controllers.rs";
    for way in WAYS {
        let merged = Merged::new(&[INIT, own], first, second, way);
        assert_eq!(merged.sync.code, 0, "{}", merged.sync.output);
        let text = merged.read("src/controllers.rs");
        assert!(text.starts_with("// first\n") && text.ends_with("// second\n"));
    }
}

/// One that was taken over on the branch that comes is not the text of the other branch without a word.
#[test]
fn a_file_owned_on_one_branch_is_reported() {
    let first = "sed -i '1i// first' src/controllers.rs";
    let second =
        "operator-forge own -q src/controllers.rs && echo '// second' >> src/controllers.rs";
    for (_, style) in &WAYS[..3] {
        let merged = Merged::new(&[INIT], first, second, ("merge", style));
        assert_eq!(merged.sync.code, 3, "{}", merged.sync.output);
        let change = "git diff :1:./src/controllers.rs :3:./src/controllers.rs";
        assert!(
            merged.sync.output.contains(change),
            "{}",
            merged.sync.output
        );
        succeed(merged.directory.path(), &format!("{change} | git apply"));
        let text = merged.read("src/controllers.rs");
        assert!(text.starts_with("// first\n") && text.ends_with("// second\n"));
        merged.assert_settled();
    }
}

/// Each commit of a rebase is settled as a merge is.
#[test]
fn a_rebase_of_several_commits() {
    let before = on_one_branch(&Tree::new(), &[INIT]).unwrap();
    let directory = repository(&before, "merge");
    let root = directory.path();
    succeed(
        root,
        &format!(
            "git switch -qc second && {OTHER} && {COMMIT} && {SECOND} && {COMMIT} && git switch -q main && {API} && {COMMIT}"
        ),
    );
    let mut rebase = shell(root, "git switch -q second && git rebase -q main");
    let mut stops = 0;
    while rebase.code != 0 {
        stops += 1;
        assert!(stops < 5, "{}", rebase.output);
        settle("a commit of a rebase", root);
        rebase = shell(
            root,
            "git add --all && GIT_EDITOR=true git rebase --continue",
        );
    }
    assert!(stops > 0, "git found no conflict");
    let expected = on_one_branch(&before, &[API, OTHER, SECOND]).unwrap();
    assert_same("a rebase", &expected, &settle("a rebase", root));
}

/// Two edits of one line of a Shared file: `sync` leaves them to the user while nothing new is desired, and names the line
/// where something is; kept once, they are not asked about again.
#[test]
fn edits_of_one_line_are_the_users_to_settle() {
    let edit = |word: &str| format!("sed -i 's/^IMG ?= .*/IMG ?= {word}/' Makefile");
    let merged = Merged::new(&[INIT], &edit("first"), &edit("second"), WAYS[0]);
    assert_eq!(merged.sync.code, 3, "{}", merged.sync.output);
    let told = "`Makefile` has conflict markers";
    assert!(merged.sync.output.contains(told), "{}", merged.sync.output);
    merged.assert_settled();
    // A template that names the webhooks changes the Makefile.
    let root = merged.directory.path();
    assert_eq!(shell(root, API).code, 3);
    let command = WEBHOOK.replace(" -q", "");
    let refused = shell(root, &command);
    assert_eq!(refused.code, 1, "{}", refused.output);
    assert!(
        refused
            .output
            .contains("`Makefile` has conflict markers (line "),
        "{}",
        refused.output
    );
    let kept = shell(root, &format!("{command} --on-conflict keep"));
    assert_eq!(kept.code, 3, "{}", kept.output);
    assert!(merged.read("Makefile").contains("<<<<<<<"));
    merged.assert_settled();
}
