//! One small file per command. A command is a pure edit of the project; what happens to the files is up to `engine`.

mod adopt;
mod around;
mod check;
mod completion;
mod create_api;
mod create_version;
mod create_webhook;
mod delete;
mod delete_api;
mod delete_webhook;
mod diff;
mod disown;
mod edit;
mod edit_api;
mod external;
mod init;
mod man_pages;
mod own;
mod rename;
mod restore;
mod runtime;
mod status;
mod sync;
mod type_of;
mod undo;
mod update;
mod version;

use std::{
    thread,
    time::{Duration, Instant},
};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

pub use self::around::enter;
use crate::{
    apply,
    cli::{Cli, Command, Create, Delete, EditWhat},
    error::{FailureKind, Result},
    report::Report,
    syntax,
};

/// The threads that a command runs on: one a core, eight at most, each with a stack that no accepted text overflows.
///
/// Errors: the system gives none.
pub fn threads() -> std::result::Result<ThreadPool, ThreadPoolBuildError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    ThreadPoolBuilder::new()
        .num_threads(cores.min(8))
        .stack_size(syntax::STACK)
        .build()
}

/// How long a command waits for others that are at work in its project. Each takes milliseconds, unless it asks a question.
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
    let left = settle(cli, report)?;
    dispatch(cli, report).map(|code| code.max(left))
}

/// Finishes what a killed command began, before anything is read; a command that writes nothing refuses to start from it.
/// Returns the exit code that follows from it.
fn settle(cli: &Cli, report: &mut Report) -> Result<u8> {
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

fn dispatch(cli: &Cli, report: &Report) -> Result<u8> {
    match &cli.command {
        Command::Init(flags) => init::run(&cli.global, flags, report),
        Command::Create(Create::Api(flags)) => create_api::run(&cli.global, flags, report),
        Command::Create(Create::Webhook(flags)) => create_webhook::run(&cli.global, flags, report),
        Command::Delete(Delete::Api(flags)) => delete_api::run(&cli.global, flags, report),
        Command::Delete(Delete::Webhook(flags)) => delete_webhook::run(&cli.global, flags, report),
        Command::Own(files) => own::run(&cli.global, files, report),
        Command::Disown(files) => disown::run(&cli.global, files, report),
        Command::Restore(files) => restore::run(&cli.global, files, report),
        Command::Edit(flags) => match &flags.what {
            Some(EditWhat::Api(flags)) => edit_api::run(&cli.global, flags, report),
            None => edit::run(&cli.global, flags, report),
        },
        Command::Rename(flags) => rename::run(&cli.global, flags, report),
        Command::Sync => sync::run(&cli.global, report),
        Command::Undo => undo::run(&cli.global, report),
        Command::Check(flags) => check::run(&cli.global, flags, report),
        Command::Diff(flags) => diff::run(&cli.global, flags, report),
        Command::Status(flags) => status::run(&cli.global, flags, report),
        Command::Update(flags) => update::run(&cli.global, flags, report),
        Command::Version => version::run(report),
        Command::Completion { shell } => completion::run(*shell, report),
        Command::ManPages { dir } => man_pages::run(&cli.global, dir),
    }
}
