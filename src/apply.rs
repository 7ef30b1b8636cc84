//! Makes a change set true on disk.
//!
//! Invariants: everything is written beside the target first, so a full disk or a read-only directory changes nothing;
//! a file that moved between planning and applying stops the command; when a step fails, the steps before it are taken
//! back; `PROJECT` and the lock are the last to change.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    change::{Change, ChangeSet},
    error::{Failure, Result},
    tree::{self, Found},
};

/// Applies all of `set` below `root`, or nothing. `root` is made if it is not there.
pub fn apply(root: &Path, set: &ChangeSet) -> Result<()> {
    if set.changes.is_empty() {
        return Ok(());
    }
    let made_root = make_root(root)?;
    let stage = Stage {
        directory: root.join(format!(".operator-forge/stage-{}", std::process::id())),
    };
    let mut done = Vec::new();
    let mut directories = Vec::new();
    let result = stage.fill(root, set, &mut directories).and_then(|()| {
        for (at, change) in set.changes.iter().enumerate() {
            verify(root, change)?;
            step(root, change, &stage.file(at), &mut directories)?;
            done.push(change);
        }
        Ok(())
    });
    stage.clear();
    match result {
        Ok(()) => {
            for change in &set.changes {
                if change.after.is_none() {
                    remove_empty_parents(root, change);
                }
            }
            Ok(())
        }
        Err(failure) => {
            let left: Vec<String> = done
                .into_iter()
                .rev()
                .filter_map(|change| take_back(root, change))
                .collect();
            for directory in directories.iter().rev() {
                let _ = fs::remove_dir(directory);
            }
            if made_root {
                let _ = fs::remove_dir(root);
            }
            Err(left.into_iter().fold(failure, Failure::note))
        }
    }
}

/// Where new contents wait until all of them are written.
struct Stage {
    directory: PathBuf,
}

impl Stage {
    fn file(&self, at: usize) -> PathBuf {
        self.directory.join(at.to_string())
    }

    fn fill(&self, root: &Path, set: &ChangeSet, directories: &mut Vec<PathBuf>) -> Result<()> {
        make_directories(root, Path::new(".operator-forge"), directories)?;
        fs::create_dir(&self.directory)
            .map_err(|error| cannot("create", &self.directory, &error))?;
        for (at, change) in set.changes.iter().enumerate() {
            let Some(after) = &change.after else { continue };
            let file = self.file(at);
            let full = root.join(change.path.as_str());
            fs::write(&file, after).map_err(|error| cannot("write", &full, &error))?;
            if change.before.is_some() {
                let meta = fs::metadata(&full).map_err(|error| cannot("read", &full, &error))?;
                if meta.permissions().readonly() {
                    return Err(Failure::refused(format!(
                        "cannot write `{}`: it is read-only",
                        change.path
                    ))
                    .help(format!("make it writable: chmod u+w {}", full.display())));
                }
                fs::set_permissions(&file, meta.permissions())
                    .map_err(|error| cannot("write", &full, &error))?;
            }
        }
        Ok(())
    }

    fn clear(&self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Refuses if the file is no longer what the plan saw.
fn verify(root: &Path, change: &Change) -> Result<()> {
    let same = match (tree::find(root, &change.path)?, &change.before) {
        (Found::Absent, None) => true,
        (Found::File(now), Some(before)) => now == *before,
        _ => false,
    };
    if same {
        return Ok(());
    }
    Err(
        Failure::refused(format!("`{}` changed while the command ran", change.path))
            .note("nothing was written")
            .help("run the command again"),
    )
}

fn step(root: &Path, change: &Change, staged: &Path, directories: &mut Vec<PathBuf>) -> Result<()> {
    let full = root.join(change.path.as_str());
    if change.after.is_none() {
        return fs::remove_file(&full).map_err(|error| cannot("delete", &full, &error));
    }
    if let Some(parent) = Path::new(change.path.as_str()).parent() {
        make_directories(root, parent, directories)?;
    }
    fs::rename(staged, &full).map_err(|error| cannot("write", &full, &error))
}

/// Takes back a step that was done; says what it could not.
fn take_back(root: &Path, change: &Change) -> Option<String> {
    let full = root.join(change.path.as_str());
    let result = match &change.before {
        None => fs::remove_file(&full),
        Some(before) => fs::write(&full, before),
    };
    result
        .err()
        .map(|error| format!("`{}` could not be put back: {error}", change.path))
}

fn make_root(root: &Path) -> Result<bool> {
    if root.is_dir() {
        return Ok(false);
    }
    fs::create_dir_all(root).map_err(|error| cannot("create", root, &error))?;
    Ok(true)
}

/// Makes `relative` below `root` and adds each directory that was not there to `made`.
fn make_directories(root: &Path, relative: &Path, made: &mut Vec<PathBuf>) -> Result<()> {
    let mut directory = root.to_path_buf();
    if root.join(relative).is_dir() {
        return Ok(());
    }
    for part in relative {
        directory.push(part);
        match fs::create_dir(&directory) {
            Ok(()) => made.push(directory.clone()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot("create", &directory, &error)),
        }
    }
    Ok(())
}

fn remove_empty_parents(root: &Path, change: &Change) {
    for parent in change.path.parents().rev() {
        if fs::remove_dir(root.join(parent)).is_err() {
            break;
        }
    }
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> Failure {
    let path = path.strip_prefix(".").unwrap_or(path);
    let failure = Failure::refused(format!("cannot {verb} `{}`: {error}", path.display()))
        .note("nothing was changed");
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            failure.help("choose a directory that you may write to: operator-forge -C DIR …")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            failure.help("make room, then run the command again")
        }
        _ => failure.help("remove what is in the way, then run the command again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{change::Action, tree::RelPath};

    fn change(path: &str, before: Option<&str>, after: Option<&str>) -> Change {
        Change {
            path: RelPath::parse(path).unwrap(),
            action: Action::Update,
            owner: None,
            before: before.map(|text| text.as_bytes().to_vec()),
            after: after.map(|text| text.as_bytes().to_vec().into()),
        }
    }

    fn set(changes: Vec<Change>) -> ChangeSet {
        ChangeSet {
            changes,
            ..ChangeSet::default()
        }
    }

    /// Every file below `root` with its text.
    fn files(root: &Path) -> Vec<(String, String)> {
        walkdir::WalkDir::new(root)
            .sort_by_file_name()
            .min_depth(1)
            .into_iter()
            .map(|entry| {
                let entry = entry.unwrap();
                let text = if entry.file_type().is_file() {
                    fs::read_to_string(entry.path()).unwrap()
                } else {
                    "/".into()
                };
                (
                    entry
                        .path()
                        .strip_prefix(root)
                        .unwrap()
                        .display()
                        .to_string(),
                    text,
                )
            })
            .collect()
    }

    #[test]
    fn all_of_it_or_nothing() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("a"), "a").unwrap();
        fs::write(root.path().join("gone"), "g").unwrap();
        let before = files(root.path());
        // The last change expects a file that is not there, so everything before it has to be taken back.
        let broken = set(vec![
            change("a", Some("a"), Some("A")),
            change("new/deep/file", None, Some("n")),
            change("gone", Some("g"), None),
            change("moved", Some("?"), None),
        ]);
        let failure = apply(root.path(), &broken).unwrap_err();
        assert!(failure.error.contains("`moved` changed while"), "{failure}");
        assert_eq!(files(root.path()), before);
    }

    #[test]
    fn emptied_directories_go_away() {
        let root = tempfile::tempdir().unwrap();
        apply(root.path(), &set(vec![change("d/e/f", None, Some("x"))])).unwrap();
        apply(root.path(), &set(vec![change("d/e/f", Some("x"), None)])).unwrap();
        let left: Vec<_> = files(root.path())
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        assert_eq!(left, [".operator-forge"]);
    }

    #[cfg(unix)]
    #[test]
    fn the_mode_of_a_file_is_kept() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("run");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        apply(
            root.path(),
            &set(vec![change("run", Some("old"), Some("new"))]),
        )
        .unwrap();
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o755
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }
}
