//! What is found on disk, without following symbolic links.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};

use super::RelPath;
use crate::error::{Failure, Result};

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

/// [`find`] for many paths: each directory is looked at once.
pub fn find_all(
    root: &Path,
    paths: impl IntoIterator<Item = RelPath>,
) -> Result<BTreeMap<RelPath, Found>> {
    let mut directories = BTreeSet::new();
    paths
        .into_iter()
        .map(|path| Ok((path.clone(), find_below(root, &path, &mut directories)?)))
        .collect()
}

/// `directories` are known to be directories, and grow.
fn find_below(root: &Path, path: &RelPath, directories: &mut BTreeSet<String>) -> Result<Found> {
    let unreadable = |at: &str, error: io::Error| {
        Failure::refused(format!("cannot read `{at}`: {error}"))
            .help(format!("chmod -R u+rX {}", root.display()))
    };
    for parent in path.parents() {
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
