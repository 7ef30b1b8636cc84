//! Quoting for the rooms that still build lines as text. It goes with the last of them; `report` has its own.

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
