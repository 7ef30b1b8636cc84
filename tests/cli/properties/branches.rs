//! Two branches of one project, brought together by git: what `sync` makes of it is what one branch would have been, and
//! no text of a user is lost.

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command as Process, Stdio},
};

use proptest::{collection::vec, prelude::*, sample::select};

use super::{
    hands::{Act, Hand, act},
    laws::keeps_rule_of_image,
    session::{assert_same, scratch},
    story::{begin, pasted, tell, tell_words},
    tool::{Ended, Tool},
    words::{Command, command, init, plain_command},
    world::{Marks, World, look, stays},
};

/// How the second branch comes to the first.
#[derive(Clone, Copy, Debug)]
enum Way {
    Merge,
    /// The first one comes to the second.
    MergeBack,
    Rebase,
}

#[derive(Clone, Debug)]
enum Step {
    Command(Command),
    Act(Act),
    /// What is there becomes a commit of its own.
    Commit,
}

#[derive(Clone, Debug)]
pub struct Branches {
    init: Vec<String>,
    both: Vec<Step>,
    first: Vec<Step>,
    second: Vec<Step>,
    way: Way,
    /// How git shows what it cannot merge.
    style: &'static str,
    after: Command,
}

pub fn branches() -> impl Strategy<Value = Branches> {
    let way = select(vec![Way::Merge, Way::Merge, Way::MergeBack, Way::Rebase]);
    let style = select(vec!["merge", "diff3", "zdiff3"]);
    (init(), any::<bool>(), way, style, command()).prop_flat_map(
        |(init, acts, way, style, after)| {
            let steps = |count| vec(step(acts), count);
            (
                Just((init, way, style, after)),
                steps(0..3),
                steps(1..4),
                steps(1..4),
            )
                .prop_map(|((init, way, style, after), both, first, second)| {
                    Branches {
                        init,
                        both,
                        first,
                        second,
                        way,
                        style,
                        after,
                    }
                })
        },
    )
}

/// With a user's changes or without; none that hides a file from the tool.
fn step(acts: bool) -> BoxedStrategy<Step> {
    let plain = plain_command().prop_filter("undo is of a copy", |command| {
        command.wish.first() != Some("undo")
    });
    let act = act().prop_filter("the tool sees it", |act| match act {
        Act::File(hand, ..) => !matches!(
            hand,
            Hand::Link | Hand::LinkDirectory | Hand::ReadOnly | Hand::DeleteDirectory
        ),
        Act::Foreign(path) => *path != "src/api/cache",
        Act::OldProject(_) | Act::Forget(_) => false,
    });
    match acts {
        true => prop_oneof![
            4 => plain.prop_map(Step::Command),
            3 => act.prop_map(Step::Act),
            1 => Just(Step::Commit),
        ]
        .boxed(),
        false => prop_oneof![6 => plain.prop_map(Step::Command), 1 => Just(Step::Commit)].boxed(),
    }
}

/// What was done on a branch.
struct Branch {
    /// The commands, if all of them and nothing else made it.
    words: Option<Vec<Vec<String>>>,
    marks: Marks,
}

/// Lives through both branches and brings them together.
pub fn live(branches: &Branches) {
    begin();
    let mut world = World::new(Tool::Here);
    world.touched = true;
    if world.init(&branches.init) != 0 {
        return;
    }
    let root = world.path().to_path_buf();
    let must = |words: &str| assert_eq!(git(&root, words), 0, "git {words}");
    must("init -q --template= -b main");
    must(&format!("config merge.conflictStyle {}", branches.style));
    commit(&root);
    let both = branch(&mut world, &branches.both);
    must("switch -q -c second");
    let second = branch(&mut world, &branches.second);
    must("switch -q main");
    world.look();
    world.marks = both.marks.clone();
    let first = branch(&mut world, &branches.first);

    let wanted = wanted(&both.marks, &first.marks, &second.marks);
    let merged = match branches.way {
        Way::Merge => git(&root, "merge -q --no-edit second"),
        Way::MergeBack => {
            must("switch -q second");
            git(&root, "merge -q --no-edit main")
        }
        Way::Rebase => {
            must("switch -q second");
            git(&root, "rebase -q main")
        }
    };
    let Some(mut clean) = settle(&world, &wanted) else {
        return;
    };
    if let Way::Rebase = branches.way
        && merged != 0
    {
        for stop in 0.. {
            assert!(stop < 12, "the rebase does not end");
            git(&root, "add --all");
            if git(&root, "rebase --continue") != 0 && git(&root, "diff --cached --quiet") == 0 {
                git(&root, "rebase --skip");
            }
            if !root.join(".git/rebase-merge").exists() {
                break;
            }
            match settle(&world, &wanted) {
                Some(settled) => clean &= settled,
                None => return,
            }
        }
        match settle(&world, &wanted) {
            Some(settled) => clean &= settled,
            None => return,
        }
    }
    world.look();
    if clean && let Some(expected) = on_one_branch(branches, [&both, &first, &second]) {
        assert_same("two branches became one", &expected, &world.now);
    }
    commit(&root);
    let again = world.forge(&["sync".to_owned()], &[]);
    assert!(
        again.changes_nothing(),
        "committed, and not settled: {}",
        again.json
    );
    // What `undo` takes back now is a command of one of the branches, and not of this tree.
    world.last = None;
    world.marks = Marks::default();
    for (text, path) in wanted {
        let has = |bytes: &Vec<u8>| std::str::from_utf8(bytes).is_ok_and(|all| all.contains(&text));
        if world.now.get(&path).is_some_and(has) {
            world.marks.written.entry(path).or_default().push(text);
        }
    }
    world.command(&branches.after);
}

/// Lives through one branch, up to its last commit.
fn branch(world: &mut World, steps: &[Step]) -> Branch {
    let root = world.path().to_path_buf();
    let mut words = Some(Vec::new());
    for step in steps {
        match step {
            Step::Commit => commit(&root),
            Step::Act(act) => {
                world.act(act);
                words = None;
            }
            Step::Command(command) => {
                let project = world.project();
                let Some(said) = command.words(project.as_ref(), world) else {
                    continue;
                };
                tell_words(&said);
                let before = world.now.clone();
                let ended = world.forge(&said, &[]);
                world.look();
                match ended.code {
                    0 | 3 => world.forget_unless_kept(),
                    _ => assert_same("refused", &before, &world.now),
                }
                match (&mut words, ended.code) {
                    (Some(words), 0) => words.push(said),
                    (_, 3) => words = None,
                    _ => {}
                }
            }
        }
    }
    commit(&root);
    Branch {
        words,
        marks: world.marks.clone(),
    }
}

/// The texts that have to be there after a merge, with the files that they were in: what either branch wrote, and what
/// both of them kept.
fn wanted(both: &Marks, first: &Marks, second: &Marks) -> BTreeSet<(String, String)> {
    let texts = |marks: &Marks| -> BTreeSet<(String, String)> {
        let written = marks.written.iter();
        written
            .flat_map(|(path, texts)| texts.iter().map(|text| (text.clone(), path.clone())))
            .collect()
    };
    let (both, first, second) = (texts(both), texts(first), texts(second));
    let old: BTreeSet<&String> = both.iter().map(|(text, _)| text).collect();
    let kept =
        |of: &BTreeSet<(String, String)>, text: &String| of.iter().any(|(other, _)| other == text);
    let all = first.union(&second);
    all.filter(|(text, _)| !old.contains(text) || (kept(&first, text) && kept(&second, text)))
        .cloned()
        .collect()
}

/// `sync`, and if it refuses, `sync` that keeps; then nothing is left to do. Whether it needed no flag; `None` where the
/// entries of both branches together break a rule of `PROJECT`, which only its user can mend.
fn settle(world: &World, wanted: &BTreeSet<(String, String)>) -> Option<bool> {
    let root = world.path();
    let before = look(root).0;
    let sync = |flags: &[&str]| -> Ended {
        tell(format!("operator-forge sync {}", flags.join(" ")));
        world.forge(&["sync".to_owned()], flags)
    };
    let ended = sync(&[]);
    let now = look(root).0;
    let lost = |(text, _): &&(String, String)| {
        !now.values()
            .any(|bytes| std::str::from_utf8(bytes).is_ok_and(|all| all.contains(text.as_str())))
    };
    let lost: Vec<_> = wanted.iter().filter(lost).collect();
    let refused = matches!(ended.code, 1 | 2);
    if refused {
        assert_same("refused", &before, &now);
        let kept = sync(&["--on-conflict=keep"]);
        let message = kept.json["error"]["message"].as_str();
        // What the two may not say together nobody but the user can settle.
        if message.is_some_and(|message| message.starts_with("`PROJECT")) {
            assert_same("refused", &before, &look(root).0);
            return None;
        }
        assert!(matches!(kept.code, 0 | 3), "{} {}", ended.json, kept.json);
        // Of a generated file that stays as git left it, only git knows that it was chosen.
        git(root, "add --all");
    }
    for (text, path) in lost {
        let told = refused && ended.json["error"].to_string().contains(path.as_str());
        assert!(told, "lost: `{text}` in `{path}`: {}", ended.json);
    }
    let again = world.forge(&["sync".to_owned()], &["--dry-run"]);
    assert!(
        again.changes_nothing(),
        "not settled: {} then {}",
        ended.json,
        again.json
    );
    Some(!refused && ended.code == 0)
}

/// What the same commands make on one branch, if they can be given there and none of them depends on when it is given.
fn on_one_branch(branches: &Branches, parts: [&Branch; 3]) -> Option<super::world::Tree> {
    let mut words = vec![branches.init.clone()];
    for part in parts {
        words.extend(part.words.clone()?);
    }
    let plain = |words: &Vec<String>| {
        !stays(words)
            && matches!(
                words[0].as_str(),
                "init" | "create" | "delete" | "edit" | "sync"
            )
    };
    if keeps_rule_of_image(&words) {
        return None;
    }
    let directory = scratch();
    let done = |words: &Vec<String>| Tool::Here.run(directory.path(), words, &[]).code == 0;
    (words.iter().all(plain) && words.iter().all(done)).then(|| {
        tell(format!(
            "# on one branch: {}",
            words
                .iter()
                .map(|words| pasted(words))
                .collect::<Vec<_>>()
                .join("; ")
        ));
        look(directory.path()).0
    })
}

fn commit(root: &Path) {
    git(root, "add --all");
    git(root, "commit -q --allow-empty -m change");
}

/// How a git command ended.
fn git(root: &Path, words: &str) -> i32 {
    tell(format!("git {words}"));
    let status = Process::new("git")
        .args([
            "-c",
            "gc.auto=0",
            "-c",
            "core.fsync=none",
            "-c",
            "core.autocrlf=false",
        ])
        .args([
            "-c",
            "user.name=test",
            "-c",
            "user.email=test@example.com",
            "-c",
            "advice.detachedHead=false",
        ])
        .args(words.split(' '))
        .current_dir(root)
        .env("GIT_EDITOR", "true")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.expect("git runs").code().unwrap_or(-1)
}
