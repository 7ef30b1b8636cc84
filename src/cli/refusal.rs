//! clap's errors in this program's voice.

use clap::{
    Arg, Command, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{
    Cli,
    correction::{Line, renamed},
};
use crate::{
    advice::{Advice, Script},
    error::Failure,
    name,
};

/// The failure for a command line that does not parse, of these words behind the program's name; `None` for what is no
/// failure (help, version).
///
/// It offers the same line with a slip corrected, where there is one such line, or else the help of the command.
pub fn refusal(error: &clap::Error, words: &[String]) -> Option<Failure> {
    let of = |kind| error.get(kind).map(text).unwrap_or_default();
    let flag = of(ContextKind::InvalidArg);
    let name = flag.split([' ', '=']).next().unwrap_or_default();
    let value = of(ContextKind::InvalidValue);
    let subcommand = of(ContextKind::InvalidSubcommand);
    let command = Line::of(words).command;
    let (failure, corrected) = match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return None,
        ErrorKind::UnknownArgument if name.starts_with('-') => {
            let flags = command.get_arguments().filter(|it| !it.is_hide_set());
            let flags: Vec<_> = flags
                .flat_map(|it| it.get_long_and_visible_aliases().unwrap_or_default())
                .collect();
            let near = name::nearest(name.trim_start_matches('-'), flags);
            let corrected = match near {
                Some(near) => vec![renamed(words, name, &format!("--{near}"))],
                None => with_subcommand(&command, words, name),
            };
            (Failure::usage(format!("unknown flag `{name}`")), corrected)
        }
        ErrorKind::UnknownArgument => (
            Failure::usage(format!("unexpected word `{name}`")),
            joined(words, name).into_iter().collect(),
        ),
        ErrorKind::InvalidSubcommand => {
            let known = command.get_subcommands().filter(|it| !it.is_hide_set());
            let known = known.flat_map(Command::get_name_and_visible_aliases);
            let near = name::nearest(&subcommand, known);
            let corrected = near.map(|near| renamed(words, &subcommand, near));
            let failure = Failure::usage(format!("unknown command `{subcommand}`"));
            (failure, corrected.into_iter().collect())
        }
        ErrorKind::InvalidValue if value.is_empty() => (no_value(bare(&flag), words), Vec::new()),
        ErrorKind::InvalidValue => {
            let valid = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(valid)) => valid.as_slice(),
                _ => &[],
            };
            let near = name::nearest(&value, valid.iter().map(String::as_str));
            let corrected = near.map(|near| with_value(words, bare(&flag), &value, near));
            let error = format!("invalid value `{value}` for `{}`", bare(&flag));
            (Failure::usage(error), corrected.into_iter().collect())
        }
        ErrorKind::MissingRequiredArgument => (missing(error, &command), Vec::new()),
        ErrorKind::ArgumentConflict if !subcommand.is_empty() => {
            let flags = of(ContextKind::PriorArg);
            let failure = Failure::usage(format!("`{}` before `{subcommand}`", bare(&flags)))
                .note(format!("`{subcommand}` has flags of its own, behind it"));
            (failure, joined(words, &subcommand).into_iter().collect())
        }
        ErrorKind::ArgumentConflict => (
            Failure::usage(format!("`{name}` was given twice")),
            vec![Line::of(words).with_last(name)],
        ),
        _ => (Failure::usage(first_line(error)), Vec::new()),
    };
    let failure = match of(ContextKind::ValidValue) {
        none if none.is_empty() => failure,
        valid => failure.note(format!("it takes one of: {valid}")),
    };
    let mut corrected = corrected.into_iter();
    let further = corrected.find_map(|words| brings_further(words, error));
    Some(failure.advise(match further {
        Some(words) => Script::anywhere("operator-forge").args(words).into(),
        None => Advice::Help,
    }))
}

/// `words`, if clap takes them, or refuses them for another reason than `before`.
fn brings_further(mut words: Vec<String>, before: &clap::Error) -> Option<Vec<String>> {
    let about = |error: &clap::Error| {
        let about = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
        (error.kind(), about.map(|kind| error.get(kind).map(text)))
    };
    let program = std::iter::once("operator-forge");
    match Cli::try_parse_from(program.chain(words.iter().map(String::as_str))) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            words.push("--help".to_owned());
        }
        Err(error) if about(&error) == about(before) => return None,
        Err(_) => {}
    }
    Some(words)
}

/// The line with the one subcommand that `flag` may belong to, if it was left out.
fn with_subcommand(command: &Command, words: &[String], flag: &str) -> Vec<Vec<String>> {
    let Some(at) = words
        .iter()
        .position(|word| word.split('=').next() == Some(flag))
    else {
        return Vec::new();
    };
    let with = |inner: &Command| {
        let mut words = words.to_vec();
        words.insert(at, inner.get_name().to_owned());
        words
    };
    let is_whole = |words: &Vec<String>| {
        let program = std::iter::once("operator-forge");
        Cli::try_parse_from(program.chain(words.iter().map(String::as_str))).is_ok()
    };
    let mut lines: Vec<_> = command
        .get_subcommands()
        .map(with)
        .filter(is_whole)
        .collect();
    lines.truncate(if lines.len() == 1 { 1 } else { 0 });
    lines
}

/// The line with `word` as the value of the flag before it (`--resource false`): flags that may stand alone need a `=`.
fn joined(words: &[String], word: &str) -> Option<Vec<String>> {
    word.parse::<bool>().ok()?;
    let at = words
        .windows(2)
        .position(|pair| pair[0].starts_with("--") && pair[1] == word)?;
    let mut words = words.to_vec();
    let value = words.remove(at + 1);
    words[at] = format!("{}={value}", words[at]);
    Some(words)
}

/// The line with another value of `flag`, or of an argument that is none.
fn with_value(words: &[String], flag: &str, from: &str, to: &str) -> Vec<String> {
    let (before, after) = (format!("{flag}={from}"), format!("{flag}={to}"));
    let other = |word: &String| match word {
        word if *word == before => after.clone(),
        word if word == from => to.to_owned(),
        word => word.clone(),
    };
    words.iter().map(other).collect()
}

/// What is missing, and what it is for.
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
        let mut arguments = command.get_arguments();
        let argument = arguments.find(|argument| argument.to_string() == *name);
        if let Some(help) = argument.and_then(Arg::get_help) {
            failure = failure.note(format!("{quoted}: {}", lower_first(&help.to_string())));
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
