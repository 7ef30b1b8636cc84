//! The project that a command works on: its directory, its `PROJECT`, and what was last applied.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::file_of::check_list;
use crate::{
    advice::{Advice, Script},
    branches::Branches,
    change::Policy,
    error::{Failure, Result},
    git::Status,
    memory::{self, Memory},
    merge::markers,
    name::Recipe,
    plan::Rewritten,
    project::{self, Definition, FILE, Key, Project, Source},
    reconcile::LastApplied,
    template,
    tree::{self, Content, Found, Owner, RelPath},
};

/// A project's directory, its `PROJECT`, and what was last applied.
pub struct Workspace {
    /// The project's directory.
    pub root: PathBuf,
    /// The project before the command. For `sync` it is the merge of two branches, if git left them; for `init` the new project.
    pub project: Project,
    /// The project that was last applied, if it can be read.
    applied: Option<Project>,
    /// `PROJECT` as it was read; absent for `init`.
    seen: Found,
    /// The state of a git merge.
    pub git: Status,
    /// The merge of two branches of `PROJECT`.
    pub merge: Option<Merge>,
}

/// The merge of two branches of `PROJECT`.
pub struct Merge {
    /// Whether the merge differs from the text that was read.
    is_new: bool,
    /// A remark for the report.
    pub remark: Option<String>,
    /// Files that one branch deleted and that the policy brings back.
    pub kept: BTreeMap<RelPath, Rewritten>,
}

impl Workspace {
    /// A new project in `root`, which [`refuse_existing`] did not refuse.
    pub fn fresh(root: &Path, project: Project) -> Self {
        Self {
            root: root.to_path_buf(),
            project,
            applied: None,
            seen: Found::Absent,
            git: Status::default(),
            merge: None,
        }
    }

    /// The project at `root`.
    ///
    /// Errors: there is none, its `PROJECT` cannot be used, or it has another template set.
    pub fn open(root: &Path) -> Result<Self> {
        let workspace = Self::read(root, None)?;
        workspace.project.check_templates()?;
        Ok(workspace)
    }

    /// The project at `root`, with two branches of `PROJECT` merged by the policy.
    pub fn open_merged(root: &Path, policy: Policy) -> Result<Self> {
        let workspace = Self::read(root, Some(policy))?;
        workspace.project.check_templates()?;
        Ok(workspace)
    }

    /// The project at `root`, which may have an older template set.
    ///
    /// Errors: those of [`Workspace::open`]; the lock of an older project is lost, so that its edits are unknown.
    pub fn open_older(root: &Path) -> Result<Self> {
        let workspace = Self::read(root, None)?;
        if workspace.project.settings.templates >= template::SET {
            workspace.project.check_templates()?;
        } else if has_no_lock(root)? {
            return Err(Failure::refused(format!("`{}` is lost", memory::LOCK))
                .note("without it, your edits look like the text of an older operator-forge")
                .advise(Script::of("git checkout --").arg(memory::DIRECTORY)));
        }
        Ok(workspace)
    }

    /// The definitions that the types of `after` are generated from, by path. Those of the project before the command that are
    /// no longer used are `None`, and so are the copies of charts, roles and playbooks that no kind of `after` has.
    pub fn definitions(&self, after: &Project) -> Result<BTreeMap<RelPath, Option<Content>>> {
        let mut definitions = BTreeMap::new();
        let projects = std::iter::once(&self.project).chain(&self.applied);
        for (key, source) in projects.flat_map(Project::sources) {
            definitions.insert(memory::definition_path(&source.name, key.version)?, None);
        }
        for (key, source) in after.sources() {
            let path = memory::definition_path(&source.name, key.version)?;
            let text = source.definition.as_ref().map(|it| it.text().to_owned());
            definitions.insert(path, text.map(|text| text.into_bytes().into()));
        }
        let recipes = after.resources().filter_map(|(_, it)| it.recipe());
        let recipes: Vec<Recipe<'_>> = recipes.collect();
        // A playbook may have any role, and any file beside it.
        let has_playbook = recipes.iter().any(|it| it.word() == "playbook");
        for kind in memory::COPIED {
            for name in tree::names(&self.root.join(memory::DIRECTORY).join(kind)) {
                let place = format!("{kind}/{name}");
                let is_used = recipes.iter().any(|it| it.path() == place);
                if is_used || kind != "charts" && has_playbook {
                    continue;
                }
                for path in memory::copies(&self.root, &place)?.keys() {
                    definitions.insert(memory::copy_path(path)?, None);
                }
            }
        }
        Ok(definitions)
    }

    /// The project at `root`, whatever its template set. Two branches of `PROJECT` are merged by the policy; without one they are
    /// refused.
    pub fn read(root: &Path, policy: Option<Policy>) -> Result<Self> {
        let above = root.parent().unwrap_or(root).to_string_lossy();
        let above = if above.is_empty() { ".".into() } else { above };
        check_directory(root, Advice::set("--directory", above))?;
        let seen = tree::find(root, &RelPath::constant(FILE))?;
        let bytes = match &seen {
            Found::File(bytes) => bytes,
            Found::Obstacle(what) => {
                return Err(Failure::refused(format!("cannot read `PROJECT`: {what}"))
                    .advise(Script::put_aside(FILE).then(put_back(root))));
            }
            Found::Absent if has_no_lock(root)? => return Err(project::missing(root)),
            Found::Absent => return Err(lost_project(root)),
        };
        // Two branches are rare, so the text is parsed while git looks for them; then a thread is left for the templates.
        let branches = || {
            let git = Status::of(root)?;
            let branches = Branches::find(&git, root, bytes)?;
            Ok::<_, Failure>((git, branches))
        };
        let parse = || rayon::join(|| Project::read(bytes), template::prepare).0;
        let (branches, read) = rayon::join(branches, parse);
        let (git, branches) = branches?;
        let (text, project, merge) = match (branches, policy) {
            (None, _) => (bytes.clone(), read, None),
            (Some(branches), None) => return Err(branches.refuse()),
            (Some(branches), Some(policy)) => {
                let (text, remark) = branches.merge(policy)?;
                let project = Project::read_merged(&text, bytes)?;
                let kept = match policy {
                    Policy::Keep | Policy::Take => branches.kept(&git, root, &project)?,
                    Policy::Abort | Policy::Markers => BTreeMap::new(),
                };
                let merge = Merge {
                    is_new: text.as_bytes() != bytes,
                    remark,
                    kept,
                };
                (text.into_bytes(), Ok(project), Some(merge))
            }
        };
        let is_new = merge.as_ref().is_some_and(|merge| merge.is_new);
        let last = last_applied(root)?;
        let is_applied = last.as_ref() == Some(&text);
        let other = last.filter(|_| !is_applied);
        let mut applied = other.and_then(|text| Project::read(&text).ok());
        if let Some(applied) = &applied {
            project::check_unchanging(&text, applied, is_new)?;
        }
        let mut project = project?;
        attach(root, &mut project, None)?;
        if let Some(applied) = &mut applied {
            attach(root, applied, Some(&project))?;
        }
        if let Some(applied) = &applied
            && of_this_set(applied)
            && of_this_set(&project)
        {
            check_list(&project, applied)?;
            // A branch brings the code of its controllers along.
            if !is_new {
                project.check_controllers(applied)?;
                project.check_recipes(applied)?;
            }
        }
        Ok(Self {
            root: root.to_path_buf(),
            applied: applied.or_else(|| is_applied.then(|| project.clone())),
            project,
            seen,
            git,
            merge,
        })
    }

    /// Refuses if `PROJECT` changed between reading it and taking the lock: the command was planned for another one.
    pub fn refuse_if_moved(&self, found: &BTreeMap<RelPath, Found>) -> Result<()> {
        if found.get(&RelPath::constant(FILE)) == Some(&self.seen) {
            return Ok(());
        }
        Err(Failure::busy("`PROJECT` changed while the command ran")
            .note("nothing was changed")
            .advise(Advice::Again))
    }

    /// Manual changes of `PROJECT` that no cluster follows, a sentence each.
    pub fn not_followed(&self) -> Vec<String> {
        match &self.applied {
            Some(applied) if !self.is_merged() => self.project.not_followed(applied),
            _ => Vec::new(),
        }
    }

    fn is_merged(&self) -> bool {
        self.merge.as_ref().is_some_and(|merge| merge.is_new)
    }

    /// The last applied project, if it and the current one have the template set of this binary.
    fn applied(&self) -> Option<&Project> {
        let applied = self.applied.as_ref()?;
        (of_this_set(&self.project) && of_this_set(applied)).then_some(applied)
    }

    /// Paths of the project as it was read or last applied: at least all that `now` does not have. `None` where they are
    /// unknown, as before an update or right after the merge of two branches.
    pub fn asked_before(&self, now: &Project) -> Result<Option<BTreeSet<RelPath>>> {
        if !of_this_set(&self.project) || self.is_merged() {
            return Ok(None);
        }
        let mut asked = template::paths(&self.project.unlike(now))?;
        if let Some(applied) = self.applied() {
            asked.extend(template::paths(&applied.unlike(now))?);
        }
        Ok(Some(asked))
    }

    /// The last applied texts of Tool files, rendered from the last applied project. A text counts only if it has the hash in
    /// the lock.
    pub fn as_applied(
        &self,
        paths: &[RelPath],
        memory: &Memory,
    ) -> Result<BTreeMap<RelPath, Content>> {
        let Some(applied) = self.applied().filter(|_| !paths.is_empty()) else {
            return Ok(BTreeMap::new());
        };
        let mut tree = template::tree(applied)?;
        let text = |path: &RelPath| {
            let (file, row) = (tree.remove(path)?, memory.rows.get(path)?);
            let is_applied = row.any_of == [file.digest(path)];
            is_applied.then(|| (path.clone(), file.content))
        };
        Ok(paths.iter().filter_map(text).collect())
    }

    /// The lock. A lost one is rebuilt from the last applied project, or from `PROJECT` if that cannot be used: every file on
    /// disk counts as applied.
    pub fn memory(&self) -> Result<Memory> {
        if self.seen == Found::Absent || !has_no_lock(&self.root)? {
            return Memory::load(&self.root);
        }
        let mut tree = template::tree(&self.project)?;
        if let Some(applied) = self.applied() {
            // Entries from another branch come with files that were written there.
            tree.retain(|_, file| file.owner == Owner::User);
            tree.extend(template::tree(applied)?);
        }
        let mut rebuilt = Memory {
            templates: template::SET,
            ..Memory::default()
        };
        for (path, file) in tree {
            if matches!(tree::find(&self.root, &path)?, Found::File(_)) {
                let row = LastApplied::of_file(&path, &file);
                rebuilt.rows.insert(path, row);
            }
        }
        Ok(rebuilt)
    }
}

/// Gives a project the definitions in its memory. Those that `other` has are not read again.
fn attach(root: &Path, project: &mut Project, other: Option<&Project>) -> Result<()> {
    project.attach(|name, key| {
        let known = other.and_then(|other| {
            let mut sources = other.sources();
            let is = |(it, source): &(&Key, &Source)| *it == key && source.name == *name;
            sources.find(is)?.1.definition.clone()
        });
        if known.is_some() {
            return Ok(known);
        }
        let path = memory::definition_path(name, key.version)?;
        let why = match tree::find(root, &path)? {
            Found::File(bytes) => match Definition::parse(&bytes, key.version) {
                Ok(definition) => return Ok(Some(Arc::new(definition))),
                Err(why) => why,
            },
            Found::Obstacle(what) => what.to_string(),
            Found::Absent => return Err(memory::no_definition(&path, key)),
        };
        Err(memory::broken_definition(&path, &why))
    })
}

/// Refuses a directory that is a project already, or was one and lost its `PROJECT`.
pub fn refuse_existing(root: &Path) -> Result<()> {
    let beside = format!("{}-project", root.display());
    check_directory(root, Script::forge("-C").arg(beside).code("init"))?;
    match tree::find(root, &RelPath::constant(FILE))? {
        Found::Absent if has_no_lock(root)? => return Ok(()),
        Found::Absent => return Err(lost_project(root)),
        // Another kind of project, and a `PROJECT` that cannot be read, have refusals of their own.
        Found::File(bytes) => _ = Project::read(&bytes)?,
        Found::Obstacle(_) => {}
    }
    Err(
        Failure::refused(format!("`{}` is a project already", root.display()))
            .note("it has a PROJECT file")
            .advise(Script::forge("create api --help")),
    )
}

/// Whether a project has the template set of this binary.
fn of_this_set(project: &Project) -> bool {
    project.settings.templates == template::SET
}

fn has_no_lock(root: &Path) -> Result<bool> {
    Ok(tree::find(root, &RelPath::constant(memory::LOCK))? == Found::Absent)
}

/// The last applied text of `PROJECT`. Of conflict markers it takes ours: the fields that are compared are the same on both sides.
fn last_applied(root: &Path) -> Result<Option<Vec<u8>>> {
    let path = RelPath::constant(memory::APPLIED_PROJECT);
    Ok(match tree::find(root, &path)? {
        Found::File(bytes) => {
            let split = std::str::from_utf8(&bytes).ok().and_then(markers::split);
            Some(split.map_or(bytes, |split| split.ours.into_bytes()))
        }
        _ => None,
    })
}

/// Refuses anything but a directory; `advice` names another path.
fn check_directory(root: &Path, advice: impl Into<Advice>) -> Result<()> {
    if root.exists() && !root.is_dir() {
        return Err(
            Failure::refused(format!("`{}` is not a directory", root.display()))
                .note("a project is a directory")
                .advise(advice),
        );
    }
    Ok(())
}

/// The refusal where `PROJECT` is gone and the lock is not.
fn lost_project(root: &Path) -> Failure {
    let kept = match root.join(memory::APPLIED_PROJECT).is_file() {
        true => "; its last applied text is kept beside it",
        false => "",
    };
    Failure::refused(format!("`{}` has lost its PROJECT file", root.display()))
        .note(format!("`{}` belongs to one{kept}", memory::LOCK))
        .advise(put_back(root))
}

/// Restores the last applied `PROJECT`.
fn put_back(root: &Path) -> Script {
    match root.join(memory::APPLIED_PROJECT).is_file() {
        true => Script::of("cp").arg(memory::APPLIED_PROJECT).arg(FILE),
        false => Script::of("git checkout --").arg(FILE),
    }
}
