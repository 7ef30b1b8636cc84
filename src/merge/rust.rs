//! Rust: line by line, but declarations of modules and imports that both sides add at one place are put in order.

use super::hunks::{self, Neighbours};
use crate::change::ConflictKind;

/// Merges as [`hunks`] does, neighbours together.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, ConflictKind> {
    hunks::merge(base, ours, theirs, Neighbours::Together, |mine, other| {
        let declarations: Option<Vec<(&str, &str)>> = mine
            .iter()
            .chain(other)
            .map(|line| Some((declared(line)?, *line)))
            .collect();
        let mut declarations = declarations?;
        declarations.sort();
        declarations.dedup();
        Some(
            declarations
                .iter()
                .flat_map(|(_, line)| [line.trim_end(), "\n"])
                .collect(),
        )
    })
}

/// What a line declares, if it is no more than `mod a;` or `use a::b;`: what rustfmt sorts by.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim();
    let (visibility, rest) = line.split_once(' ')?;
    let line = if visibility.starts_with("pub") {
        rest
    } else {
        line
    };
    let item = line.strip_prefix("mod ").or(line.strip_prefix("use "))?;
    let plain = |c: char| c.is_alphanumeric() || "_:#*{}, ".contains(c);
    item.strip_suffix(';')
        .filter(|item| item.chars().all(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_both_sides_are_declared() {
        let base = "pub mod api;\nmod context;\n\nfn a() {}\n";
        let ours = "pub mod api;\nmod context;\npub(crate) mod mine;\nmod zoo;\n\nfn a() {}\n";
        let theirs = "pub mod api;\nmod context;\npub mod webhooks;\n\nfn a() {}\n";
        let merged = "pub mod api;\nmod context;\npub(crate) mod mine;\npub mod webhooks;\nmod zoo;\n\nfn a() {}\n";
        assert_eq!(merge(base, ours, theirs), Ok(merged.to_owned()));
    }

    #[test]
    fn other_items_at_one_place_are_a_conflict() {
        let overlap = Err(ConflictKind::Overlap);
        assert_eq!(
            merge("mod a;\n", "mod a;\nfn b() {}\n", "mod a;\nfn c() {}\n"),
            overlap
        );
        assert_eq!(
            merge("mod a;\n", "mod a;\nmod b {}\n", "mod a;\nmod c;\n"),
            overlap
        );
    }
}
