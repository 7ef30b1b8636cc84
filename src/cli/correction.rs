//! What a failure says to write otherwise, as the whole line to paste.

use std::{collections::BTreeMap, path::PathBuf};

use clap::{Command, CommandFactory};

use super::Cli;
use crate::{advice::Flag, shell};

/// What goes before a flag that should not be there.
const WITHOUT: &str = "leave out ";

/// The flag that may be written as `-C`.
const DIRECTORY: &str = "--directory";

/// The value of `-C` in `words`, which may be no whole command line.
#[must_use]
pub fn directory(words: &[String]) -> PathBuf {
    let mut pieces = pieces(&command_of(words), words).into_iter();
    let piece = pieces.find(|piece| piece.name == DIRECTORY);
    let words = piece.map(|piece| piece.words).unwrap_or_default();
    match &words[..] {
        [_, value] => value.into(),
        [word] => {
            let long = word.strip_prefix("--directory=");
            let short = || Some(word.strip_prefix("-C")?.trim_start_matches('='));
            long.or_else(short).unwrap_or_default().into()
        }
        _ => PathBuf::new(),
    }
}

/// The command line of `words` with `-C directory`, and with the words that `renamed` names called otherwise.
#[must_use]
pub fn in_directory(
    words: &[String],
    directory: &str,
    renamed: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut line = pieces(&command_of(words), words);
    line.retain(|piece| piece.name != DIRECTORY);
    let words = line.into_iter().flat_map(|piece| piece.words);
    let words = words.map(|word| match (renamed.get(&word), word.split_once('=')) {
        (Some(renamed), _) => renamed.clone(),
        (None, Some((flag, value))) if flag.starts_with("--") => {
            format!("{flag}={}", renamed.get(value).map_or(value, |it| it))
        }
        (None, _) => word,
    });
    let named = ["-C", directory].map(str::to_owned);
    let named = named.into_iter().filter(|_| directory != ".");
    named.chain(words).collect()
}

/// One flag with its value as it was typed (`--version v1`, `--resource=false`), or a word that is none.
#[derive(Clone)]
struct Piece {
    /// `--version`; empty for other words.
    name: String,
    words: Vec<String>,
}

/// What `help` says in text, as [`with_flags`] and [`without_flags`] have it.
pub fn corrected(words: &[String], help: &str) -> Option<Vec<String>> {
    if help == "--help" {
        return Some(help_of(words));
    }
    let (flags, leave_out) = match help.strip_prefix(WITHOUT) {
        Some(flags) => (flags, true),
        None => (help, false),
    };
    changed(words, shell::words(flags), leave_out)
}

/// The command line of `words` with these flags set: each in the place of the one that is there, or of one that says the same
/// thing in another way. `None` if the command knows not all of them.
#[must_use]
pub fn with_flags(words: &[String], flags: &[Flag]) -> Option<Vec<String>> {
    let flags = flags.iter().flat_map(|flag| {
        let value = flag.value.clone();
        std::iter::once(flag.name.clone()).chain(value)
    });
    changed(words, flags.collect(), false)
}

/// The command line of `words` without these flags. `None` if the command knows not all of them.
#[must_use]
pub fn without_flags(words: &[String], flags: &[String]) -> Option<Vec<String>> {
    changed(words, flags.to_vec(), true)
}

fn changed(words: &[String], flags: Vec<String>, leave_out: bool) -> Option<Vec<String>> {
    let command = command_of(words);
    let flags = pieces(&command, &flags);
    let is_whole = |flag: &Piece| {
        let has_value = flag.words.len() > 1 || flag.words[0].contains('=');
        takes_value(&command, &flag.name).is_some_and(|takes| has_value || leave_out || !takes)
    };
    if !flags.iter().all(is_whole) {
        return None;
    }
    let mut line = pieces(&command, words);
    for name in flags.iter().map(|flag| &flag.name) {
        let instead = instead_of(name).filter(|_| !leave_out);
        let is_it = |piece: &Piece| piece.name == *name || Some(&*piece.name) == instead;
        let first = line.iter().position(is_it);
        line.retain(|piece| !is_it(piece));
        if !leave_out {
            // What stands behind `--` is no flag.
            let end = line.iter().position(|piece| piece.words[0] == "--");
            let at = first.or(end).unwrap_or(line.len());
            let same = flags.iter().filter(|flag| flag.name == *name);
            line.splice(at..at, same.cloned());
        }
    }
    Some(line.into_iter().flat_map(|piece| piece.words).collect())
}

/// The flag that says the same thing in another way: the two exclude each other.
fn instead_of(flag: &str) -> Option<&'static str> {
    match flag {
        "--external-api-path" => Some("--external-api-module"),
        "--license" => Some("--license-file"),
        "--license-file" => Some("--license"),
        _ => None,
    }
}

/// `words` with the flag or the word `from` called `to`.
pub(super) fn renamed(words: &[String], from: &str, to: &str) -> Vec<String> {
    let rename = |word: &String| match word.strip_prefix(from) {
        Some(rest) if rest.is_empty() || rest.starts_with('=') => format!("{to}{rest}"),
        _ => word.clone(),
    };
    words.iter().map(rename).collect()
}

/// `words` with only the last of the flags that are called `name`.
pub(super) fn last_alone(words: &[String], name: &str) -> Vec<String> {
    let pieces = pieces(&command_of(words), words);
    let last = pieces.iter().rposition(|piece| piece.name == name);
    let pieces = pieces.into_iter().enumerate();
    let left = pieces.filter(|(at, piece)| piece.name != name || Some(*at) == last);
    left.flat_map(|(_, piece)| piece.words).collect()
}

/// The command line that shows what the command of `words` takes.
#[must_use]
pub fn help_of(words: &[String]) -> Vec<String> {
    let command = command_of(words);
    let name = command.get_bin_name().unwrap_or_default();
    // `help create` has no help of its own.
    let name = name.split(' ').skip(1).filter(|word| *word != "help");
    name.chain(["--help"]).map(str::to_owned).collect()
}

fn pieces(command: &Command, words: &[String]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if word == "--" {
            pieces.push(Piece {
                name: String::new(),
                words: std::iter::once(word).chain(words).cloned().collect(),
            });
            break;
        }
        let name = match word.split('=').next().unwrap_or_default() {
            _ if word.starts_with("-C") => DIRECTORY,
            name if name.starts_with("--") => name,
            _ => "",
        };
        let mut piece = Piece {
            name: name.to_owned(),
            words: vec![word.clone()],
        };
        if takes_value(command, word) == Some(true) {
            piece
                .words
                .extend(words.next_if(|word| is_value(word)).cloned());
        }
        pieces.push(piece);
    }
    pieces
}

/// As clap has it: what starts with `-` is the next flag.
fn is_value(word: &str) -> bool {
    word == "-" || !word.starts_with('-')
}

/// Whether a flag needs the next word for its value; `None` for what is no flag of the command.
fn takes_value(command: &Command, flag: &str) -> Option<bool> {
    let mut flags = command.get_arguments();
    let flag = match flag.strip_prefix("--") {
        Some(name) => flags.find(|argument| {
            let aliases = argument.get_all_aliases().unwrap_or_default();
            argument.get_long() == Some(name) || aliases.contains(&name)
        })?,
        None => {
            let name = flag.strip_prefix('-')?;
            flags.find(|argument| {
                argument
                    .get_short()
                    .is_some_and(|it| it.to_string() == name)
            })?
        }
    };
    let values = flag.get_num_args().unwrap_or_default();
    Some(flag.get_action().takes_values() && values.min_values() > 0)
}

/// Whether `words` call `init`, wherever it stands among the flags.
#[must_use]
pub fn is_init(words: &[String]) -> bool {
    command_of(words).get_name() == "init"
}

/// The command that `words` call, as far as they call one.
pub(super) fn command_of(words: &[String]) -> Command {
    let mut command = Cli::command();
    command.build();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if takes_value(&command, word) == Some(true) {
            words.next();
        } else if let Some(inner) = command.find_subcommand(word) {
            command = inner.clone();
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, help: &str, after: &str) {
        let words: Vec<_> = before.split(' ').map(str::to_owned).collect();
        let line = corrected(&words, help).map(|words| {
            words
                .iter()
                .map(|word| shell::word(word))
                .collect::<Vec<_>>()
                .join(" ")
        });
        let expected = after.strip_prefix("operator-forge ");
        assert_eq!(line.as_deref(), expected, "{help}");
    }

    #[test]
    fn flags_are_put_in() {
        let before = "create api --group cache --version v1 --kind Redis --dry-run";
        let line = |after: &str| format!("operator-forge create api --group cache {after}");
        let replaced = line("--version v2 --kind Redis --dry-run");
        check(before, "--version v2", &replaced);
        let added = line("--version v1 --kind Redis --dry-run --plural redises");
        check(before, "--plural redises", &added);
        let both = line("--version v2 --kind Redis --dry-run --resource=false");
        check(before, "--version v2 --resource=false", &both);
        check(
            before,
            "--force",
            &line("--version v1 --kind Redis --dry-run --force"),
        );
    }

    #[test]
    fn flags_of_several_values_are_replaced_together() {
        let line = |spokes: &str| format!("-C a/b create webhook --conversion {spokes} --group g");
        let after = format!("operator-forge {}", line("--spoke v1 --spoke v2"));
        check(
            &line("--spoke v3 --spoke=v4"),
            "--spoke v1 --spoke v2",
            &after,
        );
    }

    #[test]
    fn a_flag_is_no_value() {
        let line = |after: &str| format!("operator-forge create api --group {after}");
        let after = line("cache --version v1");
        check("create api --group --version v1", "--group cache", &after);
    }

    #[test]
    fn flags_come_before_two_dashes() {
        let after = "operator-forge init --project-name dash -- -dash";
        check("init -- -dash", "--project-name dash", after);
        let after = "operator-forge init --license mit -- --owner";
        check("init -- --owner", "--license mit", after);
    }

    #[test]
    fn flags_are_left_out() {
        let before = "create api --kind Redis --controller-name a --resource=false --force";
        let line = |after: &str| format!("operator-forge create api --kind Redis {after}");
        let named = line("--resource=false --force");
        check(before, "leave out --controller-name", &named);
        let switched = line("--controller-name a --force");
        check(before, "leave out --resource=false", &switched);
        for before in [
            "-C a sync",
            "-Ca sync",
            "sync --directory a",
            "sync --directory=a",
        ] {
            check(before, "leave out --directory", "operator-forge sync");
        }
    }

    #[test]
    fn words_with_spaces_are_quoted() {
        let words = ["init", "--owner", "A & B"].map(str::to_owned);
        let line = with_flags(&words, &[Flag::new("--license", Some("mit".to_owned()))]);
        assert_eq!(
            line.unwrap(),
            ["init", "--owner", "A & B", "--license", "mit"]
        );
        let after = "operator-forge init --owner 'C D' --license mit";
        check("init --owner A --license mit", "--owner 'C D'", after);
        let after = "operator-forge delete api --group '' --kind Zoo";
        check("delete api --group a --kind Zoo", "--group ''", after);
    }

    #[test]
    fn a_directory_is_found_wherever_it_stands() {
        for (line, expected) in [
            ("-C a sync", "a"),
            ("-Ca/b sync", "a/b"),
            ("create --directory=create api --kind", "create"),
            ("-C init status --output", "init"),
            ("sync", ""),
            ("sync -C", ""),
        ] {
            let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(directory(&words), PathBuf::from(expected), "{line}");
        }
    }

    #[test]
    fn what_the_command_does_not_know_is_no_line() {
        let before = "create api --kind Redis";
        for help in [
            "--version",
            "--version v1, or --force",
            "--unknown",
            "leave out one of the two",
            "leave out --force, or add --kind",
        ] {
            let words: Vec<_> = before.split(' ').map(str::to_owned).collect();
            assert_eq!(corrected(&words, help), None);
        }
    }
}
