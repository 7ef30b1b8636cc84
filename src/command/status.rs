//! `status`: the owner and state of each file, and what `sync` would change.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use rayon::prelude::*;

use crate::{
    advice::{Advice, Script},
    change::ChangeSet,
    cli::{Global, Status},
    engine::{Snapshot, Workspace, derived, drift::drifts},
    error::Result,
    memory::Memory,
    project::Project,
    reconcile::{Last, Verdict},
    report::{FileState, FileStatus, Report, StatusReport},
    template,
    tree::{self, Digest, Found, Owner, RelPath},
};

/// The owner of files that the project's own code writes.
const DERIVED: &str = "derived";

pub fn run(flags: &Global, status: &Status, report: &Report) -> Result<u8> {
    let (workspace, project) = Workspace::open_any(&flags.directory)?;
    if project.settings.templates != template::SET {
        return of_another_set(&workspace, &project, status, report);
    }
    let mut snapshot = Snapshot::of(&workspace, &project)?;
    let instead: Vec<Advice> = snapshot
        .lost
        .advice
        .iter()
        .cloned()
        .map(Advice::from)
        .collect();
    let lost = snapshot.lost.files.iter();
    let lost: Vec<FileStatus> = lost
        .filter_map(|path| Some(is_lost(path, snapshot.memory.rows.remove(path)?.owner)))
        .collect();
    let (set, drifts) = (snapshot.drift()?, drifts(&snapshot)?);
    let mut files = files(&snapshot, &project.settings.owned, &set);
    files.extend(lost);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.extend(written_by_manifests(&workspace.root, &files));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    report.status(&StatusReport {
        project: project.name.as_str(),
        templates: template::SET,
        files: &files,
        set: &set,
        drifts: &drifts,
        instead: &instead,
        all: status.all,
    });
    Ok(0)
}

/// Describes a project that another operator-forge made: what nobody can render is compared with the lock.
fn of_another_set(
    workspace: &Workspace,
    project: &Project,
    status: &Status,
    report: &Report,
) -> Result<u8> {
    let memory = Memory::load(&workspace.root)?;
    let paths: BTreeSet<RelPath> = memory.rows.keys().cloned().collect();
    let found = tree::find_all(&workspace.root, paths)?;
    let file = |(path, row): (&RelPath, &Last<Digest>)| {
        let owner = owner_word(path, row.owner, found.get(path));
        let state = match found.get(path) {
            Some(Found::File(_)) if owner == DERIVED => FileState::Unedited,
            Some(Found::File(bytes)) if row.any_of.contains(&Digest::of(path, bytes)) => {
                FileState::Unedited
            }
            Some(Found::File(_)) => FileState::Edited,
            Some(Found::Obstacle(_)) => FileState::InTheWay,
            Some(Found::Absent) | None => FileState::Deleted,
        };
        FileStatus {
            state,
            ..FileStatus::of(path, owner)
        }
    };
    let files: Vec<FileStatus> = memory.rows.iter().map(file).collect();
    report.status(&StatusReport {
        project: project.name.as_str(),
        templates: project.settings.templates,
        files: &files,
        set: &ChangeSet::default(),
        drifts: &[],
        instead: &[Script::forge("update").into()],
        all: status.all,
    });
    Ok(0)
}

/// A file of an entry that `PROJECT` has lost: `sync` refuses until that is settled.
fn is_lost(path: &RelPath, owner: Owner) -> FileStatus {
    FileStatus {
        state: FileState::Lost,
        ..FileStatus::of(path, owner.word())
    }
}

/// Every file that is desired or remembered.
fn files(snapshot: &Snapshot<'_>, owned: &BTreeSet<RelPath>, set: &ChangeSet) -> Vec<FileStatus> {
    let paths: BTreeSet<&RelPath> = snapshot
        .desired
        .keys()
        .chain(snapshot.memory.rows.keys())
        .collect();
    let words = set
        .visible()
        .map(|change| (&change.path, change.action.word()));
    let pending: BTreeMap<&RelPath, &'static str> = words.collect();
    let status = |path: &&RelPath| {
        let (owner, state) = state(snapshot, owned, path)?;
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
fn state(
    snapshot: &Snapshot<'_>,
    owned: &BTreeSet<RelPath>,
    path: &RelPath,
) -> Option<(&'static str, FileState)> {
    let last = snapshot.memory.rows.get(path);
    let desired = snapshot.desired.get(path).map(|file| file.owner);
    let owner = desired.or(last.map(|last| last.owner))?;
    let found = snapshot.found.get(path);
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

/// The word for the owner of a file. A template makes the first text of some derived files.
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

/// The derived files that are not among the `known` ones, which are sorted.
fn written_by_manifests(root: &Path, known: &[FileStatus]) -> Vec<FileStatus> {
    let crds = walkdir::WalkDir::new(root.join(derived::CRDS));
    let crds = crds.into_iter().flatten().filter_map(|entry| {
        let path = entry.path().strip_prefix(root).ok()?;
        entry
            .file_type()
            .is_file()
            .then(|| path.display().to_string().replace('\\', "/"))
    });
    derived::FILES
        .iter()
        .map(ToString::to_string)
        .chain(crds)
        .filter(|path| known.binary_search_by(|file| file.path.cmp(path)).is_err())
        .filter(|path| {
            std::fs::read(root.join(path)).is_ok_and(|text| text.starts_with(derived::HEADER))
        })
        .map(|path| FileStatus::of(path, DERIVED))
        .collect()
}
