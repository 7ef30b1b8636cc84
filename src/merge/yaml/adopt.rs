//! A file that was there before the project: what it lacks is added, what it says otherwise stays.

use super::{
    block::{key_of, keys},
    is_several, merge_list,
};
use crate::change::ConflictKind;

/// A top-level key, with the comments above it and all that it holds.
struct Section<'a> {
    key: &'a str,
    text: String,
}

/// Adds to `ours` the entries and keys of `theirs` that are not in it.
pub fn merge(ours: &str, theirs: &str) -> Result<String, ConflictKind> {
    if is_several(ours) {
        return Ok(ours.to_owned());
    }
    let mut merged = ours.to_owned();
    for key in keys(theirs) {
        if keys(ours).contains(&key) {
            (_, merged) = merge_list(key, "", &merged, theirs)?;
        }
    }
    let (head, mut sections) = sections(&merged);
    let (_, wanted) = self::sections(theirs);
    let order: Vec<&str> = wanted.iter().map(|section| section.key).collect();
    for (at, section) in wanted.into_iter().enumerate() {
        let place_of = |key: &&str| sections.iter().position(|it| it.key == *key);
        if place_of(&section.key).is_some() {
            continue;
        }
        let before = order[..at].iter().rev().find_map(place_of);
        let place = before.map_or(0, |place| place + 1);
        sections.insert(place, section);
    }
    let sections = sections.into_iter().map(|section| section.text);
    let mut merged = head + &sections.collect::<String>();
    if !ours.is_empty() && !ours.ends_with('\n') {
        merged.pop();
    }
    Ok(merged)
}

/// What stands above the first document's keys, and the keys. Every line has an end.
fn sections(text: &str) -> (String, Vec<Section<'_>>) {
    let (mut head, mut sections, mut above) =
        (String::new(), Vec::<Section<'_>>::new(), String::new());
    for line in text.lines() {
        let ended = format!("{line}\n");
        if let Some(key) = key_of(line) {
            let text = std::mem::take(&mut above) + &ended;
            sections.push(Section { key, text });
        } else if line.trim().is_empty() || line.starts_with('#') {
            above += &ended;
        } else {
            let text = sections
                .last_mut()
                .map_or(&mut head, |section| &mut section.text);
            *text += &std::mem::take(&mut above);
            *text += &ended;
        }
    }
    let text = sections
        .last_mut()
        .map_or(&mut head, |section| &mut section.text);
    *text += &above;
    (head, sections)
}

#[cfg(test)]
mod tests {
    use crate::{change::ConflictKind, merge::yaml};

    const THEIRS: &str =
        "# top\napiVersion: v1\nkind: K\nname: n\nresources:\n  # one\n  - a\n  # two\n  # - b\n";

    #[track_caller]
    fn check(ours: &str, expected: &str) {
        let merged = yaml::merge("", ours, THEIRS);
        assert_eq!(merged.as_deref(), Ok(expected), "{ours}");
        // Nothing is missing any more.
        assert_eq!(yaml::merge("", expected, THEIRS).as_deref(), Ok(expected));
    }

    #[track_caller]
    fn refused(ours: &str, why: &str) {
        match yaml::merge("", ours, THEIRS) {
            Err(ConflictKind::Foreign { what, .. }) => assert_eq!(what, why),
            other => panic!("{ours}: {other:?}"),
        }
    }

    #[test]
    fn keys_and_entries_that_are_missing_are_added() {
        let header = "# top\napiVersion: v1\nkind: K\n";
        let list = "  # one\n  - a\n  # two\n  # - b\n";
        check(
            "resources:\n  - mine\n",
            &format!("{header}name: n\nresources:\n  - mine\n{list}"),
        );
        check(
            "kind: K\n# mine\nresources:\n  - mine\nname: mine\n",
            &format!("{header}# mine\nresources:\n  - mine\n{list}name: mine\n"),
        );
        check(
            "---\nname: n\nmine: 1\n",
            &format!("---\n{header}name: n\nresources:\n{list}mine: 1\n"),
        );
        // What stands commented out in the new text is an entry already.
        check(
            "\u{feff}resources:\n- 'b'",
            &format!("\u{feff}{header}name: n\nresources:\n# one\n- a\n- 'b'"),
        );
    }

    #[test]
    fn lists_of_other_shapes_get_the_entries_or_are_refused() {
        let header = "# top\napiVersion: v1\nkind: K\nname: n\n";
        for (ours, merged) in [
            ("[mine]\n", "[mine, a]\n"),
            ("[ mine, ] # [x]\n", "[ mine, a ] # [x]\n"),
            ("[\"]\"]", "[\"]\", a]"),
            ("['a' ,b]\n", "['a' ,b]\n"),
        ] {
            let merged = format!("{header}resources: {merged}");
            check(&format!("resources: {ours}"), &merged);
        }
        let list = "  # one\n  - a\n  # none\n  # two\n  # - b\n";
        check(
            "resources:\n  # none\n",
            &format!("{header}resources:\n{list}"),
        );
        let lacks = "lacks `a` in `resources`, where it cannot be added to what is there";
        refused("resources: [\n  mine\n]\n", lacks);
        refused("resources: null\n", lacks);
        refused("resources: [mine]\n---\nresources: []\n", lacks);
        refused("kind: L\n", "is of another `kind` than the project's");
    }

    #[test]
    fn entries_that_only_begin_alike_are_both_there() {
        let merged = |ours| yaml::merge("", ours, "l:\n- pairs:\n    a: b\n");
        let mine = "l:\n- pairs:\n    c: d\n";
        assert_eq!(merged(mine), Ok(format!("{mine}- pairs:\n    a: b\n")));
        let same = "l:\n- pairs:\n      'a': b\n";
        assert_eq!(merged(same).as_deref(), Ok(same));
    }
}
