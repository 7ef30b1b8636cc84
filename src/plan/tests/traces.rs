//! Files that git could not merge, and files with conflict markers.

use super::*;
use crate::git::Unmerged;

const FILE: &str = "src/tool.rs";
const OLD: &str = "mod a;\n\nfn a() {}\n";
const NEW: &str = "mod a;\nmod b;\n\nfn a() {}\n";
const EDITED: &str = "mod a;\n\nfn a() {}\n// mine\n";
const BOTH: &str = "mod a;\nmod b;\n\nfn a() {}\n// mine\n";
/// An edit that conflicts with [`NEW`].
const CLASHING: &str = "mod a;\nfn mine() {}\n\nfn a() {}\n";

/// A project of which `applied` is remembered and `disk` is there, while git has `ours` and `theirs`, made from [`OLD`].
fn merged(applied: &str, disk: &str, ours: &str, theirs: &str) -> Inputs {
    let mut world = Inputs::of_project();
    world.apply(&desired(&[(FILE, Owner::Tool, applied)]));
    world.write(FILE, disk);
    let git = Unmerged {
        base: Some(OLD.to_owned()),
        ours: Some(ours.to_owned()),
        theirs: Some(theirs.to_owned()),
    };
    world.git.texts.insert(path(FILE), git);
    world
}

fn wanted() -> Tree {
    desired(&[(FILE, Owner::Tool, NEW)])
}

fn notes(set: &ChangeSet) -> Vec<NoteKind> {
    set.notes.iter().map(|note| note.what).collect()
}

/// Checks the text and the notes after one plan, and after the next.
#[track_caller]
fn check(mut world: Inputs, expected: &str, expected_notes: &[NoteKind]) {
    for _ in 0..2 {
        let set = world.apply(&wanted());
        assert_eq!(world.read(FILE).as_deref(), Some(expected));
        assert_eq!(notes(&set), expected_notes);
    }
    assert_eq!(world.plan(&wanted()).all().count(), 0);
}

#[test]
fn an_edit_of_one_branch_is_merged_with_the_generated_text_of_the_other() {
    let edited = [NoteKind::Edited];
    check(merged(NEW, EDITED, EDITED, NEW), BOTH, &edited);
    // The same merge the other way round.
    check(merged(NEW, NEW, NEW, EDITED), BOTH, &edited);
    // The user's resolution is merged with the desired text, too; an edit that it left out stays out.
    check(merged(NEW, EDITED, EDITED, BOTH), BOTH, &edited);
    check(merged(NEW, OLD, EDITED, NEW), NEW, &[]);
    check(merged(NEW, BOTH, EDITED, NEW), BOTH, &edited);
    // Both branches have it.
    let (theirs, all) = (format!("// top\n{NEW}"), format!("// top\n{BOTH}"));
    check(merged(NEW, EDITED, EDITED, &theirs), &all, &edited);
}

#[test]
fn an_edit_that_conflicts_with_the_generated_text_of_the_other_branch_is_a_conflict() {
    let left_by_git = |disk| {
        let theirs = if disk == NEW { CLASHING } else { NEW };
        merged(NEW, disk, disk, theirs)
    };
    for disk in [CLASHING, NEW] {
        let mut world = left_by_git(disk);
        let conflicts = world.plan(&wanted()).conflicts;
        let edit = Some(CLASHING.to_owned());
        assert_eq!(conflicts[0].why, ConflictKind::EditedOnBranch(edit));
        // The edit, whichever text git left.
        world.policy = Policy::Keep;
        let set = world.apply(&wanted());
        assert_eq!(notes(&set), [NoteKind::Kept]);
        assert_eq!(world.read(FILE).as_deref(), Some(CLASHING));
        world.policy = Policy::Abort;
        world.git.progress = Progress::Synced;
        assert_eq!(world.plan(&wanted()).conflicts, []);

        let mut world = left_by_git(disk);
        world.policy = Policy::Take;
        let set = world.apply(&wanted());
        assert_eq!(notes(&set), [NoteKind::LeftOut]);
        assert_eq!(world.read(FILE).as_deref(), Some(NEW));

        let mut world = left_by_git(disk);
        world.policy = Policy::Markers;
        let set = world.apply(&wanted());
        assert_eq!(notes(&set), [NoteKind::Markers]);
        let text = world.read(FILE).unwrap();
        assert!(
            text.contains("fn mine() {}") && text.contains("mod b;"),
            "{text}"
        );
        world.policy = Policy::Abort;
        assert_eq!(notes(&world.plan(&wanted())), [NoteKind::Markers]);
    }
    // A resolution by hand is no conflict, and gets the note of a kept file while it lacks generated lines.
    let mut world = merged(NEW, EDITED, EDITED, NEW);
    world.write(FILE, CLASHING);
    let set = world.plan(&wanted());
    assert_eq!((notes(&set), set.changes.len()), (vec![NoteKind::Kept], 0));
}

#[test]
fn a_merge_committed_with_the_text_of_one_branch_gets_the_other() {
    let committed = |disk: &str| {
        let mut world = merged(NEW, disk, disk, NEW);
        world.git.progress = Progress::Committed;
        world
    };
    check(committed(EDITED), BOTH, &[NoteKind::Edited]);
    // It may have been meant so.
    check(committed(CLASHING), CLASHING, &[NoteKind::Kept]);
}

#[test]
fn a_file_owned_on_one_branch_is_outdated_by_the_other() {
    let mut world = Inputs::of_project();
    world.owned.insert(path(FILE));
    let tree = desired(&[(FILE, Owner::User, NEW)]);
    world.apply(&tree);
    world.write(FILE, EDITED);
    let row = world.memory.rows.get_mut(&path(FILE)).unwrap();
    row.any_of.push(Digest::of(&path(FILE), OLD.as_bytes()));
    assert_eq!(notes(&world.apply(&tree)), [NoteKind::Outdated]);
    assert_eq!(world.plan(&tree), ChangeSet::default());
}

#[test]
fn a_user_file_that_both_branches_created_keeps_one_row() {
    let tree = desired(&[("user", Owner::User, "c\n")]);
    let rows = |world: &Inputs| world.memory.rows[&path("user")].any_of.clone();
    let digest = |text: &str| Digest::of(&path("user"), text.as_bytes());
    for (disk, rows_of, left) in [
        (Some("a\n"), ["b\n", "a\n"], "a\n"),
        (Some("mine\n"), ["c\n", "a\n"], "c\n"),
        (None, ["c\n", "a\n"], "c\n"),
    ] {
        let mut world = Inputs::of_project();
        world.apply(&tree);
        let found = disk.map_or(Found::Absent, |text| Found::File(text.into()));
        world.found.insert(path("user"), found);
        let row = world.memory.rows.get_mut(&path("user")).unwrap();
        row.any_of = rows_of.map(digest).to_vec();
        world.apply(&tree);
        assert_eq!(rows(&world), [digest(left)]);
        assert_eq!(world.plan(&tree).all().count(), 0);
    }
}

/// Conflict markers as git writes them.
const MARKERS: &str = "<<<<<<< HEAD\nx: 1\n=======\nx: 2\n>>>>>>> other\n";

#[test]
fn desired_changes_wait_for_markers_of_git() {
    let file = "config/kustomization.yaml";
    let tree = |list: &str| desired(&[(file, Owner::Shared, &format!("resources:\n{list}"))]);
    let mut world = Inputs::of_project();
    world.apply(&tree("- a\n"));
    world.write(file, &format!("resources:\n- a\n{MARKERS}"));
    for policy in [Policy::Abort, Policy::Markers] {
        world.policy = policy;
        let conflicts = world.plan(&tree("- a\n- b\n")).conflicts;
        assert_eq!(conflicts[0].why, ConflictKind::Markers(3));
        assert!(!conflicts[0].why.can_be_marked());
    }
    world.write(file, "x: 1\nresources:\n- a\n");
    world.apply(&tree("- a\n- b\n"));
    assert_eq!(
        world.read(file).as_deref(),
        Some("x: 1\nresources:\n- a\n- b\n")
    );
}

#[test]
fn a_file_that_cannot_take_markers_is_a_conflict() {
    let mut world = Inputs::of_project();
    world.policy = Policy::Markers;
    world
        .found
        .insert(path("user"), Found::File(vec![0xff, 0xfe]));
    let conflicts = world
        .plan(&desired(&[("user", Owner::User, "u\n")]))
        .conflicts;
    assert_eq!(conflicts[0].why, ConflictKind::NoText);

    let mut world = Inputs::of_project();
    world.policy = Policy::Markers;
    world.apply(&desired(&[(FILE, Owner::Tool, OLD)]));
    world.write(FILE, &EDITED.replace("mod", "// mine\nmod"));
    assert_eq!(notes(&world.apply(&wanted())), [NoteKind::Markers]);
    let newer = desired(&[(FILE, Owner::Tool, &NEW.replace("mod a", "mod c"))]);
    let conflicts = world.plan(&newer).conflicts;
    assert!(
        matches!(conflicts[0].why, ConflictKind::Markers(_)),
        "{conflicts:?}"
    );
}

#[test]
fn conflict_markers_in_a_user_file_may_be_an_example() {
    for (file, text, told) in [
        ("README.md", MARKERS.to_owned(), vec![]),
        (
            "README.md",
            MARKERS.replace("HEAD", "yours"),
            vec![NoteKind::Markers],
        ),
        ("src/user.rs", MARKERS.to_owned(), vec![NoteKind::Markers]),
        ("src/user.rs", format!("/*\n{MARKERS}*/\n"), vec![]),
    ] {
        let mut world = Inputs::of_project();
        let tree = desired(&[(file, Owner::User, "fn a() {}\n")]);
        world.apply(&tree);
        world.write(file, &text);
        assert_eq!(notes(&world.plan(&tree)), told, "{file} {text}");
        world.git.texts.insert(path(file), Unmerged::default());
        assert_eq!(notes(&world.plan(&tree)), [NoteKind::Markers]);
    }
}

#[test]
fn an_unmerged_user_file_has_a_note_until_it_is_merged() {
    let git = |ours: &str, theirs: Option<&str>| Unmerged {
        base: Some(OLD.to_owned()),
        ours: Some(ours.to_owned()),
        theirs: theirs.map(str::to_owned),
    };
    for (disk, git, told) in [
        (EDITED, git(EDITED, Some(NEW)), &[NoteKind::Unmerged][..]),
        (OLD, git(OLD, Some(NEW)), &[NoteKind::Unmerged]),
        (EDITED, git(EDITED, Some(OLD)), &[]),
        (EDITED, git(EDITED, None), &[]),
        (BOTH, git(EDITED, Some(NEW)), &[]),
    ] {
        let mut world = Inputs::of_project();
        let tree = desired(&[(FILE, Owner::User, OLD)]);
        world.apply(&tree);
        world.write(FILE, disk);
        world.git.texts.insert(path(FILE), git);
        assert_eq!(notes(&world.plan(&tree)), told, "{disk}");
    }
}

#[test]
fn a_file_of_mixed_line_ends_is_no_change() {
    let tree = |text: &str| desired(&[("Makefile", Owner::Shared, text)]);
    let mut world = Inputs::of_project();
    world.apply(&tree("a\nb\nc\n"));
    world.write("Makefile", "A\nb\r\nc\r\nD\r\n");
    world.apply(&tree("a\nb\nc\nD\n"));
    assert_eq!(
        world.read("Makefile").as_deref(),
        Some("A\nb\r\nc\r\nD\r\n")
    );
    world.apply(&tree("a\nb\nx\nD\n"));
    assert_eq!(
        world.read("Makefile").as_deref(),
        Some("A\r\nb\r\nx\r\nD\r\n")
    );
}

#[test]
fn desired_changes_wait_for_markers_of_the_user() {
    let tree = |text: &str| desired(&[("Makefile", Owner::Shared, text)]);
    let mut world = Inputs::of_project();
    world.apply(&tree("a\nb\nc\n"));
    world.write(
        "Makefile",
        "<<<<<<< yours\nA\n=======\na\n>>>>>>> generated\nb\nc\n",
    );
    assert_eq!(notes(&world.apply(&tree("a\nb\nC\n"))), [NoteKind::Markers]);
    world.write("Makefile", "A\nb\nc\n");
    world.apply(&tree("a\nb\nC\n"));
    assert_eq!(world.read("Makefile").as_deref(), Some("A\nb\nC\n"));
}

#[test]
fn the_project_keeps_its_line_ends() {
    let mut world = Inputs::of_project();
    world.write("PROJECT", "old\r\n");
    world.project = "new\n".to_owned();
    let record = world.plan(&Tree::new()).record;
    let project = record
        .iter()
        .find(|change| change.path.as_str() == "PROJECT");
    assert_eq!(project.unwrap().after.as_deref(), Some(&b"new\r\n"[..]));
}

#[test]
fn the_texts_of_a_branch_go_with_a_file_that_moves() {
    let moved = |text: &str| {
        let mut tree = desired(&[("new/tool", Owner::Tool, text)]);
        for file in tree.values_mut() {
            file.former = vec![path("tool")];
        }
        tree
    };
    let mut world = Inputs::of_project();
    world.apply(&desired(&[("tool", Owner::Tool, "1\n")]));
    let unmerged = Unmerged {
        ours: Some("1\n".to_owned()),
        theirs: Some("mine\n".to_owned()),
        ..Unmerged::default()
    };
    world.git.texts = [(path("tool"), unmerged)].into();
    let conflicts = world.plan(&moved("2\n")).conflicts;
    assert_eq!(conflicts[0].path, path("tool"));
    let edit = Some("mine\n".into());
    assert_eq!(conflicts[0].why, ConflictKind::EditedOnBranch(edit));
}

#[test]
fn desired_changes_wait_for_markers_in_a_tool_file() {
    let tree = |text: &str| desired(&[("tool", Owner::Tool, text)]);
    let mut world = Inputs::of_project();
    world.apply(&tree("a\nb\nc\nd\n"));
    world.write(
        "tool",
        "<<<<<<< yours\nA\n=======\na\n>>>>>>> generated\nb\nc\nd\n",
    );
    let base = b"a\nb\nc\nd\n".to_vec().into();
    world.applied.insert(path("tool"), base);
    let conflicts = world.plan(&tree("a\nb\nc\nD\n")).conflicts;
    assert_eq!(conflicts[0].why, ConflictKind::Markers(1));
}
