//! `update`: the one command that moves a project to the template set of this binary.

use crate::{
    advice::{Advice, NextStep, Script},
    change::ChangeSet,
    cli::{Global, Update},
    engine::{Request, Workspace, entries, reconcile},
    error::{Failure, Result},
    git,
    memory::{self, Memory},
    project::FILE,
    reconcile::Last,
    report::{Outcome, Report},
    template,
    tree::{self, Found, Owner, RelPath, Tree},
};

/// More files than this are not named one by one when they are in the way.
const NAMED: usize = 5;

pub fn run(flags: &Global, update: &Update, report: &Report) -> Result<u8> {
    let (mut workspace, before) = Workspace::open_older(&flags.directory)?;
    let (from, to) = (before.settings.templates, template::SET);
    if from == to {
        report.outcome(&Outcome {
            command: "update",
            set: &ChangeSet::default(),
            remarks: &[format!(
                "template set {to} is the newest that this operator-forge has"
            )],
            next: &[],
        });
        return Ok(0);
    }
    if !update.allow_dirty && !flags.dry_run {
        report.at("Asking", "git what is not committed".to_owned());
        refuse_dirty(&workspace)?;
    }
    let project = before.with_newest_templates();
    report.at("Rendering", entries(&project));
    let (memory, desired) = (workspace.memory()?, template::tree(&project)?);
    for (path, file) in &desired {
        // What a new template starts and the project has already, as `make manifests` wrote it, stays.
        let is_new = file.owner == Owner::User && !file.named && !memory.rows.contains_key(path);
        if is_new && matches!(tree::find(&workspace.root, path)?, Found::File(_)) {
            let row = Last {
                owner: Owner::User,
                any_of: vec![file.digest(path)],
            };
            workspace.adopted.insert(path.clone(), row);
        }
    }
    let mut remarks = vec![format!("from template set {from} to {to}")];
    let changes = template::sets::changes(from, to).into_iter();
    remarks.extend(changes.map(|(set, entry)| format!("set {set}: {entry}")));
    let mut next = Vec::new();
    let mut step = |what, how| next.push(NextStep::new(what, Script::of(how)));
    if dependencies_changed(&memory, &desired) {
        step("lock the dependencies that changed:", "cargo update -w");
    }
    step("derive CRDs and RBAC again:", "make manifests");
    step("see that your own code still builds:", "make test");
    let request = Request {
        remarks,
        next,
        ..Request::of("update", project)
    };
    reconcile(&workspace, &request, flags, report)
}

/// Git is what an update that was not wanted is taken back with, so nothing of the user's may be out of its sight.
fn refuse_dirty(workspace: &Workspace) -> Result<()> {
    let allow = || Advice::switch("--allow-dirty");
    let mut paths: Vec<RelPath> = workspace.memory()?.rows.into_keys().collect();
    for path in [FILE, memory::LOCK, memory::APPLIED_PROJECT] {
        paths.push(RelPath::parse(path)?);
    }
    let dirty = git::uncommitted(&workspace.root, &paths).map_err(|why| {
        Failure::refused("cannot tell whether git has all of the project")
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
        .note("an update is easy to look through and to take back where all else is committed")
        .advise(Script::of("git add -A && git commit").then(Script::forge("update")))
        .advise(allow()))
}

/// Whether a manifest asks for other packages than the one that was applied did.
fn dependencies_changed(memory: &Memory, desired: &Tree) -> bool {
    desired
        .iter()
        .filter(|(path, _)| path.as_str().ends_with("Cargo.toml"))
        .any(|(path, file)| {
            let digest = file.digest(path);
            memory
                .rows
                .get(path)
                .is_some_and(|row| !row.any_of.contains(&digest))
        })
}
