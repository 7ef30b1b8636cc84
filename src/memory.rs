//! `.operator-forge/`: what was last applied. Its format is version 1 and frozen; `docs/memory-format.md` describes it.
//!
//! Invariants: writing what was read gives the same bytes; a lock that git merged by union (doubled header lines, two
//! rows for one path, rows out of order), or left with conflict markers, reads as both branches' truth.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use crate::{
    error::{Failure, Result},
    merge,
    project::FILE,
    reconcile::Last,
    shell,
    tree::{self, Digest, Found, Owner, RelPath},
};

/// The directory, relative to the project's root.
pub const DIRECTORY: &str = ".operator-forge";
/// The lock, relative to the project's root.
pub const LOCK: &str = ".operator-forge/lock";
/// The last applied `PROJECT`, relative to the project's root.
pub const APPLIED_PROJECT: &str = ".operator-forge/PROJECT";

const BASE: &str = ".operator-forge/base/";
const COMMENT: &str = "# What operator-forge last wrote: commit this file, do not edit it.";
const FORMAT: &str = "format 1";

/// The parsed lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The template set that made the tree; 0 before anything was applied.
    pub templates: u32,
    /// One row a path.
    pub rows: BTreeMap<RelPath, Last<Digest>>,
}

/// Where the text of a Shared file is kept as it was last applied.
pub fn base_path(path: &RelPath) -> Result<RelPath> {
    Ok(RelPath::parse(&format!("{BASE}{path}"))?)
}

impl Memory {
    /// Reads the lock below `root`; an absent one is an empty memory.
    pub fn load(root: &Path) -> Result<Self> {
        match tree::find(root, &RelPath::parse(LOCK)?)? {
            Found::Absent => Ok(Self::default()),
            Found::Obstacle(what) => {
                Err(Failure::refused(format!("cannot read `{LOCK}`: {what}")).advise(put_aside()))
            }
            Found::File(bytes) => {
                let text =
                    String::from_utf8(bytes).map_err(|_| broken(1, "it is not UTF-8 text"))?;
                Self::parse(&text)
            }
        }
    }

    /// Parses the lock's text.
    pub fn parse(text: &str) -> Result<Self> {
        let mut memory = Self::default();
        let mut format_seen = false;
        for (at, line) in text.lines().enumerate() {
            let refuse = |why: &str| Err(broken(at + 1, why));
            let mut words = line.splitn(3, ' ');
            let mut word = || words.next();
            match (word().unwrap_or_default(), word(), word()) {
                ("", None, _) => {}
                (word, ..) if word.starts_with('#') => {}
                // The rows of both sides are true, and so are those of their ancestor.
                _ if merge::markers::is_marker(line) => {}
                ("format", Some("1"), None) => format_seen = true,
                ("format", Some(other), None) => {
                    return Err(Failure::refused(format!(
                        "`{LOCK}:{}` has format `{other}`",
                        at + 1
                    ))
                    .note("this operator-forge knows format 1")
                    .newer_tool());
                }
                ("templates", Some(number), None) => match number.parse::<u32>() {
                    Ok(number) => memory.templates = memory.templates.max(number),
                    Err(_) => return refuse("the template set is not a number"),
                },
                (owner, Some(digest), Some(path)) => {
                    let Some(owner) = Owner::parse(owner) else {
                        return refuse("a row starts with tool, user or shared");
                    };
                    let Some(digest) = Digest::parse(digest) else {
                        return refuse("a row's second word is a SHA-256 in hexadecimal");
                    };
                    let Ok(path) = RelPath::parse(path) else {
                        return refuse("a row's path must stay inside the project");
                    };
                    if is_record(&path) {
                        return refuse(
                            "a row is of a generated file, which the record itself is not",
                        );
                    }
                    if BASE.len() + path.as_str().len() > RelPath::MAX {
                        return refuse("a row's path leaves no room for the path of its text");
                    }
                    let row = memory.rows.entry(path).or_insert(Last {
                        owner,
                        any_of: Vec::new(),
                    });
                    if !row.any_of.contains(&digest) {
                        row.any_of.push(digest);
                    }
                }
                _ => return refuse("a row is `owner hash path`"),
            }
        }
        if format_seen {
            Ok(memory)
        } else {
            Err(broken(1, "the line `format 1` is missing"))
        }
    }

    /// The lock's text.
    pub fn write(&self) -> String {
        let mut text = format!("{COMMENT}\n{FORMAT}\ntemplates {}\n", self.templates);
        for (path, row) in &self.rows {
            for digest in &row.any_of {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{} {digest} {path}", row.owner.word());
            }
        }
        text
    }
}

/// Whether no template makes what is there: it is the record of the project.
fn is_record(path: &RelPath) -> bool {
    let first = path.as_str().split('/').next().unwrap_or_default();
    [DIRECTORY, FILE]
        .iter()
        .any(|record| first.eq_ignore_ascii_case(record))
}

/// Without a lock the next command tells from `PROJECT` what was generated.
fn put_aside() -> String {
    format!("{} && operator-forge sync", shell::put_aside(LOCK))
}

fn broken(line: usize, why: &str) -> Failure {
    Failure::refused(format!("cannot read `{LOCK}:{line}`"))
        .note(why.to_owned())
        .advise(put_aside())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(owner: Owner, contents: &[&str]) -> Last<Digest> {
        Last {
            owner,
            any_of: contents
                .iter()
                .map(|text| Digest::of(&RelPath::parse("x").unwrap(), text.as_bytes()))
                .collect(),
        }
    }

    #[test]
    fn a_union_merge_reads_as_both_branches() {
        let path = |text| RelPath::parse(text).unwrap();
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
    fn what_is_broken_is_refused_with_its_line() {
        for (text, line) in [
            ("", 1),
            ("tool 00 src/api.rs\n", 1),
            ("format 1\nnobody 00 src/api.rs\n", 2),
            ("format 1\ntemplates x\n", 2),
            ("format 1\n\n<<<<<<<HEAD\n", 3),
        ] {
            let failure = Memory::parse(text).unwrap_err();
            assert!(
                failure.what.contains(&format!("{LOCK}:{line}")),
                "{text:?}: {failure}"
            );
        }
        let escape = format!(
            "format 1\ntool {} ../x\n",
            Digest::of(&RelPath::parse("x").unwrap(), b"")
        );
        assert!(Memory::parse(&escape).is_err());
        let newer = Memory::parse("format 2\n").unwrap_err();
        assert_eq!(newer.lines(), ["run the command again"]);
    }

    proptest! {
        #[test]
        fn reading_what_was_written_gives_the_same(
            templates in 0..9u32,
            rows in proptest::collection::btree_map("x[a-z]{1,8}(/x[a-z]{1,8} ?[a-z]){0,3}", (0..3usize, "[a-z]{0,3}"), 0..8)
        ) {
            let owners = [Owner::Tool, Owner::User, Owner::Shared];
            let rows = rows
                .iter()
                .map(|(path, (owner, text))| (RelPath::parse(path).unwrap(), row(owners[*owner], &[text])))
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
