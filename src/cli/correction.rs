//! Command lines with flags set, left out or corrected.

use std::collections::BTreeMap;

use clap::{Command, CommandFactory};

use super::Cli;
use crate::advice::Flag;

/// The flag with the short form `-C`.
const DIRECTORY: &str = "--directory";

/// A command line, cut into flags and words. It need not parse.
pub(super) struct Line {
    /// The innermost command that is called.
    pub command: Command,
    pieces: Vec<Piece>,
}

/// A flag with its value as it was typed (`--version v1`, `--resource=false`), or any other word.
struct Piece {
    /// `--version`; empty for other words.
    name: String,
    words: Vec<String>,
}

impl Line {
    /// Reads the words behind the program's name.
    pub fn of(words: &[String]) -> Self {
        let mut command = Cli::command();
        command.build();
        let mut pieces = Vec::new();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            if let Some(inner) = command.find_subcommand(word) {
                command = inner.clone();
            }
            let name = match word.split('=').next().unwrap_or_default() {
                "--" => "",
                _ if word.starts_with("-C") => DIRECTORY,
                name if name.starts_with("--") => name,
                _ => "",
            };
            let mut piece = Piece {
                name: name.to_owned(),
                words: vec![word.clone()],
            };
            // As in clap, a word that starts with `-` is the next flag, and behind `--` there are none.
            let is_value = |word: &&String| *word == "-" || !word.starts_with('-');
            if word == "--" {
                piece.words.extend(words.by_ref().cloned());
            } else if takes_value(&command, word) == Some(true) {
                piece.words.extend(words.next_if(is_value).cloned());
            }
            pieces.push(piece);
        }
        Self { command, pieces }
    }

    /// The value of a flag: `a` of `--directory a`, `--directory=a`, `-C a`, `-C=a` and `-Ca`.
    pub fn value(&self, name: &str) -> Option<&str> {
        match &self.pieces.iter().find(|piece| piece.name == name)?.words[..] {
            [word] => match word.strip_prefix("-C") {
                Some(value) => Some(value.trim_start_matches('=')),
                None => Some(word.split_once('=')?.1),
            },
            words => words.last().map(String::as_str),
        }
    }

    /// The words with the last value of a flag that was given several times.
    pub fn with_last(mut self, name: &str) -> Vec<String> {
        if let Some(last) = self.pieces.iter().rposition(|piece| piece.name == name) {
            let last = self.pieces.remove(last);
            self.replace(|piece| piece.name == name, [last]);
        }
        self.words()
    }

    /// Replaces the pieces that `is_it` selects, in the place of the first.
    fn replace(&mut self, is_it: impl Fn(&Piece) -> bool, with: impl IntoIterator<Item = Piece>) {
        let first = self.pieces.iter().position(&is_it);
        self.pieces.retain(|piece| !is_it(piece));
        let end = self.pieces.iter().position(|piece| piece.words[0] == "--");
        let at = first.or(end).unwrap_or(self.pieces.len());
        self.pieces.splice(at..at, with);
    }

    fn words(self) -> Vec<String> {
        let pieces = self.pieces.into_iter();
        pieces.flat_map(|piece| piece.words).collect()
    }
}

/// `words` with `-C directory`, and with the paths that `renamed` maps replaced.
pub fn in_directory(
    words: &[String],
    directory: &str,
    renamed: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut line = Line::of(words);
    line.pieces.retain(|piece| piece.name != DIRECTORY);
    let words = replaced(&line.words(), |word| renamed.get(word).map(String::as_str));
    let named = ["-C", directory].map(str::to_owned);
    let named = named.into_iter().filter(|_| directory != ".");
    named.chain(words).collect()
}

/// `words` with these flags set, each in the place of the same flag or of the flag that it excludes. `None` if the command does
/// not have all of them.
pub fn with_flags(words: &[String], flags: &[Flag]) -> Option<Vec<String>> {
    let mut line = Line::of(words);
    let fits = |flag: &Flag| {
        takes_value(&line.command, &flag.name).is_some_and(|takes| !takes || flag.value.is_some())
    };
    if !flags.iter().all(fits) {
        return None;
    }
    for same in flags.chunk_by(|a, b| a.name == b.name) {
        let name = &same[0].name;
        let excluded = match name.as_str() {
            "--external-api-path" => "--external-api-module",
            "--license" => "--license-file",
            "--license-file" => "--license",
            _ => name,
        };
        let pieces = same.iter().map(|flag| Piece {
            name: name.clone(),
            words: flag.words(),
        });
        line.replace(|piece| [name, excluded].contains(&&*piece.name), pieces);
    }
    Some(line.words())
}

/// `words` without these flags. `None` if the command does not have all of them.
pub fn without_flags(words: &[String], flags: &[String]) -> Option<Vec<String>> {
    let mut line = Line::of(words);
    let names = flags.iter().filter_map(|flag| flag.split('=').next());
    let names: Vec<&str> = names.collect();
    let has = |name: &&str| takes_value(&line.command, name).is_some();
    if !names.iter().all(has) {
        return None;
    }
    line.pieces.retain(|piece| !names.contains(&&*piece.name));
    Some(line.words())
}

/// The command line that prints the help of the command of `words`.
pub fn help_of(words: &[String]) -> Vec<String> {
    let command = Line::of(words).command;
    let name = command.get_bin_name().unwrap_or_default();
    // `help create` has no help of its own.
    let name = name.split(' ').skip(1).filter(|word| *word != "help");
    name.chain(["--help"]).map(str::to_owned).collect()
}

/// `words` with the words, flags and values of `--flag=value` that `to` maps replaced.
pub(super) fn replaced<'a>(words: &[String], to: impl Fn(&str) -> Option<&'a str>) -> Vec<String> {
    let part = |text: &str| to(text).map_or_else(|| text.to_owned(), str::to_owned);
    let word = |word: &String| match (to(word), word.split_once('=')) {
        (None, Some((flag, value))) if flag.starts_with("--") => {
            format!("{}={}", part(flag), part(value))
        }
        _ => part(word),
    };
    words.iter().map(word).collect()
}

/// Whether a flag needs the next word as its value; `None` for a word that is no flag of the command.
fn takes_value(command: &Command, flag: &str) -> Option<bool> {
    let mut flags = command.get_arguments();
    let flag = match flag.strip_prefix("--") {
        Some(name) => flags.find(|flag| {
            let aliases = flag.get_all_aliases().unwrap_or_default();
            flag.get_long() == Some(name) || aliases.contains(&name)
        }),
        None => {
            let name = flag.strip_prefix('-')?;
            flags.find(|flag| flag.get_short().is_some_and(|it| it.to_string() == name))
        }
    }?;
    let values = flag.get_num_args().unwrap_or_default();
    Some(flag.get_action().takes_values() && values.min_values() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    /// `before` with the flags that follow from `a=b c` as [`Flag::new`] reads them.
    #[track_caller]
    fn check(before: &str, flags: &str, after: &str) {
        let flags: Vec<_> = flags.split(' ').map(|flag| Flag::new(flag, None)).collect();
        assert_eq!(with_flags(&split(before), &flags), Some(split(after)));
    }

    #[test]
    fn flags_are_set() {
        let before = "create api --group cache --version v1 --kind Redis --dry-run";
        let line = |after: &str| format!("create api --group cache {after}");
        let replaced = line("--version v2 --kind Redis --dry-run");
        check(before, "--version=v2", &replaced);
        let added = line("--version v1 --kind Redis --dry-run --plural redises");
        check(before, "--plural=redises", &added);
        let both = line("--version v2 --kind Redis --dry-run --resource=false");
        check(before, "--version=v2 --resource=false", &both);
        let switched = line("--version v1 --kind Redis --dry-run --force");
        check(before, "--force", &switched);
        check(
            "init --license-file a",
            "--license=mit",
            "init --license mit",
        );
        let minus = "create api --group=-x";
        check("create api --group cache", "--group=-x", minus);
    }

    #[test]
    fn flags_of_several_values_are_replaced_together() {
        let line = |spokes: &str| format!("-C a/b create webhook --conversion {spokes} --group g");
        let (before, after) = (line("--spoke v3 --spoke=v4"), line("--spoke v1 --spoke v2"));
        check(&before, "--spoke=v1 --spoke=v2", &after);
    }

    #[test]
    fn a_flag_is_no_value() {
        let after = "create api --group cache --version v1";
        check("create api --group --version v1", "--group=cache", after);
    }

    #[test]
    fn flags_come_before_two_dashes() {
        let after = "init --project-name dash -- -dash";
        check("init -- -dash", "--project-name=dash", after);
        let after = "init --license mit -- --owner";
        check("init -- --owner", "--license=mit", after);
    }

    #[test]
    fn flags_are_left_out() {
        let check = |before: &str, flag: &str, after: &str| {
            let line = without_flags(&split(before), &[flag.to_owned()]);
            assert_eq!(line, Some(split(after)));
        };
        let before = "create api --kind Redis --controller-name a --resource=false --force";
        let line = |after: &str| format!("create api --kind Redis {after}");
        let named = line("--resource=false --force");
        check(before, "--controller-name", &named);
        let switched = line("--controller-name a --force");
        check(before, "--resource=false", &switched);
        for before in [
            "-C a sync",
            "-Ca sync",
            "sync --directory a",
            "sync --directory=a",
        ] {
            check(before, "--directory", "sync");
        }
    }

    #[test]
    fn a_directory_is_found_wherever_it_stands() {
        for (line, expected) in [
            ("-C a sync", "a"),
            ("-Ca/b sync", "a/b"),
            ("-C=a=b sync", "a=b"),
            ("create --directory=create api --kind", "create"),
            ("sync --directory=a=b", "a=b"),
            ("-C init status --output", "init"),
        ] {
            let line = Line::of(&split(line));
            assert_eq!(line.value(DIRECTORY), Some(expected));
        }
        for line in ["sync", "sync --", "sync -- -C a"] {
            assert_eq!(Line::of(&split(line)).value(DIRECTORY), None, "{line}");
        }
    }

    #[test]
    fn unknown_flags_make_no_line() {
        let before = split("create api --kind Redis");
        for flag in ["--version", "--unknown", "--unknown=v1", "version"] {
            assert_eq!(with_flags(&before, &[Flag::new(flag, None)]), None);
        }
        assert_eq!(without_flags(&before, &["--unknown".to_owned()]), None);
    }
}
