//! A role or a playbook: a directory or a file on disk, or a new one.

use std::path::{Path, PathBuf};

use guarded_yaml as yaml;
use serde_yaml::Value;

use crate::{
    advice::{Advice, Script},
    command::copy::Original,
    error::{Failure, Result},
    name::{AnsiblePath, Invalid},
    tree,
};

/// A role or playbook that was read.
pub struct Source {
    /// The text of the flag, or the path of a new one.
    pub shown: String,
    /// Its directory or file, if it is on disk: without symbolic links and `..`.
    pub from: Option<PathBuf>,
    /// Its place in the project.
    pub path: AnsiblePath,
    /// Its files, by their paths in its directory; the path of a playbook is empty.
    pub files: Vec<(String, Vec<u8>)>,
}

/// The files of a role that Ansible runs first.
const MAIN: [&str; 2] = ["tasks/main.yml", "tasks/main.yaml"];

/// What a directory may have that is no part of a role.
const PASSED_OVER: [&str; 4] = [".git", ".hg", ".svn", "__pycache__"];

impl Source {
    /// The role in the directory `source`, which is relative to the project.
    ///
    /// Errors: it is no directory, or has no tasks, or a name that no role can have.
    pub fn role(root: &Path, source: &str) -> Result<Self> {
        let full = tree::full(&root.join(source));
        if !full.is_dir() {
            return Err(Failure::refused(format!("no role `{source}`"))
                .note("`--ansible-role` names the directory of a role")
                .note("`--generate-role` makes a new one")
                .advise(Advice::Help));
        }
        let name = file_name(&full);
        let path = AnsiblePath::of_role(&name).map_err(|it| invalid(source, &name, it))?;
        let is_part = |name: &str| !PASSED_OVER.contains(&name);
        let found = tree::search(&full, std::slice::from_ref(&full), |entry| {
            entry.file_name().to_str().is_none_or(is_part)
        });
        let found = found.map_err(|it| {
            Failure::refused(format!("cannot read `{}`: {}", it.path.display(), it.error))
                .note(format!("it is a file of the role `{source}`"))
                .advise(Advice::Again)
        })?;
        let below = |(path, bytes): (PathBuf, Vec<u8>)| {
            let path = path.strip_prefix(&full).ok()?.to_string_lossy();
            Some((path.replace('\\', "/"), bytes))
        };
        let files: Vec<_> = found.into_iter().filter_map(below).collect();
        if !files.iter().any(|(path, _)| MAIN.contains(&path.as_str())) {
            return Err(Failure::refused(format!("`{source}` has no tasks"))
                .note("a role has `tasks/main.yml`")
                .advise(Advice::Help));
        }
        for (path, bytes) in &files {
            let directory = path.split('/').next().unwrap_or_default();
            if ["tasks", "handlers"].contains(&directory) {
                readable(&format!("{source}/{path}"), path, bytes)?;
            }
        }
        Ok(Self {
            shown: source.to_owned(),
            from: Some(full),
            path,
            files,
        })
    }

    /// The playbook in the file `source`, which is relative to the project.
    ///
    /// Errors: it is no file, or no list, or has a name that no playbook can have.
    pub fn playbook(root: &Path, source: &str) -> Result<Self> {
        let full = tree::full(&root.join(source));
        if !full.is_file() {
            return Err(Failure::refused(format!("no playbook `{source}`"))
                .note("`--ansible-playbook` names the file of a playbook")
                .note("`--generate-playbook` makes a new one")
                .advise(Advice::Help));
        }
        let name = file_name(&full);
        let path = AnsiblePath::of_playbook(&name).map_err(|it| invalid(source, &name, it))?;
        let bytes = tree::read(&full).map_err(|error| {
            Failure::refused(format!("cannot read `{source}`: {error}")).advise(Advice::Again)
        })?;
        readable(source, source, &bytes)?;
        Ok(Self {
            shown: source.to_owned(),
            from: Some(full),
            path,
            files: vec![(String::new(), bytes)],
        })
    }

    /// A new role or playbook.
    ///
    /// Errors: the kind gives a name that it cannot have.
    pub fn new(path: Result<AnsiblePath, Invalid>, files: Vec<(&str, String)>) -> Result<Self> {
        let path = path?;
        let files = files.into_iter();
        Ok(Self {
            shown: path.to_string(),
            from: None,
            path,
            files: files
                .map(|(path, text)| (path.to_owned(), text.into_bytes()))
                .collect(),
        })
    }

    /// The name without the directory and the extension.
    pub fn name(&self) -> &str {
        let file = self.path.as_str().rsplit('/').next().unwrap_or_default();
        match self.path.is_playbook() {
            true => file.rsplit_once('.').map_or(file, |(name, _)| name),
            false => file,
        }
    }

    /// What is copied.
    pub fn original(&self) -> Original<'_> {
        let files = self.files.iter();
        Original {
            what: self.path.word(),
            shown: &self.shown,
            from: self.from.as_deref(),
            to: self.path.as_str(),
            anchor: self.path.to_string(),
            files: files.map(|(path, bytes)| (&**path, &**bytes)).collect(),
        }
    }

    /// Its files, by their paths in the project.
    pub fn placed(&self) -> impl Iterator<Item = (String, Vec<u8>)> {
        let place = |(path, bytes): &(String, Vec<u8>)| {
            let path = match path.is_empty() {
                true => self.path.to_string(),
                false => format!("{}/{path}", self.path),
            };
            (path, bytes.clone())
        };
        self.files.iter().map(place)
    }

    /// The file of a new role or playbook that has its tasks.
    pub fn to_write(&self) -> Option<String> {
        if self.from.is_some() {
            return None;
        }
        let mut files = self.files.iter().map(|(path, _)| path.as_str());
        let path = &self.path;
        match self.path.is_playbook() {
            true => Some(path.to_string()),
            false => files
                .find(|it| MAIN.contains(it))
                .map(|main| format!("{path}/{main}")),
        }
    }
}

/// The last part of a path.
fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn invalid(source: &str, name: &str, invalid: Invalid) -> Failure {
    let Invalid { fault, rule, .. } = invalid;
    Failure::refused(format!("`{source}` has the name `{name}`: {fault}"))
        .note(rule)
        .advise(Advice::Help)
}

/// Refuses a file of tasks that is no list. A file in a vault is one.
fn readable(shown: &str, path: &str, bytes: &[u8]) -> Result<()> {
    let is_yaml = [".yml", ".yaml"].iter().any(|end| path.ends_with(end));
    let text = String::from_utf8_lossy(bytes);
    if !is_yaml || text.starts_with("$ANSIBLE_VAULT") {
        return Ok(());
    }
    let edit = || Script::edit([shown]);
    match yaml::read::<Value>(&text) {
        Ok(Value::Sequence(_) | Value::Null) => Ok(()),
        Ok(_) => Err(Failure::refused(format!("`{shown}` has no tasks"))
            .note("a playbook is a list of plays, and a file of tasks a list of tasks")
            .advise(edit())),
        Err(error) => Err(Failure::refused(format!(
            "cannot read `{}`: {}",
            error.place(shown),
            error.what
        ))
        .note("Ansible would refuse this file, too")
        .advise(edit())),
    }
}
