//! Files on disk, read without following symbolic links.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use rayon::prelude::*;

use super::{Error, RelPath};
use crate::advice::Script;

/// The observed state of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// No file.
    Absent,
    /// A regular file with these bytes.
    File(Vec<u8>),
    /// Anything that a file cannot replace.
    Obstacle(Obstacle),
}

/// Anything that a file cannot replace. Displayed as ``"`src` is a symbolic link"``.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Obstacle {
    /// The path, or a directory around it.
    pub path: String,
    /// The kind of the obstacle.
    pub kind: ObstacleKind,
}

/// The kinds of [`Obstacle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObstacleKind {
    /// A directory in the place of a file.
    Directory,
    /// A symbolic link; none is ever followed.
    Link,
    /// A file in the place of a directory.
    File,
    /// A device, socket or pipe.
    Device,
}

impl Obstacle {
    fn new(path: &str, meta: &fs::Metadata) -> Self {
        let kind = match meta.file_type() {
            it if it.is_dir() => ObstacleKind::Directory,
            it if it.is_symlink() => ObstacleKind::Link,
            it if it.is_file() => ObstacleKind::File,
            _ => ObstacleKind::Device,
        };
        let path = path.to_owned();
        Self { path, kind }
    }

    /// The commands that make room for a file: a link becomes a copy of its target, anything else is put aside.
    pub fn makes_room(&self) -> Script {
        if self.kind != ObstacleKind::Link {
            return Script::put_aside(&self.path);
        }
        let (link, copy) = (&self.path, format!("{}.former", self.path));
        Script::of("cp -RLi")
            .arg(link)
            .arg(&copy)
            .then(Script::of("rm").arg(link))
            .then(Script::of("mv -i").arg(copy).arg(link))
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ObstacleKind::Directory => "a directory",
            ObstacleKind::Link => "a symbolic link",
            ObstacleKind::File => "a file",
            ObstacleKind::Device => "a device, socket or pipe",
        };
        write!(f, "`{}` is {kind}", self.path)
    }
}

/// Reads `path` below `root` without following symbolic links, in the path or at its end.
///
/// Errors: the file exists and cannot be read.
pub fn find(root: &Path, path: &RelPath) -> Result<Found, Error> {
    find_below(root, path, &mut BTreeSet::new())
}

/// The most bytes of a file that is read: a file of a repository may be larger than the memory.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Reads a file of the user or of another project. A link is followed.
///
/// Errors: it is a pipe or a device, which may have no end; it has more than 64 MiB; the operating system refuses.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Before it is opened: opening a pipe waits for its other end.
    let meta = fs::metadata(path)?;
    match meta.is_file() {
        true => limited(File::open(path)?, meta.len()),
        false => Err(io::Error::other("it is not a file")),
    }
}

/// Reads what the user has named: a file, or a pipe that another program writes to.
///
/// Errors: it has more than 64 MiB; the operating system refuses.
pub fn read_stream(stream: impl Read) -> io::Result<Vec<u8>> {
    limited(stream, 0)
}

/// Reads to the end, which is expected after `length` bytes.
fn limited(from: impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(LARGEST)).unwrap_or_default());
    from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(io::Error::other("it has more than 64 MiB")),
        false => Ok(bytes),
    }
}

/// The path without symbolic links and `..`. It need not exist.
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

/// [`find`] for many paths, in parallel; each thread checks a directory once. Of several errors, returns that of the first
/// path.
pub fn find_all(
    root: &Path,
    paths: impl IntoIterator<Item = RelPath>,
) -> Result<BTreeMap<RelPath, Found>, Error> {
    let paths: Vec<RelPath> = paths.into_iter().collect();
    let found: Vec<Result<_, Error>> = paths
        .into_par_iter()
        .map_init(BTreeSet::new, |directories, path| {
            let found = find_below(root, &path, directories)?;
            Ok((path, found))
        })
        .collect();
    found.into_iter().collect()
}

/// [`find`] with the known directories, to which it adds.
fn find_below(
    root: &Path,
    path: &RelPath,
    directories: &mut BTreeSet<String>,
) -> Result<Found, Error> {
    let unreadable = |path: &str, error: io::Error| Error::Unreadable {
        root: root.to_owned(),
        path: path.to_owned(),
        why: error.to_string(),
    };
    // The innermost directory is looked up first: if it is known, so are those around it.
    let parents: Vec<&str> = path.parents().collect();
    let known = parents.iter().rposition(|it| directories.contains(*it));
    for &parent in &parents[known.map_or(0, |at| at + 1)..] {
        match fs::symlink_metadata(root.join(parent)) {
            Ok(meta) if meta.is_dir() => _ = directories.insert(parent.to_owned()),
            Ok(meta) => return Ok(Found::Obstacle(Obstacle::new(parent, &meta))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Absent),
            Err(error) => return Err(unreadable(parent, error)),
        }
    }
    let full = root.join(path.as_str());
    let found = fs::symlink_metadata(&full).and_then(|meta| match meta.is_file() {
        true => limited(File::open(&full)?, meta.len()).map(Found::File),
        false => Ok(Found::Obstacle(Obstacle::new(path.as_str(), &meta))),
    });
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Absent),
        found => found.map_err(|error| unreadable(path.as_str(), error)),
    }
}

/// The names in a directory that are UTF-8, sorted; none if the directory is missing.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}
