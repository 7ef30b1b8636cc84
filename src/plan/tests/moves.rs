//! Files that move with their templates.

use super::*;

/// [`NEW`] with every file below `new/`, where the templates of [`OLD`] moved.
fn moved() -> Tree {
    let file = |(at, mut file): (RelPath, File)| {
        file.former = vec![path("nowhere"), at.clone()];
        (path(&format!("new/{at}")), file)
    };
    desired(&NEW).into_iter().map(file).collect()
}

#[test]
fn files_move_with_their_templates() {
    let mut world = Inputs::of_project();
    world.apply(&desired(&OLD));
    let set = world.apply(&moved());
    let visible = set
        .visible()
        .map(|change| (change.action.word(), change.path.as_str()));
    let expected = [
        ("delete", "Makefile"),
        ("move", "new/Makefile"),
        ("move", "new/tool"),
        ("move", "new/user"),
        ("delete", "tool"),
        ("delete", "user"),
    ];
    assert_eq!(
        visible
            .filter(|(_, path)| *path != "PROJECT")
            .collect::<Vec<_>>(),
        expected
    );
    assert_eq!(set.record.last().unwrap().path.as_str(), memory::LOCK);
    assert_eq!(set.moved[&path("new/user")], path("user"));
    assert_eq!(world.read("new/tool").as_deref(), Some("2\n"));
    assert_eq!(world.read("new/user").as_deref(), Some("u\n"));
    assert_eq!(
        world.read(".operator-forge/base/new/Makefile").as_deref(),
        Some("a\nb\nc\nD\n")
    );
    assert_eq!(world.read(".operator-forge/base/Makefile"), None);
    assert_eq!(world.plan(&moved()), ChangeSet::default());
}

#[test]
fn edits_and_deletions_move_with_the_file() {
    let mut world = Inputs::of_project();
    world.apply(&desired(&OLD));
    world.write("Makefile", "A\nb\nc\nd\n");
    world.write("user", "mine\n");
    world.write("tool", "mine\n");
    assert_eq!(world.plan(&moved()).conflicts[0].path, path("tool"));
    world.found.insert(path("tool"), Found::Absent);
    world.apply(&moved());
    assert_eq!(world.read("new/Makefile").as_deref(), Some("A\nb\nc\nD\n"));
    assert_eq!(world.read("new/user").as_deref(), Some("mine\n"));
    assert_eq!(world.read("new/tool").as_deref(), Some("2\n"));
    assert_eq!(world.read("Makefile"), None);
    assert_eq!(world.plan(&moved()), ChangeSet::default());

    let mut world = Inputs::of_project();
    world.apply(&desired(&OLD));
    world.found.insert(path("user"), Found::Absent);
    let set = world.apply(&moved());
    assert_eq!(world.read("new/user"), None);
    assert_eq!(set.notes[0].what, NoteKind::Missing);
}

#[test]
fn a_file_at_the_new_path_is_left_to_the_table() {
    let mut world = Inputs::of_project();
    world.apply(&desired(&OLD));
    world.write("new/user", "mine\n");
    let conflict = Conflict {
        path: path("new/user"),
        why: ConflictKind::Exists,
    };
    assert_eq!(world.plan(&moved()).conflicts, [conflict]);
}

#[test]
fn an_answer_goes_with_its_file() {
    let mut world = Inputs::of_project();
    world.apply(&desired(&OLD));
    world.write("tool", "mine\n");
    for (answer, kept) in [(Policy::Keep, "mine\n"), (Policy::Take, "2\n")] {
        world.answers = [(path("tool"), answer)].into();
        let set = world.plan(&moved());
        assert_eq!(set.conflicts, []);
        let there = |change: &&crate::change::Change| change.path == path("new/tool");
        let change = set.changes.iter().find(there).unwrap();
        assert_eq!(change.after.as_deref(), Some(kept.as_bytes()));
    }
}
