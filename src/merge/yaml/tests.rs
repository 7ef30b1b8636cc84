//! Lists of YAML by entry, and the comments in them.

use super::*;

fn check(base: &str, ours: &str, theirs: &str, expected: &str) {
    assert_eq!(merge(base, ours, theirs), Ok(expected.to_owned()));
}

#[test]
fn entries_are_added_beside_the_users_own() {
    check(
        "resources:\n- a.yaml\n- b.yaml\n",
        "resources:\n# first\n- a.yaml\n- mine.yaml\n- b.yaml\nlabels: []\n",
        "resources:\n- a.yaml\n- b.yaml\n- c.yaml\n",
        "resources:\n# first\n- a.yaml\n- mine.yaml\n- b.yaml\n- c.yaml\nlabels: []\n",
    );
}

#[test]
fn what_stays_keeps_its_columns_and_the_end_of_the_file() {
    let (one, two) = ("r:\n  # why\n  - a\n", "r:\n  # why\n  - a\n  - b\n");
    let (mine, both) = ("r:\n  # why\n    - a\n", "r:\n  # why\n    - a\n    - b\n");
    check(one, mine, two, both);
    check(two, both, one, mine);
    check(one, one.trim_end(), two, two.trim_end());
    check(two, two.trim_end(), one, one.trim_end());
    // What stands in a text is no comment.
    let text = "  - patch: |-\n      # note\n      - op: x\n";
    check(
        &format!("r:\n  # note\n  - a\n{text}"),
        &format!("r:\n  # note\n  - a\n{text}  - mine\n"),
        &format!("r:\n{text}"),
        &format!("r:\n{text}  - mine\n"),
    );
}

#[test]
fn entries_are_removed_and_the_users_stay() {
    check(
        "resources:\n- a.yaml\n- b.yaml\n",
        "resources:\n- mine.yaml\n- a.yaml\n- b.yaml\n",
        "resources:\n- a.yaml\n",
        "resources:\n- mine.yaml\n- a.yaml\n",
    );
}

#[test]
fn a_comment_above_an_entry_is_no_edit_of_it_and_stays() {
    check(
        "resources:\n- a.yaml\n- b.yaml\n",
        "resources:\n# the first\n- a.yaml\n# the second\n- b.yaml\n",
        "resources:\n- b.yaml\n",
        "resources:\n# the first\n# the second\n- b.yaml\n",
    );
    check(
        "resources:\n- a\n# theirs\n- b\n",
        "resources:\n- a\n# theirs\n# mine\n- b\n# end\n",
        "resources:\n- a\n",
        "resources:\n- a\n# mine\n# end\n",
    );
    check(
        "resources:\n  - a\n",
        "resources:\n  # mine\n  - a\n",
        "resources: []\n",
        "resources: []\n  # mine\n",
    );
}

#[test]
fn a_value_is_known_whatever_quotes_and_comment_it_has() {
    let forms = [
        "a.yaml # mine",
        "\"a.yaml\"",
        "'a.yaml' # mine",
        " a.yaml\t# mine",
    ];
    for form in forms {
        let ours = format!("resources:\n- {form}\n- b.yaml\n");
        let comment = if form.contains('#') { "# mine\n" } else { "" };
        check(
            "resources:\n- a.yaml\n- b.yaml\n",
            &ours,
            "resources:\n- b.yaml\n",
            &format!("resources:\n{comment}- b.yaml\n"),
        );
        check(
            "resources:\n- a.yaml\n- b.yaml\n",
            &ours,
            "resources:\n- a.yaml\n- b.yaml\n- c.yaml\n",
            &format!("{ours}- c.yaml\n"),
        );
        check(
            "resources:\n- b.yaml\n",
            &ours,
            "resources:\n- a.yaml\n- b.yaml\n",
            &ours,
        );
        check("", &ours, "resources:\n- a.yaml\n- b.yaml\n", &ours);
    }
}

#[test]
fn a_comment_beside_an_entry_that_goes_stands_above_the_next_one() {
    check(
        "resources:\n  - a\n  - b\n",
        "resources:\n  # above\n  - \"a\" # beside\n  - b\n",
        "resources:\n  - b\n",
        "resources:\n  # above\n  # beside\n  - b\n",
    );
    check(
        "resources:\n  - a # theirs\n",
        "resources:\n  - a # mine # too\n",
        "resources: []\n",
        "resources: []\n  # mine # too\n",
    );
    check(
        "resources:\n  - a # theirs\n  - b\n",
        "resources:\n  - 'a' # theirs\n  - b\n",
        "resources:\n  - b\n",
        "resources:\n  - b\n",
    );
    // A new name for it.
    check(
        "resources:\n- a\n- c\n",
        "resources:\n- a # mine\n- c\n",
        "resources:\n- b\n- c\n",
        "resources:\n- b\n# mine\n- c\n",
    );
}

#[test]
fn a_value_of_the_user_in_several_forms_is_that_value() {
    check(
        "a:\n- x\n- y\n",
        "a:\n- x # one\n- y\n- 'x' # two\n",
        "a:\n- y\n- z\n",
        "a:\n# one\n- y\n- z\n# two\n",
    );
}

#[test]
fn quotes_make_no_comment_and_another_value_is_another_entry() {
    let quoted = ["\"a # b\"", "'it''s # a'", "\"\\\" # a\"", "\"1\""];
    for other in quoted.into_iter().chain(["a#b", "./a", "|"]) {
        check(
            "l:\n- a\n- 1\n- z\n",
            &format!("l:\n- a\n- 1 # one\n- {other}\n- z\n"),
            "l:\n- z\n",
            &format!("l:\n# one\n- {other}\n- z\n"),
        );
        check(
            &format!("l:\n- {other}\n- z\n"),
            &format!("l:\n- {other} # mine\n- z\n- y\n"),
            "l:\n- z\n",
            "l:\n# mine\n- z\n- y\n",
        );
    }
}

#[test]
fn a_comment_beside_the_key_stays() {
    check(
        "resources:\n- a\n",
        "resources:  # mine\n- a\n",
        "resources:\n- a\n- b\n",
        "resources:  # mine\n- a\n- b\n",
    );
    check(
        "resources: []\n",
        "resources: [] # mine\n",
        "resources:\n- a\n",
        "resources: # mine\n- a\n",
    );
}

#[test]
fn an_entry_that_the_user_dropped_stays_dropped() {
    check(
        "resources:\n- a.yaml\n- b.yaml\n",
        "resources:\n- b.yaml\n",
        "resources:\n- a.yaml\n- b.yaml\n- c.yaml\n",
        "resources:\n- b.yaml\n- c.yaml\n",
    );
}

#[test]
fn the_last_entry_goes_and_the_first_comes() {
    check(
        "resources:\n- a\n",
        "# hi\nresources:\n- a\n",
        "resources: []\n",
        "# hi\nresources: []\n",
    );
    check(
        "resources: []\n",
        "# hi\nresources: []\n",
        "resources:\n- a\n",
        "# hi\nresources:\n- a\n",
    );
}

#[test]
fn entries_of_several_lines_move_as_one() {
    check(
        "patches:\n- path: a\n  target:\n    kind: Deployment\n",
        "patches:\n- path: a\n  target:\n    kind: Deployment\n- path: mine\n",
        "patches:\n- path: a\n  target:\n    kind: Deployment\n- path: b\n  target:\n    kind: Service\n",
        "patches:\n- path: a\n  target:\n    kind: Deployment\n- path: b\n  target:\n    kind: Service\n- path: mine\n",
    );
}

#[test]
fn an_existing_file_is_adopted() {
    check(
        "",
        "resources:\n- mine\n",
        "resources:\n- a\n",
        "resources:\n- mine\n- a\n",
    );
}

#[test]
fn the_users_indentation_is_kept() {
    check(
        "resources:\n  - a\n",
        "resources:\n- mine\n- a\n",
        "resources:\n  - a\n  - b\n",
        "resources:\n- mine\n- a\n- b\n",
    );
    check(
        "resources: []\n",
        "# mine\nresources: []\n",
        "resources:\n  # above\n  - a\n",
        "# mine\nresources:\n  # above\n  - a\n",
    );
}

#[test]
fn what_stands_below_the_last_entry_stays() {
    check(
        "resources:\n  - a\n  # - off\n",
        "resources:\n  - a\n  - mine\n  # - off\n",
        "resources:\n  - a\n  - b\n  # - off\n",
        "resources:\n  - a\n  - b\n  - mine\n  # - off\n",
    );
    check(
        "resources:\n  - a\n  # Why.\n  # - off\n",
        "resources:\n  - a\n  # Why.\n  - off\n",
        "resources:\n  - a\n  - b\n  # Why.\n  # - off\n",
        "resources:\n  - a\n  - b\n  # Why.\n  - off\n",
    );
}

#[test]
fn comments_above_entries_follow_the_template_unless_they_were_edited() {
    check(
        "resources:\n# one\n- a\n# two\n- b\n",
        "resources:\n# one\n- a\n# mine\n- b\n- mine\n",
        "resources:\n# first\n- a\n# second\n- b\n- c\n",
        "resources:\n# first\n- a\n# mine\n- b\n- c\n- mine\n",
    );
}

#[test]
fn an_entry_that_both_changed_is_merged_by_line() {
    check(
        "patches:\n- path: a\n  x: 1\n  y: 1\n",
        "patches:\n- path: a\n  x: 2\n  y: 1\n",
        "patches:\n- path: a\n  x: 1\n  y: 2\n",
        "patches:\n- path: a\n  x: 2\n  y: 2\n",
    );
    assert_eq!(
        merge(
            "a:\n- b: 1\n  c: 1\n",
            "a:\n- b: 1\n  c: 2\n",
            "a:\n- b: 1\n  c: 3\n"
        ),
        Err(ConflictKind::Overlap)
    );
}

#[test]
fn entries_that_begin_alike_are_merged_by_line() {
    check(
        "a:\n- op: add\n  x: 1\n- op: add\n  x: 2\nb: 1\n",
        "a:\n- op: add\n  x: 1\n- op: add\n  x: 2\nb: 9\n",
        "a:\n- op: add\n  x: 3\n- op: add\n  x: 2\nb: 1\n",
        "a:\n- op: add\n  x: 3\n- op: add\n  x: 2\nb: 9\n",
    );
}

#[test]
fn documents_are_merged_by_line() {
    check(
        "a:\n- x\n---\na:\n- x\n",
        "a:\n- mine\n- x\n---\na:\n- x\n",
        "a:\n- x\n---\na:\n- x\n- y\n",
        "a:\n- mine\n- x\n---\na:\n- x\n- y\n",
    );
}

#[test]
fn a_scalar_is_merged_by_line() {
    check(
        "a: 1\nb: 2\n\n\nc: 3\n",
        "a: 9\nb: 2\n\n\nc: 3\n",
        "a: 1\nb: 2\n\n\nc: 4\n",
        "a: 9\nb: 2\n\n\nc: 4\n",
    );
    assert_eq!(
        merge("a: 1\n", "a: 2\n", "a: 3\n"),
        Err(ConflictKind::Overlap)
    );
}
