//! One small file per command. A command is a pure edit of the project; `reconcile` is what all of them share.

mod completion;
mod create_api;
mod create_version;
mod create_webhook;
mod delete;
mod delete_api;
mod delete_webhook;
mod edit;
mod edit_api;
mod init;
mod rename;
mod sync;
mod type_of;
mod version;
mod workspace;

use std::{collections::BTreeSet, path::Path};

use self::workspace::Workspace;
use crate::{
    apply,
    change::ChangeSet,
    cli::{Cli, Command, Create, Delete, EditWhat, Global},
    error::{Failure, Result},
    plan::{self, Named},
    project::Project,
    report::{Outcome, Report},
    template,
    tree::{self, RelPath},
};

/// What a command wants, before anything is compared with the disk.
struct Edit {
    command: &'static str,
    project: Project,
    /// Paths that `--force` named.
    forced: BTreeSet<RelPath>,
    /// Remarks about flags and surroundings.
    remarks: Vec<String>,
    /// What to do next: a sentence and perhaps a line to paste.
    next: Vec<(String, Option<String>)>,
}

/// Runs the command line and returns the exit code: 0 done, 3 done but something is left for a human.
pub fn run(cli: &Cli, report: &Report) -> Result<u8> {
    match &cli.command {
        Command::Init(flags) => init::run(&cli.global, flags, report),
        Command::Create(Create::Api(flags)) => create_api::run(&cli.global, flags, report),
        Command::Create(Create::Webhook(flags)) => create_webhook::run(&cli.global, flags, report),
        Command::Delete(Delete::Api(flags)) => delete_api::run(&cli.global, flags, report),
        Command::Delete(Delete::Webhook(flags)) => delete_webhook::run(&cli.global, flags, report),
        Command::Edit(flags) => match &flags.what {
            Some(EditWhat::Api(flags)) => edit_api::run(&cli.global, flags, report),
            None => edit::run(&cli.global, flags, report),
        },
        Command::Rename(flags) => rename::run(&cli.global, flags, report),
        Command::Sync => sync::run(&cli.global, report),
        Command::Version => version::run(report),
        Command::Completion { shell } => completion::run(*shell, report),
    }
}

/// Makes the tree what the edited project says, or shows what that would take.
fn reconcile(workspace: &Workspace, edit: &Edit, flags: &Global, report: &Report) -> Result<u8> {
    reconcile_named(workspace, edit, &Named::default(), flags, report)
}

/// The same, where the command also names files of the user.
fn reconcile_named(
    workspace: &Workspace,
    edit: &Edit,
    named: &Named,
    flags: &Global,
    report: &Report,
) -> Result<u8> {
    let desired = template::tree(&edit.project)?;
    let memory = workspace.memory()?;
    let mut paths = plan::paths(&memory, &desired)?;
    paths.extend(named.rewritten.keys().cloned());
    let found = tree::find_all(&workspace.root, paths)?;
    let inputs = plan::Inputs {
        memory: &memory,
        desired: &desired,
        found: &found,
        templates: template::SET,
        project: &edit.project.write(),
        policy: flags.on_conflict.into(),
        forced: &edit.forced,
    };
    let set = plan::plan_named(&inputs, named)?;
    refuse_conflicts(&set)?;
    if !flags.dry_run {
        apply::apply(&workspace.root, &set)?;
    }
    report.outcome(&Outcome {
        command: edit.command,
        set: &set,
        remarks: &edit.remarks,
        next: &edit.next,
    });
    Ok(if set.notes.is_empty() { 0 } else { 3 })
}

/// One refusal that names every file in the way.
fn refuse_conflicts(set: &ChangeSet) -> Result<()> {
    let files = match set.conflicts.len() {
        0 => return Ok(()),
        1 => "a file is in the way".to_owned(),
        n => format!("{n} files are in the way"),
    };
    let failure = set
        .conflicts
        .iter()
        .fold(Failure::refused(files), |failure, conflict| {
            failure.note(format!("`{}` {}", conflict.path, conflict.why.reason()))
        });
    Err(failure.note("nothing was written").help(if set.conflicts.iter().all(|c| c.why.can_be_settled()) {
        "keep such files as they are with `--on-conflict keep`, or replace them with `--on-conflict take`"
    } else {
        "move what is in the way elsewhere, then run the command again"
    }))
}

/// `directory` as something to paste into a shell.
fn shell_word(directory: &Path) -> String {
    let text = directory.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
