//! Lines to paste into a POSIX shell.

#[cfg(test)]
use crate::advice::Advice;
use crate::advice::{Script, Word};

/// `text` as one word, in quotes if the shell would take it for something else.
#[must_use]
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// The line that puts what is at `path` aside. It asks before it replaces what was put there before.
#[must_use]
pub fn put_aside(path: &str) -> String {
    format!("mv -i {} {}", word(path), word(&format!("{path}.former")))
}

/// The line of a script.
#[must_use]
pub fn line(script: &Script) -> String {
    let word = |it: &Word| match it {
        Word::Code(code) => (*code).to_owned(),
        Word::Text(text) => word(text),
    };
    let command = |words: &Vec<Word>| words.iter().map(word).collect::<Vec<_>>().join(" ");
    let commands = script.commands.iter().map(command);
    commands.collect::<Vec<_>>().join(" && ")
}

/// Advice as a test writes it.
#[cfg(test)]
pub fn plain(advice: &Advice) -> String {
    match advice {
        Advice::Again => "run the command again".to_owned(),
        Advice::Set(flags) => line(&Script::anywhere("").flags(flags)),
        Advice::Drop(flags) => format!("leave out {}", flags.join(" ")),
        Advice::Help => "--help".to_owned(),
        Advice::Run(script) => line(script),
        Advice::Sentence(text) | Advice::Line(text) => text.clone(),
    }
}

/// The words of a line, as a shell takes what [`word`] wrote.
#[must_use]
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut current: Option<String> = None;
    let mut quoted = false;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' if !quoted => words.extend(current.take()),
            '\'' => {
                quoted = !quoted;
                current.get_or_insert_default();
            }
            '\\' if !quoted => current.get_or_insert_default().extend(chars.next()),
            c => current.get_or_insert_default().push(c),
        }
    }
    words.extend(current);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_were_written() {
        let before = ["a", "", "b c", "it's", "''", "\\", "$x", "--owner=A & B"];
        let line: Vec<_> = before.iter().map(|text| word(text)).collect();
        assert_eq!(words(&line.join(" ")), before);
    }
}
