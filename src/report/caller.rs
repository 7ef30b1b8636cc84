//! Advice as text: the only code that makes lines to paste, and that quotes.

use std::path::{Path, PathBuf};

use crate::{
    advice::{Advice, Flag, NextStep, Script, Word},
    change::{Note, NoteKind, lacking},
    cli,
};

/// The caller of the program: the command line as it was typed, and the directories that it names.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The words behind the program's name.
    words: Vec<String>,
    /// The value of `-C`.
    directory: PathBuf,
    /// The project's directory, which differs for `init DIR`.
    pub project: PathBuf,
}

/// A next step as text: what to do, and perhaps a line to paste.
pub type Next = (String, Option<String>);

impl Caller {
    /// A command line that works in `directory`.
    pub fn new(words: &[String], directory: &Path) -> Self {
        Self {
            words: words.to_vec(),
            directory: directory.to_owned(),
            project: directory.to_owned(),
        }
    }

    /// Next steps as text. Those of `init` begin with a step to the project's directory.
    pub fn next(&self, command: &str, steps: &[NextStep]) -> Vec<Next> {
        let there = Self::new(&self.words, Path::new(""));
        let caller = if command == "init" { &there } else { self };
        let how = |step: &NextStep| step.how.as_ref().map(|how| caller.text(how));
        let steps = steps.iter();
        steps.map(|step| (step.what.clone(), how(step))).collect()
    }

    /// A note as a sentence, without the path that it begins with.
    pub fn sentence(&self, note: &Note) -> String {
        let path = note.path.as_str();
        let line = |script: Script| self.script(&script);
        let sentence = match note.what {
            NoteKind::Edited => format!(
                "is generated, and was edited by hand: updates are merged with the edit; `{}` makes the file yours",
                line(Script::forge("own").arg(path))
            ),
            NoteKind::Orphaned => {
                "is no longer part of the project, but was edited; it is kept, and yours to delete"
                    .to_owned()
            }
            NoteKind::Dropped => {
                "is not in the newer chart, but was edited; it is kept, and yours to delete"
                    .to_owned()
            }
            NoteKind::Owned => {
                "is no longer part of the project, but you own it; it is kept, and yours to delete"
                    .to_owned()
            }
            NoteKind::Outdated => format!(
                "is yours, and its template has changed: `{}` shows the new text",
                line(Script::forge("disown").arg(path).code("--dry-run --diff"))
            ),
            NoteKind::Missing => format!(
                "was deleted, and the project does not build without it: `{}` writes it again",
                line(Script::forge("restore").arg(path))
            ),
            NoteKind::BaseLost => {
                "was edited, and the base of its merge is lost; it is kept unmerged".to_owned()
            }
            NoteKind::Kept => "conflicts with the generated file, and is kept".to_owned(),
            NoteKind::LeftOut => format!(
                "was edited on a branch that git merged, and the edit is dropped: `{}` shows it",
                line(Script::of("git log --all --patch --").arg(path))
            ),
            NoteKind::Markers => "has conflict markers: resolve them in an editor".to_owned(),
            NoteKind::NoChart => format!(
                "is missing, and the project does not build without the chart: `{}` brings it back if git has it",
                line(note.recipe())
            ),
            NoteKind::NoAnsible => format!(
                "is missing, and the operator runs it: `{}` brings it back if git has it",
                line(note.recipe())
            ),
            NoteKind::Unmerged => format!(
                "is yours, and has an unresolved merge: apply the other branch's change, which `{}` shows, then `{}`",
                line(note.branch()),
                line(Script::of("git add").arg(path))
            ),
        };
        match lacking(&note.lacks) {
            Some(lacks) => {
                let diff = line(Script::forge("diff").arg(path));
                format!("{sentence}; it lacks {lacks}: `{diff}`")
            }
            None => sentence,
        }
    }

    /// The line to paste.
    pub fn text(&self, advice: &Advice) -> String {
        let words = match advice {
            Advice::Again => Some(self.words.clone()),
            Advice::Set(flags) => cli::with_flags(&self.words, flags),
            Advice::Drop(flags) => cli::without_flags(&self.words, flags),
            Advice::Help => Some(cli::help_of(&self.words)),
            Advice::Run(script) => return self.script(script),
        };
        let forge = |words| line(Script::anywhere("operator-forge").args(words).commands());
        words.map_or_else(|| alone(advice), forge)
    }

    /// A script for the directory that the program was called in.
    fn script(&self, script: &Script) -> String {
        let is = |words: &[Word], at, code| words.get(at) == Some(&Word::Code(code));
        let any = |code| script.commands().iter().any(|words| is(words, 1, code));
        let directory = named(match any("init") {
            true => &self.directory,
            false => &self.project,
        });
        let mut commands = script.commands().to_vec();
        if directory.is_empty() || !script.is_in_project() || any("-C") {
            return line(&commands);
        }
        if commands.iter().all(|words| is(words, 0, "operator-forge")) {
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
fn named(directory: &Path) -> String {
    let directory = directory.strip_prefix(".").unwrap_or(directory);
    match directory.to_string_lossy() {
        flag if flag.starts_with('-') => format!("./{flag}"),
        directory => directory.into_owned(),
    }
}

/// Advice that does not fit the command line: it is about another command, which the failure names.
fn alone(advice: &Advice) -> String {
    let quoted = |words: Vec<String>| line(Script::anywhere("").args(words).commands());
    match advice {
        Advice::Again => "run the command again".to_owned(),
        Advice::Set(flags) => quoted(flags.iter().flat_map(Flag::words).collect()),
        Advice::Drop(flags) => format!("leave out {}", quoted(flags.clone())),
        Advice::Help => "--help".to_owned(),
        Advice::Run(script) => line(script.commands()),
    }
}

/// Commands as a line for a POSIX shell.
fn line(commands: &[Vec<Word>]) -> String {
    let text = |it: &Word| match it {
        Word::Code(code) => (*code).to_owned(),
        Word::Text(text) => word(text),
    };
    let command = |words: &Vec<Word>| words.iter().map(text).collect::<Vec<_>>().join(" ");
    let commands: Vec<String> = commands.iter().map(command).collect();
    commands.join(" && ")
}

/// Whether a terminal shows the character itself. Control characters move the cursor, those of the bidirectional algorithm reorder
/// text, and others have no width.
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
fn word(text: &str) -> String {
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
impl crate::error::Failure {
    /// The advice where there is no command line.
    pub fn lines(&self) -> Vec<String> {
        self.advice.iter().map(alone).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::RelPath;

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
        let mut caller = Caller::new(&[], Path::new("a"));
        caller.project = "a/b".into();
        let check = |script: Script, expected: &str| {
            assert_eq!(caller.text(&script.into()), expected);
        };
        let init = Script::forge("init --vcs git");
        check(init, "operator-forge -C a init --vcs git");
        check(Script::forge("status"), "operator-forge -C a/b status");
    }

    #[test]
    fn the_commands_of_a_note_go_to_the_directory_of_the_project() {
        let caller = Caller::new(&["sync".to_owned()], Path::new("a b"));
        let check = |what, expected: &str| {
            let note = Note {
                path: RelPath::constant("src/$(c).rs"),
                what,
                lacks: vec!["x();".to_owned()],
            };
            let sentence = caller.sentence(&note);
            assert!(sentence.contains(&format!("`{expected}`")), "{sentence}");
        };
        check(
            NoteKind::Missing,
            "operator-forge -C 'a b' restore 'src/$(c).rs'",
        );
        check(NoteKind::Unmerged, "cd 'a b' && git add 'src/$(c).rs'");
        check(NoteKind::Kept, "operator-forge -C 'a b' diff 'src/$(c).rs'");
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
