//! Parses and writes conflict markers.

/// The first characters of marker lines. git repeats the character more often where `.gitattributes` sets
/// `conflict-marker-size`, and for a file that both branches renamed.
const START: &str = "<<<<<<<";
const BASE: &str = "|||||||";
const MIDDLE: &str = "=======";
const END: &str = ">>>>>>>";

/// The labels of the conflicts that `--on-conflict markers` writes.
const YOURS: &str = "yours";
const GENERATED: &str = "generated";

/// The two texts that stand in one text with conflict markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The base, if every conflict shows it (the styles `diff3` and `zdiff3`).
    pub base: Option<String>,
    /// The text with every conflict resolved to its first side.
    pub ours: String,
    /// The text with every conflict resolved to its last side.
    pub theirs: String,
    /// The line of the first marker, from 1; 0 where there is none.
    pub line: usize,
    /// Whether `--on-conflict markers` wrote them, and not git.
    pub own: bool,
}

impl Split {
    /// The two texts of a file that git did not try to merge: `ours` is on disk.
    pub fn of(ours: String, theirs: String) -> Self {
        Self {
            base: None,
            ours,
            theirs,
            line: 0,
            own: false,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Outside,
    Ours,
    Base,
    Theirs,
}

/// Splits a text with conflict markers; `None` if it has none, or an incomplete set of them.
pub fn split(text: &str) -> Option<Split> {
    if !text.contains(START) {
        return None;
    }
    let mut split = Split::of(String::new(), String::new());
    let mut base = Some(String::new());
    let mut part = Part::Outside;
    let (mut shown, mut size) = (false, 0);
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let found = marker(line);
        let counts = |found: &Marker<'_>| part == Part::Outside || found.size == size;
        match (part, found.filter(counts).map(|it| (it.kind, it.label))) {
            (Part::Outside, Some((START, label))) => {
                part = Part::Ours;
                (shown, size) = (false, found.map_or(0, |it| it.size));
                if split.line == 0 {
                    split.line = at + 1;
                    split.own = label == YOURS;
                }
                continue;
            }
            (Part::Ours, Some((BASE, _))) => {
                (part, shown) = (Part::Base, true);
                continue;
            }
            (Part::Ours | Part::Base, Some((MIDDLE, ""))) => {
                part = Part::Theirs;
                base = base.filter(|_| shown);
                continue;
            }
            (Part::Theirs, Some((END, _))) => {
                part = Part::Outside;
                continue;
            }
            (Part::Outside, _) | (_, None | Some((MIDDLE, _))) => {}
            (_, Some(_)) => return None,
        }
        // Nested markers in a base come from git's virtual ancestor, which nobody wrote.
        base = base.filter(|_| part != Part::Base || found.is_none_or(|it| it.kind != START));
        if matches!(part, Part::Outside | Part::Ours) {
            split.ours.push_str(line);
        }
        if matches!(part, Part::Outside | Part::Theirs) {
            split.theirs.push_str(line);
        }
        if let (Part::Outside | Part::Base, Some(base)) = (part, &mut base) {
            base.push_str(line);
        }
    }
    split.base = base;
    (split.line > 0 && part == Part::Outside).then_some(split)
}

/// A marker line.
#[derive(Clone, Copy)]
struct Marker<'a> {
    kind: &'static str,
    /// How often the character is repeated.
    size: usize,
    label: &'a str,
}

/// Parses a marker line.
fn marker(line: &str) -> Option<Marker<'_>> {
    let kinds = [START, BASE, MIDDLE, END];
    let kind = kinds.into_iter().find(|kind| line.starts_with(kind))?;
    let rest = line.trim_start_matches(&kind[..1]);
    let size = line.len() - rest.len();
    let rest = rest.trim_end_matches(['\r', '\n']);
    let label = match rest.strip_prefix(' ') {
        None if !rest.is_empty() => return None,
        label => label.unwrap_or_default(),
    };
    Some(Marker { kind, size, label })
}

/// Whether a line is a marker of any kind.
pub fn is_marker(line: &str) -> bool {
    marker(line).is_some()
}

/// Combines two texts, with a conflict for each place where they differ.
pub fn conflict(yours: &str, generated: &str) -> String {
    let mut options = diffy::DiffOptions::new();
    let patch = options
        .set_context_len(usize::MAX)
        .create_patch(yours, generated);
    let mut text = String::new();
    let (mut mine, mut new) = (String::new(), String::new());
    for line in patch.hunks().iter().flat_map(|hunk| hunk.lines()) {
        match line {
            diffy::Line::Delete(line) => mine.push_str(line),
            diffy::Line::Insert(line) => new.push_str(line),
            diffy::Line::Context(line) => {
                add_conflict(&mut text, &mut mine, &mut new);
                text.push_str(line);
            }
        }
    }
    add_conflict(&mut text, &mut mine, &mut new);
    text
}

/// Adds the pending lines of both sides as a conflict, if there are any.
fn add_conflict(text: &mut String, mine: &mut String, new: &mut String) {
    if mine.is_empty() && new.is_empty() {
        return;
    }
    for side in [&mut *mine, &mut *new] {
        if !side.is_empty() && !side.ends_with('\n') {
            side.push('\n');
        }
    }
    *text += &format!("{START} {YOURS}\n{mine}{MIDDLE}\n{new}{END} {GENERATED}\n");
    mine.clear();
    new.clear();
}

/// Combines two texts, with a conflict for each place where both changed `base`; without one, for each place where they differ.
pub fn conflict_from(base: &str, yours: &str, generated: &str) -> String {
    let mut options = diffy::MergeOptions::new();
    options
        .set_conflict_style(diffy::ConflictStyle::Merge)
        .set_incomplete_hunk_style(diffy::IncompleteHunkStyle::Git);
    match options.merge(base, yours, generated) {
        Ok(_) => conflict(yours, generated),
        Err(marked) => marked
            .split_inclusive('\n')
            .map(|line| match marker(line).map(|it| (it.kind, it.label)) {
                Some((START, "ours")) => format!("{START} {YOURS}\n"),
                Some((END, "theirs")) => format!("{END} {GENERATED}\n"),
                _ => line.to_owned(),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn both_texts_come_out_again(yours in "([ab=]{0,2}\n){0,8}", generated in "([ab=]{0,2}\n){0,8}") {
            let marked = conflict(&yours, &generated);
            match split(&marked) {
                None => prop_assert_eq!(yours, generated),
                Some(split) => prop_assert_eq!((split.ours, split.theirs), (yours, generated)),
            }
        }

        #[test]
        fn no_text_panics(text in "((<<<<<<<|=======|>>>>>>>|\\|{7})?[ a]{0,2}\r?\n?){0,12}") {
            let _ = split(&text);
        }
    }

    #[track_caller]
    fn check(text: &str, base: Option<&str>, ours: &str, theirs: &str) {
        let split = split(text).expect("a conflict");
        assert_eq!(split.base.as_deref(), base, "base");
        assert_eq!((split.ours.as_str(), split.theirs.as_str()), (ours, theirs));
    }

    #[test]
    fn a_text_is_split_into_its_sides() {
        check(
            "a\n<<<<<<< HEAD\nb\n=======\nc\nd\n>>>>>>> y\ne\n",
            None,
            "a\nb\ne\n",
            "a\nc\nd\ne\n",
        );
        check(
            "<<<<<<< HEAD\n||||||| 12\nb\n=======\nc\n>>>>>>> y\nx\n",
            Some("b\nx\n"),
            "x\n",
            "c\nx\n",
        );
        // One conflict of two shows no base: the whole text has none.
        check(
            "<<<<<<< H\na\n||||||| o\nb\n=======\nc\n>>>>>>> y\n<<<<<<< H\n=======\nd\n>>>>>>> y\n",
            None,
            "a\n",
            "c\nd\n",
        );
        // A file that both branches renamed.
        check(
            "<<<<<<<< HEAD:x\n<<<<<<<\n========\n=======\n>>>>>>>> y:z\n",
            None,
            "<<<<<<<\n",
            "=======\n",
        );
        check(
            "<<<<<<< H\r\na\r\n=======\r\n>>>>>>> y\r\n",
            None,
            "a\r\n",
            "",
        );
    }

    #[test]
    fn two_texts_become_one_with_conflicts() {
        let marked = conflict("a\nmine\nb\n", "a\nb\nnew");
        assert_eq!(
            marked,
            "a\n<<<<<<< yours\nmine\n=======\n>>>>>>> generated\nb\n\
             <<<<<<< yours\n=======\nnew\n>>>>>>> generated\n"
        );
        let split = split(&marked).unwrap();
        assert_eq!((split.own, split.line), (true, 2));
        assert_eq!(
            conflict_from("a\nb\nc\nd\n", "A\nb\nc\n1\n", "a\nb\nc\n2\n"),
            "A\nb\nc\n<<<<<<< yours\n1\n=======\n2\n>>>>>>> generated\n"
        );
    }

    #[test]
    fn a_text_without_a_conflict_has_no_sides() {
        for text in [
            "",
            "a\n=======\nb\n",
            "<<<<<<< H\na\n",
            "<<<<<<< H\na\n=======\nb\n",
            "<<<<<<< H\n<<<<<<< H\n=======\n>>>>>>> y\n",
            " <<<<<<< H\na\n=======\nb\n>>>>>>> y\n",
            "<<<<<<<H\na\n=======\nb\n>>>>>>> y\n",
        ] {
            assert_eq!(split(text), None, "{text:?}");
        }
    }
}
