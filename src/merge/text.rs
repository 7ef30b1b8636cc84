//! Line by line.

use crate::change::ConflictKind;

/// Merges as `diff3` does; lines that both sides changed differently are a conflict.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, ConflictKind> {
    diffy::merge(base, ours, theirs).map_err(|_marked| ConflictKind::Overlap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_are_kept_where_they_do_not_touch() {
        let merged = merge("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n");
        assert_eq!(merged, Ok("A\nb\nc\nD\n".to_owned()));
        assert_eq!(merge("a\n", "b\n", "c\n"), Err(ConflictKind::Overlap));
    }
}
