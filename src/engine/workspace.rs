//! The project that a command works on: its directory, its `PROJECT` and its memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::file_of::check_list;
use crate::{
    advice::{Advice, Script},
    branches::Branches,
    error::{Failure, Result},
    git::Status,
    memory::{self, Memory},
    merge::markers,
    project::{self, FILE, Project},
    reconcile::Last,
    template,
    tree::{self, Content, Digest, Found, RelPath},
};

/// A project's directory, its `PROJECT`, and what was last applied.
pub struct Workspace {
    /// The project's directory.
    pub root: PathBuf,
    /// The project as `PROJECT` has it now; `None` before `init`.
    project: Option<Project>,
    /// The project that was last applied, where that can be read.
    applied: Option<Project>,
    /// `PROJECT` as it was read.
    seen: Found,
    /// Whether `project` is the merge of two branches, and not what was read.
    merged: bool,
    /// Files that were there before the project, as rows: they count as applied.
    pub adopted: BTreeMap<RelPath, Last<Digest>>,
    /// What git says of a merge.
    pub git: Status,
}

impl Workspace {
    /// A directory that is to become a project.
    ///
    /// Errors: it is one already, or was one and lost its `PROJECT`.
    pub fn fresh(root: &Path) -> Result<Self> {
        check_directory(root, |root| {
            let beside = format!("{}-project", root.display());
            Script::forge("-C").arg(beside).code("init").into()
        })?;
        let seen = tree::find(root, &RelPath::parse(FILE)?)?;
        if let Found::File(bytes) = &seen {
            // A project of another kind, or one that cannot be read, deserves that answer.
            Project::read(bytes)?;
        }
        if seen != Found::Absent {
            return Err(
                Failure::refused(format!("`{}` is a project already", root.display()))
                    .note("it has a PROJECT file")
                    .advise(Script::forge("create api --help")),
            );
        }
        if !has_no_lock(root)? {
            return Err(lost_project(root));
        }
        Ok(Self {
            root: root.to_path_buf(),
            project: None,
            applied: None,
            seen,
            merged: false,
            adopted: BTreeMap::new(),
            git: Status::default(),
        })
    }

    /// The project at `root`.
    ///
    /// Errors: there is none, or its `PROJECT` cannot be used.
    pub fn open(root: &Path) -> Result<(Self, Project)> {
        let (workspace, project) = Self::open_any(root)?;
        project.check_templates()?;
        Ok((workspace, project))
    }

    /// The project at `root`, after `mend` had a look at the text of its `PROJECT`.
    pub fn open_with(
        root: &Path,
        mend: impl FnOnce(Vec<u8>, &Status) -> Result<Vec<u8>> + Send,
    ) -> Result<(Self, Project)> {
        let (workspace, project) = Self::read(root, mend)?;
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
        } else if has_no_lock(root)? {
            return Err(Failure::refused(format!("`{}` is lost", memory::LOCK))
                .note(
                    "without it your edits cannot be told from what an older operator-forge wrote",
                )
                .advise(Script::of("git checkout --").arg(memory::DIRECTORY)));
        }
        Ok((workspace, project))
    }

    /// The project at `root`, whatever its template set. A `PROJECT` of two branches is refused: `sync` merges them.
    pub fn open_any(root: &Path) -> Result<(Self, Project)> {
        Self::read(root, |bytes, git| {
            match Branches::find(git, root, &bytes)? {
                Some(branches) => Err(branches.refuse()),
                None => Ok(bytes),
            }
        })
    }

    fn read(
        root: &Path,
        mend: impl FnOnce(Vec<u8>, &Status) -> Result<Vec<u8>> + Send,
    ) -> Result<(Self, Project)> {
        check_directory(root, |root| {
            let above = root.parent().unwrap_or(root).to_string_lossy();
            let above = if above.is_empty() { ".".into() } else { above };
            Advice::set("--directory", above)
        })?;
        let seen = tree::find(root, &RelPath::parse(FILE)?)?;
        let bytes = match &seen {
            Found::File(bytes) => bytes,
            Found::Obstacle(what) => {
                return Err(Failure::refused(format!("cannot read `PROJECT`: {what}"))
                    .advise(Script::put_aside(FILE).then(put_back(root))));
            }
            Found::Absent if has_no_lock(root)? => return Err(project::missing(root).into()),
            Found::Absent => return Err(lost_project(root)),
        };
        // There is hardly ever something to mend, so the text is read while git looks for it; then a thread is left.
        let mend = || {
            let git = Status::of(root)?;
            Ok::<_, Failure>((mend(bytes.clone(), &git)?, git))
        };
        let read = || rayon::join(|| Project::read(bytes), template::prepare).0;
        let (mended, read) = rayon::join(mend, read);
        let (mended, git) = mended?;
        let merged = mended != *bytes;
        let applied = last_applied(root)?;
        let (is_same, applied) = match applied {
            Some(applied) if applied == mended => (true, None),
            Some(applied) => (false, Project::read(&applied).ok()),
            None => (false, None),
        };
        if let Some(applied) = &applied {
            project::check_unchanging(&mended, applied, merged)?;
        }
        let project = match merged {
            true => Project::read(&mended)?,
            false => read?,
        };
        if let Some(applied) = &applied
            && of_this_set(applied)
            && of_this_set(&project)
        {
            check_list(&project, applied)?;
            // A branch brings the code of its controllers along.
            if !merged {
                project.check_finalizers(applied)?;
            }
        }
        let workspace = Self {
            root: root.to_path_buf(),
            project: Some(project.clone()),
            applied: applied.or_else(|| is_same.then(|| project.clone())),
            seen,
            merged,
            adopted: BTreeMap::new(),
            git,
        };
        Ok((workspace, project))
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

    /// The changes that were made to `PROJECT` by hand and that no cluster follows, a sentence each.
    pub fn not_followed(&self) -> Vec<String> {
        match (&self.project, &self.applied) {
            (Some(project), Some(applied)) if !self.merged => project.not_followed(applied),
            _ => Vec::new(),
        }
    }

    /// The project and the last applied one, as far as the templates of this binary made them.
    fn of_this_set(&self) -> (Option<&Project>, Option<&Project>) {
        let project = self.project.as_ref().filter(|it| of_this_set(it));
        let applied = self.applied.as_ref();
        (
            project,
            applied.filter(|it| of_this_set(it) && project.is_some()),
        )
    }

    /// Paths that the project asked for, as it was read or last applied: at least all that `now` does not ask for. `None` where
    /// nobody can tell, as before an update or right after the merge of two branches.
    pub fn asked_before(&self, now: &Project) -> Result<Option<BTreeSet<RelPath>>> {
        let (Some(project), applied) = self.of_this_set() else {
            return Ok(None);
        };
        if self.merged {
            return Ok(None);
        }
        let mut asked = template::paths(&project.unlike(now))?;
        if let Some(applied) = applied {
            asked.extend(template::paths(&applied.unlike(now))?);
        }
        Ok(Some(asked))
    }

    /// The texts of Tool files that were last applied, rendered from the last applied project. A text counts only if it has the
    /// hash in the lock.
    pub fn as_applied(
        &self,
        paths: &[RelPath],
        memory: &Memory,
    ) -> Result<BTreeMap<RelPath, Content>> {
        let (_, Some(applied)) = self.of_this_set() else {
            return Ok(BTreeMap::new());
        };
        if paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut tree = template::tree(applied)?;
        let text = |path: &RelPath| {
            let (file, row) = (tree.remove(path)?, memory.rows.get(path)?);
            let is_applied = row.any_of == [file.digest(path)];
            is_applied.then(|| (path.clone(), file.content))
        };
        Ok(paths.iter().filter_map(text).collect())
    }

    /// The lock. A lost one is rebuilt from the last applied project, or from `PROJECT` if that cannot be used: the files that
    /// are there count as applied.
    pub fn memory(&self) -> Result<Memory> {
        let has_no_lock = has_no_lock(&self.root)?;
        let Some(project) = self.project.as_ref().filter(|_| has_no_lock) else {
            let mut memory = Memory::load(&self.root)?;
            memory.rows.extend(self.adopted.clone());
            return Ok(memory);
        };
        let mut counts = template::tree(project)?;
        if let (_, Some(applied)) = self.of_this_set() {
            // Entries that git brought from another branch come with files that were written there.
            counts.retain(|_, file| file.owner == tree::Owner::User);
            counts.extend(template::tree(applied)?);
        }
        let mut rebuilt = Memory {
            templates: template::SET,
            ..Memory::default()
        };
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

/// Whether the templates of this binary made a project.
fn of_this_set(project: &Project) -> bool {
    project.settings.templates == template::SET
}

/// Whether nothing is at the path of the lock.
fn has_no_lock(root: &Path) -> Result<bool> {
    Ok(tree::find(root, &RelPath::parse(memory::LOCK)?)? == Found::Absent)
}

/// The text of `PROJECT` that was last applied. With conflict markers it is that of ours: neither side changed what is fixed.
fn last_applied(root: &Path) -> Result<Option<Vec<u8>>> {
    let path = RelPath::parse(memory::APPLIED_PROJECT)?;
    Ok(match tree::find(root, &path)? {
        Found::File(bytes) => {
            let sides = std::str::from_utf8(&bytes).ok().and_then(markers::sides);
            Some(sides.map_or(bytes, |sides| sides.ours.into_bytes()))
        }
        _ => None,
    })
}

/// Refuses anything but a directory; `advice` names another path.
fn check_directory(root: &Path, advice: impl Fn(&Path) -> Advice) -> Result<()> {
    if root.exists() && !root.is_dir() {
        return Err(
            Failure::refused(format!("`{}` is not a directory", root.display()))
                .note("a project is a directory")
                .advise(advice(root)),
        );
    }
    Ok(())
}

/// The refusal where `PROJECT` is gone.
fn lost_project(root: &Path) -> Failure {
    let lost = Failure::refused(format!("`{}` has lost its PROJECT file", root.display()));
    let said = format!("`{}` says that there was one", memory::LOCK);
    let lost = match root.join(memory::APPLIED_PROJECT).is_file() {
        true => lost.note(format!("{said}; its last applied text is kept beside it")),
        false => lost.note(said),
    };
    lost.advise(put_back(root))
}

/// Puts the last applied `PROJECT` back.
fn put_back(root: &Path) -> Script {
    match root.join(memory::APPLIED_PROJECT).is_file() {
        true => Script::of("cp").arg(memory::APPLIED_PROJECT).arg(FILE),
        false => Script::of("git checkout --").arg(FILE),
    }
}
