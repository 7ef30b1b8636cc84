//! One small file per command. A command is a pure edit of the project; `reconcile` is what all of them share.

mod adopt;
mod completion;
mod conflicts;
mod create_api;
mod create_webhook;
mod disown;
mod file_of;
mod init;
mod own;
mod restore;
mod sync;
mod type_of;
mod unmerged;
mod version;
mod workspace;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use self::workspace::Workspace;
use crate::{
    apply,
    change::ChangeSet,
    cli::{Cli, Command, Create, Global, OnConflict},
    error::{Failure, Result},
    git, plan,
    project::Project,
    prompt::Prompt,
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
        Command::Own(files) => own::run(&cli.global, files, report),
        Command::Disown(files) => disown::run(&cli.global, files, report),
        Command::Restore(files) => restore::run(&cli.global, files, report),
        Command::Sync => sync::run(&cli.global, report),
        Command::Version => version::run(report),
        Command::Completion { shell } => completion::run(*shell, report),
    }
}

/// Makes the tree what the edited project says, or shows what that would take.
fn reconcile(workspace: &Workspace, edit: &Edit, flags: &Global, report: &Report) -> Result<u8> {
    reconcile_with(workspace, edit, flags, report, |failure, _| failure)
}

/// The same, with more to say where files are in the way.
fn reconcile_with(
    workspace: &Workspace,
    edit: &Edit,
    flags: &Global,
    report: &Report,
    explain: impl FnOnce(Failure, &ChangeSet) -> Failure,
) -> Result<u8> {
    let desired = template::tree(&edit.project)?;
    let memory = workspace.memory()?;
    let found = tree::find_all(&workspace.root, plan::paths(&memory, &desired)?)?;
    let unmerged = git::unmerged(&workspace.root, |path| found.contains_key(path));
    let nothing = BTreeMap::new();
    let mut inputs = plan::Inputs {
        memory: &memory,
        desired: &desired,
        found: &found,
        templates: template::SET,
        project: &edit.project.write(),
        unmerged: &unmerged,
        policy: flags.on_conflict.into(),
        decided: &nothing,
        forced: &edit.forced,
        owned: &edit.project.settings.owned,
    };
    let mut set = plan::plan(&inputs)?;
    let may_ask = !(flags.no_input || flags.dry_run || report.is_json());
    let prompt = Prompt::new(may_ask && flags.on_conflict == OnConflict::Abort);
    let decided;
    if prompt.is_allowed() && !set.conflicts.is_empty() {
        decided = conflicts::ask(&set.conflicts, |conflict, rest| {
            report.diff(&conflicts::change(&conflict.path, &desired, &found));
            prompt.conflict(conflict.path.as_str(), &conflict.why.reason(), rest)
        })?;
        inputs.decided = &decided;
        set = plan::plan(&inputs)?;
    }
    conflicts::refuse(&set).map_err(|failure| explain(failure, &set))?;
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
