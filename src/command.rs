//! One small file per command. A command is a pure edit of the project; `engine` applies it to the files.

mod check;
pub mod checklist;
mod copy;
mod create_ansible;
mod create_api;
mod create_chart;
mod create_version;
mod create_webhook;
mod delete;
mod diff;
mod edit;
mod edit_api;
mod files;
mod former_project;
mod import_api;
mod init;
pub mod port;
mod program;
mod rename;
mod status;
mod sync;
mod takeover;
mod undo;
mod update;

use std::{
    thread,
    time::{Duration, Instant},
};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::{
    advice::Advice,
    apply,
    change::Policy,
    cli::{Cli, Command, Create, Delete, EditWhat},
    engine::{Workspace, reconcile},
    error::{Failure, FailureKind, Result},
    prompt::Prompt,
    report::Report,
    syntax,
};

/// The threads that a command runs on: one a core, eight at most, each with a stack for the most deeply nested text that is
/// accepted.
///
/// Errors: the system has no memory for them.
pub fn threads() -> std::result::Result<ThreadPool, ThreadPoolBuildError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    ThreadPoolBuilder::new()
        .num_threads(cores.min(8))
        .stack_size(syntax::STACK)
        .build()
}

/// The time for which a command waits for others in its project. Each takes milliseconds, unless it asks a question.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the command line and returns the exit code: 0 done, 3 done but something is left for a human.
pub fn run(cli: &Cli, report: &mut Report) -> Result<u8> {
    let start = Instant::now();
    loop {
        match run_once(cli, report) {
            Err(failure) if failure.kind == FailureKind::Busy && start.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(10));
            }
            ended => return ended,
        }
    }
}

fn run_once(cli: &Cli, report: &mut Report) -> Result<u8> {
    let left = recover(cli, report)?;
    dispatch(cli, report).map(|code| code.max(left))
}

/// Recovers the change set of a killed command, before anything is read; a command that writes nothing refuses instead. Returns
/// the exit code of the recovery.
fn recover(cli: &Cli, report: &mut Report) -> Result<u8> {
    let directory = match &cli.command {
        Command::Version | Command::Completion { .. } | Command::ManPages { .. } => return Ok(0),
        Command::Init(flags) => flags.root(&cli.global),
        _ => cli.global.directory.clone(),
    };
    report.set_project(directory.clone());
    let disk = apply::Real::new(directory);
    let reads = matches!(
        cli.command,
        Command::Check(_) | Command::Diff(_) | Command::Status(_)
    );
    if cli.global.dry_run || reads {
        apply::pending(&disk)?;
        return Ok(0);
    }
    let Some(recovered) = apply::recover(&disk)? else {
        return Ok(0);
    };
    report.add_remarks(recovered.sentences());
    Ok(if recovered.kept.is_empty() { 0 } else { 3 })
}

/// Commands that report on their own return the exit code; the others make a request, which is applied to the files.
fn dispatch(cli: &Cli, report: &Report) -> Result<u8> {
    let global = &cli.global;
    let root = &global.directory;
    let prompt = Prompt::new(report, !global.no_input);
    refuse_keep(cli)?;
    let open = || Workspace::open(root);
    let workspace = match &cli.command {
        Command::Init(flags) => return init::run(global, flags, prompt, report),
        Command::Undo => return undo::run(global, report),
        Command::Update(flags) => return update::run(global, flags, report),
        Command::Check(flags) => return check::run(global, flags, report),
        Command::Diff(flags) => return diff::run(&open()?, flags, report),
        Command::Status(flags) => return status::run(&Workspace::read(root, None)?, flags, report),
        Command::Version => return program::version(report),
        Command::Completion { shell } => return program::completion(*shell, report),
        Command::ManPages { dir } => return program::man_pages(global, dir),
        Command::Sync => Workspace::open_merged(root, global.policy())?,
        _ => open()?,
    };
    let request = match &cli.command {
        Command::Create(Create::Api(flags)) => create_api::run(&workspace, flags, prompt),
        Command::Create(Create::Webhook(flags)) => create_webhook::run(&workspace, flags, prompt),
        Command::Delete(Delete::Api(flags)) => delete::api(&workspace, flags, prompt),
        Command::Delete(Delete::Webhook(flags)) => delete::webhook(&workspace, flags, prompt),
        Command::Own(flags) => files::own(&workspace, flags, prompt),
        Command::Disown(flags) => files::disown(&workspace, flags, prompt),
        Command::Restore(flags) => files::restore(&workspace, flags, prompt),
        Command::Edit(flags) => match &flags.what {
            Some(EditWhat::Api(flags)) => edit_api::run(&workspace, flags, prompt),
            None => edit::run(&workspace, global, flags, prompt),
        },
        Command::Rename(flags) => rename::run(&workspace, flags, prompt),
        _ => Ok(sync::run(&workspace)),
    };
    reconcile(&workspace, &request?, global, report)
}

/// Refuses to keep files that the command line says to overwrite.
fn refuse_keep(cli: &Cli) -> Result<()> {
    let words = match &cli.command {
        // What is copied is merged with `--force`, and nothing of it is overwritten.
        Command::Create(Create::Api(flags))
            if flags.chart.helm_chart.is_some() || flags.ansible.first().is_some() =>
        {
            return Ok(());
        }
        Command::Create(Create::Api(flags)) if flags.force => "--force",
        Command::Create(Create::Webhook(flags)) if flags.force => "--force",
        Command::Disown(_) => "disown",
        _ => return Ok(()),
    };
    if cli.global.on_conflict != Some(Policy::Keep) {
        return Ok(());
    }
    Err(
        Failure::usage(format!("`--on-conflict keep` beside `{words}`"))
            .note("one keeps the existing files, the other overwrites them")
            .advise(Advice::drop("--on-conflict")),
    )
}
