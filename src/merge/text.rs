//! Three-way merge by line, as git does it.

use diffy::{ConflictStyle, MergeOptions};

use crate::change::ConflictKind;

/// The length of conflict markers here. Markers in the merged texts are shorter, so they cannot be confused.
const MARKER: usize = 60;

/// Merges as `diff3` does: different changes of the same lines are a conflict. Declarations of modules and imports that both sides
/// added at one place are sorted instead.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, ConflictKind> {
    let merged = MergeOptions::new()
        .set_conflict_marker_length(MARKER)
        .set_conflict_style(ConflictStyle::Diff3)
        .merge(base, ours, theirs);
    merged.or_else(|marked| in_order(&marked).ok_or(ConflictKind::Overlap))
}

/// Resolves each conflict to the sorted lines of both sides, if all of them are added declarations.
fn in_order(marked: &str) -> Option<String> {
    let [start, base, middle, end] = ["<", "|", "=", ">"].map(|sign| sign.repeat(MARKER));
    let mut merged = String::new();
    let mut lines = marked.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if !line.starts_with(&start) {
            merged.push_str(line);
            continue;
        }
        let mut declarations_until = |marker: &str| {
            let section = lines.by_ref().take_while(|line| !line.starts_with(marker));
            section
                .map(|line| Some((declared(line)?, line.trim_end())))
                .collect::<Option<Vec<_>>>()
        };
        let ours = declarations_until(&base)?;
        let replaced = declarations_until(&middle)?;
        let mut added = [ours, declarations_until(&end)?].concat();
        if !replaced.is_empty() {
            return None;
        }
        added.sort();
        added.dedup();
        merged.extend(added.iter().flat_map(|(_, line)| [*line, "\n"]));
    }
    Some(merged)
}

/// The module or path of a line like `mod a;` or `use a::b;`, by which rustfmt sorts.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = match line.split_once(' ') {
        Some((visibility, rest)) if visibility.starts_with("pub") => rest,
        _ => line,
    };
    let item = line.strip_prefix("mod ").or(line.strip_prefix("use "))?;
    let plain = |c: char| c.is_alphanumeric() || "_:#*{}, ".contains(c);
    item.strip_suffix(';')
        .filter(|item| item.chars().all(plain))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_sides_are_kept_where_they_do_not_touch() {
        let merged = merge("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n");
        assert_eq!(merged, Ok("A\nb\nc\nD\n".to_owned()));
        assert_eq!(merge("a\n", "b\n", "c\n"), Err(ConflictKind::Overlap));
    }

    #[test]
    fn changes_of_neighbouring_lines_are_a_conflict() {
        for [base, ours, theirs] in [
            ["a\nb\n", "A\nb\n", "a\nB\n"],
            ["a\nb\n", "a\nx\nb\n", "a\ny\nb\n"],
            ["a\nb\nc\n", "a\nx\nb\nc\n", "c\n"],
        ] {
            assert_eq!(merge(base, ours, theirs), Err(ConflictKind::Overlap));
        }
    }

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
        for [base, ours, theirs] in [
            ["mod a;\n", "mod a;\nfn b() {}\n", "mod a;\nfn c() {}\n"],
            ["mod a;\n", "mod a;\nmod b {}\n", "mod a;\nmod c;\n"],
            ["mod a;\nmod b;\n", "mod a;\nmod c;\n", "mod a;\nmod d;\n"],
        ] {
            assert_eq!(merge(base, ours, theirs), Err(ConflictKind::Overlap));
        }
    }

    fn lines() -> impl Strategy<Value = String> {
        proptest::collection::vec("[a-d]\n?|mod [a-d];\n", 0..8).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn the_sides_may_change_places(base in lines(), ours in lines(), theirs in lines()) {
            prop_assert_eq!(merge(&base, &ours, &theirs).is_ok(), merge(&base, &theirs, &ours).is_ok());
        }
    }
}
