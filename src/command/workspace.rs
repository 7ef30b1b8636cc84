//! The project that a command works on: its directory, its `PROJECT` and its memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    no_project::{check_directory, lost_project, put_back},
    own::check_list,
    unmerged::branches,
};
use crate::{
    advice::Advice,
    error::{Failure, Result},
    git::Conflicted,
    memory::{self, Memory},
    merge::markers,
    project::{self, FILE, Project},
    reconcile::Last,
    shell, template,
    tree::{self, Content, Digest, File, Found, RelPath},
};

/// A directory and what it says of itself.
pub struct Workspace {
    /// The project's directory.
    pub root: PathBuf,
    /// The project as `PROJECT` has it now; `None` before `init`.
    pub project: Option<Project>,
    /// `PROJECT` as it was read.
    seen: Found,
    /// Whether `project` is another one than was read, put together from two branches.
    merged: bool,
    /// What stood in the directory before there was a project, and counts as applied.
    pub adopted: BTreeMap<RelPath, Last<Digest>>,
    /// The files that git could not merge.
    pub conflicted: Conflicted,
}

impl Workspace {
    /// A directory that is to become a project.
    ///
    /// Errors: it is one already, or was one and lost its `PROJECT`.
    pub fn fresh(root: &Path) -> Result<Self> {
        check_directory(root, |root| {
            let beside = format!("{}-project", root.display());
            format!("operator-forge -C {} init", shell::word(&beside))
        })?;
        let found = tree::find(root, &RelPath::parse(FILE)?)?;
        if let Found::File(bytes) = &found {
            // A project of another kind, or one that cannot be read, deserves that answer.
            Project::read(bytes)?;
        }
        if found != Found::Absent {
            return Err(
                Failure::refused(format!("`{}` is a project already", root.display()))
                    .note("it has a PROJECT file")
                    .advise("operator-forge create api --help"),
            );
        }
        if tree::find(root, &RelPath::parse(memory::LOCK)?)? != Found::Absent {
            return Err(lost_project(root));
        }
        Ok(Self {
            root: root.to_path_buf(),
            project: None,
            seen: found,
            merged: false,
            adopted: BTreeMap::new(),
            conflicted: Conflicted::default(),
        })
    }

    /// The project at `root`.
    ///
    /// Errors: there is none, or its `PROJECT` cannot be used.
    pub fn open(root: &Path) -> Result<(Self, Project)> {
        Self::open_with(root, |bytes, git| of_one_branch(root, bytes, git))
    }

    /// The project at `root`, after `mend` had a look at the text of its `PROJECT`.
    pub fn open_with(
        root: &Path,
        mend: impl FnOnce(Vec<u8>, &Conflicted) -> Result<Vec<u8>> + Send,
    ) -> Result<(Self, Project)> {
        let (workspace, project) = Self::open_of_any_set(root, mend)?;
        project.check_templates()?;
        Ok((workspace, project))
    }

    /// The project at `root`, which may be of an older template set.
    ///
    /// Errors: those of [`Workspace::open`]; an older project has lost its lock, without which nobody knows what in it
    /// was edited.
    pub fn open_older(root: &Path) -> Result<(Self, Project)> {
        let (workspace, project) = Self::open_any(root)?;
        if project.settings.templates >= template::SET {
            project.check_templates()?;
        } else if tree::find(root, &RelPath::parse(memory::LOCK)?)? == Found::Absent {
            return Err(Failure::refused(format!("`{}` is lost", memory::LOCK))
                .note(
                    "without it your edits cannot be told from what an older operator-forge wrote",
                )
                .advise(format!("git checkout -- {}", memory::DIRECTORY)));
        }
        Ok((workspace, project))
    }

    /// The project at `root`, whatever template set it is of.
    pub fn open_any(root: &Path) -> Result<(Self, Project)> {
        Self::open_of_any_set(root, |bytes, git| of_one_branch(root, bytes, git))
    }

    fn open_of_any_set(
        root: &Path,
        mend: impl FnOnce(Vec<u8>, &Conflicted) -> Result<Vec<u8>> + Send,
    ) -> Result<(Self, Project)> {
        check_directory(root, |root| {
            let above = root.parent().unwrap_or(root).to_string_lossy();
            let above = if above.is_empty() { ".".into() } else { above };
            format!("--directory {}", shell::word(&above))
        })?;
        let seen = tree::find(root, &RelPath::parse(FILE)?)?;
        let mut conflicted = Conflicted::default();
        let merged;
        let project = match &seen {
            Found::File(bytes) => {
                // There is hardly ever something to mend, so the text is read while git looks for it; then a thread is left.
                let mend = || {
                    conflicted = Conflicted::below(root)?;
                    mend(bytes.clone(), &conflicted)
                };
                let read = || rayon::join(|| Project::read(bytes), template::prepare).0;
                let (mended, read) = rayon::join(mend, read);
                let mended = mended?;
                let applied = applied(root, &mended)?;
                merged = mended != *bytes;
                if let Some(applied) = &applied {
                    project::check_unchanging(&mended, applied, merged)?;
                }
                let project = match merged {
                    true => Project::read(&mended)?,
                    false => read?,
                };
                if let Some(applied) = &applied {
                    project.check_unchanged(applied, merged)?;
                }
                if let Some(applied) = applied.filter(|it| of_one_set(it, &project)) {
                    check_list(&project, &applied)?;
                    // A branch brings the code of its controllers along.
                    if !merged {
                        project.check_finalizers(&applied)?;
                    }
                }
                project
            }
            Found::Obstacle(what) => {
                return Err(
                    Failure::refused(format!("cannot read `PROJECT`: {what}")).advise(format!(
                        "mv -i PROJECT PROJECT.former && {}",
                        put_back(root)
                    )),
                );
            }
            Found::Absent if tree::find(root, &RelPath::parse(memory::LOCK)?)? != Found::Absent => {
                return Err(lost_project(root));
            }
            Found::Absent => return Err(project::missing(root).into()),
        };
        Ok((
            Self {
                root: root.to_path_buf(),
                project: Some(project.clone()),
                seen,
                merged,
                adopted: BTreeMap::new(),
                conflicted,
            },
            project,
        ))
    }

    /// Refuses if `PROJECT` changed between reading it and taking the lock: the edit was made to another one.
    pub fn refuse_if_moved(&self, found: &BTreeMap<RelPath, Found>) -> Result<()> {
        if found.get(&RelPath::parse(FILE)?) == Some(&self.seen) {
            return Ok(());
        }
        Err(Failure::busy("`PROJECT` changed while the command ran")
            .note("nothing was changed")
            .advise(Advice::Again))
    }

    /// What was changed by hand in `PROJECT` since it was last applied, and no cluster follows, a sentence each.
    pub fn not_followed(&self) -> Result<Vec<String>> {
        let (Some(project), Found::File(now), false) = (&self.project, &self.seen, self.merged)
        else {
            return Ok(Vec::new());
        };
        let applied = applied(&self.root, now)?;
        Ok(applied.map_or_else(Vec::new, |applied| project.not_followed(&applied)))
    }

    /// The paths that the project asks for as it was read or last applied, and `now` does not; others may be among them. `None`
    /// where that does not tell all of them, as before an update, or where two branches have just been put together.
    pub fn asked_before(&self, now: &Project) -> Result<Option<BTreeSet<RelPath>>> {
        let Some(project) = self.project.as_ref().filter(|it| of_one_set(it, it)) else {
            return Ok(None);
        };
        if self.merged {
            return Ok(None);
        }
        let mut asked = template::paths(&project.unlike(now))?;
        let applied = match &self.seen {
            Found::File(read) => applied(&self.root, read)?,
            _ => None,
        };
        if let Some(applied) = applied.filter(|it| of_one_set(it, project)) {
            asked.extend(template::paths(&applied.unlike(now))?);
        }
        Ok(Some(asked))
    }

    /// The text of Tool files as they were last applied, rendered from the last applied project; those that this gives another
    /// text of than the one the lock remembers are left out.
    pub fn as_applied(
        &self,
        paths: &[RelPath],
        memory: &Memory,
    ) -> Result<BTreeMap<RelPath, Content>> {
        let Some(project) = self.project.as_ref().filter(|_| !paths.is_empty()) else {
            return Ok(BTreeMap::new());
        };
        let Some(applied) = applied(&self.root, b"")?.filter(|it| of_one_set(it, project)) else {
            return Ok(BTreeMap::new());
        };
        let mut tree = template::tree(&applied)?;
        let is_it = |path: &RelPath, file: &File| {
            let row = memory.rows.get(path);
            row.is_some_and(|row| row.any_of == [file.digest(path)])
        };
        let applied = |path: &RelPath| {
            let file = tree.remove(path).filter(|file| is_it(path, file))?;
            Some((path.clone(), file.content))
        };
        Ok(paths.iter().filter_map(applied).collect())
    }

    /// What was last applied. A lost lock is rebuilt from the last applied project, or from `PROJECT` where that one cannot
    /// be used: what it asks for counts as applied where a file is.
    pub fn memory(&self) -> Result<Memory> {
        let lock = RelPath::parse(memory::LOCK)?;
        let Some(project) = self
            .project
            .as_ref()
            .filter(|_| matches!(tree::find(&self.root, &lock), Ok(Found::Absent)))
        else {
            let mut memory = Memory::load(&self.root)?;
            memory.rows.extend(self.adopted.clone());
            return Ok(memory);
        };
        let mut rebuilt = Memory {
            templates: template::SET,
            ..Memory::default()
        };
        let applied = applied(&self.root, b"")?.filter(|it| of_one_set(it, project));
        let mut counts = template::tree(project)?;
        if let Some(applied) = applied {
            // Entries that git brought from another branch come with files that were written there.
            counts.retain(|_, file| file.owner == tree::Owner::User);
            counts.extend(template::tree(&applied)?);
        }
        for (path, file) in counts {
            if matches!(tree::find(&self.root, &path)?, Found::File(_)) {
                let row = Last {
                    owner: file.owner,
                    any_of: vec![file.digest(&path)],
                };
                rebuilt.rows.insert(path, row);
            }
        }
        Ok(rebuilt)
    }
}

/// Whether this binary's templates made both.
fn of_one_set(a: &Project, b: &Project) -> bool {
    [a, b].map(|it| it.settings.templates) == [template::SET; 2]
}

/// Refuses a `PROJECT` of two branches: `sync` puts them together.
fn of_one_branch(root: &Path, bytes: Vec<u8>, conflicted: &Conflicted) -> Result<Vec<u8>> {
    match branches(root, &bytes, conflicted)? {
        Some(branches) => Err(branches.refuse()),
        None => Ok(bytes),
    }
}

/// The project as it was last applied, if that can be read and is not the one in `current`.
fn applied(root: &Path, current: &[u8]) -> Result<Option<Project>> {
    let path = RelPath::parse(memory::APPLIED_PROJECT)?;
    Ok(match tree::find(root, &path)? {
        Found::File(bytes) if bytes != current => {
            // What git could not merge there is what it could not merge in `PROJECT`; neither side changed what is fixed.
            let sides = std::str::from_utf8(&bytes).ok().and_then(markers::sides);
            Project::read(&sides.map_or(bytes, |sides| sides.ours.into_bytes())).ok()
        }
        _ => None,
    })
}
