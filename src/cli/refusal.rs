//! The refusals of command lines that clap does not accept.

use clap::{
    Command, CommandFactory, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{
    Cli,
    correction::{Line, replaced},
};
use crate::{
    advice::{Advice, Script},
    error::Failure,
    name,
};

/// The refusal of `words` behind the program's name; `None` where clap prints help or the version.
///
/// It advises the same command line with the slip corrected, if that brings one further, or else the help of the command.
pub fn refusal(error: &clap::Error, words: &[String]) -> Option<Failure> {
    let of = |kind| error.get(kind).map(text).unwrap_or_default();
    let argument = of(ContextKind::InvalidArg);
    let value = of(ContextKind::InvalidValue);
    let subcommand = of(ContextKind::InvalidSubcommand);
    let valid = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(valid)) => valid.clone(),
        _ => Vec::new(),
    };
    let name = bare(&argument);
    let line = Line::of(words);
    let near = |wrong: &str, known: Vec<String>| {
        let near = name::nearest(wrong, known.iter().map(String::as_str))?;
        Some(replaced(words, |word| (word == wrong).then_some(near)))
    };
    let (what, corrected) = match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return None,
        ErrorKind::UnknownArgument if argument.starts_with('-') => (
            format!("unknown flag `{name}`"),
            near(name, flags(&line.command))
                .or_else(|| with_subcommand(&line.command, words, name)),
        ),
        ErrorKind::UnknownArgument => (
            format!("unexpected word `{argument}`"),
            joined(words, &argument),
        ),
        ErrorKind::InvalidSubcommand => (
            format!("unknown command `{subcommand}`"),
            near(&subcommand, subcommands(&line.command)),
        ),
        ErrorKind::InvalidValue if value.is_empty() => (format!("`{name}` has no value"), None),
        ErrorKind::InvalidValue => (
            format!("invalid value `{value}` for `{name}`"),
            near(&value, valid.clone()),
        ),
        ErrorKind::MissingRequiredArgument => (format!("`{name}` is missing"), None),
        ErrorKind::ArgumentConflict if !subcommand.is_empty() => {
            let before = of(ContextKind::PriorArg);
            (
                format!("`{}` before `{subcommand}`", bare(&before)),
                joined(words, &subcommand),
            )
        }
        ErrorKind::ArgumentConflict => (
            format!("`{name}` was given twice"),
            Some(line.with_last(name)),
        ),
        _ => (first_line(error), None),
    };
    let failure = Failure::usage(what);
    let values = (!valid.is_empty()).then(|| format!("possible values: {}", valid.join(", ")));
    let failure = values.into_iter().fold(failure, Failure::note);
    let further = corrected.and_then(|words| brings_further(words, error));
    let is_unknown = error.kind() == ErrorKind::UnknownArgument && argument.starts_with('-');
    let elsewhere = (is_unknown && further.is_none()).then(|| elsewhere(name));
    let failure = elsewhere.flatten().into_iter().fold(failure, Failure::note);
    Some(failure.advise(match further {
        Some(words) => Script::anywhere("operator-forge").args(words).into(),
        None => Advice::Help,
    }))
}

/// The visible flags of a command, with their dashes.
fn flags(command: &Command) -> Vec<String> {
    let flags = command.get_arguments().filter(|it| !it.is_hide_set());
    let names = flags.flat_map(|it| it.get_long_and_visible_aliases().unwrap_or_default());
    names.map(|name| format!("--{name}")).collect()
}

/// A note with the commands that have a flag, if they are few.
fn elsewhere(flag: &str) -> Option<String> {
    let mut found = Vec::new();
    having(flag, "operator-forge", &Cli::command(), &mut found);
    match &found[..] {
        [one] => Some(format!("`{one}` has this flag")),
        [one, other] => Some(format!("`{one}` and `{other}` have this flag")),
        _ => None,
    }
}

/// Finds the commands below `command` that have a flag.
fn having(flag: &str, name: &str, command: &Command, found: &mut Vec<String>) {
    if flags(command).iter().any(|it| it == flag) {
        found.push(name.to_owned());
    }
    for inner in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        having(flag, &format!("{name} {}", inner.get_name()), inner, found);
    }
}

/// The visible subcommands of a command.
fn subcommands(command: &Command) -> Vec<String> {
    let commands = command.get_subcommands().filter(|it| !it.is_hide_set());
    let names = commands.flat_map(Command::get_name_and_visible_aliases);
    names.map(str::to_owned).collect()
}

fn parse(words: &[String]) -> Result<Cli, clap::Error> {
    let program = std::iter::once("operator-forge");
    Cli::try_parse_from(program.chain(words.iter().map(String::as_str)))
}

/// `words`, if clap accepts them, or refuses them for another reason than `before`.
fn brings_further(mut words: Vec<String>, before: &clap::Error) -> Option<Vec<String>> {
    let about = |error: &clap::Error| {
        let about = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
        (error.kind(), about.map(|kind| error.get(kind).map(text)))
    };
    match parse(&words) {
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            words.push("--help".to_owned());
        }
        Err(error) if about(&error) == about(before) => return None,
        _ => {}
    }
    Some(words)
}

/// The line with the only subcommand that accepts its flags, before `flag`.
fn with_subcommand(command: &Command, words: &[String], flag: &str) -> Option<Vec<String>> {
    let is_flag = |word: &String| word.split('=').next() == Some(flag);
    let at = words.iter().position(is_flag)?;
    let with =
        |inner: &Command| [&words[..at], &[inner.get_name().to_owned()], &words[at..]].concat();
    let lines = command.get_subcommands().map(with);
    let mut lines = lines.filter(|words| parse(words).is_ok());
    lines.next().filter(|_| lines.next().is_none())
}

/// The line with `word` as the value of the flag before it (`--resource false`): flags with an optional value need a `=`.
fn joined(words: &[String], word: &str) -> Option<Vec<String>> {
    word.parse::<bool>().ok()?;
    let is_pair = |pair: &[String]| pair[0].starts_with("--") && pair[1] == word;
    let at = words.windows(2).position(is_pair)?;
    let pair = words[at..at + 2].join("=");
    Some([&words[..at], &[pair], &words[at + 2..]].concat())
}

/// `--kind <KIND>` and `--kind[=<KIND>]` are `--kind`; `<PATH>...` and `[PATH]` are `PATH`.
fn bare(name: &str) -> &str {
    let name = name.trim_start_matches(['<', '[']);
    name.split([' ', '=', '[', ']', '>'])
        .next()
        .unwrap_or_default()
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
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").replace('\'', "`")
}
