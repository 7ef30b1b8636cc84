//! What a command leaves to a person: remarks, next steps, and the exit code that follows.

use super::{drift::drifts, request::Request, snapshot::Snapshot, workspace::Workspace};
use crate::{
    advice::{NextStep, Script},
    branches,
    change::{ChangeSet, NoteKind},
    error::Result,
    project::FILE,
    tree::RelPath,
};

/// What a command leaves to a person.
pub struct Left {
    /// Sentences that ask for nothing.
    pub remarks: Vec<String>,
    /// What to do next.
    pub next: Vec<NextStep>,
    /// Whether nothing is left.
    pub is_done: bool,
}

impl Left {
    /// Collects what a plan leaves; `lost` is the remark about lost files.
    pub fn of(
        workspace: &Workspace,
        request: &Request,
        snapshot: &Snapshot<'_>,
        set: &ChangeSet,
        lost: Option<String>,
    ) -> Result<Self> {
        let mut remarks = request.remarks.clone();
        remarks.extend(lost);
        let mut next: Vec<NextStep> = Vec::new();
        // Nothing follows from nothing, but git and the user's own types wait all the same.
        if set.visible().next().is_some() {
            next.clone_from(&request.next);
        }
        match &request.sync {
            Some(sync) if sync.merged => next.push(resolved(workspace, snapshot, set)?),
            _ => {
                let notes = set.notes.iter();
                let marked = notes.filter(|note| note.what == NoteKind::Markers);
                let marked: Vec<&str> = marked.map(|note| note.path.as_str()).collect();
                if !marked.is_empty() {
                    next = vec![NextStep::new(
                        "choose between the sides of each conflict, and see that nothing is left:",
                        Script::edit(marked).then(Script::forge("sync")),
                    )];
                }
            }
        }
        let mut is_done = set.notes.is_empty();
        if request.sync.is_none() {
            if let Some(script) = snapshot.lost.advice.first() {
                next.push(NextStep::new(
                    "put back what is still lost:",
                    script.clone(),
                ));
                is_done = false;
            }
        } else {
            remarks.extend(snapshot.lacking(set));
            for drift in drifts(snapshot)? {
                remarks.push(drift.note());
                let step = NextStep::new("make the type say what `PROJECT` says:", drift.help());
                if !next.contains(&step) {
                    next.push(step);
                }
                is_done = false;
            }
        }
        Ok(Self {
            remarks,
            next,
            is_done,
        })
    }
}

/// The step that marks the merge as resolved in git: not before the last file is resolved, because git would commit it.
fn resolved(workspace: &Workspace, snapshot: &Snapshot<'_>, set: &ChangeSet) -> Result<NextStep> {
    // git may have more to merge than the files of the project.
    let is_other = |path: &RelPath| path.as_str() != FILE && !snapshot.found.contains_key(path);
    let mut open = branches::open(&workspace.git, &workspace.root, is_other)?;
    let is_open = |what| matches!(what, NoteKind::Markers | NoteKind::Unmerged);
    let notes = set.notes.iter().filter(|note| is_open(note.what));
    open.extend(notes.map(|note| note.path.clone()));
    if open.is_empty() {
        let add = Script::of("git add --all .");
        return Ok(NextStep::new("tell git that the merge is settled:", add));
    }
    let open: Vec<String> = open.iter().map(|path| format!("`{path}`")).collect();
    Ok(NextStep::by_hand(format!(
        "settle {}, and then tell git: `git add --all .`",
        open.join(", ")
    )))
}
