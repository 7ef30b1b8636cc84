//! Advice as text: the one place that makes lines to paste.

use std::path::{Path, PathBuf};

use crate::{
    advice::{Advice, Flag, NextStep, Script, Word},
    cli,
    error::Failure,
    shell,
};

/// What lines begin with that works in the project's directory. Any other help is a sentence, or names its paths in full.
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

/// Who called the program: the command line as it was typed, and the directories that it works in.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The words behind the program's name.
    words: Vec<String>,
    /// The value of `-C`.
    directory: PathBuf,
    /// The project's directory, which `init` may make elsewhere.
    project: PathBuf,
}

/// A next step as text: what to do, and perhaps a line to paste.
pub type Next = (String, Option<String>);

/// A failure as text.
pub struct Explained<'a> {
    /// What it is.
    pub failure: &'a Failure,
    /// Its advice, a line each.
    pub help: Vec<String>,
}

impl Caller {
    /// A command line that works in `directory`.
    pub fn new(words: &[String], directory: &Path) -> Self {
        Self {
            words: words.to_vec(),
            directory: directory.to_owned(),
            project: directory.to_owned(),
        }
    }

    /// The same for a project in another directory.
    pub fn with_project(self, project: PathBuf) -> Self {
        Self { project, ..self }
    }

    /// A failure with its advice as text.
    pub fn explain<'a>(&self, failure: &'a Failure) -> Explained<'a> {
        let help = failure.advice.iter().map(|advice| self.text(advice));
        Explained {
            failure,
            help: help.collect(),
        }
    }

    /// Next steps as text.
    pub fn next(&self, steps: &[NextStep]) -> Vec<Next> {
        let how = |step: &NextStep| step.how.as_ref().map(|how| self.text(how));
        let steps = steps.iter();
        steps.map(|step| (step.what.clone(), how(step))).collect()
    }

    /// Next steps that begin with going to the project.
    pub fn next_there(&self, steps: &[NextStep]) -> Vec<Next> {
        Self::new(&self.words, Path::new("")).next(steps)
    }

    /// The line to paste, or the sentence.
    pub fn text(&self, advice: &Advice) -> String {
        let words = match advice {
            Advice::Again => Some(self.words.clone()),
            Advice::Set(flags) => cli::with_flags(&self.words, flags),
            Advice::Drop(flags) => cli::without_flags(&self.words, flags),
            Advice::Help => Some(cli::help_of(&self.words)),
            Advice::Run(script) => return self.script(script),
            Advice::Sentence(text) => return text.clone(),
            Advice::Line(line) => return self.line(line),
        };
        match (words, advice) {
            (Some(words), _) => self.script(&Script::forge("").args(words)),
            (None, Advice::Drop(flags)) => format!("leave out {}", flags.join(" ")),
            (None, Advice::Set(flags)) => flags_alone(flags),
            (None, _) => String::new(),
        }
    }

    /// A script for the directory that the program was called in.
    pub fn script(&self, script: &Script) -> String {
        let mut script = script.clone();
        let is_forge = |words: &Vec<Word>| words.first() == Some(&Word::Code("operator-forge"));
        let is_init = script.commands.iter().any(|words| is_init(words));
        let directory = match is_init {
            true => &self.directory,
            false => &self.project,
        };
        let directory = directory.strip_prefix(".").unwrap_or(directory);
        let directory = directory.to_string_lossy().into_owned();
        if directory.is_empty() || !script.in_project || names_directory(&script) {
            return shell::line(&script);
        }
        if !script.commands.iter().all(is_forge) {
            let there = Script::of("cd").arg(directory).then(script);
            return shell::line(&there);
        }
        for words in &mut script.commands {
            let place = [Word::Code("-C"), Word::Text(directory.clone())];
            words.splice(1..1, place);
        }
        shell::line(&script)
    }

    /// `line`, which is meant for the project's directory, for the one that the program was called in.
    pub fn line(&self, line: &str) -> String {
        let names_one = |word: &str| {
            let word = word.trim_start_matches('\'');
            word.starts_with("-C") || word.starts_with("--directory")
        };
        if let Some(words) = cli::corrected(&self.words, line) {
            return self.script(&Script::forge("").args(words));
        }
        let (program, rest) = line.split_once(' ').unwrap_or((line, ""));
        let is_init = program == "operator-forge" && cli::is_init(&shell::words(rest));
        let directory = match is_init {
            true => &self.directory,
            false => &self.project,
        };
        let directory = directory.strip_prefix(".").unwrap_or(directory);
        let directory = shell::word(&directory.to_string_lossy());
        let is_about_files = match program {
            "kubectl" => rest.contains(" -f "),
            _ => PROGRAMS.contains(&program),
        };
        match program {
            _ if directory == "''" || rest.split(' ').any(names_one) => line.to_owned(),
            "operator-forge" => format!("{program} -C {directory} {rest}"),
            _ if is_about_files => format!("cd {directory} && {line}"),
            _ => line.to_owned(),
        }
    }
}

/// Whether a command calls `operator-forge init`.
fn is_init(words: &[Word]) -> bool {
    let text = |word: &Word| match word {
        Word::Code(code) => (*code).to_owned(),
        Word::Text(text) => text.clone(),
    };
    let words: Vec<String> = words.iter().map(text).collect();
    matches!(&words[..], [program, words @ ..] if program == "operator-forge" && cli::is_init(words))
}

/// Whether a script says by itself where it works, as a repeated command line does.
fn names_directory(script: &Script) -> bool {
    let names = |word: &Word| {
        let word = match word {
            Word::Code(code) => code,
            Word::Text(text) => &**text,
        };
        word.starts_with("-C") || word.starts_with("--directory")
    };
    script.commands.iter().flatten().any(names)
}

/// Flags that the command does not know: they belong to the one that the sentence before names.
fn flags_alone(flags: &[Flag]) -> String {
    shell::line(&Script::anywhere("").flags(flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(directory: &str, before: &str, after: &str) {
        let caller = Caller::new(&["status".to_owned()], Path::new(directory));
        assert_eq!(caller.line(before), after);
    }

    #[test]
    fn a_line_goes_to_the_directory_of_the_project() {
        check("a", "operator-forge sync", "operator-forge -C a sync");
        check(
            "./a b",
            "operator-forge sync",
            "operator-forge -C 'a b' sync",
        );
        check("a", "git diff PROJECT", "cd a && git diff PROJECT");
        check(
            "a b",
            "rm src/api.rs && operator-forge sync",
            "cd 'a b' && rm src/api.rs && operator-forge sync",
        );
        check(
            "a",
            "kubectl apply -f b.yaml",
            "cd a && kubectl apply -f b.yaml",
        );
    }

    #[test]
    fn a_line_for_here_stays() {
        for (directory, line) in [
            (".", "operator-forge sync"),
            ("./", "git diff PROJECT"),
            ("a", "operator-forge -C b sync"),
            ("a", "operator-forge --directory=b sync"),
            ("a", "operator-forge -Cb sync"),
            ("a", "operator-forge '--directory=b c' sync"),
            ("a", "sed 's|^|// |' LICENSE-HEADER > header.txt"),
            ("a", "git -C b init"),
            ("a", "cd b"),
            ("a", "chmod u+w a/PROJECT"),
            ("a", "kubectl delete crd redises.cache.example.com"),
            ("a", "domain: example.com"),
            ("a", "wait until it has ended, then run the command again"),
        ] {
            check(directory, line, line);
        }
    }

    #[test]
    fn init_is_called_where_it_was() {
        let caller = Caller::new(&[], Path::new("a")).with_project("a/b".into());
        let check = |before: &str, after: &str| assert_eq!(caller.line(before), after);
        check(
            "operator-forge init --vcs git",
            "operator-forge -C a init --vcs git",
        );
        check("operator-forge status", "operator-forge -C a/b status");
        let own = Caller::new(&[], Path::new(".")).with_project("shop".into());
        for flags in [
            "-q",
            "--no-input --dry-run",
            "--color never",
            "--color=never --output text",
            "--on-conflict keep",
        ] {
            let line = format!("operator-forge {flags} init shop --domain example.com");
            assert_eq!(own.line(&line), line);
            let line = format!("operator-forge {flags} create api --group init");
            let there = line.replace("operator-forge", "operator-forge -C shop");
            assert_eq!(own.line(&line), there);
        }
        check("mv -i src src.former", "cd a/b && mv -i src src.former");
    }
}
