//! Desired state, observed state and last applied of one moment, each read once.

use std::collections::{BTreeMap, BTreeSet};

use super::{request::Request, workspace::Workspace};
use crate::{
    branches::{self, Lost},
    change::{ChangeSet, Note, NoteKind, Policy, lacking},
    error::Result,
    memory::Memory,
    merge,
    plan::{self, Resolved, ThreeWay},
    reconcile::{Last, Verdict, reconcile},
    template,
    tree::{self, Content, Digest, File, Found, Owner, RelPath, Tree},
};

/// The three sides of every plan, before they are compared.
pub struct Snapshot<'a> {
    /// The desired project, and the files that the command names.
    pub request: &'a Request,
    /// What was last applied.
    pub memory: Memory,
    /// The desired state.
    pub desired: Tree,
    /// The observed state, at every path of the other two.
    pub found: BTreeMap<RelPath, Found>,
    /// The last applied texts of edited Tool files that have to change.
    applied: BTreeMap<RelPath, Content>,
    /// The verdicts for files with traces of a git merge.
    resolved: BTreeMap<RelPath, Resolved>,
    /// The text of `PROJECT` after the command.
    record: String,
    /// The definitions that types are generated from; `None` for one that is no longer used.
    definitions: BTreeMap<RelPath, Option<Content>>,
    /// Rows that stay in the lock and are not planned.
    aside: BTreeMap<RelPath, Last<Digest>>,
    /// Files that one branch edited, while the other one deleted their entry.
    orphans: Vec<RelPath>,
    /// Files of entries that `PROJECT` has lost.
    pub lost: Lost,
}

impl<'a> Snapshot<'a> {
    /// Renders the desired state and reads the files.
    pub fn of(workspace: &Workspace, request: &'a Request) -> Result<Self> {
        let (project, named) = (&request.project, &request.named);
        let (memory, (desired, record)) = rayon::join(
            || workspace.memory(),
            || rayon::join(|| template::tree(project), || project.write()),
        );
        let (mut memory, mut desired) = (memory?, desired?);
        memory.rows.extend(request.adopted.clone());
        named.start(&mut desired);
        let mut paths = plan::paths(&memory, &desired)?;
        paths.extend(named.rewritten.keys().cloned());
        let definitions = workspace.definitions(project)?;
        paths.extend(definitions.keys().cloned());
        let found = tree::find_all(&workspace.root, paths)?;
        for (path, file) in desired.iter_mut().filter(|(_, file)| file.named) {
            // The compiler also finds a module that the user moved into a directory of its own.
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
        let mut applied = workspace.as_applied(&changing, &memory)?;
        let mut resolved = branches::resolve(&texts, &memory, &desired, &found, named);
        for (path, former) in &named.updated {
            let (Some(file), Some(Found::File(bytes))) = (desired.get(path), found.get(path))
            else {
                continue;
            };
            let sides = ThreeWay::new(path, memory.rows.get(path), Some(bytes), file);
            resolved.insert(path.clone(), sides.update_from(former));
            applied.insert(path.clone(), former.clone());
        }
        Ok(Self {
            request,
            applied,
            resolved,
            orphans: branches::orphans(&workspace.git, &workspace.root, is_known)?,
            lost: Lost::find(project, &memory, &desired, &found, named, asked)?,
            memory,
            desired,
            found,
            record,
            definitions,
            aside: BTreeMap::new(),
        })
    }

    /// Settles the lost files by the policy, and returns a remark. Only `sync` deletes or leaves them for good.
    pub fn resolve_lost(&mut self, policy: Policy) -> Result<Option<String>> {
        let is_sync = self.request.is_sync;
        self.lost
            .resolve(is_sync, policy, &mut self.memory, &mut self.aside)
    }

    /// The bytes on disk.
    pub fn on_disk(&self, path: &RelPath) -> Option<&Vec<u8>> {
        match self.found.get(path) {
            Some(Found::File(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// The verdict for a file, and the digest of its text on disk.
    pub fn verdict(&self, path: &RelPath) -> (Verdict, Option<Digest>) {
        let disk = self.on_disk(path);
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
    /// normal, but a file that was kept looks the same.
    pub fn lacking(&self, set: &ChangeSet) -> Option<String> {
        let changes = set.changes.iter().map(|change| &change.path);
        let notes = set.notes.iter().map(|note| &note.path);
        let reported: BTreeSet<_> = changes.chain(notes).collect();
        let is_left = |(path, file): &(&RelPath, &File)| {
            file.owner == Owner::Shared && !reported.contains(path)
        };
        let files = self.desired.iter().filter(is_left);
        let files = files.map(|(path, _)| (path, self.lacks(path)));
        let mut files = files.filter(|(_, lines)| !lines.is_empty());
        let (path, lines) = files.next()?;
        let lacks = match files.count() {
            0 => format!("lacks {}", lacking(&lines)?),
            more => format!("and {more} more lack generated lines"),
        };
        Some(format!("`{path}` {lacks}: `operator-forge diff`"))
    }

    /// The generated lines that a file on disk lacks.
    pub fn lacks(&self, path: &RelPath) -> Vec<String> {
        match (self.desired.get(path), self.on_disk(path)) {
            (Some(file), Some(bytes)) if **bytes != *file.content => {
                merge::lacking(bytes, &file.content)
            }
            _ => Vec::new(),
        }
    }

    /// The change set. The user's `answers` resolve conflicts, else the policy.
    pub fn plan(&self, policy: Policy, answers: &BTreeMap<RelPath, Policy>) -> Result<ChangeSet> {
        let Request {
            project,
            named,
            forced,
            ..
        } = self.request;
        let mut set = plan::plan(&plan::Inputs {
            rows: &self.memory.rows,
            desired: &self.desired,
            found: &self.found,
            applied: &self.applied,
            resolved: &self.resolved,
            templates: template::SET,
            project: &self.record,
            definitions: &self.definitions,
            named,
            policy,
            decided: answers,
            forced,
            owned: &project.settings.owned,
            aside: &self.aside,
        })?;
        let orphans = self.orphans.iter();
        let orphans = orphans.filter(|path| !named.rewritten.contains_key(*path));
        set.notes.extend(orphans.map(|path| Note {
            path: path.clone(),
            what: NoteKind::Orphaned,
            lacks: Vec::new(),
        }));
        Ok(set)
    }
}
