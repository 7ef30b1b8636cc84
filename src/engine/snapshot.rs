//! Desired state, observed state and last applied of one moment, each read once.

use std::collections::BTreeSet;

use super::{request::Request, workspace::Workspace};
use crate::{
    branches::{self, Lost},
    change::{ChangeSet, Note, NoteKind, Policy, lacking},
    error::Result,
    merge,
    name::Recipe,
    plan::{self, Inputs},
    reconcile::Verdict,
    template,
    tree::{self, Digest, File, Found, Owner, RelPath},
};

/// The inputs of a plan, and the traces of a git merge that they do not hold.
pub struct Snapshot<'a> {
    /// The desired project, and the files that the command names.
    pub request: &'a Request,
    /// The sides of every file.
    pub inputs: Inputs,
    /// Files that one branch edited, while the other one deleted their entry.
    orphans: Vec<RelPath>,
    /// Files of entries that `PROJECT` has lost.
    pub lost: Lost,
    /// What kinds have and the project lacks: `Chart.yaml` of Helm charts, roles and playbooks.
    recipes: Vec<(RelPath, NoteKind)>,
}

impl<'a> Snapshot<'a> {
    /// Renders the desired state and reads the files.
    pub fn of(workspace: &Workspace, request: &'a Request, policy: Policy) -> Result<Self> {
        let (root, project) = (&workspace.root, &request.project);
        let (memory, (desired, text)) = rayon::join(
            || workspace.memory(),
            || rayon::join(|| template::tree(project), || project.write()),
        );
        let mut inputs = Inputs {
            memory: memory?,
            desired: desired?,
            project: text,
            definitions: workspace.definitions(project)?,
            named: request.named.clone(),
            policy,
            forced: request.forced.clone(),
            owned: project.settings.owned.clone(),
            ..Inputs::default()
        };
        inputs.memory.rows.extend(request.adopted.clone());
        inputs.named.start(&mut inputs.desired);
        inputs.found = tree::find_all(root, plan::paths(&inputs)?)?;
        for (path, file) in inputs.desired.iter_mut().filter(|(_, file)| file.named) {
            // The compiler also finds a module that the user moved into a directory of its own.
            if inputs.found.get(path) == Some(&Found::Absent)
                && let Some(module) = path.as_module_directory()
            {
                file.named = matches!(tree::find(root, &module)?, Found::Absent);
            }
        }
        let (kept, mut changing) = plan::edited(&inputs);
        let is_known = |path: &RelPath| inputs.found.contains_key(path);
        let git = branches::git_merge(&workspace.git, root, is_known, &kept)?;
        let orphans = branches::orphans(&workspace.git, root, is_known)?;
        changing.retain(|path| !git.texts.contains_key(path));
        inputs.applied = workspace.as_applied(&changing, &inputs.memory)?;
        inputs.git = git;
        let asked = || workspace.asked_before(project);
        Ok(Self {
            request,
            orphans,
            lost: Lost::find(project, &inputs, asked)?,
            recipes: missing_recipes(workspace, request)?,
            inputs,
        })
    }

    /// Settles the lost files by the policy, and returns a remark. Only `sync` deletes or leaves them for good.
    pub fn resolve_lost(&mut self) -> Result<Option<String>> {
        self.lost.settle(self.request.is_sync, &mut self.inputs)
    }

    /// The verdict for a file, and the digest of its text on disk.
    pub fn verdict(&self, path: &RelPath) -> (Verdict, Option<Digest>) {
        plan::verdict(&self.inputs, path)
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
        let files = self.inputs.desired.iter().filter(is_left);
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
        match (self.inputs.desired.get(path), self.inputs.on_disk(path)) {
            (Some(file), Some(bytes)) if **bytes != *file.content => {
                merge::lacking(bytes, &file.content)
            }
            _ => Vec::new(),
        }
    }

    /// The change set.
    pub fn plan(&self) -> Result<ChangeSet> {
        let mut set = plan::plan(&self.inputs)?;
        let is_left = |path: &&RelPath| !self.inputs.named.rewritten.contains_key(*path);
        let orphans = self.orphans.iter().filter(is_left);
        let orphans = orphans.map(|path| (path, NoteKind::Orphaned));
        let recipes = self.recipes.iter().map(|(path, what)| (path, *what));
        set.notes
            .extend(orphans.chain(recipes).map(|(path, what)| Note {
                path: path.clone(),
                what,
                lacks: Vec::new(),
            }));
        Ok(set)
    }
}

/// The paths at which charts, roles and playbooks of kinds are missing, and that the command does not write.
fn missing_recipes(workspace: &Workspace, request: &Request) -> Result<Vec<(RelPath, NoteKind)>> {
    let recipes = request.project.resources();
    let recipes: BTreeSet<_> = recipes.filter_map(|(_, it)| it.recipe()).collect();
    let copied = &request.named.copied;
    let mut missing = Vec::new();
    for recipe in recipes {
        let (path, what) = match recipe {
            Recipe::Chart(chart) => (format!("{chart}/Chart.yaml"), NoteKind::NoChart),
            Recipe::Ansible(path) if path.is_local() => (path.to_string(), NoteKind::NoAnsible),
            Recipe::Ansible(_) => continue,
        };
        let path: RelPath = path.parse()?;
        let is_inside = |it: &RelPath| *it == path || it.parents().any(|it| it == path.as_str());
        let is_written = copied.keys().any(is_inside);
        if !is_written && tree::find(&workspace.root, &path)? == Found::Absent {
            missing.push((path, what));
        }
    }
    Ok(missing)
}
