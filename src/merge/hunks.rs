//! Line by line like [`super::text`], for files whose neighbouring lines say different things: what one side changed
//! beside a change of the other is kept, and so are lines that both added at one place, where their order is known.

use std::ops::Range;

use diffy::{DiffOptions, HunkRange};

use crate::change::ConflictKind;

/// Lines of the base that one side replaced; an empty range is an insertion before its start.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change<'a> {
    at: Range<usize>,
    lines: Vec<&'a str>,
}

impl Change<'_> {
    /// Whether the two are about one place. An insertion beside lines that the other changed is: it may belong to them.
    fn clashes(&self, other: &Self) -> bool {
        if self.at.is_empty() || other.at.is_empty() {
            return self.touches(other);
        }
        self.at.start < other.at.end && other.at.start < self.at.end
    }

    fn touches(&self, other: &Self) -> bool {
        self.at.start <= other.at.end && other.at.start <= self.at.end
    }
}

/// What counts as changed by both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbours {
    /// Changes of neighbouring lines do not meet.
    Apart,
    /// They do, as in git.
    Together,
}

/// Merges what `theirs` changed into `ours`. Where both inserted lines at one place, `join` may know the order.
pub fn merge(
    base: &str,
    ours: &str,
    theirs: &str,
    neighbours: Neighbours,
    join: impl Fn(&[&str], &[&str]) -> Option<String>,
) -> Result<String, ConflictKind> {
    let (ours, mut theirs) = both(base, ours, theirs);
    let mut joined: Vec<(Change<'_>, String)> = Vec::new();
    for mine in &ours {
        for other in &theirs {
            let insertions = mine.at == other.at && mine.at.is_empty();
            match join(&mine.lines, &other.lines).filter(|_| insertions) {
                Some(text) => joined.push((mine.clone(), text)),
                None if mine.clashes(other) => return Err(ConflictKind::Overlap),
                None if neighbours == Neighbours::Together && mine.touches(other) => {
                    return Err(ConflictKind::Overlap);
                }
                None => {}
            }
        }
    }
    for (change, _) in &joined {
        theirs.retain(|other| other.at != change.at);
    }
    Ok(apply(base, ours, theirs, &joined))
}

/// Merges neighbours apart. Where both sides changed the same lines and all of them are such that the user's count, as
/// comments are, those of `ours` stay.
pub fn merge_where(
    base: &str,
    ours: &str,
    theirs: &str,
    users_count: impl Fn(&str) -> bool,
) -> Result<String, ConflictKind> {
    let (ours, mut theirs) = both(base, ours, theirs);
    let lines: Vec<&str> = base.split_inclusive('\n').collect();
    let gives_way = |change: &Change<'_>| {
        let mut all = lines[change.at.clone()].iter().chain(&change.lines);
        all.all(|line| users_count(line))
    };
    let clash = |mine: &Change<'_>, other: &Change<'_>| {
        mine.clashes(other) && !(gives_way(mine) && gives_way(other))
    };
    if ours
        .iter()
        .any(|mine| theirs.iter().any(|other| clash(mine, other)))
    {
        return Err(ConflictKind::Overlap);
    }
    theirs.retain(|other| !ours.iter().any(|mine| mine.clashes(other)));
    Ok(apply(base, ours, theirs, &[]))
}

/// What each side changed; what both did is done once.
fn both<'a>(base: &str, ours: &'a str, theirs: &'a str) -> (Vec<Change<'a>>, Vec<Change<'a>>) {
    let (ours, mut theirs) = (changes(base, ours), changes(base, theirs));
    theirs.retain(|change| !ours.contains(change));
    (ours, theirs)
}

/// The base with the changes of both sides, which do not clash but where they are `joined`.
fn apply<'a>(
    base: &str,
    mut ours: Vec<Change<'a>>,
    mut theirs: Vec<Change<'a>>,
    joined: &[(Change<'a>, String)],
) -> String {
    ours.append(&mut theirs);
    ours.sort_by_key(|change| (change.at.start, change.at.end));
    let lines: Vec<&str> = base.split_inclusive('\n').collect();
    let mut merged = String::new();
    let mut at = 0;
    for change in &ours {
        lines[at..change.at.start]
            .iter()
            .for_each(|line| push(&mut merged, line));
        match joined.iter().find(|(both, _)| both == change) {
            Some((_, text)) => push(&mut merged, text),
            None => change.lines.iter().for_each(|line| push(&mut merged, line)),
        }
        at = change.at.end;
    }
    lines[at..].iter().for_each(|line| push(&mut merged, line));
    merged
}

/// Appends a line; one that was the last of its file and had no end gets one if another follows.
fn push(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}

fn changes<'a>(base: &str, side: &'a str) -> Vec<Change<'a>> {
    let lines: Vec<&str> = side.split_inclusive('\n').collect();
    let patch = DiffOptions::new()
        .set_context_len(0)
        .create_patch(base, side);
    // Lines count from one, and an empty range names the line before it.
    let range = |range: HunkRange| {
        let start = if range.is_empty() {
            range.start()
        } else {
            range.start() - 1
        };
        start..start + range.len()
    };
    let hunks = patch.hunks().iter();
    hunks
        .map(|hunk| Change {
            at: range(hunk.old_range()),
            lines: lines[range(hunk.new_range())].to_vec(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn apart(base: &str, ours: &str, theirs: &str) -> Result<String, ConflictKind> {
        merge(base, ours, theirs, Neighbours::Apart, |_, _| None)
    }

    #[test]
    fn neighbours_are_merged() {
        let merged = apart("a: 1\nb: 2\nc: 3\n", "a: 9\nb: 2\nc: 3\n", "a: 1\nc: 4\n");
        assert_eq!(merged, Ok("a: 9\nc: 4\n".to_owned()));
        let merged = apart("a\nb\nc", "A\nb\nc", "a\nb");
        assert_eq!(merged, Ok("A\nb".to_owned()));
    }

    #[test]
    fn one_place_is_a_conflict() {
        assert_eq!(apart("a\n", "b\n", "c\n"), Err(ConflictKind::Overlap));
        assert_eq!(
            apart("a\nb\n", "a\nx\nb\n", "a\ny\nb\n"),
            Err(ConflictKind::Overlap)
        );
        assert_eq!(
            apart("a\nb\nc\n", "a\nx\nb\nc\n", "c\n"),
            Err(ConflictKind::Overlap)
        );
        let together = merge(
            "a\nb\n",
            "A\nb\n",
            "a\nB\n",
            Neighbours::Together,
            |_, _| None,
        );
        assert_eq!(together, Err(ConflictKind::Overlap));
    }

    #[test]
    fn comments_of_the_user_stay_where_both_changed_them() {
        let comments =
            |base, ours, theirs| merge_where(base, ours, theirs, |line| line.starts_with('#'));
        let base = "#a\nb\n#c\n";
        let merged = comments(base, "#mine\nb\n#c\n", "#theirs\nb\n#C\n");
        assert_eq!(merged, Ok("#mine\nb\n#C\n".to_owned()));
        let merged = comments(base, "b\n#c\n", "#theirs\nB\n#c\n");
        assert_eq!(merged, Err(ConflictKind::Overlap));
    }

    fn lines() -> impl Strategy<Value = String> {
        proptest::collection::vec("[a-d]\n?", 0..8).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn one_side_unchanged_gives_the_other(base in lines(), other in lines()) {
            prop_assert_eq!(apart(&base, &base, &other), Ok(other.clone()));
            prop_assert_eq!(apart(&base, &other, &base), Ok(other.clone()));
            prop_assert_eq!(apart(&base, &other, &other), Ok(other));
        }

        #[test]
        fn the_sides_may_change_places(base in lines(), ours in lines(), theirs in lines()) {
            prop_assert_eq!(apart(&base, &ours, &theirs), apart(&base, &theirs, &ours));
        }
    }
}
