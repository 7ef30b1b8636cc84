//! Broken rules: commands get the flags to change, a `PROJECT` edited by hand the line.

use super::{change, edit, flag, flag_of, of, status};
use crate::{
    advice::{Advice, Script},
    error::Failure,
    project::{FILE, Origin, Remedy, Violation},
};

pub fn failure(violation: Violation) -> Failure {
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
        ..Failure::refused(what)
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
                    let change = change(&correction);
                    failure = failure.note(format!("`{key}` is at `{place}`; {change}"));
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
            let flags = flags.map(|(field, value)| flag(flag_of(field), value));
            failure.advise(Advice::set_all(flags))
        }
        Remedy::Drop(fields) => {
            let flags = fields.into_iter().map(flag_of);
            failure.advise(Advice::Drop(flags.collect()))
        }
        Remedy::Define { key, controller } => {
            let create = Script::forge("create api").flags(&of(&key));
            match controller {
                true => failure
                    .note("`--external-api-path` names the type of another crate")
                    .advise(create),
                false => failure.advise(create.code("--controller=false")),
            }
        }
        Remedy::Inspect => failure.advise(status()),
        Remedy::OwnProject => failure.advise(Script::forge("init --help")),
        Remedy::Kubernetes(version) => {
            failure.advise(Script::forge("edit --kubernetes").arg(version.to_string()))
        }
        Remedy::ClusterWide => {
            failure.advise(Script::forge("edit --namespaced=false --dry-run --diff"))
        }
    }
}
