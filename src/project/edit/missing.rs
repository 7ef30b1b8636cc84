//! The entry that a command about something that is there names, or the answer if it is not.

use crate::error::Failure;
use crate::name::{Group, Kind, Version};
use crate::project::{Key, Project, Resource};

impl Project {
    /// A copy of the entry that is named so. No two entries are: the rules see to that.
    pub(super) fn named(
        &self,
        group: &Group,
        version: Version,
        kind: &Kind,
    ) -> Result<(Key, Resource), Failure> {
        let own = Key {
            group: group.clone(),
            kind: kind.clone(),
            domain: self.domain.clone(),
            version,
        };
        let is = |key: &&Key| (&key.group, key.version, &key.kind) == (group, version, kind);
        let key = self.resources.keys().find(is).cloned();
        // Kubernetes' groups have several names.
        let key = key.or_else(|| self.meaning_of(&own)).unwrap_or(own);
        match self.resources.get(&key) {
            Some(entry) => Ok((key, entry.clone())),
            None => Err(not_there(self, &key)),
        }
    }
}

/// There is no entry `key`: names what is nearest.
fn not_there(project: &Project, key: &Key) -> Failure {
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
