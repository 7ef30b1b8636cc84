//! Broken rules: found in a project, whether a command or an edit of `PROJECT` broke it, and said in words that fit both.

use super::Key;
use super::correction::{FILE, change, edit};
use crate::advice::{Advice, Flag, Script};
use crate::error::Failure;
use crate::name::{flag_of, kubernetes::KubernetesVersion};

/// A broken rule, in words that fit a command and a hand-edited `PROJECT`, with a correction for each.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The origin of the broken entry.
    pub origin: Origin,
    /// The entry of `resources` that breaks the rule; of two, the later one.
    pub at: Key,
    /// The entry with which it clashes.
    pub other: Option<Key>,
    /// The violation, a fragment with the user's text in backticks.
    pub what: String,
    /// The reasons.
    pub notes: Vec<String>,
    /// The correction of a command; `None` if only `PROJECT` can break the rule, or if no other value is obvious.
    pub remedy: Option<Remedy>,
    /// The correction in `PROJECT`: a line, or the change in words.
    pub correction: String,
}

/// The correction of a command that breaks a rule. Fields have their names in `PROJECT`.
#[derive(Clone, Debug, PartialEq)]
pub enum Remedy {
    /// Other values of these fields.
    Set(Vec<(&'static str, String)>),
    /// A command without these fields.
    Drop(Vec<&'static str>),
    /// An API that has to be defined first.
    Define {
        /// The entry of the API.
        key: Key,
        /// Whether it gets a controller.
        controller: bool,
    },
    /// A name that a person has to choose or to find.
    Inspect,
    /// A project of its own.
    OwnProject,
    /// A project that is not namespaced.
    ClusterWide,
    /// A project for this version of Kubernetes or a newer one.
    Kubernetes(KubernetesVersion),
}

/// A violation by the entry at a key: `violation!(key => "what", "note", …)`. The texts are those of [`format!`].
macro_rules! violation {
    ($at:expr => $what:literal $(, $note:literal)*) => {
        $crate::project::Violation::of($at, format!($what))$(.note(format!($note)))*
    };
}
pub(super) use violation;

impl Remedy {
    /// Other values of `fields`.
    pub fn set<T: ToString, const N: usize>(fields: [(&'static str, T); N]) -> Self {
        Self::Set(
            fields
                .map(|(field, value)| (field, value.to_string()))
                .into(),
        )
    }

    /// Another entry.
    pub fn entry(group: impl ToString, version: impl ToString, kind: impl ToString) -> Self {
        Self::Set(vec![
            ("group", group.to_string()),
            ("version", version.to_string()),
            ("kind", kind.to_string()),
        ])
    }
}

/// The purpose of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A controller watches its objects.
    Controller,
    /// A webhook is called for its objects.
    Webhook,
}

/// The origin of an entry that breaks a rule. It decides whether flags or fields have to change.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A command.
    Command,
    /// A command that changes a kind, and lacks flags of the command that created it.
    Edit,
    /// `PROJECT`, edited by hand, at the line of the entry.
    File(Option<usize>),
    /// The merge of two branches. The user sees the entries of one branch, at these lines.
    Branches(Vec<(Key, Option<usize>)>),
}

impl Violation {
    /// A violation by the entry `at`.
    pub fn of(at: &Key, what: String) -> Self {
        Self {
            origin: Origin::Command,
            at: at.clone(),
            other: None,
            what,
            notes: Vec::new(),
            remedy: None,
            correction: String::new(),
        }
    }

    /// Adds a reason.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Corrects a command and `PROJECT` by the same value of a field.
    pub fn set(self, field: &'static str, value: impl ToString) -> Self {
        let line = format!("{field}: {}", value.to_string());
        self.by_command(Remedy::set([(field, value)])).in_file(line)
    }

    /// Corrects both by another kind, which a person has to name.
    pub fn another_kind(self) -> Self {
        self.by_command(Remedy::Inspect)
            .in_file("rename one of the kinds")
    }

    /// The correction of a command.
    pub fn by_command(self, remedy: Remedy) -> Self {
        let remedy = Some(remedy);
        Self { remedy, ..self }
    }

    /// The correction in `PROJECT`.
    pub fn in_file(self, correction: impl Into<String>) -> Self {
        let correction = correction.into();
        Self { correction, ..self }
    }

    /// The same violation, between two entries.
    pub fn beside(self, other: &Key) -> Self {
        let other = Some(other.clone());
        Self { other, ..self }
    }

    /// The same violation from another origin than a command.
    pub fn by(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }
}

impl From<Violation> for Failure {
    /// Commands get the flags to change, a `PROJECT` edited by hand the line.
    fn from(violation: Violation) -> Self {
        let Violation {
            origin,
            at,
            other,
            what,
            notes,
            remedy,
            correction,
        } = violation;
        let failure = |what: String| Failure {
            notes,
            ..Self::refused(what)
        };
        match origin {
            Origin::File(line) => failure(format!("`{}`: {what}", place(line)))
                .note(change(&correction))
                .advise(edit()),
            Origin::Branches(here) => {
                let mut failure = failure(format!(
                    "`{FILE}`: the two branches contradict each other: {what}"
                ));
                for (key, line) in &here {
                    let place = place(*line);
                    if *key == at {
                        let there = change(&correction);
                        failure = failure.note(format!("`{key}` is at `{place}`; {there}"));
                    } else if Some(key) == other.as_ref() {
                        failure = failure.note(format!("`{key}` is at `{place}`; change it there"));
                    }
                }
                if !here.is_empty() {
                    failure = failure.note(format!(
                    "`{FILE}` has the text of one branch; `sync` adds the changes of the other branch"
                ));
                }
                failure.advise(edit())
            }
            Origin::Command | Origin::Edit => match remedy {
                Some(remedy) => follow(remedy, origin == Origin::Edit, failure(what)),
                None => failure(what).note(correction).advise(Advice::Help),
            },
        }
    }
}

fn place(line: Option<usize>) -> String {
    line.map_or(FILE.to_owned(), |line| format!("{FILE}:{line}"))
}

/// Adds the advice that follows from a remedy. `edit api` and `rename` have few of the flags that create a kind.
fn follow(remedy: Remedy, is_edit: bool, failure: Failure) -> Failure {
    let lacks = |field: &str| is_edit && matches!(field, "kind" | "fields" | "statusFields");
    match remedy {
        Remedy::Drop(_) if is_edit => failure.advise(Advice::Help),
        Remedy::Set(fields) if fields.iter().any(|(field, _)| lacks(field)) => {
            failure.advise(Advice::Help)
        }
        Remedy::Set(fields) => {
            let flags = fields.into_iter();
            let flags = flags.map(|(field, value)| Flag::with(flag_of(field), value));
            failure.advise(Advice::set_all(flags))
        }
        Remedy::Drop(fields) => {
            let flags = fields.into_iter().map(flag_of);
            failure.advise(Advice::Drop(flags.collect()))
        }
        Remedy::Define { key, controller } => {
            let create = Script::forge("create api").flags(&key.flags());
            match controller {
                true => failure
                    .note("`--external-api-path` names the type of another crate")
                    .advise(create),
                false => failure.advise(create.code("--controller=false")),
            }
        }
        Remedy::Inspect => failure.advise(Script::forge("status")),
        Remedy::OwnProject => failure.advise(Script::forge("init --help")),
        Remedy::Kubernetes(version) => {
            failure.advise(Script::forge("edit --kubernetes").arg(version.to_string()))
        }
        Remedy::ClusterWide => {
            failure.advise(Script::forge("edit --namespaced=false --dry-run --diff"))
        }
    }
}
