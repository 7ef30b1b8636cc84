//! The answer to a command about something that the project does not have.

use crate::error::Failure;
use crate::project::{Key, Project};

/// There is no entry `key`: names what is nearest.
pub fn not_there(project: &Project, key: &Key) -> Failure {
    let failure = Failure::refused(format!("`{key}` is not in this project"));
    let same_kind = |other: &&Key| other.kind == key.kind;
    let nearest: Vec<&Key> = {
        let of_group = |other: &&Key| same_kind(other) && other.group == key.group;
        let keys = || project.resources().map(|(other, _)| other);
        let versions: Vec<_> = keys().filter(of_group).collect();
        match versions.is_empty() {
            true => keys().filter(same_kind).collect(),
            false => versions,
        }
    };
    match (nearest.as_slice(), project.resources().next()) {
        ([first, ..], _) => {
            let all: Vec<_> = nearest.iter().map(|other| format!("`{other}`")).collect();
            failure
                .note(format!("it has {}", all.join(", ")))
                .help(first.flags())
        }
        ([], Some((first, _))) => failure
            .note("`PROJECT` lists what it has, for instance this")
            .help(first.flags()),
        ([], None) => failure
            .note("it has no APIs, controllers or webhooks yet")
            .help(format!("operator-forge create api {}", key.flags())),
    }
}
