//! Lists that the new text no longer has.

use super::{
    block::{block, head, keys, list, replace},
    list::{List, merge as merge_lists},
};
use crate::change::ConflictKind;

/// Takes the lists that `base` has and `theirs` has not out of `base`, and out of `ours` what is not the user's of them: a key
/// stays with the user's own entries, comments stay where it was.
pub fn merge(
    mut base: String,
    mut ours: String,
    theirs: &str,
) -> Result<(String, String), ConflictKind> {
    let is_gone = |key: &String| !keys(theirs).contains(&key.as_str());
    let gone: Vec<String> = keys(&base)
        .into_iter()
        .map(str::to_owned)
        .filter(is_gone)
        .collect();
    for key in gone {
        let (Some(old), Some(mine)) = (list(&key, &base), list(&key, &ours)) else {
            continue;
        };
        let Some(left) = merge_lists(&old, &mine, &List::default(), false)? else {
            continue;
        };
        let (rest, section) = without(&key, &base, None, "");
        ours = match left.entries.is_empty() {
            true => without(&key, &ours, Some(&section), &left.below).0,
            false => replace(&key, &ours, &left, &base),
        };
        base = rest;
    }
    Ok((base, ours))
}

/// `text` without the list at `key` and the comments and blank lines above it, or those of them that are in `known`; and these
/// lines. What the user wrote beside the key, and `left` of the list, stay as comments.
fn without(key: &str, text: &str, known: Option<&[String]>, left: &str) -> (String, Vec<String>) {
    let lines: Vec<&str> = text.lines().collect();
    let Some(range) = block(key, &lines) else {
        return (text.to_owned(), Vec::new());
    };
    let at = range.start - 1;
    let is_above = |line: &&&str| line.trim().is_empty() || line.starts_with('#');
    let above = lines[..at].iter().rev().take_while(is_above).count();
    let (before, above) = lines[..at].split_at(at - above);
    let is_known = |line: &str| known.is_none_or(|known| known.iter().any(|it| it == line));
    let comment = head(lines[at]).map_or("", |(_, comment)| comment.trim());
    let mut kept: Vec<&str> = before.to_vec();
    kept.extend(above.iter().filter(|line| !is_known(line)));
    if !comment.is_empty() && !is_known(comment) {
        kept.push(comment);
    }
    kept.extend(left.lines().map(str::trim).filter(|line| !line.is_empty()));
    kept.extend(&lines[range.end..]);
    let mut rest: String = kept.iter().flat_map(|line| [*line, "\n"]).collect();
    if !text.ends_with('\n') {
        rest.pop();
    }
    let section = above.iter().chain([&comment]);
    (rest, section.map(|line| (*line).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use crate::{change::ConflictKind, merge::yaml};

    const OLD: &str = "r:\n  - a\n\n# Why.\ng:\n  # One.\n  - s:\n      x: 1\n  - s:\n      x: 2\n";
    const NEW: &str = "r:\n  - a\n";

    #[track_caller]
    fn check(ours: &str, expected: &str) {
        assert_eq!(
            yaml::merge(OLD, ours, NEW).as_deref(),
            Ok(expected),
            "{ours}"
        );
    }

    #[test]
    fn a_list_goes_and_what_is_beside_it_stays() {
        check(OLD, NEW);
        check(&format!("{OLD}i:\n  - b\n"), "r:\n  - a\ni:\n  - b\n");
        check(&format!("{OLD}\n"), "r:\n  - a\n\n");
        check(&OLD.replace("g:\n", "g: # mine\n"), "r:\n  - a\n# mine\n");
        check(&OLD.replace("g:\n", "# mine\ng:\n"), "r:\n  - a\n# mine\n");
        check(
            &OLD.replace("  # One.\n", "  # mine\n  # One.\n"),
            "r:\n  - a\n# mine\n",
        );
        check(&OLD.replace("  # One.\n", ""), NEW);
        check(&OLD.replace("x: 2", "x:  2 "), NEW);
        check(
            &format!("{OLD}  - p: mine\n"),
            "r:\n  - a\n\n# Why.\ng:\n  - p: mine\n",
        );
    }

    #[test]
    fn a_comment_in_an_entry_that_goes_is_a_conflict() {
        let ours = OLD.replace("x: 2", "x: 2 # mine");
        assert_eq!(yaml::merge(OLD, &ours, NEW), Err(ConflictKind::Overlap));
    }
}
