//! Manifests by key, and what the user wrote around the keys.

use super::*;

fn check(base: &str, ours: &str, theirs: &str, expected: &str) {
    assert_eq!(merge(base, ours, theirs), Ok(expected.to_owned()));
}

#[test]
fn dependencies_and_comments_of_the_user_stay() {
    check(
        "[dependencies]\nkube = \"5\"\nserde = \"1\"\n",
        "[dependencies]\n# ours\nreqwest = \"0.13\"\nkube = \"5\" # pinned\nserde = \"1\"\n",
        "[dependencies]\nkube = \"6\"\nserde = \"1\"\njiff = \"0.2\"\n",
        "[dependencies]\n# ours\nreqwest = \"0.13\"\nkube = \"6\" # pinned\nserde = \"1\"\njiff = \"0.2\"\n",
    );
}

#[test]
fn a_dependency_that_nobody_edited_is_written_as_the_template_has_it() {
    check(
        "[dependencies]\na.workspace = true\nb.workspace = true\nc = \"1\"\n",
        "[dependencies]\na.workspace = true\nb.workspace = true\nmine = \"1\"\nc = \"1\"\n",
        "[dependencies]\na = \"2\"\nb = { version = \"2\", features = [\"x\"] }\nc.workspace = true\n",
        "[dependencies]\na = \"2\"\nb = { version = \"2\", features = [\"x\"] }\nmine = \"1\"\nc.workspace = true\n",
    );
}

#[test]
fn features_are_merged_by_entry() {
    check(
        "tokio = { version = \"1\", features = [\"rt\"] }\n",
        "tokio = { version = \"1\", features = [\"rt\", \"fs\"] }\n",
        "tokio = { version = \"1\", features = [\"rt\", \"net\"] }\n",
        "tokio = { version = \"1\", features = [\"rt\", \"fs\", \"net\"] }\n",
    );
}

#[test]
fn removals_on_either_side_are_kept() {
    check(
        "a = 1\nb = 2\n",
        "a = 1\nc = 3\nb = 2\n",
        "b = 2\n",
        "c = 3\nb = 2\n",
    );
    check(
        "a = 1\nb = 2\n",
        "b = 2\nc = 3\n",
        "a = 9\nb = 2\n",
        "b = 2\nc = 3\n",
    );
}

#[test]
fn new_keys_stand_in_the_order_of_the_template_with_their_comments() {
    check(
        "[dependencies]\na = 1\nc = 3\n\n[lints]\nx = 1\n",
        "[dependencies]\na = 1\nmine = 9\nc = 3\n\n[mine]\ny = 2\n\n[lints]\nx = 1\n",
        "[dependencies]\na = 1\n# new\nb = 2\nc = 3\n\n# more\n[features]\nd = []\n\n[lints]\nx = 1\n",
        "[dependencies]\na = 1\nmine = 9\n# new\nb = 2\nc = 3\n\n[mine]\ny = 2\n\n[lints]\nx = 1\n\n# more\n[features]\nd = []\n",
    );
}

#[test]
fn comments_follow_the_template_where_lines_can_be_merged() {
    check(
        "# old\n[a]\nx = 1\n\n# one\ny = 2\n",
        "# old\n[a]\nx = 7\n\n# one\ny = 2\n# mine\n",
        "# new\n[a]\nx = 1\n\n# two\ny = 2\n",
        "# new\n[a]\nx = 7\n\n# two\ny = 2\n# mine\n",
    );
    // Neighbours: by key, and the comments are those of the user's file.
    check(
        "# old\nx = 1\n# one\ny = 2\n",
        "# mine\nx = 7\n# one\ny = 2\n",
        "# new\nx = 1\n# two\ny = 3\n",
        "# mine\nx = 7\n# one\ny = 3\n",
    );
}

#[test]
fn a_comment_of_the_user_about_a_key_that_goes_is_a_conflict() {
    for (base, ours, theirs) in [
        ("a = 1\n", "# why\na = 1\n", ""),
        ("a = 1\nb = 1\n", "a = 1 # so\nb = 1\n", "b = 1\n"),
        (
            "a = { x = 1 }\n",
            "a = {\n  # why\n  x = 1,\n}\n",
            "a = { x = 2 }\n",
        ),
    ] {
        assert_eq!(merge(base, ours, theirs), Err(ConflictKind::Overlap));
    }
    check(
        "# theirs\na = 1 # theirs\nb = 1\n",
        "# theirs\na = 1 # theirs\nb = 2\n",
        "b = 1\n",
        "b = 2\n",
    );
}

#[test]
fn a_dependency_that_the_user_wrote_out_gets_the_new_version() {
    check(
        "[dependencies]\nkube = \"5\"\n",
        "[dependencies]\nkube = { version = \"5\", features = [\"ws\"] }\n",
        "[dependencies]\nkube = \"6\"\n",
        "[dependencies]\nkube = { version = \"6\", features = [\"ws\"] }\n",
    );
}

#[test]
fn an_inline_table_keeps_its_lines() {
    let mine = "a = {\n  x = 1, # why\n  y = [\n    2,\n  ], # so\n}\n";
    check(
        "a = { x = 1, y = [2] }\nb = 1\n",
        &format!("{mine}b = 1\n"),
        "a = { x = 1, y = [2] }\nb = 2\n",
        &format!("{mine}b = 2\n"),
    );
    check(
        "a = { x = 1, y = 2 }\n",
        "a = { x = 9, y = 2 }\n",
        "a = { x = 1 }\n",
        "a = { x = 9 }\n",
    );
    check(
        "a = { x = 1, y = 2 }\n",
        "a = {\n  x = 9,\n  y = 2, # so\n}\n",
        "a = { x = 1 }\n",
        "a = {\n  x = 9, # so\n}\n",
    );
}

#[test]
fn white_space_inside_of_strings_counts() {
    check(
        "a = \"b c\"\n",
        "a = \"b c\"\nx = 1\n",
        "a = \"bc\"\n",
        "a = \"bc\"\nx = 1\n",
    );
}

#[test]
fn lists_keep_their_lines() {
    check(
        "a = [\n  \"x\",\n]\n",
        "a = [\n  \"x\", # why\n  \"mine\",\n]\n",
        "a = [\n  \"x\",\n  \"y\",\n]\n",
        "a = [\n  \"x\", # why\n  \"mine\",\n  \"y\",\n]\n",
    );
}

#[test]
fn of_a_table_that_goes_the_users_part_stays() {
    check(
        "a = 1\n[b]\nx = 1\ny = 2\n",
        "a = 1\n[b]\nx = 1\nmine = 3\ny = 2\n",
        "a = 1\n",
        "a = 1\n[b]\nmine = 3\n",
    );
}

#[test]
fn tables_of_tables_are_merged() {
    check(
        "[profile.release]\nlto = true\n",
        "[profile.release]\nlto = true\n\n[profile.dev]\ndebug = false\n",
        "[profile.release]\nlto = \"thin\"\n",
        "[profile.release]\nlto = \"thin\"\n\n[profile.dev]\ndebug = false\n",
    );
}

#[test]
fn a_comment_is_no_edit_and_stays() {
    check(
        "[a]\nx = 1\ny = 2\nz = [\n  1,\n]\n",
        "[a]\n# mine\nx = 1\ny = 2\nz = [\n  # mine\n  1,\n]\n",
        "[a]\nx = 9\ny = 2\nz = [\n  1,\n  2,\n]\n",
        "[a]\n# mine\nx = 9\ny = 2\nz = [\n  # mine\n  1,\n  2,\n]\n",
    );
}

#[test]
fn both_sides_changing_one_key_is_a_conflict() {
    assert_eq!(
        merge("a = 1\n", "a = 2\n", "a = 3\n"),
        Err(ConflictKind::Overlap)
    );
}

#[test]
fn the_manifest_of_another_package_is_not_adopted() {
    let theirs = "[package]\nname = \"theirs\"\n";
    assert!(matches!(
        merge("", "[package]\nname = \"mine\"\n", theirs),
        Err(ConflictKind::Foreign { .. })
    ));
}

#[test]
fn keys_of_the_user_keep_their_order() {
    check(
        "",
        "[package]\nname = \"k\"\nversion = \"1\"\nedition = \"2024\"\ndescription = \"mine\"\nauthors = [\"me\"]\n",
        "[package]\nname = \"k\"\nversion = \"0\"\nedition = \"2024\"\nrust-version = \"1.89\"\npublish = false\n",
        "[package]\nname = \"k\"\nversion = \"1\"\nedition = \"2024\"\ndescription = \"mine\"\nauthors = [\"me\"]\n\
         rust-version = \"1.89\"\npublish = false\n",
    );
    check(
        "",
        "[z]\nx = 1\n[b]\nx = 1\n[a]\ny = { d = 1, c = 1 }\n",
        "[a]\ny = { c = 1, d = 1 }\n[b]\nw = 1\nx = 1\n",
        "[z]\nx = 1\n[b]\nw = 1\nx = 1\n[a]\ny = { d = 1, c = 1 }\n",
    );
    // Added on both sides.
    check(
        "a = 1\n",
        "c = 1\na = 1\nb = 1\n",
        "a = 1\nb = 1\nc = 1\nd = 1\n",
        "c = 1\na = 1\nb = 1\nd = 1\n",
    );
}

#[test]
fn an_existing_manifest_is_adopted() {
    check(
        "",
        "[package]\nname = \"mine\"\n",
        "[package]\nname = \"mine\"\nedition = \"2024\"\n\n[dependencies]\nkube = \"5\"\n",
        "[package]\nname = \"mine\"\nedition = \"2024\"\n\n[dependencies]\nkube = \"5\"\n",
    );
    check(
        "",
        "# mine\n[workspace]\nmembers = []\n",
        "[package]\nname = \"demo\"\n\n[workspace]\nmembers = [\"a\"]\n",
        "# mine\n[workspace]\nmembers = [\"a\"]\n\n[package]\nname = \"demo\"\n",
    );
}

#[test]
fn lints_of_a_package_stand_beside_none_of_its_workspace() {
    let theirs = "[package]\nname = \"demo\"\n\n[workspace.lints.rust]\nunsafe_code = \"forbid\"\n\n[lints]\nworkspace = true\n";
    let own = "[package]\nname = \"demo\"\n\n[lints.clippy]\npedantic = \"warn\"\n";
    let merged = merge("", own, theirs).unwrap();
    assert!(!merged.contains("workspace = true"), "{merged}");
    assert!(merged.contains("pedantic"), "{merged}");
    // And what is left out stays left out.
    let newer = theirs.replace("forbid", "deny");
    let updated = merge(theirs, &merged, &newer).unwrap();
    assert_eq!(updated, merged.replace("forbid", "deny"));
}

#[test]
fn a_header_beside_the_users_braces_is_a_conflict() {
    for base in ["", "[a]\nx = 1\n"] {
        let merged = merge(base, "a = { x = 1 }\n", "[a]\nx = 1\n\n[a.b]\nz = 1\n");
        assert_eq!(merged, Err(ConflictKind::Overlap));
    }
}

#[test]
fn an_entry_is_added_in_the_lines_that_there_are() {
    for (list, expected) in [
        ("[]", "[\"z\"]"),
        ("[ ]", "[\"z\"]"),
        ("[\"a\",\"b\"]", "[\"a\",\"b\", \"z\"]"),
        ("[ \"a\" ]", "[ \"a\", \"z\" ]"),
        ("[\"a\", ]", "[\"a\", \"z\", ]"),
        ("[\n  \"a\", \"b\"\n]", "[\n  \"a\", \"b\", \"z\"\n]"),
        ("[\n  \"a\"]", "[\n  \"a\",\n  \"z\"]"),
        ("[\n  \"a\",\n]", "[\n  \"a\",\n  \"z\",\n]"),
        ("[\n\t\"a\"\n]", "[\n\t\"a\",\n\t\"z\"\n]"),
        ("[\n]", "[\"z\"]"),
    ] {
        check_push(list, expected);
    }
}

#[test]
fn a_comment_before_an_entry_stays_and_one_behind_the_last_is_a_conflict() {
    check_push(
        "[\n  # first\n  \"a\",\n]",
        "[\n  # first\n  \"a\",\n  \"z\",\n]",
    );
    check_push(
        "[\n  \"a\", # a\n  \"b\",\n]",
        "[\n  \"a\", # a\n  \"b\",\n  \"z\",\n]",
    );
    for list in ["[\n  \"a\", # a\n]", "[\n  \"a\" # a\n]", "[\n  # none\n]"] {
        let mut document: DocumentMut = format!("a = {list}\n").parse().unwrap();
        let list = document["a"].as_array_mut().unwrap();
        assert_eq!(push(list, "z".into()), Err(ConflictKind::Overlap));
    }
}

#[track_caller]
fn check_push(list: &str, expected: &str) {
    let mut document: DocumentMut = format!("a = {list}\n").parse().unwrap();
    push(document["a"].as_array_mut().unwrap(), "z".into()).unwrap();
    assert_eq!(document.to_string(), format!("a = {expected}\n"));
    document.to_string().parse::<DocumentMut>().unwrap();
}
