//! Charts in directories.

use std::{
    fs, io,
    io::Read,
    path::{Path, PathBuf},
};

use super::{
    File,
    bounds::{Budget, without_mark},
    ignore::Rules,
};
use crate::Error;

/// The deepest nesting of directories: links to others at their side can make it deeper than a path may be long.
const DEEPEST: usize = 250;

/// The files of a directory, but those that its `.helmignore` names. Links are followed in the directory, not out of it.
pub(super) fn read(path: &Path, budget: &mut Budget) -> Result<Vec<File>, Error> {
    let root = path
        .canonicalize()
        .map_err(|error| Error::new(format!("cannot read {}: {error}", path.display())))?;
    let mut walk = Walk {
        rules: Rules::default(),
        left: budget.bounds.size,
        budget,
        files: Vec::new(),
        within: vec![root.clone()],
        root,
    };
    walk.find_rules()?;
    walk.rules.add_defaults();
    walk.directory("", &walk.root.clone())?;
    Ok(walk.files)
}

/// The `Chart.yaml` of a directory.
pub(super) fn chart_file(path: &Path, budget: &Budget) -> Result<File, Error> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let path = path.join("Chart.yaml");
    let shown = path.display();
    let broken =
        |error: io::Error| Error::new(format!("unable to detect chart at {shown}: {error}"));
    if !fs::metadata(&path).map_err(broken)?.is_file() {
        return Err(Error::new(format!(
            "unable to detect chart at {shown}: it is no file"
        )));
    }
    let real = path.canonicalize().map_err(broken)?;
    let root = path.parent().unwrap_or(&path);
    if !real.starts_with(root.canonicalize().map_err(broken)?) {
        return Err(Error::new(format!(
            "the link Chart.yaml leads out of the chart, to {}",
            real.display()
        )));
    }
    let mut data = Vec::new();
    let file = fs::File::open(&path).map_err(broken)?;
    let most = budget.bounds.size;
    file.take(most).read_to_end(&mut data).map_err(broken)?;
    Ok(File::new("Chart.yaml", without_mark(&data)))
}

struct Walk<'a> {
    root: PathBuf,
    rules: Rules,
    budget: &'a mut Budget,
    left: u64,
    files: Vec<File>,
    /// The directories that the walk is in, without links.
    within: Vec<PathBuf>,
}

impl Walk<'_> {
    fn find_rules(&mut self) -> Result<(), Error> {
        let name = ".helmignore";
        let path = self.root.join(name);
        if !path.exists() {
            return Ok(());
        }
        let real = self.resolve(name, &path)?;
        let data = self.content(name, &real)?;
        // It is read a second time as a file of the chart.
        self.left += data.len() as u64;
        self.rules = Rules::parse(&String::from_utf8_lossy(without_mark(&data)))?;
        Ok(())
    }

    fn directory(&mut self, name: &str, path: &Path) -> Result<(), Error> {
        let broken = |error: io::Error| Error::new(format!("open {}: {error}", path.display()));
        let mut names = Vec::new();
        for entry in fs::read_dir(path).map_err(broken)? {
            names.push(entry.map_err(broken)?.file_name());
        }
        names.sort();
        for entry in names {
            let shown = entry.to_string_lossy();
            let name = match name {
                "" => shown.into_owned(),
                name => format!("{name}/{shown}"),
            };
            self.entry(&name, &path.join(&entry))?;
        }
        Ok(())
    }

    fn entry(&mut self, name: &str, path: &Path) -> Result<(), Error> {
        let shown = path.display();
        let broken = |error: io::Error| Error::new(format!("lstat {shown}: {error}"));
        let mut kind = fs::symlink_metadata(path).map_err(broken)?.file_type();
        let is_link = kind.is_symlink();
        if is_link {
            let target = fs::metadata(path).map_err(|error| {
                Error::new(format!("error evaluating symlink {shown}: {error}"))
            })?;
            kind = target.file_type();
        }
        if self.rules.ignores(name, kind.is_dir()) {
            return Ok(());
        }
        if !kind.is_dir() && !kind.is_file() {
            return Err(Error::new(format!(
                "cannot load irregular file {shown} as it has file mode type bits set"
            )));
        }
        let real = match is_link {
            true => self.resolve(name, path)?,
            false => path.to_owned(),
        };
        if kind.is_dir() {
            if self.within.contains(&real) {
                return Err(Error::new(format!(
                    "the link {name} leads to a directory around it"
                )));
            }
            if self.within.len() > DEEPEST {
                return Err(Error::new(format!(
                    "directories are nested deeper than {DEEPEST}: {}",
                    name.chars().take(100).collect::<String>()
                )));
            }
            self.budget.file(name.len() as u64)?;
            self.within.push(real.clone());
            self.directory(name, &real)?;
            self.within.pop();
            return Ok(());
        }
        let data = self.content(name, &real)?;
        self.budget.file((data.len() + name.len()) as u64)?;
        self.files.push(File::new(name, without_mark(&data)));
        Ok(())
    }

    /// What a path leads to, if that is in the chart.
    fn resolve(&self, name: &str, path: &Path) -> Result<PathBuf, Error> {
        let real = path.canonicalize().map_err(|error| {
            Error::new(format!(
                "error evaluating symlink {}: {error}",
                path.display()
            ))
        })?;
        match real.starts_with(&self.root) {
            true => Ok(real),
            false => Err(Error::new(format!(
                "the link {name} leads out of the chart, to {}",
                real.display()
            ))),
        }
    }

    fn content(&mut self, name: &str, path: &Path) -> Result<Vec<u8>, Error> {
        let broken = |error: io::Error| Error::new(format!("error reading {name}: {error}"));
        if !fs::metadata(path).map_err(broken)?.is_file() {
            return Err(Error::new(format!("{name} is no file")));
        }
        let file = fs::File::open(path).map_err(broken)?;
        let mut data = Vec::new();
        let most = self.left.saturating_add(1);
        file.take(most).read_to_end(&mut data).map_err(broken)?;
        match self.left.checked_sub(data.len() as u64) {
            Some(left) => self.left = left,
            None => {
                return Err(Error::new(format!(
                    "error reading {name}: chart exceeds maximum decompressed size of {} bytes",
                    self.budget.bounds.size
                )));
            }
        }
        Ok(data)
    }
}
