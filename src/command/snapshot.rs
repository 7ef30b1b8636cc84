//! What is remembered, what is desired and what is found: the three sides of every plan, each read once.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{
    Workspace,
    unmerged::{COMING, is_settled},
};
use crate::{
    change::{ChangeSet, Note, NoteKind, Policy, lacking},
    error::Result,
    git::{self, Unmerged},
    memory::{self, Memory},
    merge,
    plan::{self, Merges, NamedFiles},
    project::Project,
    reconcile::{Last, Verdict},
    shell, template,
    tree::{self, Digest, File, Found, Owner, RelPath, Tree},
};

/// The three sides, before they are compared.
pub struct Snapshot {
    /// What was last applied.
    pub memory: Memory,
    /// What the project asks for.
    pub desired: Tree,
    /// What stands at every path that either names.
    pub found: BTreeMap<RelPath, Found>,
    /// What is known of the files that have to be merged.
    merges: Merges,
    /// The text of the project that is asked for.
    record: String,
    /// Rows that the plan does not see and the lock keeps.
    aside: BTreeMap<RelPath, Last<Digest>>,
    /// Files of no entry any more that one branch edited, while the other deleted the entry.
    left: Vec<RelPath>,
}

impl Snapshot {
    /// Renders `project` and reads what is there.
    pub fn of(workspace: &Workspace, project: &Project) -> Result<Self> {
        Self::with(workspace, project, &NamedFiles::default())
    }

    /// The same, with the files that a command names.
    pub fn with(workspace: &Workspace, project: &Project, named: &NamedFiles) -> Result<Self> {
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
        let unmerged = workspace
            .conflicted
            .texts(|path| found.contains_key(path))?;
        let (kept, mut edited) = plan::edited(&memory, &desired, &found);
        let committed = match unmerged.is_empty() {
            true => committed(&workspace.root, kept)?,
            false => BTreeMap::new(),
        };
        edited.retain(|path| !unmerged.contains_key(path));
        let applied = workspace.as_applied(&edited, &memory)?;
        let settled = !unmerged.is_empty() && is_settled(&workspace.root)?;
        let left = left_by_git(workspace, &found)?;
        Ok(Self {
            memory,
            desired,
            found,
            merges: Merges {
                applied,
                unmerged,
                settled,
                committed,
            },
            record,
            aside: BTreeMap::new(),
            left,
        })
    }

    /// Leaves these files out of what is planned, and remembered as they are.
    pub fn set_aside(&mut self, paths: &[RelPath]) {
        for path in paths {
            self.aside.extend(self.memory.rows.remove_entry(path));
        }
    }

    /// What the table says of a file that is there or not, and the digest of what is there.
    pub fn verdict(&self, path: &RelPath) -> (Verdict, Option<Digest>) {
        let found = self.found.get(path);
        plan::verdict(&self.memory, &self.desired, found, &self.merges, path)
    }

    /// A remark about Shared files that lack generated lines, and that `set` leaves as they are: their edits are everyday life,
    /// but a kept one looks the same.
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
                let word = shell::word(path.as_str());
                let lines = lacking(&lines)?;
                format!("`{path}` lacks {lines}: `operator-forge diff {word}`")
            }
            more => format!("`{path}` and {more} more lack generated lines: `operator-forge diff`"),
        })
    }

    /// The generated lines that a file lacks which is there.
    pub fn lacks(&self, path: &RelPath) -> Vec<String> {
        match (self.desired.get(path), self.found.get(path)) {
            (Some(file), Some(Found::File(bytes))) if **bytes != *file.content => {
                merge::lacking(bytes, &file.content)
            }
            _ => Vec::new(),
        }
    }

    /// What it takes to make the tree what `project` says, with nothing forced and nothing settled.
    pub fn drift(&self, project: &Project) -> Result<ChangeSet> {
        let (named, decided) = (NamedFiles::default(), BTreeMap::new());
        self.plan(project, &named, Policy::Abort, &decided, &BTreeSet::new())
    }

    /// What it takes to make the tree what `project`, the one that was surveyed, says, with the files that the command
    /// names; what is in the way is settled as `decided` says of a file, else by the `policy`; `forced` is written whatever
    /// it holds.
    pub fn plan(
        &self,
        project: &Project,
        named: &NamedFiles,
        policy: Policy,
        decided: &BTreeMap<RelPath, Policy>,
        forced: &BTreeSet<RelPath>,
    ) -> Result<ChangeSet> {
        let inputs = plan::Inputs {
            rows: self.memory.rows.iter().collect(),
            desired: &self.desired,
            found: self.found.iter().collect(),
            templates: template::SET,
            project: &self.record,
            merges: &self.merges,
            policy,
            decided,
            forced,
            owned: &project.settings.owned,
            aside: &self.aside,
        };
        let mut set = plan::plan_named(&inputs, named)?;
        let left = self
            .left
            .iter()
            .filter(|path| !named.rewritten.contains_key(*path));
        set.notes.extend(left.map(|path| Note {
            path: path.clone(),
            what: NoteKind::Orphaned,
            lacks: Vec::new(),
        }));
        Ok(set)
    }
}

/// The files that git left where one branch deleted and the other one edited them, and that were generated there.
fn left_by_git(workspace: &Workspace, found: &BTreeMap<RelPath, Found>) -> Result<Vec<RelPath>> {
    let root = &workspace.root;
    let mut files = workspace
        .conflicted
        .texts(|path| !found.contains_key(path))?;
    files.retain(|_, git| git.ancestor.is_some() && git.ours.is_some() != git.theirs.is_some());
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut locks = Vec::new();
    for head in COMING.iter().chain(&["HEAD"]) {
        let lock = git::text_at(root, head, memory::LOCK)?;
        locks.extend(lock.and_then(|text| Memory::parse(&text).ok()));
    }
    let mut left = Vec::new();
    for path in files.into_keys() {
        let was_generated = locks.iter().any(|lock| lock.rows.contains_key(&path));
        if was_generated && matches!(tree::find(root, &path)?, Found::File(_)) {
            left.push(path);
        }
    }
    Ok(left)
}

/// Those of `paths` that both branches of the last commit changed, where it merged them by keeping the text of one.
fn committed(root: &Path, paths: Vec<RelPath>) -> Result<BTreeMap<RelPath, Unmerged>> {
    let mut files = BTreeMap::new();
    for path in paths {
        if let Some(git) = git::merged(root, path.as_str())?
            && git.ours != git.ancestor
            && git.theirs != git.ancestor
        {
            files.insert(path, git);
        }
    }
    Ok(files)
}
