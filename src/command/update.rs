//! `update`: moves a project to the template set of this binary. No other command does.

use crate::{
    advice::{Advice, NextStep, Script},
    change::ChangeSet,
    cli::{Global, Update},
    engine::{Request, Workspace, entries, next, reconcile},
    error::{Failure, Result},
    git,
    memory::{self, Memory},
    project::FILE,
    reconcile::LastApplied,
    report::{Outcome, Report},
    template,
    tree::{self, Found, Owner, RelPath, Tree},
};

/// The refusal of uncommitted files names at most this many.
const NAMED: usize = 5;

pub fn run(flags: &Global, update: &Update, report: &Report) -> Result<u8> {
    let workspace = Workspace::open_older(&flags.directory)?;
    let (from, to) = (workspace.project.settings.templates, template::SET);
    if from == to {
        report.outcome(&Outcome {
            command: "update",
            set: &ChangeSet::default(),
            remarks: &[format!(
                "template set {to} is the newest that this operator-forge has"
            )],
            left: &[],
            next: &[],
        });
        return Ok(0);
    }
    let memory = workspace.memory()?;
    if !update.allow_dirty && !flags.dry_run {
        report.at("Asking", "git what is not committed".to_owned());
        refuse_dirty(&workspace, &memory)?;
    }
    let project = workspace.project.with_newest_templates();
    report.at("Rendering", entries(&project));
    let desired = template::tree(&project)?;
    let mut request = Request::of("update", project);
    for (path, file) in &desired {
        // A new template for a file that `make manifests` has written does not replace it.
        let is_new = file.owner == Owner::User && !file.named && !memory.rows.contains_key(path);
        if is_new && matches!(tree::find(&workspace.root, path)?, Found::File(_)) {
            let row = LastApplied::of_file(path, file);
            request.adopted.insert(path.clone(), row);
        }
    }
    let changes = template::sets::changes(from, to).into_iter();
    request.remarks = vec![format!("from template set {from} to {to}")];
    let remarks = changes.map(|(set, entry)| format!("set {set}: {entry}"));
    request.remarks.extend(remarks);
    if dependencies_changed(&memory, &desired) {
        request.next.push(NextStep::new(
            "update Cargo.lock:",
            Script::of("cargo update -w"),
        ));
    }
    request.next.push(next::manifests());
    reconcile(&workspace, &request, flags, report)
}

/// Refuses files of the project that are not committed, because git is the way to revert an unwanted update.
fn refuse_dirty(workspace: &Workspace, memory: &Memory) -> Result<()> {
    let allow = || Advice::switch("--allow-dirty");
    let mut paths: Vec<RelPath> = memory.rows.keys().cloned().collect();
    for path in [FILE, memory::LOCK, memory::APPLIED_PROJECT] {
        paths.push(path.parse()?);
    }
    let dirty = git::uncommitted(&workspace.root, &paths).map_err(|why| {
        Failure::refused("cannot tell whether the project is committed")
            .note(why.to_string())
            .advise(allow())
    })?;
    if dirty.is_empty() {
        return Ok(());
    }
    let mut failure = Failure::refused(match dirty.len() {
        1 => "a file has changes that are not committed".to_owned(),
        n => format!("{n} files have changes that are not committed"),
    });
    for path in dirty.iter().take(NAMED) {
        failure = failure.note(format!("`{path}`"));
    }
    if dirty.len() > NAMED {
        failure = failure.note(format!("and {} more", dirty.len() - NAMED));
    }
    Err(failure
        .note("an update is easy to review and to revert if everything else is committed")
        .advise(Script::of("git add -A && git commit").then(Script::forge("update")))
        .advise(allow()))
}

/// Whether a manifest has other dependencies than the last applied one.
fn dependencies_changed(memory: &Memory, desired: &Tree) -> bool {
    desired.iter().any(|(path, file)| {
        let row = memory.rows.get(path);
        path.as_str().ends_with("Cargo.toml")
            && row.is_some_and(|row| !row.any_of.contains(&file.digest(path)))
    })
}
