//! Writing generated files, and removing those that are not generated any more.
//!
//! A file without the header belongs to the user and is never changed.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// The directory of CRDs. `make manifests` generates the list of them, so it reports CRDs of the user's own.
pub(super) const BASES: &str = "crd/bases";

/// The files that a make target generates.
pub(super) struct Generated {
    target: &'static str,
    dir: PathBuf,
    files: BTreeMap<String, String>,
    owned: &'static [&'static str],
}

/// The change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Write,
    Delete,
    /// The file has no header, so it belongs to the user.
    Keep,
}

impl Generated {
    /// The `files` that `make TARGET` generates, by path below `dir`.
    ///
    /// `owned` are files, and directories of YAML files, below `dir`: any other one there with the header was
    /// generated before, and is removed.
    pub fn new(
        target: &'static str,
        dir: PathBuf,
        files: BTreeMap<String, String>,
        owned: &'static [&'static str],
    ) -> Self {
        Self {
            target,
            dir,
            files,
            owned,
        }
    }

    /// Writes the files, or reports the differences. Returns false if `check` is set and a file differs.
    pub fn apply(&self, check: bool) -> Result<bool, String> {
        let mut same = true;
        for (path, change) in self.plan()? {
            let full = self.dir.join(&path);
            let show = full.display();
            let fail = |error: io::Error| format!("cannot write `{show}`: {error}");
            match change {
                Change::Keep => eprintln!("kept {show}: no `# generated` header, so it is yours"),
                Change::Write | Change::Delete if check => {
                    same = false;
                    eprintln!("out of date: {show}");
                }
                Change::Write => {
                    fs::create_dir_all(full.parent().unwrap_or(&self.dir)).map_err(fail)?;
                    fs::write(&full, &self.files[&path]).map_err(fail)?;
                    eprintln!("wrote {show}");
                }
                Change::Delete => {
                    fs::remove_file(&full).map_err(fail)?;
                    eprintln!("removed {show}");
                }
            }
        }
        if !same {
            eprintln!("help: run `make {}`", self.target);
        }
        Ok(same)
    }

    /// The changes that make the directory contain the files, by path; nothing for up-to-date files.
    fn plan(&self) -> Result<BTreeMap<String, Change>, String> {
        let mut plan = BTreeMap::new();
        for (path, wanted) in &self.files {
            let change = match read(&self.dir.join(path))? {
                // A checkout may have changed the line endings.
                Some(text) if text.replace("\r\n", "\n") == *wanted => continue,
                Some(text) if !has_header(&text) => Change::Keep,
                _ => Change::Write,
            };
            plan.insert(path.clone(), change);
        }
        for owned in self.owned {
            for path in found(&self.dir, owned)? {
                if self.files.contains_key(&path) {
                    continue;
                }
                let text = read(&self.dir.join(&path))?.unwrap_or_default();
                if has_header(&text) {
                    plan.insert(path, Change::Delete);
                } else if *owned == BASES {
                    plan.insert(path, Change::Keep);
                }
            }
        }
        Ok(plan)
    }
}

/// Whether a file has the header of generated files.
pub(super) fn has_header(text: &str) -> bool {
    text.starts_with("# generated")
}

/// The file at `path` below `dir`, or the YAML files in the directory `path`, at any depth.
fn found(dir: &Path, path: &str) -> Result<Vec<String>, String> {
    let full = dir.join(path);
    if full.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let fail = |error| format!("cannot read `{}`: {error}", full.display());
    let entries = match fs::read_dir(&full) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(fail)?,
    };
    let mut all = Vec::new();
    for entry in entries {
        let entry = entry.map_err(fail)?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = format!("{path}/{name}");
        if entry.file_type().map_err(fail)?.is_dir() {
            all.extend(found(dir, &path)?);
        } else if name.ends_with(".yaml") {
            all.push(path);
        }
    }
    Ok(all)
}

/// The text of a file, if there is one.
pub(super) fn read(path: &Path) -> Result<Option<String>, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read `{}`: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

    const WEBHOOKS: &str = "webhook/manifests.yaml";

    #[test]
    fn only_generated_files_are_written_over_and_pruned() {
        let dir = env::temp_dir().join(format!("manifests-{}", std::process::id()));
        let bases = dir.join(BASES);
        fs::create_dir_all(&bases).unwrap();
        let generated = |text: &str| format!("# generated\n{text}");
        for (name, text) in [
            ("same.yaml", generated("same\r\n")),
            ("old.yaml", generated("old\n")),
            ("gone.yaml", generated("gone\n")),
            ("mine.yaml", "mine\n".to_owned()),
            ("also-mine.yaml", "also mine\n".to_owned()),
            ("README.md", generated("")),
        ] {
            fs::write(bases.join(name), text).unwrap();
        }
        fs::create_dir_all(dir.join("webhook")).unwrap();
        fs::write(dir.join(WEBHOOKS), generated("of webhooks that are gone\n")).unwrap();
        let wanted = ["same", "old", "new", "mine"];
        let file = |name: &str| (format!("{BASES}/{name}.yaml"), generated("same\n"));
        let files: BTreeMap<_, _> = wanted.into_iter().map(file).collect();

        let generated = Generated::new("manifests", dir.clone(), files, &[BASES, WEBHOOKS]);
        let plan = || generated.plan().unwrap().into_iter().collect::<Vec<_>>();
        let kept = [("also-mine", Change::Keep), ("mine", Change::Keep)];
        let mut expected = vec![kept[0], ("gone", Change::Delete), kept[1]];
        expected.extend([("new", Change::Write), ("old", Change::Write)]);
        let path = |(name, change)| (format!("{BASES}/{name}.yaml"), change);
        let mut expected: Vec<_> = expected.into_iter().map(path).collect();
        expected.push((WEBHOOKS.to_owned(), Change::Delete));
        assert_eq!(plan(), expected);

        assert_eq!(generated.apply(true), Ok(false));
        assert!(bases.join("gone.yaml").exists());
        assert_eq!(generated.apply(false), Ok(true));
        assert_eq!(generated.apply(true), Ok(true));
        assert_eq!(plan(), kept.map(path));
        fs::remove_dir_all(&dir).unwrap();
    }
}
