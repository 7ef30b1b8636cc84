//! Law 5, all or nothing, on real commands and a real disk: a call to the file system fails, the process dies at it, or
//! it is killed whenever it happens. Then the next command runs, and the tree is the old one or the new one.
//!
//! `src/apply/tests.rs` does the same in memory, with power cuts and with edits between death and recovery.

use crate::fault;
use crate::session;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Instant,
};

use fault::{Fault, Faulty};
use operator_forge::{
    apply::{Real, Step, Transaction, apply},
    error::Result,
    memory::Memory,
    plan,
    project::Project,
    template,
    tree::find_all,
};
use session::{assert_same, scratch, shell, tree};
use tempfile::TempDir;

type Tree = BTreeMap<String, Vec<u8>>;

/// Without the hundreds of files of a vendored runtime, which differ in nothing that matters here.
const INIT: &str =
    "operator-forge init -q --domain example.com --project-name demo --vcs none --runtime registry";
const API: &str = "operator-forge create api -q --group cache --version v1alpha1 --kind Memcached";
const SECOND: &str =
    "operator-forge create api -q --group cache --version v1 --kind Memcached --controller=false";
const HOOK: &str = "operator-forge create webhook -q --group cache --version v1 --kind Memcached --defaulting --conversion --spoke v1alpha1";
/// A command that could write, but is refused.
const NEXT: &str = "operator-forge create api -q --group Not_a_group --version v1 --kind Memcached";
const EDIT: &str = "echo '// by hand' >> src/controllers/cache/memcached.rs; echo '# by hand' >> Cargo.toml; chmod 755 PROJECT; echo mine > src/mine.rs";

/// Something that is done to a tree.
struct Scenario {
    name: &'static str,
    /// What was done before.
    start: Vec<&'static str>,
    /// What is done.
    command: &'static str,
}

fn scenarios() -> Vec<Scenario> {
    let scenario = |name, start: &[&'static str], command| Scenario {
        name,
        start: start.to_vec(),
        command,
    };
    vec![
        scenario("init", &[], INIT),
        scenario("create api", &[INIT], API),
        scenario("create webhook", &[INIT, API, SECOND, EDIT], HOOK),
        scenario(
            "sync after PROJECT was taken back",
            &[
                INIT,
                "cp PROJECT PROJECT.before",
                API,
                EDIT,
                "mv PROJECT.before PROJECT",
            ],
            "operator-forge sync -q",
        ),
    ]
}

/// A scenario's tree before, its tree after, and how to apply it in this process.
struct Prepared {
    start: TempDir,
    old: Tree,
    new: Tree,
    steps: Vec<Step>,
}

fn prepare(scenario: &Scenario) -> Prepared {
    let start = scratch();
    for command in &scenario.start {
        assert_eq!(shell(start.path(), command).code, 0, "{command}");
    }
    let made = scratch();
    copy(start.path(), made.path());
    let step = shell(made.path(), scenario.command);
    assert!(step.code == 0 || step.code == 3, "{}", step.output);
    let new = tree(made.path());
    Prepared {
        old: tree(start.path()),
        steps: steps(start.path(), &new["PROJECT"]).unwrap(),
        new,
        start,
    }
}

/// What the command does, planned in this process: the new text of `PROJECT` is all that differs between commands.
fn steps(root: &Path, project: &[u8]) -> Result<Vec<Step>> {
    let project = Project::read(project)?;
    let mut inputs = plan::Inputs {
        memory: Memory::load(root)?,
        desired: template::tree(&project)?,
        project: project.write(),
        owned: project.settings.owned,
        ..plan::Inputs::default()
    };
    inputs.found = find_all(root, plan::paths(&inputs)?)?;
    Ok(Step::of(&plan::plan(&inputs)?))
}

impl Prepared {
    /// The same as the command, with a call to the disk that goes wrong.
    fn run(&self, root: &Path, fault: Option<(usize, Fault)>) -> (Result<()>, usize) {
        let disk = Faulty::new(Real::new(root), fault);
        let result = Transaction::begin(&disk, "the command")
            .and_then(|mut turn| apply(&mut turn, self.steps.clone()));
        (result.map_err(Into::into), disk.calls())
    }

    fn fresh(&self) -> TempDir {
        let directory = scratch();
        copy(self.start.path(), directory.path());
        directory
    }
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp")
        .arg("-a")
        .arg(from.join("."))
        .arg(to)
        .status()
        .unwrap();
    assert!(status.success());
}

/// Runs the next command. A process that another thread is about to start may still hold a copy of this one's lock.
#[track_caller]
fn next(root: &Path) {
    let refused = (0..100)
        .map(|_| shell(root, NEXT))
        .find(|step| !step.output.contains("is at work"))
        .expect("the lock is let go of");
    let known = ["invalid value `Not_a_group`", "no `PROJECT`"];
    let is_known = known.iter().any(|known| refused.output.contains(known));
    assert!(is_known, "{}", refused.output);
}

/// Files of `.operator-forge/local/` that no finished command leaves.
fn strays(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join(".operator-forge/local"));
    let names = entries.into_iter().flatten();
    names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| ![".gitignore", "lock", "undo"].contains(&name.as_str()))
        .collect()
}

/// Directories with nothing in them, which no command leaves that was not refused their removal.
fn empty_directories(root: &Path) -> Vec<PathBuf> {
    let below = walkdir::WalkDir::new(root).min_depth(1).into_iter();
    let paths = below
        .map(Result::unwrap)
        .filter(|it| it.file_type().is_dir());
    let paths = paths.map(walkdir::DirEntry::into_path);
    let is_empty = |path: &PathBuf| fs::read_dir(path).unwrap().next().is_none();
    paths.filter(is_empty).collect()
}

/// Whether the tree is the new one; it is the old one otherwise. Nothing else is left.
#[track_caller]
fn is_new(what: &str, prepared: &Prepared, root: &Path) -> bool {
    assert_eq!(strays(root), Vec::<String>::new(), "{what}");
    is_new_now(what, prepared, root)
}

/// The same, before the next command has cleared away what is left.
#[track_caller]
fn is_new_now(what: &str, prepared: &Prepared, root: &Path) -> bool {
    let found = tree(root);
    if found == prepared.new {
        return true;
    }
    let left = || walkdir::WalkDir::new(root).into_iter().skip(1).count();
    assert!(
        !prepared.old.is_empty() || left() == 0,
        "{what}: not even directories"
    );
    assert_same(what, &prepared.old, &found);
    false
}

/// Runs `check` for each number below `count`, on two threads.
fn for_each(count: usize, check: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for worker in 0..2 {
            let check = &check;
            scope.spawn(move || (worker..count).step_by(2).for_each(check));
        }
    });
}

#[test]
fn dying_at_any_call_leaves_the_old_tree_or_the_new() {
    for scenario in scenarios() {
        let prepared = prepare(&scenario);
        let whole = prepared.fresh();
        let (result, calls) = prepared.run(whole.path(), None);
        result.unwrap();
        assert!(is_new(scenario.name, &prepared, whole.path()));
        let outcomes = std::sync::Mutex::new((0, 0));
        for_each(calls, |at| {
            let what = format!("{}, dead at call {at}", scenario.name);
            let directory = prepared.fresh();
            assert!(
                prepared
                    .run(directory.path(), Some((at, Fault::Death)))
                    .0
                    .is_err()
                    || at + 4 > calls,
                "{what}"
            );
            next(directory.path());
            let new = is_new(&what, &prepared, directory.path());
            let empty = empty_directories(directory.path());
            assert_eq!(empty, Vec::<PathBuf>::new(), "{what}");
            let mut outcomes = outcomes.lock().unwrap();
            if new {
                outcomes.1 += 1
            } else {
                outcomes.0 += 1
            }
        });
        let (old, new) = outcomes.into_inner().unwrap();
        println!(
            "{}: {calls} calls, dead at each: {old} trees old, {new} new, 0 mixtures, 0 edits lost",
            scenario.name
        );
        assert!(old > 0 && new > 0);
    }
}

#[test]
fn an_error_at_any_call_leaves_the_old_tree_or_is_survived() {
    use io::ErrorKind::{Other, PermissionDenied, StorageFull};
    for scenario in &scenarios()[1..] {
        let prepared = prepare(scenario);
        let (_, calls) = prepared.run(prepared.fresh().path(), None);
        for_each(calls, |at| {
            let kind = [StorageFull, PermissionDenied, Other][at % 3];
            let what = format!("{}, {kind:?} at call {at}", scenario.name);
            let directory = prepared.fresh();
            let (result, _) = prepared.run(directory.path(), Some((at, Fault::Error(kind))));
            let new = is_new_now(&what, &prepared, directory.path());
            assert_eq!(new, result.is_ok(), "{what}");
            next(directory.path());
            assert_eq!(is_new(&what, &prepared, directory.path()), new, "{what}");
        });
        println!(
            "{}: an error at each of {calls} calls, 0 mixtures",
            scenario.name
        );
    }
}

/// The real program, ended by a signal at moments spread over its running time.
#[cfg(unix)]
#[test]
fn killed_at_any_moment() {
    const ROUNDS: u32 = 60;
    let prepared = prepare(&scenarios().remove(2));
    let start = Instant::now();
    assert_eq!(shell(prepared.fresh().path(), HOOK).code, 0);
    let whole = start.elapsed();
    let (mut killed, mut halfway, mut old, mut new) = (0, 0, 0, 0);
    for round in 0..ROUNDS {
        // On a disk, where the journal takes its time.
        let directory = TempDir::new().unwrap();
        copy(prepared.start.path(), directory.path());
        let local = directory.path().join(".operator-forge/local");
        let mut child = Command::new(env!("CARGO_BIN_EXE_operator-forge"))
            .args(HOOK.split(' ').skip(1))
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        if round % 3 == 0 {
            thread::sleep(whole * round / ROUNDS);
        } else {
            // Most of the time is planning; what follows the journal is the dangerous part.
            while !local.join("journal").exists() && child.try_wait().unwrap().is_none() {}
        }
        if round % 3 != 0 || round % 2 == 0 {
            child.kill().unwrap();
        } else {
            let interrupt = ["-INT".to_owned(), child.id().to_string()];
            Command::new("kill").args(interrupt).output().unwrap();
        }
        killed += u32::from(child.wait().unwrap().code().is_none());
        halfway += u32::from(local.join("journal").exists());
        next(directory.path());
        if is_new(
            &format!("killed in round {round}"),
            &prepared,
            directory.path(),
        ) {
            new += 1;
        } else {
            old += 1;
        }
    }
    println!(
        "{ROUNDS} runs, {killed} killed by a signal, {halfway} of them halfway: {old} trees old, {new} new, 0 mixtures"
    );
    assert!(killed > 0);
}

/// Several at once: each is done or refused, and what is there is what those that were done make.
#[test]
fn several_at_once() {
    let kinds = ["Alpha", "Beta", "Gamma", "Delta"];
    let command = &|kind: &str| {
        format!("operator-forge create api -q --group cache --version v1 --kind {kind}")
    };
    let (mut done_in_all, mut refused) = (0, 0);
    for _ in 0..6 {
        let directory = scratch();
        assert_eq!(shell(directory.path(), INIT).code, 0);
        let root = directory.path();
        let steps: Vec<_> = thread::scope(|scope| {
            let runs = kinds.map(|kind| scope.spawn(move || shell(root, &command(kind))));
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        let other = scratch();
        assert_eq!(shell(other.path(), INIT).code, 0);
        for (kind, step) in kinds.iter().zip(&steps) {
            if step.code == 0 {
                done_in_all += 1;
                assert_eq!(shell(other.path(), &command(kind)).code, 0);
            } else {
                refused += 1;
                let told = [
                    "is at work in this project",
                    "changed while the command ran",
                ];
                assert!(
                    told.iter().any(|told| step.output.contains(told)),
                    "{}",
                    step.output
                );
            }
        }
        assert_same(
            "several at once",
            &tree(other.path()),
            &tree(directory.path()),
        );
        assert_eq!(strays(directory.path()), Vec::<String>::new());
    }
    println!("{done_in_all} done, {refused} refused");
    assert!(done_in_all >= 6);
}

/// Modes are kept through create, undo and redo, of files that change and of files that come back.
#[cfg(unix)]
#[test]
fn modes_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let directory = scratch();
    let mode = |path: &str| {
        let meta = fs::metadata(directory.path().join(path)).unwrap();
        meta.permissions().mode() & 0o777
    };
    for command in [
        INIT,
        "chmod 755 src/api.rs",
        API,
        "chmod 700 src/api/cache/v1alpha1/memcached.rs",
    ] {
        assert_eq!(shell(directory.path(), command).code, 0);
    }
    assert_eq!(mode("src/api.rs"), 0o755);
    for command in ["operator-forge undo", "operator-forge undo"] {
        assert_eq!(shell(directory.path(), command).code, 0);
        assert_eq!(mode("src/api.rs"), 0o755);
    }
    assert_eq!(mode("src/api/cache/v1alpha1/memcached.rs"), 0o700);
}

/// A lock whose holder is dead is nobody's, whatever it says.
#[test]
fn a_stale_lock_is_taken() {
    let directory = scratch();
    assert_eq!(shell(directory.path(), INIT).code, 0);
    for text in [
        "1 operator-forge init\nanother-boot\n",
        "",
        "4294967295",
        "\0\0\0",
    ] {
        fs::write(directory.path().join(".operator-forge/local/lock"), text).unwrap();
        assert_eq!(
            shell(directory.path(), "operator-forge sync").code,
            0,
            "{text:?}"
        );
    }
}
