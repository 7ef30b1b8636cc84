//! From a request to the disk, for every command alike: read, render, plan, ask, apply, report.

mod attributes;
mod conflicts;
pub mod derived;
pub mod drift;
pub mod file_of;
mod left;
mod request;
mod snapshot;
mod workspace;

use std::collections::BTreeMap;

use self::left::Left;
pub use self::{
    request::{Explain, Request, Sync},
    snapshot::Snapshot,
    workspace::Workspace,
};
use crate::{
    advice::Advice,
    apply::{self, Transaction},
    change::{ChangeSet, Policy},
    cli::{Global, OnConflict},
    error::{Failure, Result},
    project::Project,
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
    let mut snapshot = Snapshot::with(workspace, &request.project, &request.named)?;
    // A change that another process made since `PROJECT` was read must not count as the user's edit.
    transaction.iter().try_for_each(Transaction::check_alone)?;
    workspace.refuse_if_moved(&snapshot.found)?;
    report.at("Comparing", format!("{} files", snapshot.found.len()));
    let lost = snapshot.settle_lost(request.sync.is_some(), flags.policy());
    let lost = lost.map_err(|failure| failure.note("nothing was written"))?;
    let may_ask = !(flags.no_input || flags.dry_run || report.is_json());
    let prompt = Prompt::new(report, may_ask);
    let set = plan(&snapshot, request, flags, prompt, report)?;
    conflicts::refuse(&set).map_err(|failure| match request.explain {
        Some(explain) => explain(failure, &set, &workspace.adopted),
        None => failure,
    })?;
    let left = Left::of(workspace, request, &snapshot, &set, lost)?;
    let outcome = Outcome {
        command: request.command,
        set: &set,
        remarks: &left.remarks,
        next: &left.next,
    };
    let question = request.question.as_ref();
    let question = question.filter(|_| prompt.is_allowed());
    if let Some((question, refusal)) = question {
        report.proposal(&outcome);
        if !prompt.yes("--no-input", question, None, false)? {
            return Err(refusal.clone());
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
        // The diffs were shown with the question.
        Some(_) => report.done(&outcome),
    }
    Ok(if left.is_done { 0 } else { 3 })
}

/// Plans, and plans again with the answers where a person can be asked about conflicts.
fn plan(
    snapshot: &Snapshot<'_>,
    request: &Request,
    flags: &Global,
    prompt: Prompt<'_>,
    report: &Report,
) -> Result<ChangeSet> {
    let plan = |answers: &BTreeMap<RelPath, Policy>| {
        snapshot.plan(flags.policy(), answers, &request.forced)
    };
    let set = plan(&BTreeMap::new())?;
    if !prompt.is_allowed() || flags.on_conflict.is_some() || set.conflicts.is_empty() {
        return Ok(set);
    }
    let answers = conflicts::ask(&set.conflicts, |conflict, rest| {
        let change = conflicts::change(conflict, &snapshot.desired, &snapshot.found);
        report.diff(&change);
        prompt.conflict(conflict.path.as_str(), &conflict.why.reason(), rest)
    })?;
    plan(&answers)
}

/// How much there is to render, in words.
pub fn entries(project: &Project) -> String {
    format!("{} entries of `PROJECT`", project.resources().count())
}

/// Refuses to keep the files that the command line says to overwrite, in `words`.
pub fn refuse_keep(flags: &Global, words: &str) -> Result<()> {
    if flags.on_conflict != Some(OnConflict::Keep) {
        return Ok(());
    }
    Err(
        Failure::usage(format!("`--on-conflict keep` beside `{words}`"))
            .note("one keeps the files that are there, the other writes them anew")
            .advise(Advice::drop("--on-conflict")),
    )
}
