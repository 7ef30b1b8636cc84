//! Every line that a message offers to paste is run in the tree that the message was about. It succeeds, or it is refused
//! for another reason, and what that refusal offers is judged in the same way.

use crate::session::{Step, consoles, parse, scratch, shell, tree};

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use operator_forge::name::is_near;
use rayon::prelude::*;
use serde_json::Value;

/// Lines that cannot be run here: what they hold, and why nothing is wrong with that. One that is not met any more has to go.
const UNJUDGED: [(&str, &str); 7] = [
    ("make ", "it builds with cargo, which fetches crates"),
    ("cargo ", "it fetches crates"),
    ("kubectl ", "it asks a cluster"),
    ("helm ", "it fetches charts, and need not be installed"),
    ("git status", "git itself fails there, and says why"),
    (
        "cp -RLi src src.former",
        "the link leads to what cannot be copied",
    ),
    (
        "cd record && cp -RLi .operator-forge",
        "the link leads to the directory that it is in",
    ),
];

/// Errors that come again with the line that is offered, because something outside of the tree has to change first.
const SAME_AGAIN: [(&str, &str); 3] = [
    (
        "`PROJECT` has version",
        "a newer operator-forge is installed first",
    ),
    (
        "`PROJECT` was made from template set",
        "a newer operator-forge is installed first",
    ),
    ("no program `helm`", "helm is installed first"),
];

/// Lines that take something away although nobody said `delete`.
const DELETES: [(&str, &str); 1] = [(
    "rm -r .operator-forge",
    "an `init` that was taken back leaves that directory alone, and who does not want it goes on without it",
)];

/// So many refusals, one after the other, are a way and no circle.
const STEPS: usize = 4;

/// What one run of a command offers: its error, if it failed, and lines in their order.
struct Message {
    error: Option<String>,
    lines: Vec<String>,
}

/// The messages in the output of a step, which may run several commands.
fn messages(output: &str) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut is_next = false;
    for line in output.lines() {
        is_next = line == "Next:" || (is_next && line.starts_with("  "));
        let found = if let Some(error) = line.strip_prefix("error: ") {
            messages.push(Message {
                error: Some(error.to_owned()),
                lines: Vec::new(),
            });
            None
        } else if line == "Next:" {
            messages.push(Message {
                error: None,
                lines: Vec::new(),
            });
            None
        } else if line.starts_with('{') {
            messages.extend(json(line));
            None
        } else if is_next {
            line.strip_prefix("    ")
        } else {
            line.strip_prefix("help: ")
        };
        if let Some(found) = found {
            let message = messages.last_mut().expect("an error or `Next:` before");
            message.lines.push(found.to_owned());
        }
        if line.starts_with("warning: ") {
            let lines = line
                .split('`')
                .filter(|word| word.starts_with("operator-forge "));
            messages.push(Message {
                error: None,
                lines: lines.map(str::to_owned).collect(),
            });
        }
    }
    messages
}

fn json(line: &str) -> Option<Message> {
    let value: Value = serde_json::from_str(line).ok()?;
    let error = value.get("error")?;
    let help = error["help"].as_array()?;
    Some(Message {
        error: error["message"].as_str().map(str::to_owned),
        lines: help
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    })
}

/// What is wrong with the lines of all consoles, and what was met on the way.
#[derive(Default)]
struct Judge {
    judged: AtomicUsize,
    wrong: Mutex<Vec<String>>,
    met: Mutex<BTreeSet<&'static str>>,
}

/// Where a line was met.
#[derive(Clone, Copy)]
struct At<'a> {
    tree: &'a Path,
    /// What brings a shell to the directory that the command was called in.
    cd: &'a str,
    /// The command that the line answers.
    command: &'a str,
}

impl Judge {
    fn is_listed(&self, list: &[(&'static str, &str)], line: &str) -> bool {
        let found = list.iter().find(|(part, _)| line.contains(part));
        self.met.lock().unwrap().extend(found.map(|(part, _)| part));
        found.is_some()
    }

    /// Judges each line that a message offers in `at.tree`; `before` are the errors that led there. Returns what is wrong.
    fn message(&self, at: At<'_>, message: &Message, before: &[&str]) -> Vec<String> {
        let mut errors = before.to_vec();
        errors.extend(message.error.as_deref());
        let lines: Vec<_> = message.lines.iter().map(String::as_str).collect();
        let judge = |index| {
            let line: &str = lines[index];
            self.judged.fetch_add(1, Ordering::Relaxed);
            if deletes(line) && !deletes(at.command) && !self.is_listed(&DELETES, line) {
                return Err(format!("`{line}` deletes, which nobody asked for"));
            }
            if self.is_listed(&UNJUDGED, line) {
                return Ok(());
            }
            if let Some(word) = placeholder(at, line) {
                return Err(format!("`{line}`: `{word}` is for somebody to replace"));
            }
            if let Some(kind) = invented(at, line).filter(|_| !errors.is_empty()) {
                return Err(format!("`{line}`: nobody said `{kind}`"));
            }
            // A line may need those before it.
            self.lines(at, &lines[index..=index], &errors)
                .or_else(|why| self.lines(at, &lines[..=index], &errors).map_err(|_| why))
                .map_err(|why| format!("`{line}`: {why}"))
        };
        (0..lines.len())
            .filter_map(|index| judge(index).err())
            .collect()
    }

    /// Runs `lines` one after the other in a copy of the tree; the last one is judged.
    fn lines(&self, at: At<'_>, lines: &[&str], errors: &[&str]) -> Result<(), String> {
        let copy = scratch();
        let tree = copy.path().join("tree");
        let copied = Command::new("cp")
            .arg("-a")
            .arg(at.tree)
            .arg(&tree)
            .status();
        assert!(copied.expect("cp runs").success());
        let mut last = None;
        for line in lines {
            last = Some(run(&tree, at.cd, line));
        }
        let step = last.expect("a line");
        let differs =
            step.command.contains("diff ") && step.code == 1 && !step.output.contains("error: ");
        if [0, 3].contains(&step.code) || differs {
            return Ok(());
        }
        let messages = messages(&step.output);
        let Some((message, error)) = messages
            .iter()
            .find_map(|it| Some((it, it.error.as_ref()?)))
        else {
            return Err(format!("exit {}\n{}", step.code, step.output));
        };
        if errors.contains(&&**error) {
            return match self.is_listed(&SAME_AGAIN, error) {
                true => Ok(()),
                false => Err(format!("`{error}` again")),
            };
        }
        if error.contains("is not in this project") {
            return Err(format!("{error}: it names what there is not"));
        }
        if let Some(why) = is_usage(at, &step, error) {
            return Err(format!("`{error}`: {why}"));
        }
        if errors.len() == STEPS {
            return Err(format!("`{error}`, and no end"));
        }
        let at = At {
            tree: &tree,
            command: &step.command,
            ..at
        };
        match self.message(at, message, errors).first() {
            Some(why) => Err(format!("`{error}`, and then {why}")),
            None => Ok(()),
        }
    }
}

/// Runs a line as somebody who pastes it. An editor only shows that its files are there; what is written in it, and what
/// comes after, is not the line's.
fn run(tree: &Path, cd: &str, line: &str) -> Step {
    let line = match line.contains("${EDITOR:-vi}") {
        true => line.split(" && operator-forge").next().unwrap_or(line),
        false => line,
    };
    shell(tree, &format!("export EDITOR='ls -d'; {cd}{line}"))
}

/// Why a line is wrong that is no command line: its error has to be about a word that was typed before, which the line took
/// over.
fn is_usage(at: At<'_>, step: &Step, error: &str) -> Option<&'static str> {
    let mut quoted = error.split('`').skip(1).step_by(2);
    let typed = |word: &str| at.command.contains(word);
    let is_old = quoted
        .clone()
        .any(|word| !word.starts_with('-') && typed(word));
    let is_new = quoted.any(|word| word.starts_with("--") && !typed(word));
    let is_wrong = (is_new || !is_old) && !error.ends_with("is missing");
    (step.code == 2 && is_wrong).then_some("the line itself is wrong")
}

/// A kind that nobody said, and no file is called by.
fn invented<'a>(at: At<'_>, line: &'a str) -> Option<&'a str> {
    let (_, rest) = line.split_once("--kind ")?;
    let kind = rest.split(' ').next()?;
    let is_typed =
        |word: &str| word.starts_with(kind) || is_near(word, kind) && format!("{word}2") != kind;
    let is_known = at.command.split([' ', '=', '\'']).any(is_typed)
        || tree(at.tree)
            .keys()
            .any(|path| path.contains(&kind.to_lowercase()));
    (!is_known).then_some(kind)
}

/// A word in capitals that nobody said and nothing there is called: it stands for another one.
fn placeholder<'a>(at: At<'_>, line: &'a str) -> Option<&'a str> {
    let mut words = line.split(|c: char| !c.is_ascii_alphanumeric());
    words.find(|word| {
        let is_one = word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase());
        let is_known = ["EDITOR", "HEAD", "PORTING", "PROJECT", "SPDX"].contains(word)
            || at.command.contains(*word);
        is_one && !is_known && !at.tree.join(word).exists()
    })
}

/// Whether a line takes something away. A copy is made before, or somebody is asked, or it is only shown.
fn deletes(line: &str) -> bool {
    let ours =
        line.contains("operator-forge") && line.contains(" delete ") && !line.contains("--dry-run");
    let removes = line.contains("rm ") && !line.contains("cp -RLi ");
    ours || removes
}

/// Where a command of a session was called.
fn directory(command: &str) -> String {
    let parts = command.split("&&").map(str::trim);
    let moves = parts.filter(|part| part.starts_with("cd "));
    moves.map(|part| format!("{part} && ")).collect()
}

#[test]
fn every_line_that_is_offered_brings_one_further() {
    let judge = Judge::default();
    let folders = ["refusals", "sessions", "projects"];
    let consoles: Vec<_> = folders.into_iter().flat_map(consoles).collect();
    let offered = AtomicUsize::new(0);
    consoles.par_iter().for_each(|console| {
        let name = console.file_stem().unwrap().to_string_lossy();
        let scratch = scratch();
        let tree = scratch.path().join("tree");
        fs::create_dir(&tree).unwrap();
        let mut steps = parse(&fs::read_to_string(console).unwrap());
        // Without the runtime's source there are five times less files to copy.
        if steps[0].command.starts_with("operator-forge init -q")
            && !steps[0].command.contains("--runtime")
        {
            steps[0].command.push_str(" --runtime registry");
        }
        for step in steps {
            let found = shell(&tree, &step.command);
            let cd = directory(&step.command);
            let at = At {
                tree: &tree,
                cd: &cd,
                command: &step.command,
            };
            for message in messages(&found.output) {
                offered.fetch_add(message.lines.len(), Ordering::Relaxed);
                for why in judge.message(at, &message, &[]) {
                    let wrong = format!("{name}: $ {}\n    {why}", step.command);
                    judge.wrong.lock().unwrap().push(wrong);
                }
            }
        }
    });
    let Judge { judged, wrong, met } = judge;
    let (mut wrong, met) = (wrong.into_inner().unwrap(), met.into_inner().unwrap());
    wrong.sort();
    let (offered, judged) = (offered.into_inner(), judged.into_inner());
    println!("{offered} lines are offered, {judged} were judged with those that follow from them");
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    for (part, why) in UNJUDGED.iter().chain(&SAME_AGAIN).chain(&DELETES) {
        assert!(met.contains(part), "no line has `{part}` any more ({why})");
    }
}
