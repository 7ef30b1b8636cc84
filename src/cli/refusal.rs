//! clap's errors in this program's voice.

use clap::{
    CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{Cli, correction::renamed};
use crate::error::Failure;

/// The failure for a command line that does not parse, of these words behind the program's name; `None` for what is no
/// failure (help, version).
pub fn refusal(error: &clap::Error, words: &[String]) -> Option<Failure> {
    let of = |kind| error.get(kind).map(text);
    let flag = of(ContextKind::InvalidArg).unwrap_or_default();
    let name = flag.split([' ', '=']).next().unwrap_or_default();
    let value = of(ContextKind::InvalidValue).unwrap_or_default();
    let failure = match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return None,
        ErrorKind::UnknownArgument => {
            let what = if name.starts_with('-') {
                "unknown flag"
            } else {
                "unexpected word"
            };
            let failure = Failure::usage(format!("{what} `{name}`"));
            match of(ContextKind::SuggestedArg) {
                Some(near) => failure.help(renamed(words, name, &near)),
                None => failure,
            }
        }
        ErrorKind::InvalidSubcommand => {
            let unknown = of(ContextKind::InvalidSubcommand).unwrap_or_default();
            let failure = Failure::usage(format!("unknown command `{unknown}`"));
            // clap sorts several by likeness, the best last, and only one can be pasted.
            let near = of(ContextKind::SuggestedSubcommand);
            match near.as_deref().and_then(|near| near.rsplit(", ").next()) {
                Some(near) => {
                    // What usage names is what was understood: `operator-forge create`.
                    let parent = command_of(error);
                    let parent = parent.get_bin_name().unwrap_or("operator-forge");
                    failure.help(format!("{parent} {near}"))
                }
                None => failure,
            }
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            Failure::usage(format!("`{name}` has no value"))
                .note("the next word is a flag, or there is none")
                .help(flag.clone())
        }
        ErrorKind::InvalidValue => no_choice(error, name, &value),
        ErrorKind::MissingRequiredArgument => missing(error),
        ErrorKind::ArgumentConflict => match of(ContextKind::InvalidSubcommand) {
            Some(subcommand) => before_subcommand(error, &subcommand),
            None => Failure::usage(format!("`{name}` was given twice")),
        },
        _ => Failure::usage(first_line(error)),
    };
    Some(if failure.help.is_empty() {
        failure.help("operator-forge --help")
    } else {
        failure
    })
}

/// What is missing, what it is for, and a whole line that has it.
fn missing(error: &clap::Error) -> Failure {
    let command = command_of(error);
    let names: Vec<String> = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(names)) => names.clone(),
        other => other.map(text).into_iter().collect(),
    };
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", bare(name)))
        .collect();
    let mut failure = Failure::usage(match &quoted[..] {
        [one] => format!("{one} is missing"),
        several => format!("{} are missing", several.join(" and ")),
    });
    for (name, quoted) in names.iter().zip(&quoted) {
        let mut arguments = command.get_arguments();
        let argument = arguments.find(|argument| argument.to_string() == *name);
        if let Some(help) = argument.and_then(|argument| argument.get_help()) {
            failure = failure.note(format!("{quoted}: {}", lower_first(&help.to_string())));
        }
    }
    failure.help.extend(example(&command));
    failure
}

/// The first example of a command.
fn example(command: &clap::Command) -> Option<String> {
    let examples = command.get_after_help()?.to_string();
    examples.lines().nth(1).map(|line| line.trim().to_owned())
}

/// A word that is not one of those which can stand there.
fn no_choice(error: &clap::Error, name: &str, value: &str) -> Failure {
    let of = |kind| error.get(kind).map(text);
    let failure = Failure::usage(format!("invalid value `{value}` for `{}`", bare(name)));
    let Some(valid) = of(ContextKind::ValidValue) else {
        return failure;
    };
    let first = || valid.split(',').next().unwrap_or_default().to_owned();
    let near = of(ContextKind::SuggestedValue).unwrap_or_else(first);
    let help = match name.starts_with('-') {
        true => Some(format!("{name} {near}")),
        false => example(&command_with(name)),
    };
    let mut failure = failure.note(format!("it takes one of: {valid}"));
    failure.help.extend(help);
    failure
}

/// Flags of a command before the name of one that it holds.
fn before_subcommand(error: &clap::Error, subcommand: &str) -> Failure {
    let flags = error.get(ContextKind::PriorArg).map(text);
    let flags = flags.unwrap_or_default();
    let command = command_of(error);
    let inner = command.find_subcommand(subcommand);
    let mut failure = Failure::usage(format!("`{}` before `{subcommand}`", bare(&flags)))
        .note(format!("`{subcommand}` has flags of its own, behind it"));
    failure.help.extend(inner.and_then(example));
    failure
}

/// `--kind <KIND>` is `--kind`, and `<PATH>...` is `PATH`.
fn bare(name: &str) -> &str {
    let word = name.split([' ', '=', '[']).next().unwrap_or_default();
    word.trim_matches(['<', '>', '.'])
}

/// The command that the error is about, as far as its usage names it.
fn command_of(error: &clap::Error) -> clap::Command {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    let usage = usage.unwrap_or_default();
    let mut command = Cli::command();
    command.build();
    for word in usage.split_whitespace() {
        if let Some(inner) = command.find_subcommand(word) {
            command = inner.clone();
        }
    }
    command
}

/// The command that takes this argument.
fn command_with(argument: &str) -> clap::Command {
    let mut command = Cli::command();
    command.build();
    let mut commands = command.get_subcommands();
    let takes = |it: &&clap::Command| it.get_arguments().any(|it| it.to_string() == argument);
    commands.find(takes).cloned().unwrap_or_default()
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

fn text(value: &ContextValue) -> String {
    match value {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(texts) => texts.join(", "),
        other => other.to_string(),
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    text.lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .replace('\'', "`")
}
