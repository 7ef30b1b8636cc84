//! The pages that follow from the program: its commands from clap, its errors from the recorded sessions, and the commands of
//! `docs/` that no test runs.
//! `BLESS=1` writes them.

use crate::docs::pages;
use crate::page::Page;
use crate::session;

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt::Write,
    fs,
};

use clap::{Arg, Command, CommandFactory};
use operator_forge::cli::Cli;
use session::{bless, consoles, parse};

/// The page at `path` is `text`.
#[track_caller]
fn check(path: &str, text: &str) {
    let page = session::repository().join(path);
    if bless() {
        fs::write(&page, text).unwrap();
    }
    let found = fs::read_to_string(&page).unwrap_or_default();
    let is_same = found == text;
    let patch = diffy::create_patch(&found, text);
    assert!(
        is_same,
        "{path} is out of date (BLESS=1 writes it)\n{patch}"
    );
}

/// A text of clap in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
        .replace('<', "&lt;")
        .replace('\n', " ")
}

/// A flag, or an argument, as in the usage.
fn name_of(argument: &Arg) -> String {
    let values = argument.get_value_names().unwrap_or_default();
    let mut value: Vec<String> = values.iter().map(|name| format!("<{name}>")).collect();
    if !argument.get_action().takes_values() {
        value.clear();
    }
    let value = value.join(" ");
    let Some(long) = argument.get_long() else {
        return format!("`{value}`");
    };
    let short = argument.get_short().map(|short| format!("`-{short}`, "));
    let value = match value.is_empty() {
        true => value,
        false if argument.is_require_equals_set() => format!("[={value}]"),
        false => format!(" {value}"),
    };
    format!("{}`--{long}{value}`", short.unwrap_or_default())
}

fn about(argument: &Arg) -> String {
    let text = argument.get_long_help().or(argument.get_help());
    let mut text = text.map(|text| cell(&text.to_string())).unwrap_or_default();
    let mut values = argument.get_possible_values();
    values.retain(|value| !["true", "false"].contains(&value.get_name()));
    if argument.get_action().takes_values() && !values.is_empty() {
        let values: Vec<String> = values
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        let _ = write!(text, ": {}", values.join(", "));
    }
    let default: Vec<String> = argument
        .get_default_values()
        .iter()
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    if argument.get_action().takes_values() && !default.is_empty() {
        let _ = write!(text, " (default: {})", default.join(", "));
    }
    text
}

fn table(page: &mut String, title: &str, arguments: &[&Arg]) {
    if arguments.is_empty() {
        return;
    }
    let _ = writeln!(page, "| {title} | |\n|---|---|");
    for argument in arguments {
        let _ = writeln!(page, "| {} | {} |", name_of(argument), about(argument));
    }
    page.push('\n');
}

/// The chapters of a command and of those that it holds.
fn chapters(page: &mut String, command: &Command, path: &str) {
    let is_shown = |argument: &&Arg| !argument.is_hide_set() && argument.get_id() != "help";
    let is_own = |argument: &&Arg| is_shown(argument) && !argument.is_global_set();
    for inner in command.get_subcommands() {
        if inner.is_hide_set() || inner.get_name() == "help" {
            continue;
        }
        let path = format!("{path} {}", inner.get_name());
        if inner.has_subcommands() {
            chapters(page, inner, &path);
            continue;
        }
        let about = inner.get_long_about().or(inner.get_about());
        let about = about.map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(page, "## `{path}`\n\n{}.\n", about.trim_end_matches('.'));
        let (flags, others): (Vec<&Arg>, Vec<&Arg>) = inner
            .get_arguments()
            .filter(is_own)
            .partition(|argument| argument.get_long().is_some());
        table(page, "argument", &others);
        table(page, "flag", &flags);
        if let Some(examples) = inner.get_after_help() {
            let text = examples.to_string();
            let lines = text.trim_start_matches("Examples:\n").lines();
            let lines: Vec<&str> = lines
                .map(|line| line.strip_prefix("  ").unwrap_or(line))
                .collect();
            let _ = writeln!(page, "```text\n{}\n```\n", lines.join("\n").trim_end());
        }
    }
}

#[test]
fn commands() {
    let mut command = Cli::command();
    command.build();
    let mut page = "# Commands\n\nWhat `operator-forge help COMMAND` says, on one page. It is written from the program.\n\n\
         ## Flags of every command\n\n"
        .to_owned();
    let global: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| argument.is_global_set() && argument.get_id() != "help")
        .collect();
    table(&mut page, "flag", &global);
    chapters(&mut page, &command, "operator-forge");
    check(
        "docs/reference/commands.md",
        &(page.trim_end().to_owned() + "\n"),
    );
}

/// What the marks of a block mean.
const NEEDS: [(&str, &str); 3] = [
    ("cluster", "a cluster"),
    ("image", "a container engine and a registry"),
    ("network", "a service on the network"),
];

#[test]
fn not_run() {
    let mut page = "# Commands that no test runs\n\nAll other blocks of `docs/` run. Of these, the tests run the lines of \
         operator-forge, and check that each target of `make` exists.\n\n| page | command | needs |\n|---|---|---|\n"
        .to_owned();
    for Page { name, blocks, .. } in pages() {
        for block in blocks.iter().filter(|block| block.language == "sh") {
            let needs: Vec<&str> = NEEDS
                .iter()
                .filter(|(mark, _)| block.marks.iter().any(|it| it == mark))
                .map(|(_, needs)| *needs)
                .collect();
            if !needs.is_empty() {
                let first = block.text.lines().next().unwrap_or_default();
                let first = first.split(" #").next().unwrap_or_default().trim_end();
                let (first, needs) = (first.replace('|', "\\|"), needs.join(", "));
                let _ = writeln!(page, "| `{name}` | `{first}` | {needs} |");
            }
        }
    }
    check("snapshots/not-run.md", &page);
}

/// An error without the names in it.
fn kind(error: &str) -> String {
    let parts = error.split('`').enumerate();
    parts
        .map(|(at, part)| if at % 2 == 0 { part } else { "…" })
        .collect::<Vec<_>>()
        .join("`")
}

#[test]
fn errors() {
    let mut errors = BTreeMap::<String, String>::new();
    for console in ["refusals", "sessions"].into_iter().flat_map(consoles) {
        for step in parse(&fs::read_to_string(console).unwrap()) {
            let is_error = |line: &&str| line.starts_with("error: ");
            let Some(error) = step.output.lines().find(is_error) else {
                continue;
            };
            if let Entry::Vacant(entry) = errors.entry(kind(error)) {
                let mut lines = step.output.lines().skip_while(|line| *line != error);
                let mut text = format!("$ {}\n", step.command);
                let is_part = |line: &&str| {
                    ["error: ", "note: ", "help: "]
                        .iter()
                        .any(|start| line.starts_with(start))
                };
                for line in lines.by_ref().take_while(is_part) {
                    let _ = writeln!(text, "{line}");
                }
                entry.insert(text);
            }
        }
    }
    let mut page = "# Errors\n\nEvery error of the recorded sessions that the tests repeat: the command, what it says, and what it \
         suggests. Errors that differ in names only are here once, sorted by their text.\n\n\
         A refused command has written nothing. `help:` lines are commands to paste.\n"
        .to_owned();
    for text in errors.values() {
        let _ = write!(page, "\n```text\n{text}```\n");
    }
    check("snapshots/errors.md", &page);
}
