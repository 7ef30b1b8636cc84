//! The files of a chart that become part of a project. They are the user's from the start: no lock has them. They are kept as they
//! were copied, so that a newer chart can be merged with the user's edits.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{listed, source::Source};
use crate::{
    advice::{Advice, Flag, Script},
    change::{ChangeSet, ConflictKind},
    engine::Request,
    error::{Failure, Result},
    memory,
    merge::markers,
    name::ChartPath,
    plan::CopiedFile,
    project::Key,
    tree::{self, Found, RelPath},
};

/// A chart to copy, beside what the project has in its place.
#[derive(Default)]
pub struct Copied {
    /// The files of the chart, and those of its last copy.
    files: BTreeMap<RelPath, CopiedFile>,
    /// The files that the chart changes, as far as the user has not deleted them.
    changed: Vec<RelPath>,
    /// The files in the project that differ from those of the chart.
    differing: Vec<RelPath>,
    /// Files of the project that are neither in the chart nor in its last copy.
    others: Vec<RelPath>,
    /// Whether the project has a chart in its place.
    is_there: bool,
}

/// Compares a chart with what is at `path`, and with its last copy; there is nothing to copy if it is there itself.
///
/// Errors: a file of the chart has a name that not every system can store, or something else than a file is in its place.
pub fn of(root: &Path, source: &Source, path: &ChartPath) -> Result<Copied> {
    let directory = root.join(path.as_str());
    if source.directory.as_ref() == Some(&tree::full(&directory)) {
        return Ok(Copied::default());
    }
    let mut wanted = wanted(source, path)?;
    let mut last = memory::copies(root, path.name())?;
    let paths: BTreeSet<RelPath> = wanted.keys().chain(last.keys()).cloned().collect();
    let found = tree::find_all(root, paths.clone())?;
    let there = |path: &RelPath| match found.get(path) {
        Some(Found::File(there)) => Some(there),
        _ => None,
    };
    // A chart without this file is gone, and comes back whole.
    let is_there = root.join(format!("{path}/{CHART_FILE}")).exists();
    let mut copied = Copied {
        others: others(root, path, &paths)?,
        is_there,
        ..Copied::default()
    };
    for path in paths {
        let new = wanted.remove(&path);
        if let (Some(Found::Obstacle(what)), true) = (found.get(&path), new.is_some()) {
            return Err(
                Failure::refused(format!("the chart cannot be copied: {what}"))
                    .note(format!("`{path}` is a file of the chart"))
                    .advise(what.makes_room()),
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

/// The file that makes a directory a chart.
const CHART_FILE: &str = "Chart.yaml";

fn has_markers(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok_and(|text| markers::split(text).is_some())
}

/// The files of the chart by their paths in the project.
fn wanted(source: &Source, path: &ChartPath) -> Result<BTreeMap<RelPath, Vec<u8>>> {
    let mut wanted: BTreeMap<RelPath, Vec<u8>> = BTreeMap::new();
    let mut folded = BTreeSet::new();
    for file in &source.files {
        let refused = |why: &str| {
            Failure::refused(format!(
                "the chart `{}` has a file that cannot be copied",
                source.shown
            ))
            .note(format!("`{}`: {why}", file.name.escape_debug()))
            .note("a file that `.helmignore` of the chart names is left out")
            .advise(match source.directory {
                Some(_) => Script::edit([format!("{}/.helmignore", source.shown)]).into(),
                None => Advice::Help,
            })
        };
        let target: RelPath = match format!("{path}/{}", file.name).parse() {
            Ok(target) => target,
            Err(tree::Error::InvalidPath { why, .. }) => return Err(refused(why)),
            Err(other) => return Err(other.into()),
        };
        if !folded.insert(target.as_str().to_lowercase()) {
            return Err(refused(
                "another file has this name but for upper and lower case",
            ));
        }
        wanted.insert(target, file.data.to_vec());
    }
    Ok(wanted)
}

/// The files in the place of the chart that are none of `known`.
fn others(root: &Path, chart: &ChartPath, known: &BTreeSet<RelPath>) -> Result<Vec<RelPath>> {
    let directory = root.join(chart.as_str());
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let found = tree::search(&directory, &[], |entry| entry.file_name() != ".git");
    let found = found.map_err(|it| {
        let (path, why) = (it.path.display(), it.error);
        Failure::refused(format!("cannot read `{path}`: {why}"))
            .note("it is in the place of the chart")
            .advise(Script::put_aside(chart.as_str()))
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
    /// A remark about files that may be of a former chart: what was copied is not known, and the chart does not have them.
    pub fn left(&self, chart: &ChartPath) -> Option<String> {
        let is_left = !is_known(&self.files) && !self.others.is_empty();
        is_left.then(|| {
            format!(
                "`{chart}` has {}, and the chart that is copied does not: what you do not need is yours to delete",
                listed(self.others.iter().map(RelPath::as_str))
            )
        })
    }

    /// A file in the place of the chart that is not the same in it.
    pub fn in_the_way(&self) -> Option<&RelPath> {
        self.differing.iter().chain(&self.others).next()
    }

    /// Whether the chart changes one that is there.
    pub fn changes(&self) -> bool {
        self.is_there && !self.changed.is_empty()
    }

    /// The refusal of a chart for the kind at `key`, which exists with it, or with another version of it.
    pub fn refusal(&self, source: &Source, path: &ChartPath, key: &Key) -> Failure {
        let merges = format!("`--force` merges what is new in a chart with your edits of `{path}`");
        let Some(first) = self.changed.first() else {
            return Failure::refused(format!("`{key}` exists already, with this chart"))
                .note(merges)
                .advise(Script::forge("status"));
        };
        let rest = match self.changed.len() - 1 {
            0 => String::new(),
            1 => " and another file".to_owned(),
            more => format!(" and {more} more files"),
        };
        let flags = ["--force", "--dry-run", "--diff"];
        Failure::refused(format!(
            "the chart of `{key}` differs from `{}`",
            source.shown
        ))
        .note(format!("`{first}`{rest} would change"))
        .note(match is_known(&self.files) {
            true => merges,
            false => format!("{UNKNOWN}: with `--force`, you decide about each file that differs"),
        })
        .advise(Advice::set_all(flags.map(|flag| Flag::new(flag, None))))
    }

    /// The files to copy.
    pub fn files(self) -> BTreeMap<RelPath, CopiedFile> {
        self.files
    }
}

/// Whether the project has the chart as it was copied last. Without that, the edits of the user are not known.
fn is_known(files: &BTreeMap<RelPath, CopiedFile>) -> bool {
    files.values().any(|file| file.base.is_some())
}

const UNKNOWN: &str =
    "operator-forge did not copy the chart that is there, and cannot tell your edits";

/// Adds a note to the refusal of conflicts with files that were not copied.
pub fn explain(failure: Failure, request: &Request, set: &ChangeSet) -> Failure {
    let copied = &request.named.copied;
    let is_of_chart = set
        .conflicts
        .iter()
        .any(|it| it.why == ConflictKind::Exists && copied.contains_key(&it.path));
    match is_of_chart && !is_known(copied) {
        true => failure.note(UNKNOWN),
        false => failure,
    }
}
