//! The refusals of command lines that clap does not accept.

use clap::{
    Arg, Command, Parser,
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
    let valid = texts(error, ContextKind::ValidValue);
    let name = bare(&argument);
    let line = Line::of(words);
    let near = |wrong: &str, known: &[&str]| {
        let near = name::nearest(wrong, known.iter().copied())?;
        Some(replaced(words, |word| (word == wrong).then_some(near)))
    };
    let (failure, corrected) = match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return None,
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            let flags = line.command.get_arguments().filter(|it| !it.is_hide_set());
            let flags = flags.flat_map(|it| it.get_long_and_visible_aliases().unwrap_or_default());
            let flags: Vec<String> = flags.map(|flag| format!("--{flag}")).collect();
            let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
            let corrected = near(name, &flags);
            (
                Failure::usage(format!("unknown flag `{name}`")),
                corrected.or_else(|| with_subcommand(&line.command, words, name)),
            )
        }
        ErrorKind::UnknownArgument => (
            Failure::usage(format!("unexpected word `{argument}`")),
            joined(words, &argument),
        ),
        ErrorKind::InvalidSubcommand => {
            let known = line
                .command
                .get_subcommands()
                .filter(|it| !it.is_hide_set());
            let known: Vec<&str> = known
                .flat_map(Command::get_name_and_visible_aliases)
                .collect();
            (
                Failure::usage(format!("unknown command `{subcommand}`")),
                near(&subcommand, &known),
            )
        }
        ErrorKind::InvalidValue if value.is_empty() => (no_value(name, words), None),
        ErrorKind::InvalidValue => {
            let known: Vec<&str> = valid.iter().map(String::as_str).collect();
            (
                Failure::usage(format!("invalid value `{value}` for `{name}`")),
                near(&value, &known),
            )
        }
        ErrorKind::MissingRequiredArgument => (missing(error, &line.command), None),
        ErrorKind::ArgumentConflict if !subcommand.is_empty() => {
            let flags = of(ContextKind::PriorArg);
            let failure = Failure::usage(format!("`{}` before `{subcommand}`", bare(&flags)))
                .note(format!("the flags of `{subcommand}` come after it"));
            (failure, joined(words, &subcommand))
        }
        ErrorKind::ArgumentConflict => (
            Failure::usage(format!("`{name}` was given twice")),
            Some(line.with_last(name)),
        ),
        _ => (Failure::usage(first_line(error)), None),
    };
    let failure = match &valid[..] {
        [] => failure,
        valid => failure.note(format!("possible values: {}", valid.join(", "))),
    };
    let further = corrected.and_then(|words| brings_further(words, error));
    Some(failure.advise(match further {
        Some(words) => Script::anywhere("operator-forge").args(words).into(),
        None => Advice::Help,
    }))
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

/// The refusal that names the missing arguments, and says what each is.
fn missing(error: &clap::Error, command: &Command) -> Failure {
    let names = texts(error, ContextKind::InvalidArg);
    let quoted: Vec<String> = names.iter().map(|it| format!("`{}`", bare(it))).collect();
    let are = if quoted.len() == 1 { "is" } else { "are" };
    let mut failure = Failure::usage(format!("{} {are} missing", quoted.join(" and ")));
    for (name, quoted) in names.iter().zip(&quoted) {
        let mut arguments = command.get_arguments();
        let argument = arguments.find(|argument| argument.to_string() == *name);
        if let Some(help) = argument.and_then(Arg::get_help) {
            let mut help = help.to_string();
            help[..1].make_ascii_lowercase();
            failure = failure.note(format!("{quoted}: {help}"));
        }
    }
    failure
}

fn no_value(name: &str, words: &[String]) -> Failure {
    let is_empty = |word: &String| word.is_empty() || word.strip_suffix('=') == Some(name);
    if words.iter().any(is_empty) {
        return Failure::usage(format!("the value of `{name}` is empty"));
    }
    Failure::usage(format!("`{name}` has no value"))
        .note("the next word is a flag, or there is none")
}

/// `--kind <KIND>` and `--kind[=<KIND>]` are `--kind`; `<PATH>...` and `[PATH]` are `PATH`.
fn bare(name: &str) -> &str {
    let name = name.trim_start_matches(['<', '[']);
    name.split([' ', '=', '[', ']', '>'])
        .next()
        .unwrap_or_default()
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.clone(),
        other => other.map(text).into_iter().collect(),
    }
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
