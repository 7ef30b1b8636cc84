//! Desired state, observed state and last applied of one moment, each read once.

use std::collections::{BTreeMap, BTreeSet};

use super::workspace::Workspace;
use crate::{
    branches::{self, Lost},
    change::{ChangeSet, Note, NoteKind, Policy, lacking},
    error::Result,
    memory::Memory,
    merge,
    plan::{self, NamedFiles, Resolved, ThreeWay},
    project::Project,
    reconcile::{Last, Verdict, reconcile},
    template,
    tree::{self, Content, Digest, File, Found, Owner, RelPath, Tree},
};

/// The three sides of every plan, before they are compared.
pub struct Snapshot<'a> {
    /// The project that is desired.
    pub project: &'a Project,
    /// User files that the command names explicitly.
    named: &'a NamedFiles,
    /// What was last applied.
    pub memory: Memory,
    /// The desired state.
    pub desired: Tree,
    /// The observed state, at every path that either of the others names.
    pub found: BTreeMap<RelPath, Found>,
    /// Edited Tool files that have to change, as they were last applied.
    applied: BTreeMap<RelPath, Content>,
    /// The verdicts for files with traces of a git merge.
    resolved: BTreeMap<RelPath, Resolved>,
    /// The text of `PROJECT` after the command.
    record: String,
    /// Rows that stay in the lock and are not planned.
    aside: BTreeMap<RelPath, Last<Digest>>,
    /// Files of no entry any more that one branch edited, while the other deleted the entry.
    orphans: Vec<RelPath>,
    /// Files of entries that `PROJECT` has lost.
    pub lost: Lost,
}

impl<'a> Snapshot<'a> {
    /// Renders `project` and reads what is there.
    pub fn of(workspace: &Workspace, project: &'a Project) -> Result<Self> {
        Self::with(workspace, project, NamedFiles::NONE)
    }

    /// The same for a command that names User files.
    pub fn with(
        workspace: &Workspace,
        project: &'a Project,
        named: &'a NamedFiles,
    ) -> Result<Self> {
        let (memory, (desired, record)) = rayon::join(
            || workspace.memory(),
            || rayon::join(|| template::tree(project), || project.write()),
        );
        let (memory, mut desired) = (memory?, desired?);
        named.start(&mut desired);
        let mut paths = plan::paths(&memory, &desired)?;
        paths.extend(named.rewritten.keys().cloned());
        let found = tree::find_all(&workspace.root, paths)?;
        for (path, file) in desired.iter_mut().filter(|(_, file)| file.named) {
            // A module that the user moved into a directory of its own is still found by the compiler.
            if found.get(path) == Some(&Found::Absent)
                && let Some(module) = path.as_module_directory()
            {
                file.named = matches!(tree::find(&workspace.root, &module)?, Found::Absent);
            }
        }
        let is_known = |path: &RelPath| found.contains_key(path);
        let (kept, mut changing) = plan::edited(&memory, &desired, &found);
        let texts = branches::texts(&workspace.git, &workspace.root, is_known, &kept)?;
        changing.retain(|path| !texts.unmerged.contains_key(path));
        let asked = || workspace.asked_before(project);
        Ok(Self {
            project,
            named,
            applied: workspace.as_applied(&changing, &memory)?,
            resolved: branches::resolve(&texts, &memory, &desired, &found, named),
            orphans: branches::orphans(&workspace.git, &workspace.root, is_known)?,
            lost: Lost::find(project, &memory, &desired, &found, named, asked)?,
            memory,
            desired,
            found,
            record,
            aside: BTreeMap::new(),
        })
    }

    /// Settles the lost files by the policy, and returns a remark. Only `sync` deletes or leaves them for good.
    pub fn settle_lost(&mut self, is_sync: bool, policy: Policy) -> Result<Option<String>> {
        self.lost
            .settle(is_sync, policy, &mut self.memory, &mut self.aside)
    }

    /// The verdict for a file, and the digest of its text on disk.
    pub fn verdict(&self, path: &RelPath) -> (Verdict, Option<Digest>) {
        let disk = match self.found.get(path) {
            Some(Found::File(bytes)) => Some(bytes),
            _ => None,
        };
        let last = self.memory.rows.get(path);
        let Some(file) = self.desired.get(path) else {
            let on_disk = disk.map(|bytes| Digest::of(path, bytes));
            return (reconcile(last, on_disk.as_ref(), None), on_disk);
        };
        let sides = ThreeWay::new(path, last, disk, file);
        let verdict = match self.resolved.get(path) {
            Some(resolved) => resolved.verdict,
            None => sides.resolve(self.applied.get(path)).verdict,
        };
        (verdict, sides.on_disk)
    }

    /// A remark about Shared files that lack generated lines and that `set` leaves as they are. Edits of Shared files are
    /// everyday life, but a file that was kept looks the same.
    pub fn lacking(&self, set: &ChangeSet) -> Option<String> {
        let changes = set.changes.iter().map(|change| &change.path);
        let known: BTreeSet<_> = changes
            .chain(set.notes.iter().map(|note| &note.path))
            .collect();
        let is_left =
            |(path, file): &(&RelPath, &File)| file.owner == Owner::Shared && !known.contains(path);
        let files = self.desired.iter().filter(is_left);
        let files = files.map(|(path, _)| (path, self.lacks(path)));
        let mut files = files.filter(|(_, lines)| !lines.is_empty());
        let (path, lines) = files.next()?;
        Some(match files.count() {
            0 => {
                let lines = lacking(&lines)?;
                format!("`{path}` lacks {lines}: `operator-forge diff`")
            }
            more => format!("`{path}` and {more} more lack generated lines: `operator-forge diff`"),
        })
    }

    /// The generated lines that a file on disk lacks.
    pub fn lacks(&self, path: &RelPath) -> Vec<String> {
        match (self.desired.get(path), self.found.get(path)) {
            (Some(file), Some(Found::File(bytes))) if **bytes != *file.content => {
                merge::lacking(bytes, &file.content)
            }
            _ => Vec::new(),
        }
    }

    /// The change set with nothing forced and no conflict settled.
    pub fn drift(&self) -> Result<ChangeSet> {
        self.plan(Policy::Abort, &BTreeMap::new(), &BTreeSet::new())
    }

    /// The change set. The user's `answers` settle conflicts, else the policy; `forced` paths are written whatever they hold.
    pub fn plan(
        &self,
        policy: Policy,
        answers: &BTreeMap<RelPath, Policy>,
        forced: &BTreeSet<RelPath>,
    ) -> Result<ChangeSet> {
        let mut set = plan::plan(&plan::Inputs {
            rows: self.memory.rows.iter().collect(),
            desired: &self.desired,
            found: self.found.iter().collect(),
            applied: &self.applied,
            resolved: &self.resolved,
            templates: template::SET,
            project: &self.record,
            named: self.named,
            policy,
            decided: answers.iter().collect(),
            forced,
            owned: &self.project.settings.owned,
            aside: &self.aside,
        })?;
        let orphans = self.orphans.iter();
        let orphans = orphans.filter(|path| !self.named.rewritten.contains_key(*path));
        set.notes.extend(orphans.map(|path| Note {
            path: path.clone(),
            what: NoteKind::Orphaned,
            lacks: Vec::new(),
        }));
        Ok(set)
    }
}
