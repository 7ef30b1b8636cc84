//! The files below a directory of the user or of another project, for whoever does not know their paths.

use std::{
    io,
    path::{Path, PathBuf},
};

use walkdir::{DirEntry, WalkDir};

use super::disk::{full, read};

/// The most bytes of all files that one search reads.
const MOST: usize = 256 * 1024 * 1024;

/// A file or directory that ends a search.
#[derive(Debug)]
pub struct Unreadable {
    /// The path, below the path of the search.
    pub path: PathBuf,
    /// The reason.
    pub error: io::Error,
}

/// Reads the regular files below `at` that `wanted` takes, by path; it is asked for directories, too. Symbolic links are followed
/// to what is in one of the directories `around`, and ignored if there are none.
///
/// Errors: a wanted link leads elsewhere: whoever made a repository may have put it there; a file has more than 64 MiB, or all
/// have more than 256 MiB; the operating system refuses.
pub fn search(
    at: &Path,
    around: &[PathBuf],
    mut wanted: impl FnMut(&DirEntry) -> bool,
) -> Result<Vec<(PathBuf, Vec<u8>)>, Unreadable> {
    let refused = |path: &Path, error| Unreadable {
        path: path.to_owned(),
        error,
    };
    let entries = WalkDir::new(at)
        .follow_links(!around.is_empty())
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || wanted(entry));
    let (mut files, mut left) = (Vec::new(), MOST);
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            // A link to a directory around it.
            Err(error) if error.loop_ancestor().is_some() => continue,
            Err(error) => {
                let path = error.path().unwrap_or(at).to_owned();
                let of_links = || io::Error::other("its links lead in a circle");
                return Err(refused(
                    &path,
                    error.into_io_error().unwrap_or_else(of_links),
                ));
            }
        };
        let path = entry.path();
        if entry.path_is_symlink() && !around.is_empty() {
            let target = full(path);
            if !around.iter().any(|directory| target.starts_with(directory)) {
                let error = io::Error::other("it is a link out of the directory");
                return Err(refused(path, error));
            }
        }
        if entry.file_type().is_file() {
            let bytes = read(path).map_err(|error| refused(path, error))?;
            let rest = left.checked_sub(bytes.len());
            left = rest.ok_or_else(|| {
                refused(
                    at,
                    io::Error::other("its files have more than 256 MiB together"),
                )
            })?;
            files.push((path.to_owned(), bytes));
        }
    }
    Ok(files)
}
