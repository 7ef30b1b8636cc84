//! `status`: the owner and state of each file, and what `sync` would change.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use rayon::prelude::*;

use crate::{
    advice::{Advice, Script},
    change::{ChangeSet, Policy},
    cli::Status,
    engine::{Request, Snapshot, Workspace, derived, drift::drifts},
    error::Result,
    memory::Memory,
    reconcile::Verdict,
    report::{FileState, FileStatus, Report, StatusReport},
    template,
    tree::{self, Digest, Found, Owner, RelPath},
};

/// The owner of files that the project's own code writes.
const DERIVED: &str = "derived";

pub fn run(workspace: &Workspace, status: &Status, report: &Report) -> Result<u8> {
    let project = &workspace.project;
    if project.settings.templates != template::SET {
        return of_another_set(workspace, status, report);
    }
    let request = Request::of("status", project.clone());
    let mut snapshot = Snapshot::of(workspace, &request, Policy::Abort)?;
    let instead: Vec<Advice> = snapshot.lost.advice.drain(..).map(Advice::from).collect();
    // `sync` refuses until the lost files are resolved, so they are not planned.
    let lost = std::mem::take(&mut snapshot.lost.files).into_iter();
    let lost: Vec<_> = lost
        .filter_map(|path| snapshot.inputs.memory.rows.remove_entry(&path))
        .collect();
    let set = snapshot.plan()?;
    let mut files = files(&snapshot, &set);
    files.extend(lost.iter().map(|(path, row)| FileStatus {
        state: FileState::Lost,
        ..FileStatus::of(path, row.owner.word())
    }));
    let known: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
    files.extend(written_by_manifests(&workspace.root, &known));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    report.status(&StatusReport {
        project: project.name.as_str(),
        templates: template::SET,
        files: &files,
        set: &set,
        drifts: &drifts(&snapshot)?,
        instead: &instead,
        all: status.all,
    });
    Ok(0)
}

/// The status of a project with another template set, which this binary cannot render: the files are compared with the lock.
fn of_another_set(workspace: &Workspace, status: &Status, report: &Report) -> Result<u8> {
    let memory = Memory::load(&workspace.root)?;
    let paths: BTreeSet<RelPath> = memory.rows.keys().cloned().collect();
    let found = tree::find_all(&workspace.root, paths)?;
    let files = memory.rows.iter().map(|(path, row)| {
        let owner = owner_word(path, row.owner, found.get(path));
        let state = match found.get(path) {
            Some(Found::File(_)) if owner == DERIVED => FileState::Unedited,
            Some(Found::File(bytes)) => match row.any_of.contains(&Digest::of(path, bytes)) {
                true => FileState::Unedited,
                false => FileState::Edited,
            },
            Some(Found::Obstacle(_)) => FileState::InTheWay,
            Some(Found::Absent) | None => FileState::Deleted,
        };
        FileStatus {
            state,
            ..FileStatus::of(path, owner)
        }
    });
    report.status(&StatusReport {
        project: workspace.project.name.as_str(),
        templates: workspace.project.settings.templates,
        files: &files.collect::<Vec<_>>(),
        set: &ChangeSet::default(),
        drifts: &[],
        instead: &[Script::forge("update").into()],
        all: status.all,
    });
    Ok(0)
}

/// Every file of the desired state and of the lock.
fn files(snapshot: &Snapshot<'_>, set: &ChangeSet) -> Vec<FileStatus> {
    let rows = snapshot.inputs.memory.rows.keys();
    let paths: BTreeSet<&RelPath> = snapshot.inputs.desired.keys().chain(rows).collect();
    let changes = set.visible();
    let pending: BTreeMap<&RelPath, &'static str> = changes
        .map(|change| (&change.path, change.action.word()))
        .collect();
    let status = |path: &&RelPath| {
        let (owner, state) = state(snapshot, path)?;
        let lacks = match (owner, state) {
            (_, FileState::Stale) | ("tool" | "shared", FileState::Edited) => snapshot.lacks(path),
            _ => Vec::new(),
        };
        let pending = pending.get(path).copied();
        let help = match state {
            _ if pending.is_some() => None,
            FileState::Edited | FileState::Stale => Some(Script::forge("diff").arg(path.as_str())),
            FileState::Deleted if owner == DERIVED => Some(Script::of("make manifests")),
            FileState::Deleted => Some(Script::forge("restore").arg(path.as_str())),
            _ => None,
        };
        Some(FileStatus {
            state,
            lacks,
            pending,
            help,
            ..FileStatus::of(path, owner)
        })
    };
    paths.par_iter().filter_map(status).collect()
}

/// The owner and the state of a file; `None` if it is gone and no longer desired.
fn state(snapshot: &Snapshot<'_>, path: &RelPath) -> Option<(&'static str, FileState)> {
    let owned = &snapshot.request.project.settings.owned;
    let last = snapshot.inputs.last(path);
    let desired = snapshot.inputs.desired.get(path).map(|file| file.owner);
    let owner = desired.or(last.map(|last| last.owner))?;
    let found = snapshot.inputs.found.get(path);
    let word = owner_word(path, owner, found);
    match found {
        Some(Found::Obstacle(_)) => return Some((word, FileState::InTheWay)),
        Some(Found::File(_)) if word == DERIVED => return Some((word, FileState::Unedited)),
        _ => {}
    }
    let (verdict, on_disk) = snapshot.verdict(path);
    let is_applied = || match (last, on_disk) {
        (Some(last), Some(digest)) => last.any_of.contains(&digest),
        _ => false,
    };
    let state = match verdict {
        Verdict::Ignore | Verdict::Forget => return None,
        Verdict::Delete => FileState::Obsolete,
        Verdict::Orphan => FileState::Orphaned,
        Verdict::Create => FileState::New,
        Verdict::Exists | Verdict::Adopt => FileState::InTheWay,
        Verdict::Restore | Verdict::StaysDeleted => FileState::Deleted,
        Verdict::Unchanged | Verdict::Write => FileState::Unedited,
        Verdict::KeepUser if owned.contains(path) && !snapshot.lacks(path).is_empty() => {
            FileState::Stale
        }
        Verdict::KeepUser if is_applied() => FileState::Unedited,
        Verdict::KeepUser | Verdict::KeepEdited | Verdict::Merge | Verdict::Edited => {
            FileState::Edited
        }
    };
    Some((word, state))
}

/// The word for the owner of a file. Some Derived files have a template for their first text.
fn owner_word(path: &RelPath, owner: Owner, found: Option<&Found>) -> &'static str {
    let is_written = match found {
        Some(Found::File(bytes)) => bytes.starts_with(derived::HEADER),
        _ => true,
    };
    match is_written && derived::is_derived(path.as_str()) {
        true => DERIVED,
        false => owner.word(),
    }
}

/// The Derived files on disk that are not `known`.
fn written_by_manifests(root: &Path, known: &BTreeSet<String>) -> Vec<FileStatus> {
    let crds = tree::names(&root.join(derived::CRDS)).into_iter();
    let crds = crds.map(|name| format!("{}/{name}", derived::CRDS));
    let paths = derived::FILES.iter().map(ToString::to_string).chain(crds);
    let is_derived = |path: &&String| {
        let path = path.parse::<RelPath>();
        let found = path.map(|path| tree::find(root, &path));
        matches!(found, Ok(Ok(Found::File(text))) if text.starts_with(derived::HEADER))
    };
    let paths = paths.filter(|path| !known.contains(path) && is_derived(&path));
    paths.map(|path| FileStatus::of(path, DERIVED)).collect()
}
