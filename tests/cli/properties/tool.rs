//! Runs the tool: in this process, or as users do.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use clap::Parser;
use operator_forge::{
    cli::{self, Cli},
    command,
    report::Report,
};
use serde_json::{Value, json};

/// Where commands run.
#[derive(Clone, Copy, Debug)]
pub enum Tool {
    /// In this process, on a directory that only one thread uses.
    Here,
    /// In a process of their own.
    Process,
}

/// What a command printed and how it ended.
pub struct Ended {
    pub code: i32,
    pub json: Value,
}

impl Ended {
    /// The paths of the changes with this action; of all without one.
    pub fn changed(&self, action: Option<&str>) -> impl Iterator<Item = &str> {
        let changes = self.json["changes"].as_array().into_iter().flatten();
        changes
            .filter(move |change| action.is_none_or(|action| change["action"] == action))
            .flat_map(|change| [&change["path"], &change["from"]])
            .filter_map(|path| path.as_str())
    }

    pub fn changes_nothing(&self) -> bool {
        self.json["changes"] == json!([])
    }
}

impl Tool {
    /// Whatever it is asked, the tool ends with one of its own codes and prints one JSON object.
    pub fn run(self, directory: &Path, words: &[String], more: &[&str]) -> Ended {
        let words = words.iter().map(String::as_str).chain(more.iter().copied());
        let words = words.chain(["--output=json", "--no-input"]);
        let (code, output, error) = match self {
            Self::Here => here(directory, words),
            Self::Process => process(directory, words),
        };
        assert!((0..=3).contains(&code), "exit code {code}\n{error}");
        assert_eq!(error, "", "beside JSON");
        let json = serde_json::from_str(&output).unwrap_or_else(|why| panic!("{why}\n{output}"));
        Ended { code, json }
    }
}

/// What `main` does, without the terminal.
fn here<'a>(directory: &'a Path, words: impl Iterator<Item = &'a str>) -> (i32, String, String) {
    let directory = directory.to_str().expect("UTF-8");
    let words: Vec<String> = ["-C", directory]
        .into_iter()
        .chain(words)
        .map(str::to_owned)
        .collect();
    let program = "operator-forge".to_owned();
    let cli = match Cli::try_parse_from([&program].into_iter().chain(&words)) {
        Ok(cli) => cli,
        Err(error) => {
            let failure = cli::refusal(&error, &words).expect("nobody asks for help");
            let json = json!({ "error": { "help": vec!["advice"; failure.advice.len()], "message": failure.what } });
            return (failure.exit_code().into(), json.to_string(), String::new());
        }
    };
    let mut report = Report::collecting(&cli.global, &words);
    let code = command::run(&cli, &mut report).unwrap_or_else(|failure| {
        report.failure(&failure);
        failure.exit_code()
    });
    let told = report.captured();
    (code.into(), told.output, told.error)
}

fn process<'a>(directory: &Path, words: impl Iterator<Item = &'a str>) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_operator-forge"))
        .args(words)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .expect("the tool runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    (code, text(&output.stdout), text(&output.stderr))
}
