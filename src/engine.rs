//! From a request to the disk, for every command alike: read, render, plan, ask, apply, report.

pub mod around;
mod conflicts;
pub mod conversions;
pub mod crd_files;
pub mod derived;
pub mod drift;
pub mod file_of;
pub mod next;
mod request;
mod snapshot;
mod workspace;

pub use self::{
    request::Request,
    snapshot::Snapshot,
    workspace::{Workspace, refuse_existing},
};
use crate::{
    advice::{Advice, NextStep, Script},
    apply::{self, Transaction},
    branches,
    change::{ChangeSet, NoteKind},
    cli::Global,
    error::{Failure, Result},
    project::{FILE, Project},
    prompt::Prompt,
    report::{Outcome, Report},
    tree::RelPath,
};

/// Applies a request to the files, or shows in a dry run what that would do. Returns the exit code.
pub fn reconcile(
    workspace: &Workspace,
    request: &Request,
    flags: &Global,
    report: &Report,
) -> Result<u8> {
    let disk = apply::Real::new(&workspace.root);
    let transaction = match flags.dry_run {
        true => None,
        false => Some(Transaction::begin(&disk, request.command)?),
    };
    report.at("Rendering", entries(&request.project));
    let mut snapshot = Snapshot::of(workspace, request, flags.policy())?;
    // A change that another process made since `PROJECT` was read must not count as the user's edit.
    transaction.iter().try_for_each(Transaction::check_alone)?;
    workspace.refuse_if_moved(&snapshot.inputs.found)?;
    let files = snapshot.inputs.found.len();
    report.at("Comparing", format!("{files} files"));
    let lost = snapshot.resolve_lost();
    let lost = lost.map_err(|failure| failure.note("nothing was written"))?;
    let prompt = Prompt::new(report, !(flags.no_input || flags.dry_run));
    let set = plan(&mut snapshot, flags, prompt, report)?;
    conflicts::refuse(&set).map_err(|failure| match request.explain {
        Some(explain) => explain(failure, request, &set),
        None => failure,
    })?;
    let (drift_remarks, drift_steps) = drift::steps(&snapshot, &set)?;
    let remarks = [
        request.remarks.clone(),
        lost.iter().cloned().collect(),
        drift_remarks.clone(),
    ]
    .concat();
    let unresolved = match request.is_sync {
        true => None,
        false => snapshot.lost.advice.first(),
    };
    let mut left = request.left.clone();
    if unresolved.is_some() {
        left.extend(lost.clone());
    }
    if !drift_steps.is_empty() {
        left.extend(drift_remarks.clone());
    }
    let is_done =
        set.notes.is_empty() && drift_steps.is_empty() && unresolved.is_none() && left.is_empty();
    let mut next = next_steps(workspace, &snapshot, &set)?;
    next.extend(unresolved.map(|script| NextStep::new("restore the lost entry:", script.clone())));
    next.extend(drift_steps);
    let outcome = Outcome {
        command: request.command,
        set: &set,
        remarks: &remarks,
        left: &left,
        next: &next,
    };
    let question = request.question.filter(|_| prompt.is_allowed());
    if let Some(question) = question {
        report.proposal(&outcome);
        if !prompt.yes("--no-input", question, None, false)? {
            return Err(Failure::refused("nothing was written")
                .note("with `--no-input`, the command does not ask")
                .advise(Advice::switch("--no-input")));
        }
    }
    let mut steps = apply::Step::of(&set);
    apply::carry_modes(&disk, &mut steps, &set.moved)?;
    report.at("Writing", format!("{} files", steps.len()));
    match transaction {
        Some(mut transaction) => apply::apply(&mut transaction, steps)?,
        None => apply::check(&disk, &mut steps)?,
    }
    match question {
        None => report.outcome(&outcome),
        // The question showed the diffs.
        Some(_) => report.done(&outcome),
    }
    Ok(if is_done { 0 } else { 3 })
}

/// Plans, asks about conflicts on a terminal, and plans again with the answers.
fn plan(
    snapshot: &mut Snapshot<'_>,
    flags: &Global,
    prompt: Prompt<'_>,
    report: &Report,
) -> Result<ChangeSet> {
    let set = snapshot.plan()?;
    if !prompt.is_allowed() || flags.on_conflict.is_some() || set.conflicts.is_empty() {
        return Ok(set);
    }
    snapshot.inputs.answers = conflicts::ask(&set.conflicts, |conflict, rest| {
        report.diff(&conflicts::change(conflict, &snapshot.inputs));
        prompt.conflict(conflict.path.as_str(), &conflict.why.reason(), rest)
    })?;
    snapshot.plan()
}

/// The next steps after a command: those of a merge or of conflict markers, else those of the request.
fn next_steps(
    workspace: &Workspace,
    snapshot: &Snapshot<'_>,
    set: &ChangeSet,
) -> Result<Vec<NextStep>> {
    let with_note = |kinds: &[NoteKind]| -> Vec<RelPath> {
        let notes = set.notes.iter().filter(|note| kinds.contains(&note.what));
        notes.map(|note| note.path.clone()).collect()
    };
    let mut next = match set.visible().next() {
        Some(_) => snapshot.request.next.clone(),
        None => Vec::new(),
    };
    if workspace.merge.is_some() {
        // git may have more to merge than the files of the project. It would commit what is staged unresolved.
        let is_other =
            |path: &RelPath| path.as_str() != FILE && !snapshot.inputs.found.contains_key(path);
        let mut open = branches::open(&workspace.git, &workspace.root, is_other)?;
        open.extend(with_note(&[NoteKind::Markers, NoteKind::Unmerged]));
        let open: Vec<String> = open.iter().map(|path| format!("`{path}`")).collect();
        next.push(match open.is_empty() {
            true => NextStep::new("mark the merge as resolved:", Script::of("git add --all .")),
            false => NextStep::by_hand(format!(
                "resolve {}, then mark the merge as resolved: `git add --all .`",
                open.join(", ")
            )),
        });
        return Ok(next);
    }
    let marked = with_note(&[NoteKind::Markers]);
    if !marked.is_empty() {
        let edit = Script::edit(marked.iter().map(RelPath::as_str));
        let resolve = "resolve the conflicts, and see that nothing is left:";
        next = vec![NextStep::new(resolve, edit.then(Script::forge("sync")))];
    }
    Ok(next)
}

/// The size of a project, in words.
pub fn entries(project: &Project) -> String {
    format!("{} entries of `PROJECT`", project.resources().count())
}
