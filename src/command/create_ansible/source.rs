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
    /// The files that are executable there. What is copied is not.
    executables: Vec<String>,
}

/// The files of a role that Ansible runs first.
const MAIN: [&str; 3] = ["tasks/main.yml", "tasks/main.yaml", "tasks/main"];

/// The files of handlers that it reads first.
const HANDLERS: [&str; 2] = ["handlers/main.yml", "handlers/main.yaml"];

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
                .note("`--ansible-role` names the directory of a role, from the directory of the project")
                .note("`--generate-role` makes a new one")
                .advise(Advice::Help));
        }
        let role = Self::in_directory(source, full)?;
        let mut files = role.files.iter();
        if !files.any(|(path, _)| MAIN.contains(&path.as_str())) {
            return Err(Failure::refused(format!("`{source}` has no tasks"))
                .note("a role has `tasks/main.yml`")
                .advise(Advice::Help));
        }
        for (path, bytes) in &role.files {
            if MAIN.contains(&path.as_str()) || HANDLERS.contains(&path.as_str()) {
                readable(&format!("{source}/{path}"), path, bytes)?;
            }
        }
        Ok(role)
    }

    /// The role in the directory `full`, which may have no tasks: another role may need what it has.
    ///
    /// Errors: its files cannot be read, or have names that are no text, or the role has a name that it cannot have.
    pub fn in_directory(source: &str, full: PathBuf) -> Result<Self> {
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
        let (mut files, mut executables) = (Vec::new(), Vec::new());
        for (file, bytes) in found {
            let name = below(&full, &file, source)?;
            if is_executable(&file) {
                executables.push(name.clone());
            }
            files.push((name, bytes));
        }
        Ok(Self {
            shown: source.to_owned(),
            files,
            executables,
            from: Some(full),
            path,
        })
    }

    /// The playbook in the file `source`, which is relative to the project.
    ///
    /// Errors: it is no file, or no list, or has a name that no playbook can have.
    pub fn playbook(root: &Path, source: &str) -> Result<Self> {
        let full = tree::full(&root.join(source));
        if !full.is_file() {
            return Err(Failure::refused(format!("no playbook `{source}`"))
                .note("`--ansible-playbook` names the file of a playbook, from the directory of the project")
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
            executables: Vec::new(),
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
            executables: Vec::new(),
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

    /// A remark about files that lose the permission to be executed.
    pub fn loses(&self) -> Option<String> {
        let first = self.executables.first()?;
        let more = match self.executables.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let path = format!("{}/{first}", self.path);
        Some(format!(
            "`{path}`{more} was executable, and the copy is not: `chmod +x {path}`"
        ))
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

/// The path of a file in the directory `full`, with `/`.
pub fn below(full: &Path, path: &Path, source: &str) -> Result<String> {
    let inside = path.strip_prefix(full).unwrap_or(path);
    let text = inside.to_str().ok_or_else(|| {
        Failure::refused(format!(
            "`{source}` has a file whose name is no text: `{}`",
            inside.display()
        ))
        .note("git and other systems could not store it")
        .advise(Advice::Again)
    })?;
    Ok(match cfg!(windows) {
        true => text.replace('\\', "/"),
        false => text.to_owned(),
    })
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
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
        .note("it has to be a list, in YAML")
        .advise(edit())),
    }
}
