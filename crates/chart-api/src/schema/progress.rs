//! How far the work on a schema has come: what may still be written, and what was left out.

use std::fmt::Display;

/// The bytes that a schema may have, about: etcd stores no more than 1.5 MiB in one object.
const MOST_BYTES: usize = 1 << 20;
/// About how many bytes a node takes beside its texts.
pub(super) const NODE_BYTES: usize = 90;
/// How deep values and schemas are looked into.
const MOST_DEPTH: usize = 100;
/// The notes that a person may still read.
const MOST_NOTES: usize = 100;
/// The characters of a field's name in a note.
const MOST_OF_NAME: usize = 80;

/// What may still be written, and what was left out.
pub(super) struct Progress {
    left: usize,
    depth: usize,
    path: Vec<String>,
    notes: Vec<String>,
    has_more: bool,
    /// Whether a part is guessed from values.
    pub(super) is_inferred: bool,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            left: MOST_BYTES,
            depth: 0,
            path: Vec::new(),
            notes: Vec::new(),
            has_more: false,
            is_inferred: false,
        }
    }

    /// Whether nothing more is to be written.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Counts so many bytes.
    pub(super) fn spend(&mut self, bytes: usize) {
        let was_over = self.is_over();
        self.left = self.left.saturating_sub(bytes);
        if self.is_over() && !was_over {
            self.note("from here on the schema is too large, and anything is accepted");
        }
    }

    /// Makes a node of so many bytes; nothing where it would be too deep or too much.
    pub(super) fn node<T>(&mut self, bytes: usize, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.spend(bytes);
        if self.is_over() {
            return None;
        }
        if self.depth == MOST_DEPTH {
            self.note("is too deep, and anything is accepted there");
            return None;
        }
        self.depth += 1;
        let made = make(self);
        self.depth -= 1;
        Some(made)
    }

    /// Works at a field of the current place; `[]` stands for the items of a list.
    pub(super) fn within<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        self.spend(name.len());
        self.path.push(name.chars().take(MOST_OF_NAME).collect());
        let done = work(self);
        self.path.pop();
        done
    }

    /// Notes something about the current place.
    pub(super) fn note(&mut self, what: impl Display) {
        if self.notes.len() == MOST_NOTES {
            self.has_more = true;
            return;
        }
        let path = match self.path.is_empty() {
            true => "spec".to_owned(),
            false => self.path.join(".").replace(".[]", "[]"),
        };
        let note = format!("`{path}`: {what}");
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// All that was noted.
    pub(super) fn into_notes(mut self) -> Vec<String> {
        if self.has_more {
            let more = "More is left to Helm, which checks it when it renders";
            self.notes.push(more.to_owned());
        }
        self.notes
    }
}

/// A list of words for a sentence: "`a`, `b` and `c`".
pub(super) fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|it| format!("`{it}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
