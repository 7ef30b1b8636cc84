//! [`Advice::Line`](crate::advice::Advice::Line) as it is printed. This file goes with it.

use super::caller::{Caller, named, word};
use crate::{advice::Advice, advice::Flag, cli, shell};

/// The programs that work in the project's directory.
const PROGRAMS: [&str; 12] = [
    "${EDITOR:-vi}",
    "cargo",
    "cp",
    "diff",
    "git",
    "grep",
    "helm",
    "iconv",
    "make",
    "mkdir",
    "mv",
    "rm",
];

impl Caller {
    /// `line`, which is meant for the project's directory, for the one that the program was called in.
    pub fn line(&self, line: &str) -> String {
        let advice = match line.strip_prefix("leave out ") {
            _ if line == "--help" => Some(Advice::Help),
            Some(flags) => Some(Advice::Drop(shell::words(flags))),
            None if line.starts_with("--") => flags(&shell::words(line)).map(Advice::Set),
            None => None,
        };
        let words = match &advice {
            Some(Advice::Set(flags)) => cli::with_flags(&self.words, flags),
            Some(Advice::Drop(flags)) => cli::without_flags(&self.words, flags),
            _ => None,
        };
        if let Some(advice) = advice.filter(|it| *it == Advice::Help || words.is_some()) {
            return self.text(&advice);
        }
        let (program, rest) = line.split_once(' ').unwrap_or((line, ""));
        let directory = match program == "operator-forge" && rest.starts_with("init") {
            true => &self.directory,
            false => &self.project,
        };
        let directory = word(&named(directory));
        let names_one = |word: &str| {
            let word = word.trim_start_matches('\'');
            word.starts_with("-C") || word.starts_with("--directory")
        };
        match program {
            _ if directory == "''" || rest.split(' ').any(names_one) => line.to_owned(),
            "operator-forge" => {
                format!("{program} -C {directory} {rest}")
            }
            "kubectl" if !rest.contains(" -f ") => line.to_owned(),
            _ if program == "kubectl" || PROGRAMS.contains(&program) => {
                format!("cd {directory} && {line}")
            }
            _ => line.to_owned(),
        }
    }
}

/// `--a b --c` as flags; `None` for words that are none.
fn flags(words: &[String]) -> Option<Vec<Flag>> {
    let mut flags: Vec<Flag> = Vec::new();
    for word in words {
        match (word.starts_with("--"), flags.last_mut()) {
            (true, _) => match word.split_once('=') {
                Some((name, value)) => flags.push(Flag::new(name, Some(value.to_owned()))),
                None => flags.push(Flag::new(word, None)),
            },
            (false, Some(flag)) if flag.value.is_none() => flag.value = Some(word.clone()),
            _ => return None,
        }
    }
    Some(flags)
}
