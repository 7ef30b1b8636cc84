//! What is found on disk, without following symbolic links.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use rayon::prelude::*;

use super::RelPath;
use crate::{
    error::{Failure, Result},
    shell,
};

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Absent,
    /// A regular file with these bytes.
    File(Vec<u8>),
    /// Something a file cannot replace; the text names it ("a directory", "a symbolic link", …) and where it is.
    Obstacle(String),
}

/// Looks at `path` below `root` without following symbolic links, in the path or at its end.
///
/// Errors: what the operating system says when a file is there and cannot be read.
pub fn find(root: &Path, path: &RelPath) -> Result<Found> {
    find_below(root, path, &mut BTreeSet::new())
}

/// The path without links and `..` in it, also of what is not there yet.
pub fn full(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let there = |it: &&Path| it.exists();
    let Some(there) = absolute.ancestors().find(there) else {
        return absolute;
    };
    let mut full = there.canonicalize().unwrap_or_else(|_| there.to_path_buf());
    for part in absolute.strip_prefix(there).into_iter().flatten() {
        match part == ".." {
            true => _ = full.pop(),
            false => full.push(part),
        }
    }
    full
}

/// [`find`] for many paths, side by side: each thread looks at a directory once. Of several errors it is the one of the
/// first path.
pub fn find_all(
    root: &Path,
    paths: impl IntoIterator<Item = RelPath>,
) -> Result<BTreeMap<RelPath, Found>> {
    let paths: Vec<RelPath> = paths.into_iter().collect();
    let found: Vec<Result<_>> = paths
        .into_par_iter()
        .map_init(BTreeSet::new, |directories, path| {
            let found = find_below(root, &path, directories)?;
            Ok((path, found))
        })
        .collect();
    found.into_iter().collect()
}

/// `directories` are known to be directories, and grow.
fn find_below(root: &Path, path: &RelPath, directories: &mut BTreeSet<String>) -> Result<Found> {
    let unreadable = |at: &str, error: io::Error| {
        Failure::refused(format!("cannot read `{at}`: {error}")).advise(format!(
            "chmod -R u+rX {}",
            shell::word(&root.to_string_lossy())
        ))
    };
    let known = |parent: &str| directories.contains(parent);
    let parents = match path.parents().next_back() {
        Some(parent) if known(parent) => None,
        _ => Some(path.parents()),
    };
    for parent in parents.into_iter().flatten() {
        if directories.contains(parent) {
            continue;
        }
        match fs::symlink_metadata(root.join(parent)) {
            Ok(meta) if meta.is_dir() => _ = directories.insert(parent.to_owned()),
            Ok(meta) => {
                return Ok(Found::Obstacle(format!(
                    "`{parent}` is {}",
                    describe(&meta)
                )));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Absent),
            Err(error) => return Err(unreadable(parent, error)),
        }
    }
    let full = root.join(path.as_str());
    match fs::symlink_metadata(&full) {
        Ok(meta) if meta.is_file() => fs::read(&full)
            .map(Found::File)
            .map_err(|error| unreadable(path.as_str(), error)),
        Ok(meta) => Ok(Found::Obstacle(format!("`{path}` is {}", describe(&meta)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Absent),
        Err(error) => Err(unreadable(path.as_str(), error)),
    }
}

/// The names in a directory that are text, sorted; none if there is no such directory.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}

fn describe(meta: &fs::Metadata) -> &'static str {
    if meta.is_dir() {
        "a directory"
    } else if meta.is_symlink() {
        "a symbolic link"
    } else if meta.is_file() {
        "a file"
    } else {
        "a device, socket or pipe"
    }
}
