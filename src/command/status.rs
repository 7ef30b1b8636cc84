//! `status`: what each file is, and what `sync` would do.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use rayon::prelude::*;

use super::{Survey, Workspace, derived, lost};
use crate::{
    change::ChangeSet,
    cli::{Global, Status},
    error::Result,
    plan::Named,
    reconcile::Verdict,
    report::{FileStatus, Report, State, StatusReport},
    template,
    tree::{Found, Owner, RelPath},
};

pub fn run(flags: &Global, status: &Status, report: &Report) -> Result<u8> {
    let (workspace, project) = Workspace::open(&flags.directory)?;
    let mut survey = Survey::of(&workspace, &project)?;
    let lost = lost::files(&workspace, &project, &survey, &Named::default())?;
    let instead = match lost.is_empty() {
        true => Vec::new(),
        false => lost::lines(&project, &survey, &lost),
    };
    let lost: Vec<FileStatus> = lost
        .iter()
        .filter_map(|path| Some(is_lost(path, survey.memory.rows.remove(path)?.owner)))
        .collect();
    let set = survey.drift(&project)?;
    let mut files = files(&survey, &set);
    files.extend(lost);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.extend(written_by_manifests(&workspace.root, &files));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    report.status(&StatusReport {
        project: project.name.as_str(),
        templates: template::SET,
        files: &files,
        set: &set,
        instead: &instead,
        all: status.all,
    });
    Ok(0)
}

/// A file whose entry a merge lost: `sync` refuses to do anything before that is settled.
fn is_lost(path: &RelPath, owner: Owner) -> FileStatus {
    FileStatus {
        path: path.to_string(),
        owner: owner.word(),
        state: State::Lost,
        pending: None,
    }
}

/// Every file that is desired or remembered.
fn files(survey: &Survey, set: &ChangeSet) -> Vec<FileStatus> {
    let paths: BTreeSet<&RelPath> = survey
        .desired
        .keys()
        .chain(survey.memory.rows.keys())
        .collect();
    let words = set
        .visible()
        .map(|change| (&change.path, change.action.word()));
    let pending: BTreeMap<&RelPath, &'static str> = words.collect();
    let status = |path: &&RelPath| {
        let (owner, state) = state(survey, path)?;
        Some(FileStatus {
            path: path.to_string(),
            owner,
            state,
            pending: pending.get(path).copied(),
        })
    };
    paths.par_iter().filter_map(status).collect()
}

/// Whose a file is, and how it stands beside what was generated; `None` if it is gone and nobody wants it.
fn state(survey: &Survey, path: &RelPath) -> Option<(&'static str, State)> {
    let last = survey.memory.rows.get(path);
    let desired = survey.desired.get(path).map(|file| file.owner);
    let owner = desired.or(last.map(|last| last.owner))?;
    if let Some(Found::Obstacle(_)) = survey.found.get(path) {
        return Some((owner.word(), State::InTheWay));
    }
    let (verdict, on_disk) = survey.verdict(path);
    let is_applied = || match (last, on_disk) {
        (Some(last), Some(digest)) => last.any_of.contains(&digest),
        _ => false,
    };
    let state = match verdict {
        Verdict::Ignore | Verdict::Forget => return None,
        Verdict::Delete => State::Obsolete,
        Verdict::Orphan => State::Orphaned,
        Verdict::Create => State::New,
        Verdict::Exists | Verdict::Adopt => State::InTheWay,
        Verdict::Restore | Verdict::StaysDeleted => State::Deleted,
        Verdict::Unchanged | Verdict::Write => State::Unedited,
        Verdict::KeepUser if is_applied() => State::Unedited,
        Verdict::KeepUser | Verdict::KeepEdited | Verdict::Merge | Verdict::Edited => State::Edited,
    };
    Some((owner.word(), state))
}

/// The files that the project's own `make manifests` wrote, as far as no template makes them; `known` is sorted.
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
        .map(|path| FileStatus {
            path,
            owner: "derived",
            state: State::Unedited,
            pending: None,
        })
        .collect()
}
