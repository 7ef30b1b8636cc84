//! clap's errors in this program's voice.

use clap::{
    Arg, Command,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::correction::{command_of, renamed};
use crate::error::Failure;

/// The failure for a command line that does not parse, of these words behind the program's name; `None` for what is no
/// failure (help, version).
pub fn refusal(error: &clap::Error, words: &[String]) -> Option<Failure> {
    let of = |kind| error.get(kind).map(text);
    let flag = of(ContextKind::InvalidArg).unwrap_or_default();
    let name = flag.split([' ', '=']).next().unwrap_or_default();
    let value = of(ContextKind::InvalidValue).unwrap_or_default();
    let command = command_of(words);
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
                    let parent = command.get_bin_name().unwrap_or("operator-forge");
                    failure.help(format!("{parent} {near}"))
                }
                None => failure,
            }
        }
        ErrorKind::InvalidValue => {
            let failure = match value.is_empty() {
                true => no_value(bare(&flag), words),
                false => Failure::usage(format!("invalid value `{value}` for `{}`", bare(&flag))),
            };
            choices(failure, error, &command, &flag)
        }
        ErrorKind::MissingRequiredArgument => missing(error, &command),
        ErrorKind::ArgumentConflict => match of(ContextKind::InvalidSubcommand) {
            Some(subcommand) => before_subcommand(error, &command, &subcommand),
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
fn missing(error: &clap::Error, command: &Command) -> Failure {
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
        if let Some(help) = argument(command, name).and_then(Arg::get_help) {
            failure = failure.note(format!("{quoted}: {}", lower_first(&help.to_string())));
        }
    }
    failure.help.extend(example(command, ""));
    failure
}

/// The example of a command that shows a flag, or else the first one.
fn example(command: &Command, flag: &str) -> Option<String> {
    let examples = command.get_after_help()?.to_string();
    let examples = examples.replace("\\\n    ", "");
    let mut lines = examples.lines().skip(1).map(str::trim);
    let shows = |line: &&str| line.split([' ', '=']).any(|word| word == flag);
    let line = lines.clone().find(shows).or_else(|| lines.next());
    line.map(str::to_owned)
}

fn no_value(name: &str, words: &[String]) -> Failure {
    let is_empty = |word: &String| word.is_empty() || word.strip_suffix('=') == Some(name);
    if words.iter().any(is_empty) {
        return Failure::usage(format!("the value of `{name}` is empty"));
    }
    Failure::usage(format!("`{name}` has no value"))
        .note("the next word is a flag, or there is none")
}

/// What can stand there instead, as a flag or in a whole line.
fn choices(mut failure: Failure, error: &clap::Error, command: &Command, flag: &str) -> Failure {
    let of = |kind| error.get(kind).map(text).filter(|text| !text.is_empty());
    let valid = of(ContextKind::ValidValue);
    if let Some(valid) = &valid {
        failure = failure.note(format!("it takes one of: {valid}"));
    }
    let first = || Some(valid.as_ref()?.split(',').next()?.to_owned());
    let near = of(ContextKind::SuggestedValue).or_else(first);
    let name = bare(flag);
    let help = match near.filter(|_| name.starts_with('-')) {
        None => example(command, name),
        Some(near) => {
            let needs_equals = argument(command, flag).is_some_and(Arg::is_require_equals_set);
            Some(format!(
                "{name}{}{near}",
                if needs_equals { '=' } else { ' ' }
            ))
        }
    };
    failure.help.extend(help);
    failure
}

/// Flags of a command before the name of one that it holds.
fn before_subcommand(error: &clap::Error, command: &Command, subcommand: &str) -> Failure {
    let flags = error.get(ContextKind::PriorArg).map(text);
    let flags = flags.unwrap_or_default();
    let mut failure = Failure::usage(format!("`{}` before `{subcommand}`", bare(&flags)))
        .note(format!("`{subcommand}` has flags of its own, behind it"));
    failure.help.extend(example(command, ""));
    failure
}

/// `--kind <KIND>` and `--kind[=<KIND>]` are `--kind`; `<PATH>...` and `[PATH]` are `PATH`.
fn bare(name: &str) -> &str {
    let name = name.trim_start_matches(['<', '[']);
    name.split([' ', '=', '[', ']', '>'])
        .next()
        .unwrap_or_default()
}

/// The argument that clap calls `name`.
fn argument<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let mut arguments = command.get_arguments();
    arguments.find(|argument| argument.to_string() == name)
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
