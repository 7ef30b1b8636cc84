//! The entry that a command about something that is there names, or the answer if it is not.

use crate::error::Failure;
use crate::name::{Group, Kind, Version};
use crate::project::rules::{STATUS, may_be_meant};
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

/// There is no entry `key`. What changes or deletes is pasted without much thought, so a line names another entry only
/// where that is what was meant.
fn not_there(project: &Project, key: &Key) -> Failure {
    let failure = Failure::refused(format!("`{key}` is not in this project"));
    let keys = || project.resources().map(|(other, _)| other);
    let of_kind = |other: &&Key| (&other.group, &other.kind) == (&key.group, &key.kind);
    let mut found: Vec<&Key> = keys().filter(of_kind).collect();
    if found.is_empty() {
        let wanted = (&key.group, &key.kind);
        let meant = |other: &&Key| may_be_meant(wanted, (&other.group, &other.kind));
        found = keys().filter(meant).collect();
    }
    let same = found.iter().filter(|other| other.version == key.version);
    let meant = match same.collect::<Vec<_>>()[..] {
        [one] => Some(one.flags()),
        _ => None,
    };
    if found.is_empty() {
        found = keys().collect();
    }
    failure
        .note(listed(found.iter().map(|other| other.to_string())))
        .advise(meant.unwrap_or_else(|| STATUS.to_owned()))
}

/// So many of a project's entries are named.
const NAMED: usize = 8;

/// What the project has, in a note.
pub(super) fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    let names: Vec<_> = names.take(NAMED).map(|name| format!("`{name}`")).collect();
    match (names.is_empty(), more) {
        (true, _) => "it has no APIs, controllers or webhooks yet".to_owned(),
        (false, 0) => format!("it has {}", names.join(", ")),
        (false, more) => format!("it has {} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::testing::{create, empty};

    #[track_caller]
    fn check(entries: &[&str], wanted: &str, note: &str, help: &str) {
        let entries = entries.iter();
        let project = entries.fold(empty("example.com", false), |project, entry| {
            project.create_api(&create(entry)).unwrap()
        });
        let words: Vec<_> = wanted.split(' ').collect();
        let found = project.named(
            &Group::parse(words[0]).unwrap(),
            Version::parse(words[1]).unwrap(),
            &Kind::parse(words[2]).unwrap(),
        );
        let failure = found.unwrap_err();
        assert_eq!(failure.notes, [note]);
        assert_eq!(failure.lines(), [help]);
    }

    #[test]
    fn an_entry_is_suggested_where_it_was_meant() {
        let base = ["base v1 Base"];
        let (has, flags) = (
            "it has `base/v1, Kind Base`",
            "--group base --version v1 --kind Base",
        );
        for near in [
            "other v1 Base",
            "base v1 BASE",
            "base v1 Bsae",
            "base v1 Bas",
        ] {
            check(&base, near, has, flags);
        }
        let word = ["cache v1 Memcached"];
        let has = "it has `cache/v1, Kind Memcached`";
        let flags = "--group cache --version v1 --kind Memcached";
        check(&word, "cache v1 Memcachd", has, flags);
        check(&word, "cache v1 Mencachde", has, flags);
    }

    #[test]
    fn another_entry_is_not() {
        let base = ["base v1 Base"];
        let has = "it has `base/v1, Kind Base`";
        for other in [
            "cache v1 Alpha",
            "base v1 Typo",
            "base v1 Vast",
            "base v2 Base",
            "other v2 Base",
            "other v1 Bsae",
        ] {
            check(&base, other, has, STATUS);
        }
        let two = ["a v1 Base", "b v1 Base controller=false"];
        let has = "it has `a/v1, Kind Base`, `b/v1, Kind Base`";
        check(&two, "c v1 Base", has, STATUS);
        let none = "it has no APIs, controllers or webhooks yet";
        check(&[], "c v1 Base", none, STATUS);
    }

    #[test]
    fn the_versions_that_there_are_come_alone() {
        let entries = [
            "base v1 Base",
            "base v2 Base controller=false",
            "crew v1 Admiral",
        ];
        let has = "it has `base/v1, Kind Base`, `base/v2, Kind Base`";
        check(&entries, "base v3 Base", has, STATUS);
        let flags = "--group base --version v2 --kind Base";
        check(&entries, "crew v2 Base", has, flags);
    }
}
