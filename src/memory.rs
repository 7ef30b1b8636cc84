//! `.operator-forge/`: the state that was last applied. Its format is frozen at version 1; `docs/memory-format.md` describes it.
//!
//! Invariants: reading and writing a lock gives the same bytes; a lock that git merged by union (doubled header lines, two
//! rows for one path, rows out of order), or left with conflict markers, has the rows of both branches.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{
    advice::Script,
    error::{Failure, Result},
    merge,
    name::{CrdName, Version},
    project::{FILE, Key},
    reconcile::LastApplied,
    tree::{self, Digest, Found, Owner, RelPath},
};

/// The directory, relative to the project's root.
pub const DIRECTORY: &str = ".operator-forge";
/// The lock, relative to the project's root.
pub const LOCK: &str = ".operator-forge/lock";
/// The last applied `PROJECT`, relative to the project's root.
pub const APPLIED_PROJECT: &str = ".operator-forge/PROJECT";

/// The directories of what is copied into a project: Helm charts, and Ansible roles and playbooks. Each has its last copies in
/// `.operator-forge/`.
pub const COPIED: [&str; 3] = ["charts", "playbooks", "roles"];

/// The CRDs that types are generated from, a directory for each CRD and a file for each version.
const CRDS: &str = ".operator-forge/crds/";
const BASE: &str = ".operator-forge/base/";
const COMMENT: &str = "# What operator-forge last wrote: commit this file, do not edit it.";
const FORMAT: &str = "format 1";

/// The parsed lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The template set that was last applied; 0 before `init`.
    pub templates: u32,
    /// One row a path.
    pub rows: BTreeMap<RelPath, LastApplied<Digest>>,
}

impl LastApplied<Digest> {
    /// The row of a file with its generated text.
    pub fn of_file(path: &RelPath, file: &tree::File) -> Self {
        Self::of(file.owner, file.digest(path))
    }
}

/// The path of a Shared file's base, its last applied text.
pub fn base_path(path: &RelPath) -> Result<RelPath> {
    Ok(format!("{BASE}{path}").parse()?)
}

/// The path of the definition that the types of a version are generated from.
pub fn definition_path(name: &CrdName, version: Version) -> Result<RelPath> {
    Ok(format!("{CRDS}{name}/{version}.json").parse()?)
}

/// The path of the last copy of a file that was copied to `path`.
pub fn copy_path(path: &RelPath) -> Result<RelPath> {
    Ok(format!("{DIRECTORY}/{path}").parse()?)
}

/// The last copy of what is at `place`, a directory or a file, by the paths of its files in the project. It is empty if none was
/// copied.
pub fn copies(root: &Path, place: &str) -> Result<BTreeMap<RelPath, Vec<u8>>> {
    let copy = format!("{DIRECTORY}/{place}");
    if !root.join(&copy).exists() {
        return Ok(BTreeMap::new());
    }
    let found = tree::search(&root.join(&copy), &[], |_| true);
    let found = found.map_err(|it| {
        let kind = place.split('/').next().unwrap_or_default();
        Failure::refused(format!("cannot read `{}`: {}", it.path.display(), it.error))
            .note(format!(
                "`{DIRECTORY}/{kind}` has the {kind} as they were copied, which newer ones are merged with"
            ))
            .advise(Script::of("git checkout HEAD --").arg(copy))
    })?;
    let of_project = |(path, bytes): (PathBuf, Vec<u8>)| {
        let path = path.strip_prefix(root.join(DIRECTORY)).ok()?.to_str()?;
        Some((path.replace('\\', "/").parse().ok()?, bytes))
    };
    Ok(found.into_iter().filter_map(of_project).collect())
}

/// The refusal of an entry whose types are generated from the definition at `path`, which is missing.
pub fn no_definition(path: &RelPath, key: &Key) -> Failure {
    Failure::refused(format!("`{path}` is missing"))
        .note(format!(
            "the types of `{key}` are generated from it; it belongs into git"
        ))
        .advise(Script::of("git checkout HEAD --").arg(path.as_str()))
}

/// The refusal of a definition that cannot be read.
pub fn broken_definition(path: &RelPath, why: &str) -> Failure {
    Failure::refused(format!("cannot read `{path}`: {why}"))
        .note("types are generated from it, and it may have conflict markers after a git merge")
        .advise(Script::of("git checkout HEAD --").arg(path.as_str()))
}

/// The refusal of a line of the lock, from 1.
fn broken_line(line: usize, why: &str) -> Failure {
    Failure::refused(format!("cannot read `{LOCK}:{line}`"))
        .note(why)
        .advise(anew())
}

/// The commands that make a lock from `PROJECT`.
fn anew() -> Script {
    Script::put_aside(LOCK).then(Script::forge("sync"))
}

impl Memory {
    /// Reads the lock below `root`; an absent one is an empty memory.
    pub fn load(root: &Path) -> Result<Self> {
        Ok(match tree::find(root, &RelPath::constant(LOCK))? {
            Found::Absent => Self::default(),
            Found::Obstacle(what) => {
                let refused = Failure::refused(format!("cannot read `{LOCK}`: {what}"));
                return Err(refused.advise(anew()));
            }
            Found::File(bytes) => {
                let text = String::from_utf8(bytes);
                Self::parse(&text.map_err(|_| broken_line(1, "it is not UTF-8 text"))?)?
            }
        })
    }

    /// Parses the lock's text.
    pub fn parse(text: &str) -> Result<Self> {
        let mut memory = Self::default();
        let mut format_seen = false;
        for (at, line) in text.lines().enumerate() {
            let broken = |why| broken_line(at + 1, why);
            let mut words = line.splitn(3, ' ');
            let mut word = || words.next();
            match (word().unwrap_or_default(), word(), word()) {
                ("", None, _) => {}
                (word, ..) if word.starts_with('#') => {}
                // The rows of both sides are true, and so are those of their base.
                _ if merge::markers::is_marker(line) => {}
                ("format", Some("1"), None) => format_seen = true,
                ("format", Some(other), None) => {
                    let line = at + 1;
                    return Err(
                        Failure::refused(format!("`{LOCK}:{line}` has format `{other}`"))
                            .note("this operator-forge reads format 1")
                            .newer_tool(),
                    );
                }
                ("templates", Some(number), None) => {
                    let number = number.parse();
                    let number = number.map_err(|_| broken("the template set is not a number"))?;
                    memory.templates = memory.templates.max(number);
                }
                (owner, Some(digest), Some(path)) => {
                    let (path, owner, digest) = row(owner, digest, path).map_err(broken)?;
                    let row = memory.rows.entry(path).or_insert(LastApplied {
                        owner,
                        any_of: Vec::new(),
                    });
                    if !row.any_of.contains(&digest) {
                        row.any_of.push(digest);
                    }
                }
                _ => return Err(broken("a row is `owner hash path`")),
            }
        }
        match format_seen {
            true => Ok(memory),
            false => Err(broken_line(1, "the line `format 1` is missing")),
        }
    }

    /// The lock's text.
    pub fn write(&self) -> String {
        let mut text = format!("{COMMENT}\n{FORMAT}\ntemplates {}\n", self.templates);
        for (path, row) in &self.rows {
            for digest in &row.any_of {
                text += &format!("{} {digest} {path}\n", row.owner.word());
            }
        }
        text
    }
}

/// Parses the words of a row.
fn row(owner: &str, digest: &str, path: &str) -> Result<(RelPath, Owner, Digest), &'static str> {
    let (owner, digest) = (owner.parse()?, digest.parse()?);
    let path: RelPath = (path.parse()).map_err(|_| "a row's path must stay inside the project")?;
    let first = path.as_str().split('/').next().unwrap_or_default();
    let mut record = [DIRECTORY, FILE].into_iter();
    if record.any(|record| first.eq_ignore_ascii_case(record)) {
        return Err("a row names a generated file, not `PROJECT` or `.operator-forge/`");
    }
    if BASE.len() + path.as_str().len() > RelPath::MAX {
        return Err("a row's path is too long");
    }
    Ok((path, owner, digest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(owner: Owner, contents: &[&str]) -> LastApplied<Digest> {
        LastApplied {
            owner,
            any_of: contents
                .iter()
                .map(|text| Digest::of(&RelPath::constant("x"), text.as_bytes()))
                .collect(),
        }
    }

    #[test]
    fn a_union_merge_reads_as_both_branches() {
        let path = |text: &str| text.parse::<RelPath>().unwrap();
        let ours = Memory {
            templates: 1,
            rows: [
                (path("src/api.rs"), row(Owner::Tool, &["a"])),
                (path("a"), row(Owner::User, &["u"])),
            ]
            .into(),
        };
        let theirs = Memory {
            templates: 2,
            rows: [
                (path("src/api.rs"), row(Owner::Tool, &["b"])),
                (path("b"), row(Owner::Shared, &["s"])),
            ]
            .into(),
        };
        let merged = Memory::parse(&(ours.write() + &theirs.write())).unwrap();
        assert_eq!(merged.templates, 2);
        assert_eq!(merged.rows.len(), 3);
        assert_eq!(
            merged.rows[&path("src/api.rs")],
            row(Owner::Tool, &["a", "b"])
        );
        let (ours, theirs) = (ours.write(), theirs.write());
        let conflict = format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n");
        assert_eq!(Memory::parse(&conflict).unwrap(), merged);
    }

    #[test]
    fn a_broken_line_is_refused_with_its_number() {
        for (text, line) in [
            ("", 1),
            ("tool 00 src/api.rs\n", 1),
            ("format 1\nnobody 00 src/api.rs\n", 2),
            ("format 1\ntemplates x\n", 2),
            ("format 1\n\n<<<<<<<HEAD\n", 3),
        ] {
            let error = Memory::parse(text).unwrap_err();
            assert_eq!(
                error.what,
                format!("cannot read `{LOCK}:{line}`"),
                "{text:?}"
            );
        }
        let escape = format!(
            "format 1\ntool {} ../x\n",
            Digest::of(&RelPath::constant("x"), b"")
        );
        assert!(Memory::parse(&escape).is_err());
        let newer = Memory::parse("format 2\n").unwrap_err();
        assert_eq!(newer.what, format!("`{LOCK}:1` has format `2`"));
    }

    proptest! {
        #[test]
        fn a_written_lock_reads_as_the_same(
            templates in 0..9u32,
            rows in proptest::collection::btree_map("x[a-z]{1,8}(/x[a-z]{1,8} ?[a-z]){0,3}", (0..3usize, "[a-z]{0,3}"), 0..8)
        ) {
            let owners = [Owner::Tool, Owner::User, Owner::Shared];
            let rows = rows
                .iter()
                .map(|(path, (owner, text))| (path.parse::<RelPath>().unwrap(), row(owners[*owner], &[text])))
                .collect();
            let memory = Memory { templates, rows };
            prop_assert_eq!(Memory::parse(&memory.write()).unwrap(), memory);
        }

        #[test]
        fn no_text_panics(text in "(format 1\n)?(.{0,20}\n){0,5}") {
            let _ = Memory::parse(&text);
        }
    }
}
