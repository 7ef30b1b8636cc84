//! The files of a project, and where Ansible looks for those that tasks name.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use crate::scope::UNKNOWN;

/// The most bytes of a file that is read, and the most files of a directory.
const LARGEST: u64 = 4 << 20;
const MOST: usize = 20_000;

/// The deepest directory.
const DEEPEST: usize = 24;

/// Files by their paths.
#[derive(Clone, Copy)]
pub struct Files<'a>(pub &'a BTreeMap<String, Vec<u8>>);

impl<'a> Files<'a> {
    /// The text of a file.
    pub fn text(self, path: &str) -> Option<Cow<'a, str>> {
        Some(String::from_utf8_lossy(self.0.get(path)?))
    }

    /// The paths of the files in a directory, those of its directories included.
    pub fn below(self, directory: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let start = match directory {
            "" => String::new(),
            directory => format!("{directory}/"),
        };
        let from = self.0.range(start.clone()..);
        from.map(|it| it.0.as_str())
            .take_while(move |path| path.starts_with(&start))
    }

    /// Whether there are files in a directory.
    pub fn has_directory(self, directory: &str) -> bool {
        self.below(directory).next().is_some()
    }

    /// The files of this name: the first one in the directories, or if parts of the name are not known, all that it may be.
    pub fn find(self, directories: &[String], name: &str) -> Vec<String> {
        if !name.contains(UNKNOWN) {
            let mut paths = directories.iter().filter_map(|it| joined(it, name));
            let found = paths.find(|path| self.0.contains_key(path));
            return found.into_iter().collect();
        }
        // A path such as `{{ role_path }}/templates/x` begins with a directory of unknown name.
        let ends_at = name
            .strip_prefix(UNKNOWN)
            .and_then(|it| it.strip_prefix('/'));
        if let Some(rest) = ends_at
            && !rest.contains(UNKNOWN)
        {
            return self.find(directories, rest);
        }
        let mut found = Vec::new();
        for directory in directories {
            let start = match directory.is_empty() {
                true => String::new(),
                false => format!("{directory}/"),
            };
            for path in self.below(directory) {
                let is_new = !found.iter().any(|it| it == path);
                if is_new && fits(&path[start.len()..], name) {
                    found.push(path.to_owned());
                }
            }
            if !found.is_empty() {
                break;
            }
        }
        found
    }
}

/// Whether a text is what a pattern may be.
fn fits(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split(UNKNOWN);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// A path in a directory, without `.` and `..`. `None` for one that leads out of the project.
pub fn joined(directory: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The directory of a path.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |it| it.0)
}

/// Whether a file is YAML by its name.
pub fn is_yaml(path: &str) -> bool {
    path.ends_with(".yml") || path.ends_with(".yaml")
}

/// Reads the files in a directory, by their paths in it behind `prefix/`, for [`of`](crate::of). Files of version control, those that
/// are larger than 4 MiB, and what is no regular file are left out.
///
/// # Errors
/// A directory or file cannot be read.
pub fn read(
    directory: &Path,
    prefix: &str,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> io::Result<()> {
    let mut left: Vec<(PathBuf, String, usize)> =
        vec![(directory.to_path_buf(), prefix.to_owned(), 0)];
    let mut count = 0;
    while let Some((path, name, depth)) = left.pop() {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let metadata = fs::metadata(&path).map_err(named)?;
        if metadata.is_dir() && depth < DEEPEST {
            for entry in fs::read_dir(&path).map_err(named)? {
                let entry = entry.map_err(named)?;
                let Ok(part) = entry.file_name().into_string() else {
                    continue;
                };
                if matches!(&*part, ".git" | "target" | "molecule") {
                    continue;
                }
                let name = match name.is_empty() {
                    true => part,
                    false => format!("{name}/{part}"),
                };
                // A link that leads nowhere is no file.
                if entry.path().exists() {
                    left.push((entry.path(), name, depth + 1));
                }
            }
        } else if metadata.is_file() && metadata.len() <= LARGEST && count < MOST {
            count += 1;
            files.insert(name, fs::read(&path).map_err(named)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_in_the_project() {
        for (directory, path, expected) in [
            ("roles/a", "x.yml", Some("roles/a/x.yml")),
            ("roles/a/tasks", "../files/x", Some("roles/a/files/x")),
            ("", "./x", Some("x")),
            ("a", "../../x", None),
            ("a", "/x", None),
        ] {
            assert_eq!(joined(directory, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn names_with_unknown_parts() {
        let names = ["r/templates/a.yml.j2", "r/templates/b/c.yml.j2", "r/x.txt"];
        let files = names.map(|it| (it.to_owned(), Vec::new())).into();
        let files = Files(&files);
        let directories = ["r/templates", "r"].map(str::to_owned);
        for (name, expected) in [
            ("a.yml.j2", &["r/templates/a.yml.j2"][..]),
            (
                "?.yml.j2",
                &["r/templates/a.yml.j2", "r/templates/b/c.yml.j2"],
            ),
            ("b/?", &["r/templates/b/c.yml.j2"]),
            ("?/templates/a.yml.j2", &["r/templates/a.yml.j2"]),
            ("?.txt", &["r/x.txt"]),
            ("d", &[]),
        ] {
            let found = files.find(&directories, &name.replace('?', "\u{E002}"));
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn a_directory_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        fs::create_dir_all(path.join("tasks")).unwrap();
        fs::create_dir_all(path.join(".git")).unwrap();
        fs::write(path.join("tasks/main.yml"), "[]").unwrap();
        fs::write(path.join(".git/config"), "").unwrap();
        let mut files = BTreeMap::new();
        read(path, "roles/a", &mut files).unwrap();
        let names: Vec<_> = files.keys().collect();
        assert_eq!(names, ["roles/a/tasks/main.yml"]);
        assert!(read(&path.join("none"), "x", &mut files).is_err());
    }
}
