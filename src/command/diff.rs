//! `diff`: shows the edits of generated files, and changes nothing.

use std::collections::BTreeSet;

use crate::{
    advice::Script,
    change::{Action, Change, ChangeSet, Policy},
    cli::Diff,
    engine::{
        Request, Snapshot, Workspace,
        file_of::{paths_of, unknown},
    },
    error::{Failure, Result},
    report::{Outcome, Report},
    template,
    tree::{Digest, File, Found, Owner, RelPath, with_line_ends_of},
};

pub fn run(workspace: &Workspace, diff: &Diff, report: &Report) -> Result<u8> {
    let request = Request::of("diff", workspace.project.clone());
    let inputs = Snapshot::of(workspace, &request, Policy::Abort)?.inputs;
    let mut named: BTreeSet<&RelPath> = BTreeSet::new();
    for path in paths_of(&diff.paths)? {
        let is_meant = |file: &&RelPath| **file == path || file.is_below(&path);
        let before = named.len();
        named.extend(inputs.desired.keys().filter(is_meant));
        if named.len() == before && !inputs.desired.contains_key(&path) {
            return Err(unknown(
                "diff",
                &path,
                &template::owners(&workspace.project)?,
            ));
        }
    }
    let mut set = ChangeSet::default();
    for (path, file) in &inputs.desired {
        let is_meant = match named.is_empty() {
            true => file.owner != Owner::User && inputs.last(path).is_some(),
            false => named.contains(path),
        };
        if !is_meant {
            continue;
        }
        let disk = match inputs.found(path) {
            Found::File(bytes) => Some(bytes),
            Found::Obstacle(what) if !named.is_empty() => {
                return Err(Failure::refused(format!("cannot compare `{path}`: {what}"))
                    .advise(Script::forge("status")));
            }
            Found::Obstacle(_) => continue,
            Found::Absent => None,
        };
        set.changes.extend(change(path, file, disk));
    }
    report.differences(&Outcome {
        command: request.command,
        set: &set,
        remarks: &[],
        left: &[],
        next: &[],
    });
    Ok(0)
}

/// The user's edit of a generated file; `None` if only the layout differs.
fn change(path: &RelPath, file: &File, disk: Option<&Vec<u8>>) -> Option<Change> {
    if disk.is_some_and(|bytes| Digest::of(path, bytes) == file.digest(path)) {
        return None;
    }
    let generated = match disk {
        Some(bytes) => with_line_ends_of(bytes, file.content.clone()),
        None => file.content.clone(),
    };
    Some(Change {
        path: path.clone(),
        action: disk.map_or(Action::Delete, |_| Action::Edit),
        owner: Some(file.owner),
        before: Some(generated.into_owned()),
        after: disk.map(|bytes| bytes.clone().into()),
    })
}
