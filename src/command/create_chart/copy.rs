//! The files of a chart that become part of a project. They are the user's from the start: no lock has them, and no command
//! changes them later, but for `--force`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::source::Source;
use crate::{
    advice::{Advice, Flag, Script},
    error::{Failure, Result},
    name::ChartPath,
    plan::Rewritten,
    project::Key,
    tree::{self, Found, RelPath},
};

/// The differences of a chart from what the project has in its place.
pub struct Copied {
    new: BTreeMap<RelPath, Vec<u8>>,
    changed: BTreeMap<RelPath, (Vec<u8>, Vec<u8>)>,
    /// Files that the chart does not have.
    others: BTreeMap<RelPath, Vec<u8>>,
}

/// Compares a chart with what is at `path`; there is no difference if it is there itself.
///
/// Errors: a file of the chart has a name that not every system can store, or something else than a file is in its place.
pub fn of(root: &Path, source: &Source, path: &ChartPath) -> Result<Copied> {
    let directory = root.join(path.as_str());
    let mut copied = Copied {
        new: BTreeMap::new(),
        changed: BTreeMap::new(),
        others: BTreeMap::new(),
    };
    if source.directory.as_ref() == Some(&tree::full(&directory)) {
        return Ok(copied);
    }
    let wanted = wanted(source, path)?;
    let found = tree::find_all(root, wanted.keys().cloned())?;
    for (path, data) in wanted {
        match found.get(&path) {
            Some(Found::Obstacle(what)) => {
                return Err(
                    Failure::refused(format!("the chart cannot be copied: {what}"))
                        .note(format!("`{path}` is a file of the chart"))
                        .advise(what.makes_room()),
                );
            }
            Some(Found::File(there)) if is_same(there, &data) => {}
            Some(Found::File(there)) => _ = copied.changed.insert(path, (there.clone(), data)),
            Some(Found::Absent) | None => _ = copied.new.insert(path, data),
        }
    }
    copied.others = others(root, path, &found.into_keys().collect())?;
    Ok(copied)
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

/// The files in the place of the chart that it does not have.
fn others(
    root: &Path,
    chart: &ChartPath,
    wanted: &BTreeSet<RelPath>,
) -> Result<BTreeMap<RelPath, Vec<u8>>> {
    let directory = root.join(chart.as_str());
    if !directory.is_dir() {
        return Ok(BTreeMap::new());
    }
    let found = tree::search(&directory, &[], |entry| entry.file_name() != ".git");
    let found = found.map_err(|it| {
        let (path, why) = (it.path.display(), it.error);
        Failure::refused(format!("cannot read `{path}`: {why}"))
            .note("it is in the place of the chart")
            .advise(Script::put_aside(chart.as_str()))
    })?;
    let other = |(path, bytes): (PathBuf, Vec<u8>)| {
        let path = path.strip_prefix(root).ok()?.to_str()?.replace('\\', "/");
        let path: RelPath = path.parse().ok()?;
        (!wanted.contains(&path)).then_some((path, bytes))
    };
    Ok(found.into_iter().filter_map(other).collect())
}

fn is_same(one: &[u8], other: &[u8]) -> bool {
    tree::unix_line_ends(one) == tree::unix_line_ends(other)
}

impl Copied {
    /// A remark about the files that go because the chart does not have them.
    pub fn lost(&self, chart: &ChartPath) -> Option<String> {
        let lost: Vec<_> = self.others.keys().map(|path| format!("`{path}`")).collect();
        (!lost.is_empty()).then(|| {
            format!(
                "the new chart does not have {}, which `{chart}` loses; `operator-forge undo` brings all of it back",
                lost.join(", ")
            )
        })
    }

    /// A file that is in the way of the chart: one with another text, or one that the chart does not have.
    pub fn in_the_way(&self) -> Option<&RelPath> {
        self.changed.keys().chain(self.others.keys()).next()
    }

    /// Refuses to replace what is there: another chart, or the one of the kind that exists at `key`, which is the user's.
    pub fn refuse_others(
        &self,
        source: &Source,
        path: &ChartPath,
        key: Option<&Key>,
    ) -> Result<()> {
        let others = self.changed.keys().chain(self.others.keys());
        let differing: Vec<&RelPath> = match key {
            Some(_) => others.chain(self.new.keys()).collect(),
            None => others.collect(),
        };
        let Some(first) = differing.first() else {
            return Ok(());
        };
        let rest = match differing.len() - 1 {
            0 => String::new(),
            1 => " and another file".to_owned(),
            more => format!(" and {more} more files"),
        };
        let shown = &source.shown;
        let failure = Failure::refused(match key {
            Some(key) => format!("the chart of `{key}` differs from `{shown}`"),
            None => format!("`{path}` is not the chart of `{shown}`"),
        })
        .note(format!("`{first}`{rest} would change"));
        let failure = match key {
            Some(_) => failure
                .note(format!("`{path}` is yours: put the new chart in its place by hand, then `make manifests`"))
                .note("`--force` replaces the files of the chart, and nothing else; `operator-forge undo` brings your changes back"),
            None => failure.note("`--force` replaces what is there"),
        };
        let flags = ["--force", "--dry-run", "--diff"];
        Err(failure.advise(Advice::set_all(flags.map(|flag| Flag::new(flag, None)))))
    }

    /// The changes that make the difference disappear.
    pub fn rewritten(self) -> BTreeMap<RelPath, Rewritten> {
        let change = |before: Option<Vec<u8>>, after: Option<Vec<u8>>| Rewritten {
            before,
            after: after.map(Into::into),
            row: None,
        };
        let new = self
            .new
            .into_iter()
            .map(|(path, data)| (path, change(None, Some(data))));
        let changed = self.changed.into_iter();
        let changed = changed.map(|(path, (was, is))| (path, change(Some(was), Some(is))));
        let others = self.others.into_iter();
        let others = others.map(|(path, was)| (path, change(Some(was), None)));
        new.chain(changed).chain(others).collect()
    }
}
