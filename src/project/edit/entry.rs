//! The entry that flags name: an entry that exists, or a new entry of a type that the project does not define.

use super::{listed, status};
use crate::advice::{Advice, Flag, Script};
use crate::error::{Failure, Result};
use crate::name::{Domain, Group, Kind, Plural, RustPath, Version, flag_of};
use crate::project::rules::{may_be_meant, not_external, unknown_kind};
use crate::project::violation::{Purpose, Violation};
use crate::project::{Key, Project, Resource};

/// An external type.
#[derive(Clone, Debug)]
pub struct External {
    /// Its path in Rust.
    pub path: RustPath,
    /// The end of its API group, behind `--group`; empty if the group is a full name.
    pub domain: Domain,
}

/// The group without the domain, the version and the kind: what the flags of a command name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gvk {
    /// The group; may be empty.
    pub group: Group,
    /// The version.
    pub version: Version,
    /// The kind.
    pub kind: Kind,
}

impl Key {
    /// The key without its domain.
    pub fn gvk(&self) -> Gvk {
        Gvk {
            group: self.group.clone(),
            version: self.version,
            kind: self.kind.clone(),
        }
    }

    /// The flags that name the entry.
    pub fn flags(&self) -> Vec<Flag> {
        vec![
            Flag::with("--group", &self.group),
            Flag::with("--version", self.version),
            Flag::with("--kind", &self.kind),
        ]
    }

    /// The dry run of its deletion.
    pub(super) fn deleted(&self) -> Script {
        let delete = Script::forge("delete api").flags(&self.flags());
        delete.code("--dry-run")
    }
}

/// The key of an entry that the project lacks.
pub(super) struct Absent {
    pub key: Key,
    /// The entries that may be meant; all if there are none.
    pub known: Vec<Key>,
    /// The entry that is clearly meant: people paste commands that change or delete without much thought.
    meant: Option<Key>,
}

impl From<Absent> for Failure {
    fn from(absent: Absent) -> Self {
        let meant = absent.meant;
        Self::refused(format!("`{}` is not in this project", absent.key))
            .note(listed(&absent.known))
            .advise(meant.map_or_else(status, |meant| Advice::Set(meant.flags())))
    }
}

impl Project {
    /// The key of a version of a kind that the project defines: in its own domain, or in that of the CRD that it took over.
    pub fn own_key(&self, gvk: &Gvk) -> Key {
        Key {
            group: gvk.group.clone(),
            kind: gvk.kind.clone(),
            domain: self.domain_of(&gvk.group, &gvk.kind).clone(),
            version: gvk.version,
        }
    }

    /// The domain of a kind that the project defines, or would define.
    pub(super) fn domain_of(&self, group: &Group, kind: &Kind) -> &Domain {
        let mut defined = self.apis_of(group, kind).map(|(key, _)| &key.domain);
        defined.next().unwrap_or(&self.domain)
    }

    /// The versions of a kind that the project defines, with their entries.
    pub(in crate::project) fn apis_of(
        &self,
        group: &Group,
        kind: &Kind,
    ) -> impl Iterator<Item = (&Key, &Resource)> {
        let apis = self.resources().filter(|(_, entry)| entry.api.is_some());
        apis.filter(move |(key, _)| (&key.group, &key.kind) == (group, kind))
    }

    /// A copy of the entry of this group, version and kind, with its key. The rules allow one.
    pub(super) fn find(&self, gvk: &Gvk) -> Result<(Key, Resource), Absent> {
        let own = self.own_key(gvk);
        // Some groups of Kubernetes have two names, such as `networking` and `networking.k8s.io`.
        let meant = self.meaning_of(&own).unwrap_or(own);
        let exact = self.resources.keys().find(|key| key.gvk() == *gvk);
        let key = match exact {
            Some(key) => key.clone(),
            None if self.resources.contains_key(&meant) => meant,
            None => self.external_of(gvk).cloned().unwrap_or(meant),
        };
        match self.resources.get(&key) {
            Some(entry) => Ok((key, entry.clone())),
            None => Err(self.absent(key)),
        }
    }

    /// The entries that may be meant by a key without one.
    fn absent(&self, key: Key) -> Absent {
        let wanted = (&key.group, &key.kind);
        let of_kind = |other: &&Key| (&other.group, &other.kind) == wanted;
        let mut known: Vec<_> = self.resources.keys().filter(of_kind).collect();
        if known.is_empty() {
            let meant = |other: &&Key| may_be_meant(wanted, (&other.group, &other.kind));
            known = self.resources.keys().filter(meant).collect();
        }
        let same = known.iter().filter(|other| other.version == key.version);
        let meant = match same.collect::<Vec<_>>()[..] {
            [one] => Some((*one).clone()),
            _ => None,
        };
        if known.is_empty() {
            known = self.resources.keys().collect();
        }
        let known = known.into_iter().cloned().collect();
        Absent { key, known, meant }
    }

    /// The key of a type that exists: the `external` type, or the type that `own`, a key in the project's domain, means.
    ///
    /// Errors: nobody defines the type.
    pub(super) fn known_key(
        &self,
        own: &Key,
        external: Option<&External>,
        to_be: Purpose,
    ) -> Result<Key, Violation> {
        let key = match external {
            Some(External { domain, .. }) => Some(self.external_key(own, domain)),
            None => self.meaning_of(own),
        };
        key.ok_or_else(|| unknown_kind(self, own, to_be))
    }

    /// The key of an external type. A new one has the whole group: two groups may have the same first label, and are two modules.
    fn external_key(&self, own: &Key, domain: &Domain) -> Key {
        let in_parts = Key {
            domain: domain.clone(),
            ..own.clone()
        };
        if self.resources.contains_key(&in_parts) {
            return in_parts;
        }
        let valid = "an API group consists of valid parts";
        Key {
            group: in_parts.api_group(false).parse().expect(valid),
            domain: Domain::default(),
            ..in_parts
        }
    }

    /// The key of the type that `own`, a key in the project's domain, means: an API of the project, a core type, or an external
    /// type that has an entry.
    fn meaning_of(&self, own: &Key) -> Option<Key> {
        let existing = self.resources.get(own);
        if existing.is_some_and(|resource| resource.api.is_some()) {
            return Some(own.clone());
        }
        if let Some(core) = own.core_type() {
            let valid = "the table of core types has valid names";
            return Some(Key {
                group: core.group.parse().expect(valid),
                domain: core.domain().parse().expect(valid),
                ..own.clone()
            });
        }
        self.external_of(&own.gvk()).cloned()
    }

    /// The key of the external type of this group, version and kind. The first labels of a group are enough if one group has them.
    fn external_of(&self, gvk: &Gvk) -> Option<&Key> {
        let is = |key: &Key| (&key.kind, key.version) == (&gvk.kind, gvk.version);
        let externals = self
            .resources()
            .filter(|(_, entry)| entry.external.is_some());
        let externals: Vec<_> = externals
            .map(|(key, _)| key)
            .filter(|key| is(key))
            .collect();
        // The rules allow one entry for each group, version and kind.
        let exact = externals.iter().find(|key| key.group == gvk.group);
        let first_labels = format!("{}.", gvk.group);
        let mut longer = externals
            .iter()
            .filter(|key| key.group.as_str().starts_with(&first_labels));
        let longer = longer.next().filter(|_| longer.next().is_none());
        exact.or(longer).copied()
    }

    /// The entry at `key`, made if there is none.
    ///
    /// Errors: the flags contradict the entry.
    pub(super) fn entry_of(
        &mut self,
        key: &Key,
        plural: Option<&Plural>,
        external: Option<&External>,
    ) -> Result<&mut Resource> {
        let entry = self.resources.entry(key.clone());
        let entry = entry.or_insert_with(|| match key.core_type() {
            Some(core) if external.is_none() => Resource {
                core: true,
                ..Resource::new(core.into())
            },
            _ => Resource {
                external: external.map(|external| external.path.clone()),
                ..Resource::new(plural.cloned().unwrap_or_else(|| Plural::of(&key.kind)))
            },
        });
        let other = |field, known: String, given: String| {
            Failure::refused(format!(
                "the {field} of `{key}` is `{known}`, not `{given}`"
            ))
            .note("one group, version and kind is one type")
            .advise(Advice::set(flag_of(field), known))
        };
        if let Some(given) = plural.filter(|plural| **plural != entry.plural) {
            return Err(other("plural", entry.plural.to_string(), given.to_string()));
        }
        let core = entry.core;
        match (external, &entry.external) {
            (Some(External { path, .. }), Some(known)) if path != known => {
                Err(other("path", known.to_string(), path.to_string()))
            }
            (Some(_), None) => Err(not_external(key, core).into()),
            _ => Ok(entry),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Gvk;
    use crate::error::Failure;
    use crate::project::testing::{create, empty};

    const STATUS: &str = "operator-forge status";

    #[track_caller]
    fn check(entries: &[&str], wanted: &str, note: &str, help: &str) {
        let entries = entries.iter();
        let project = entries.fold(empty("example.com", false), |project, entry| {
            project.create_api(&create(entry)).unwrap()
        });
        let words: Vec<_> = wanted.split(' ').collect();
        let found = project.find(&Gvk {
            group: words[0].parse().unwrap(),
            version: words[1].parse().unwrap(),
            kind: words[2].parse().unwrap(),
        });
        let failure = Failure::from(found.err().unwrap());
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
    fn another_entry_is_not_suggested() {
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
    fn only_versions_of_the_kind_are_listed() {
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
