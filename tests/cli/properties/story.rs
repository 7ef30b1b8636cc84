//! What happened in the history that a thread is at, as lines that can be pasted into a shell.

use std::cell::RefCell;

thread_local! {
    static STORY: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Begins another history.
pub fn begin() {
    STORY.take();
}

/// Adds a line.
pub fn tell(line: impl Into<String>) {
    STORY.with_borrow_mut(|story| story.push(line.into()));
}

/// Adds a command of the tool.
pub fn tell_words(words: &[String]) {
    tell(format!("operator-forge {}", pasted(words)));
}

/// All lines.
pub fn lines() -> String {
    STORY.with_borrow(|story| story.join("\n"))
}

/// Words as a shell takes them.
pub fn pasted(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:".contains(c);
    let word = |word: &String| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{word}'"),
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}
