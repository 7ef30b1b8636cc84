//! Parses the command line, runs the command, prints the error, and returns the exit code.

use std::{env, process::ExitCode};

use clap::{CommandFactory, FromArgMatches};
use operator_forge::{
    cli::{self, Cli, Global},
    command,
    engine::around,
    report::Report,
};

fn main() -> ExitCode {
    match command::threads() {
        Ok(threads) => threads.install(run),
        // Without memory for the threads, the command runs on this one.
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    clap_complete::CompleteEnv::with_factory(Cli::command).complete();
    let parsed = cli::command().try_get_matches();
    let mut cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            let words = words();
            let Some(failure) = cli::refusal(&error, &words) else {
                error.exit()
            };
            let report = Report::new(&Global::of_words(&words), &words);
            report.failure(&failure);
            return ExitCode::from(report.exit_code(failure.exit_code()));
        }
    };
    let mut words = words();
    let project = around::enter(&mut cli, &mut words);
    let mut report = Report::new(&cli.global, &words);
    if let Some(project) = project {
        report.entered(&project);
    }
    let code = command::run(&cli, &mut report).unwrap_or_else(|failure| {
        report.failure(&failure);
        failure.exit_code()
    });
    ExitCode::from(report.exit_code(code))
}

/// The arguments of the program.
fn words() -> Vec<String> {
    let words = env::args_os().skip(1);
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}
