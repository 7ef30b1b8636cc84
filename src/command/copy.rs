//! The files of a chart, role or playbook that become part of a project. They are the user's from the start: no lock has them. They are kept as they
//! were copied, so that a newer original can be merged with the user's edits.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::{
    advice::{Advice, Flag, Script},
    change::{ChangeSet, ConflictKind},
    engine::Request,
    error::{Failure, Result},
    memory,
    merge::markers,
    plan::CopiedFile,
    project::Key,
    tree::{self, Found, RelPath},
};

/// How many paths a sentence names.
const NAMED: usize = 5;

/// What is copied.
pub struct Original<'a> {
    /// What it is: `chart`, `role` or `playbook`.
    pub what: &'static str,
    /// Where it is from, as the command line has it.
    pub shown: &'a str,
    /// Its directory or file on disk, without symbolic links and `..`, if it is in one.
    pub from: Option<&'a Path>,
    /// Its directory or file in the project.
    pub to: &'a str,
    /// The path in the project that is there if it is.
    pub anchor: String,
    /// Its files, by their paths below `to`; that of a single file is empty.
    pub files: Vec<(&'a str, &'a [u8])>,
}

impl Original<'_> {
    /// Whether the project has something in its place.
    fn is_there(&self, root: &Path) -> bool {
        root.join(&self.anchor).exists()
    }
}

/// Something to copy, beside what the project has in its place.
#[derive(Default)]
pub struct Copied {
    /// The files of the original, and those of its last copy.
    files: BTreeMap<RelPath, CopiedFile>,
    /// The files that it changes, as far as the user has not deleted them.
    changed: Vec<RelPath>,
    /// The files in the project that differ from those of the original.
    differing: Vec<RelPath>,
    /// Files of the project that are neither in the original nor in its last copy.
    others: Vec<RelPath>,
    /// Whether the project has something in its place.
    is_there: bool,
}

/// Compares an original with what is in its place, and with its last copy; there is nothing to copy if it is there itself.
///
/// Errors: a file has a name that not every system can store, or something else than a file is in its place.
pub fn of(root: &Path, original: &Original<'_>) -> Result<Copied> {
    if original.from == Some(&*tree::full(&root.join(original.to))) {
        return Ok(Copied::default());
    }
    let what = original.what;
    let mut wanted = wanted(original)?;
    let mut last = memory::copies(root, original.to)?;
    let paths: BTreeSet<RelPath> = wanted.keys().chain(last.keys()).cloned().collect();
    let found = tree::find_all(root, paths.clone())?;
    let there = |path: &RelPath| match found.get(path) {
        Some(Found::File(there)) => Some(there),
        _ => None,
    };
    // What is gone comes back whole.
    let is_there = original.is_there(root);
    let mut copied = Copied {
        others: others(root, original, &paths)?,
        is_there,
        ..Copied::default()
    };
    for path in paths {
        let new = wanted.remove(&path);
        if let (Some(Found::Obstacle(obstacle)), true) = (found.get(&path), new.is_some()) {
            return Err(
                Failure::refused(format!("the {what} cannot be copied: {obstacle}"))
                    .note(format!("`{path}` is a file of the {what}"))
                    .advise(obstacle.makes_room()),
            );
        }
        // git may have merged two copies.
        let base = last.remove(&path);
        let base = base.filter(|base| is_there && !has_markers(base));
        let there = there(&path);
        let is_new = |text: &Vec<u8>| new.as_ref().is_some_and(|new| is_same(new, text));
        if there.is_some_and(|there| !is_new(there)) {
            copied.differing.push(path.clone());
        }
        let is_change = match &base {
            Some(base) => there.is_some_and(|there| !is_new(there) && !is_new(base)),
            None => !there.is_some_and(is_new) && new.is_some(),
        };
        if is_change {
            copied.changed.push(path.clone());
        }
        let file = CopiedFile::of(&path, base.map(Into::into), new.map(Into::into));
        copied.files.insert(path, file);
    }
    Ok(copied)
}

fn has_markers(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok_and(|text| markers::split(text).is_some())
}

/// The files of the original by their paths in the project.
fn wanted(original: &Original<'_>) -> Result<BTreeMap<RelPath, Vec<u8>>> {
    let Original {
        what, shown, to, ..
    } = original;
    let mut wanted: BTreeMap<RelPath, Vec<u8>> = BTreeMap::new();
    let mut folded = BTreeSet::new();
    for (name, data) in &original.files {
        let refused = |why: &str| {
            let failure = Failure::refused(format!(
                "the {what} `{shown}` has a file that cannot be copied"
            ))
            .note(format!("`{}`: {why}", name.escape_debug()));
            match (*what, original.from) {
                ("chart", from) => failure
                    .note("a file that `.helmignore` of the chart names is left out")
                    .advise(match from {
                        Some(_) => Script::edit([format!("{shown}/.helmignore")]).into(),
                        None => Advice::Help,
                    }),
                _ => failure.advise(Advice::Help),
            }
        };
        let target = match name.is_empty() {
            true => (*to).to_owned(),
            false => format!("{to}/{name}"),
        };
        let target: RelPath = match target.parse() {
            Ok(target) => target,
            Err(tree::Error::InvalidPath { why, .. }) => return Err(refused(why)),
            Err(other) => return Err(other.into()),
        };
        if !folded.insert(target.as_str().to_lowercase()) {
            return Err(refused(
                "another file has this name but for upper and lower case",
            ));
        }
        wanted.insert(target, data.to_vec());
    }
    Ok(wanted)
}

/// The files in the place of the original that are none of `known`.
fn others(root: &Path, original: &Original<'_>, known: &BTreeSet<RelPath>) -> Result<Vec<RelPath>> {
    let directory = root.join(original.to);
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let found = tree::search(&directory, &[], |entry| entry.file_name() != ".git");
    let found = found.map_err(|it| {
        let (path, why) = (it.path.display(), it.error);
        Failure::refused(format!("cannot read `{path}`: {why}"))
            .note(format!("it is in the place of the {}", original.what))
            .advise(Script::put_aside(original.to))
    })?;
    let other = |(path, _): (PathBuf, Vec<u8>)| {
        let path = path.strip_prefix(root).ok()?.to_str()?.replace('\\', "/");
        let path: RelPath = path.parse().ok()?;
        (!known.contains(&path)).then_some(path)
    };
    Ok(found.into_iter().filter_map(other).collect())
}

fn is_same(one: &[u8], other: &[u8]) -> bool {
    tree::unix_line_ends(one) == tree::unix_line_ends(other)
}

impl Copied {
    /// The files of both.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.files.extend(other.files);
        self.changed.extend(other.changed);
        self.differing.extend(other.differing);
        self.others.extend(other.others);
        self.is_there |= other.is_there;
        self
    }

    /// A remark about files that may be of a former original: what was copied is not known, and the one that is copied does not have
    /// them.
    pub fn left(&self, original: &Original<'_>) -> Option<String> {
        let Original { what, to, .. } = original;
        let is_left = !is_known(&self.files) && !self.others.is_empty();
        is_left.then(|| {
            format!(
                "`{to}` has {}, and the {what} that is copied does not: what you do not need is yours to delete",
                listed(self.others.iter().map(RelPath::as_str))
            )
        })
    }

    /// A file in the place of the original that is not the same in it.
    pub fn in_the_way(&self) -> Option<&RelPath> {
        self.differing.iter().chain(&self.others).next()
    }

    /// Whether the original changes one that is there.
    pub fn changes(&self) -> bool {
        self.is_there && !self.changed.is_empty()
    }

    /// The refusal of an original for the kind at `key`, which exists with it, or with another version of it.
    pub fn refusal(&self, original: &Original<'_>, key: &Key) -> Failure {
        let Original {
            what, shown, to, ..
        } = original;
        let merges = format!("`--force` merges what is new in a {what} with your edits of `{to}`");
        let Some(first) = self.changed.first() else {
            return Failure::refused(format!("`{key}` exists already, with this {what}"))
                .note(merges)
                .advise(Script::forge("status"));
        };
        let rest = match self.changed.len() - 1 {
            0 => String::new(),
            1 => " and another file".to_owned(),
            more => format!(" and {more} more files"),
        };
        let flags = ["--force", "--dry-run", "--diff"];
        Failure::refused(format!("the {what} of `{key}` differs from `{shown}`"))
            .note(format!("`{first}`{rest} would change"))
            .note(match is_known(&self.files) {
                true => merges,
                false => format!(
                    "{}: with `--force`, you decide about each file that differs",
                    unknown(what)
                ),
            })
            .advise(Advice::set_all(flags.map(|flag| Flag::new(flag, None))))
    }

    /// The files to copy.
    pub fn files(self) -> BTreeMap<RelPath, CopiedFile> {
        self.files
    }
}

/// Whether the project has the original as it was copied last. Without that, the edits of the user are not known.
fn is_known(files: &BTreeMap<RelPath, CopiedFile>) -> bool {
    files.values().any(|file| file.base.is_some())
}

fn unknown(what: &str) -> String {
    format!("operator-forge did not copy the {what} that is there, and cannot tell your edits")
}

/// What a copied file is a part of.
fn part_of(path: &RelPath) -> &'static str {
    match path.as_str().split('/').next() {
        Some("roles") => "role",
        Some("playbooks") => "playbook",
        _ => "chart",
    }
}

/// Some paths as words: the first ones, and how many more there are.
fn listed<'a>(paths: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = paths.len().saturating_sub(NAMED);
    let mut shown: Vec<_> = paths.take(NAMED).map(|path| format!("`{path}`")).collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

/// Adds a note to the refusal of conflicts with files that were not copied.
pub fn explain(failure: Failure, request: &Request, set: &ChangeSet) -> Failure {
    let copied = &request.named.copied;
    let mut conflicts = set.conflicts.iter();
    let first =
        conflicts.find(|it| it.why == ConflictKind::Exists && copied.contains_key(&it.path));
    match first.filter(|_| !is_known(copied)) {
        Some(conflict) => failure.note(unknown(part_of(&conflict.path))),
        None => failure,
    }
}
