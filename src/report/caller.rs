//! Advice as text: the only code that makes lines to paste, and that quotes.

use std::path::{Path, PathBuf};

use crate::{
    advice::{Advice, Flag, NextStep, Script, Word},
    cli,
    error::Failure,
};

/// The caller of the program: the command line as it was typed, and the directories that it names.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The words behind the program's name.
    pub(super) words: Vec<String>,
    /// The value of `-C`.
    pub(super) directory: PathBuf,
    /// The project's directory, which `init` may make elsewhere.
    pub(super) project: PathBuf,
}

/// A next step as text: what to do, and perhaps a line to paste.
pub type Next = (String, Option<String>);

/// A failure as text.
pub struct Explained<'a> {
    /// The failure.
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
        };
        match (words, advice) {
            (Some(words), _) => line(Script::anywhere("operator-forge").args(words).commands()),
            (None, advice) => alone(advice),
        }
    }

    /// A script for the directory that the program was called in.
    fn script(&self, script: &Script) -> String {
        let is_word = |words: &[Word], at: usize, code| {
            words.get(at).is_some_and(|it| *it == Word::Code(code))
        };
        let any = |code| {
            script
                .commands()
                .iter()
                .any(|words| is_word(words, 1, code))
        };
        let directory = match any("init") {
            true => &self.directory,
            false => &self.project,
        };
        let directory = named(directory);
        if directory.is_empty() || !script.is_in_project() || any("-C") {
            return line(script.commands());
        }
        let mut commands = script.commands().to_vec();
        if commands
            .iter()
            .all(|words| is_word(words, 0, "operator-forge"))
        {
            for words in &mut commands {
                words.splice(1..1, [Word::Code("-C"), Word::Text(directory.clone())]);
            }
        } else {
            commands.insert(0, vec![Word::Code("cd"), Word::Text(directory)]);
        }
        line(&commands)
    }
}

/// A directory as a word that is no flag; empty for the current one.
pub(super) fn named(directory: &Path) -> String {
    let directory = directory.strip_prefix(".").unwrap_or(directory);
    match directory.to_string_lossy() {
        flag if flag.starts_with('-') => format!("./{flag}"),
        directory => directory.into_owned(),
    }
}

/// Advice that does not fit the command line: it is about another one, which the failure names.
fn alone(advice: &Advice) -> String {
    match advice {
        Advice::Again => "run the command again".to_owned(),
        Advice::Set(flags) => words(flags.iter().flat_map(Flag::words)),
        Advice::Drop(flags) => format!("leave out {}", words(flags.iter().cloned())),
        Advice::Help => "--help".to_owned(),
        Advice::Run(script) => line(script.commands()),
        Advice::Sentence(text) => text.clone(),
    }
}

fn words(texts: impl Iterator<Item = String>) -> String {
    texts.map(|text| word(&text)).collect::<Vec<_>>().join(" ")
}

/// Commands as a line for a POSIX shell.
pub(super) fn line(commands: &[Vec<Word>]) -> String {
    let text = |it: &Word| match it {
        Word::Code(code) => (*code).to_owned(),
        Word::Text(text) => word(text),
    };
    let command = |words: &Vec<Word>| words.iter().map(text).collect::<Vec<_>>().join(" ");
    commands
        .iter()
        .map(command)
        .collect::<Vec<_>>()
        .join(" && ")
}

/// Whether a terminal shows the character as what it is. It obeys controls, turns text around between those of Unicode's
/// bidirectional algorithm, and shows nothing where there is a character without a width.
pub fn is_plain(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => false,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => false,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => false,
        c => !c.is_control(),
    }
}

/// `text` as one word of a POSIX shell. `printf` makes what a terminal would obey, hide or break.
pub(super) fn word(text: &str) -> String {
    let needs_no_quotes = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    let is_shown = |c: char| is_plain(c) && !c.is_control();
    if !text.is_empty() && text.chars().all(needs_no_quotes) {
        return text.to_owned();
    }
    if text.chars().all(is_shown) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let octal = |byte: &u8| match byte {
        b'/' | b'.' | b'_' => char::from(*byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
        byte => format!("\\{byte:03o}"),
    };
    // A command substitution drops line ends at the end, so those are behind it.
    let inner = text.trim_end_matches('\n');
    let bytes: String = inner.as_bytes().iter().map(octal).collect();
    format!("\"$(printf '{bytes}'){}\"", &text[inner.len()..])
}

#[cfg(test)]
impl Failure {
    /// The advice for no command line.
    pub fn lines(&self) -> Vec<String> {
        self.advice.iter().map(alone).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(directory: &str, script: Script, expected: &str) {
        let caller = Caller::new(&["status".to_owned()], Path::new(directory));
        assert_eq!(caller.text(&script.into()), expected);
    }

    #[test]
    fn a_script_goes_to_the_directory_of_the_project() {
        let sync = || Script::forge("sync");
        check("a", sync(), "operator-forge -C a sync");
        check("./a b", sync(), "operator-forge -C 'a b' sync");
        check("-a", sync(), "operator-forge -C ./-a sync");
        check(
            "a",
            Script::of("git diff PROJECT"),
            "cd a && git diff PROJECT",
        );
        let path = "src/it's.rs";
        check(
            "a b",
            Script::of("rm").arg(path).then(sync()),
            r"cd 'a b' && rm 'src/it'\''s.rs' && operator-forge sync",
        );
        check(
            "a",
            Script::forge("restore").arg(path).then(sync()),
            r"operator-forge -C a restore 'src/it'\''s.rs' && operator-forge -C a sync",
        );
    }

    #[test]
    fn a_script_for_here_stays() {
        for (directory, script, expected) in [
            (".", Script::forge("sync"), "operator-forge sync"),
            ("./", Script::of("git diff"), "git diff"),
            ("a", Script::forge("-C b sync"), "operator-forge -C b sync"),
            ("a", Script::anywhere("cd").arg("$b"), "cd '$b'"),
        ] {
            check(directory, script, expected);
        }
    }

    #[test]
    fn init_is_called_where_it_was() {
        let caller = Caller::new(&[], Path::new("a")).with_project("a/b".into());
        let check = |script: Script, expected: &str| {
            assert_eq!(caller.text(&script.into()), expected);
        };
        let init = Script::forge("init --vcs git");
        check(init, "operator-forge -C a init --vcs git");
        check(Script::forge("status"), "operator-forge -C a/b status");
    }

    #[test]
    fn a_command_line_is_repeated_as_it_was_typed() {
        let words = ["-Ca b", "init", "$(c)", "--owner", "A & B"].map(str::to_owned);
        let caller = Caller::new(&words, Path::new("a b"));
        let check = |advice: Advice, expected: &str| assert_eq!(caller.text(&advice), expected);
        let line = "operator-forge '-Ca b' init '$(c)' --owner";
        check(Advice::Again, &format!("{line} 'A & B'"));
        check(
            Advice::set("--owner", "-x y"),
            &format!("{line}='-x y'").replace("--owner='", "'--owner="),
        );
        check(
            Advice::drop("--owner"),
            "operator-forge '-Ca b' init '$(c)'",
        );
        check(Advice::Help, "operator-forge init --help");
        check(Advice::set("--plural", "a b"), "--plural 'a b'");
    }

    #[test]
    fn a_shell_reads_the_text_back() {
        for text in [
            "a",
            "",
            "b c",
            "it's",
            "''",
            "\\",
            "$x",
            "`x`",
            "--owner=A & B",
            "a\nb",
            "\t",
            "\x1b[2J",
            "a\u{202e}b%s\\n",
            "a\n\n",
            "-\n",
            "ü",
        ] {
            let script = format!("printf '[%s]' {}", word(text));
            let output = std::process::Command::new("sh")
                .args(["-c", &script])
                .output();
            let output = output.expect("sh runs").stdout;
            assert_eq!(
                String::from_utf8_lossy(&output),
                format!("[{text}]"),
                "{script}"
            );
        }
    }
}
