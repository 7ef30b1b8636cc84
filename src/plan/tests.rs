//! Plans of a small project with one file of each owner.

mod moves;
mod traces;

use super::*;
use crate::{
    change::{NoteKind, Policy},
    tree::{File, Tree},
};

pub(crate) fn path(text: &str) -> RelPath {
    text.parse::<RelPath>().unwrap()
}

pub(crate) fn desired(files: &[(&str, Owner, &str)]) -> Tree {
    let file = |owner, text: &str| File {
        owner,
        content: text.as_bytes().to_vec().into(),
        known: None,
        named: owner == Owner::User,
        former: Vec::new(),
    };
    files
        .iter()
        .map(|(at, owner, text)| (path(at), file(*owner, text)))
        .collect()
}

#[test]
fn a_named_file_is_created_with_its_content() {
    let mut tree = desired(&[("src/mine.rs", Owner::User, "template\n")]);
    let named = NamedFiles {
        created: vec![(path("src/mine.rs"), b"mine\n".to_vec().into())],
        ..NamedFiles::default()
    };
    named.start(&mut tree);
    let world = Inputs {
        named,
        ..Inputs::of_project()
    };
    let set = world.plan(&tree);
    let created = set
        .changes
        .iter()
        .find(|change| change.path.as_str() == "src/mine.rs");
    assert_eq!(created.unwrap().after.as_deref(), Some(&b"mine\n"[..]));
}

/// A project is the inputs of its next plan.
impl Inputs {
    pub(crate) fn of_project() -> Self {
        Self {
            project: "project".to_owned(),
            ..Self::default()
        }
    }

    pub(crate) fn plan(&self, desired: &Tree) -> ChangeSet {
        let inputs = Self {
            desired: desired.clone(),
            ..self.clone()
        };
        plan(&inputs).unwrap()
    }

    /// Applies the plan for `desired` and returns it.
    pub(crate) fn apply(&mut self, desired: &Tree) -> ChangeSet {
        let set = self.plan(desired);
        assert!(set.conflicts.is_empty(), "{:?}", set.conflicts);
        for change in set.all() {
            let found = match &change.after {
                Some(bytes) => Found::File(bytes.to_vec()),
                None => Found::Absent,
            };
            self.found.insert(change.path.clone(), found);
        }
        if let Some(Found::File(lock)) = self.found.get(&path(memory::LOCK)) {
            self.memory = Memory::parse(std::str::from_utf8(lock).unwrap()).unwrap();
        }
        set
    }

    pub(crate) fn write(&mut self, at: &str, text: &str) {
        self.found
            .insert(path(at), Found::File(text.as_bytes().to_vec()));
    }

    pub(crate) fn read(&self, at: &str) -> Option<String> {
        let bytes = self.on_disk(&path(at))?.clone();
        Some(String::from_utf8(bytes).unwrap())
    }
}

const OLD: [(&str, Owner, &str); 3] = [
    ("Makefile", Owner::Shared, "a\nb\nc\nd\n"),
    ("tool", Owner::Tool, "1\n"),
    ("user", Owner::User, "u\n"),
];
const NEW: [(&str, Owner, &str); 3] = [
    ("Makefile", Owner::Shared, "a\nb\nc\nD\n"),
    ("tool", Owner::Tool, "2\n"),
    ("user", Owner::User, "v\n"),
];

#[test]
fn unedited_files_follow_and_user_files_stay() {
    let mut world = Inputs::of_project();
    world.apply(&desired(&OLD));
    world.apply(&desired(&NEW));
    assert_eq!(world.read("Makefile").as_deref(), Some("a\nb\nc\nD\n"));
    assert_eq!(world.read("tool").as_deref(), Some("2\n"));
    assert_eq!(world.read("user").as_deref(), Some("u\n"));
    assert_eq!(world.plan(&desired(&NEW)), ChangeSet::default());
}

#[test]
fn edits_of_shared_files_are_merged_with_their_line_ends() {
    let mut world = Inputs::of_project();
    world.apply(&desired(&OLD));
    world.write("Makefile", "A\r\nb\r\nc\r\nd\r\n");
    let set = world.apply(&desired(&NEW));
    assert_eq!(
        world.read("Makefile").as_deref(),
        Some("A\r\nb\r\nc\r\nD\r\n")
    );
    assert_eq!(set.changes[0].action, Action::Merge);
    assert_eq!(world.plan(&desired(&NEW)), ChangeSet::default());
}

#[test]
fn a_lost_base_keeps_the_file_and_says_so_once() {
    let mut world = Inputs::of_project();
    world.apply(&desired(&OLD));
    world.write("Makefile", "A\nb\nc\nd\n");
    world
        .found
        .insert(path(".operator-forge/base/Makefile"), Found::Absent);
    let set = world.apply(&desired(&NEW));
    assert_eq!(world.read("Makefile").as_deref(), Some("A\nb\nc\nd\n"));
    assert_eq!(
        set.notes,
        [Note {
            path: path("Makefile"),
            what: NoteKind::BaseLost,
            lacks: Vec::new(),
        }]
    );
    assert_eq!(world.plan(&desired(&NEW)), ChangeSet::default());
}

#[test]
fn an_edited_tool_file_is_a_note_and_then_a_conflict() {
    let mut world = Inputs::of_project();
    world.apply(&desired(&OLD));
    world.write("tool", "mine\n");
    let set = world.plan(&desired(&OLD));
    assert_eq!(
        set.notes,
        [Note {
            path: path("tool"),
            what: NoteKind::Edited,
            lacks: vec!["1".into()],
        }]
    );
    assert_eq!(set.all().count(), 0);
    let conflict = Conflict {
        path: path("tool"),
        why: ConflictKind::Edited,
    };
    assert_eq!(world.plan(&desired(&NEW)).conflicts, [conflict]);
    world.policy = Policy::Keep;
    world.apply(&desired(&NEW));
    assert_eq!(world.read("tool").as_deref(), Some("mine\n"));
    world.policy = Policy::Take;
    let set = world.plan(&desired(&OLD));
    assert!(
        set.changes
            .iter()
            .any(|change| change.action == Action::Overwrite)
    );
}

#[test]
fn an_edit_of_a_tool_file_is_merged_where_its_base_is_known() {
    let file = |text: &str| desired(&[("tool", Owner::Tool, text)]);
    let (old, new) = (file("a\nb\nc\nd\n"), file("a\nb\nc\nD\n"));
    let applied = |world: &mut Inputs| {
        let base = b"a\nb\nc\nd\n".to_vec().into();
        world.applied.insert(path("tool"), base);
    };
    let note = |lacks: &[&str]| Note {
        path: path("tool"),
        what: NoteKind::Edited,
        lacks: lacks.iter().map(ToString::to_string).collect(),
    };
    let mut world = Inputs::of_project();
    world.apply(&old);
    world.write("tool", "A\nb\nc\nd\n");
    applied(&mut world);
    let set = world.apply(&new);
    assert_eq!(world.read("tool").as_deref(), Some("A\nb\nc\nD\n"));
    assert_eq!(set.changes[0].action, Action::Merge);
    assert_eq!(set.notes, [note(&["a"])]);
    // The row is the desired content, so there is nothing to do again.
    world.applied.clear();
    let again = world.plan(&new);
    assert_eq!(again.all().count(), 0);
    assert_eq!(again.notes, [note(&["a"])]);
    // An edit that equals the desired text is no edit.
    world.write("tool", "a\nb\nc\n");
    world
        .applied
        .insert(path("tool"), b"a\nb\nc\nD\n".to_vec().into());
    let set = world.apply(&file("a\nb\nc\n"));
    assert_eq!((set.notes, set.conflicts), (Vec::new(), Vec::new()));
    let mut world = Inputs::of_project();
    world.apply(&old);
    applied(&mut world);
    // Both changed a line: with the base, the markers are around that line alone.
    world.write("tool", "A\nb\nc\nmine\n");
    assert_eq!(world.plan(&new).conflicts[0].why, ConflictKind::Edited);
    world.policy = Policy::Markers;
    world.apply(&new);
    let marked = "A\nb\nc\n<<<<<<< yours\nmine\n=======\nD\n>>>>>>> generated\n";
    assert_eq!(world.read("tool").as_deref(), Some(marked));
}

#[test]
fn deletions_are_respected_and_missing_files_get_a_note() {
    let mut world = Inputs::of_project();
    world.apply(&desired(&OLD));
    for file in ["Makefile", "tool", "user"] {
        world.found.insert(path(file), Found::Absent);
    }
    let set = world.apply(&desired(&NEW));
    assert_eq!(world.read("Makefile"), None);
    assert_eq!(world.read("tool").as_deref(), Some("2\n"));
    assert_eq!(world.read("user"), None);
    assert_eq!(
        set.notes,
        [Note {
            path: path("user"),
            what: NoteKind::Missing,
            lacks: Vec::new(),
        }]
    );
}

#[test]
fn files_no_longer_desired_are_deleted_unless_edited() {
    let mut world = Inputs::of_project();
    world.apply(&desired(&OLD));
    world.write("user", "mine\n");
    let set = world.apply(&Tree::new());
    assert_eq!(world.read("Makefile"), None);
    assert_eq!(world.read(".operator-forge/base/Makefile"), None);
    assert_eq!(world.read("user").as_deref(), Some("mine\n"));
    assert_eq!(
        set.notes,
        [Note {
            path: path("user"),
            what: NoteKind::Orphaned,
            lacks: Vec::new(),
        }]
    );
    assert!(world.memory.rows.is_empty());
}

#[test]
fn foreign_files_are_conflicts_unless_they_can_be_merged_by_key() {
    let mut world = Inputs::of_project();
    world.write("Cargo.toml", "[dependencies]\nmine = \"1\"\n");
    world.write("user", "mine\n");
    let directory = crate::tree::Obstacle {
        path: "dir".to_owned(),
        kind: crate::tree::ObstacleKind::Directory,
    };
    world.found.insert(path("dir"), Found::Obstacle(directory));
    let wanted = desired(&[
        (
            "Cargo.toml",
            Owner::Shared,
            "[dependencies]\nkube = \"5\"\n",
        ),
        ("dir", Owner::User, "x"),
        ("user", Owner::User, "u\n"),
    ]);
    let set = world.plan(&wanted);
    let kinds: Vec<&str> = set
        .conflicts
        .iter()
        .map(|conflict| conflict.why.word())
        .collect();
    assert_eq!(kinds, ["obstacle", "exists"]);
    world.found.insert(path("dir"), Found::Absent);
    world.forced.insert(path("user"));
    world.apply(&wanted);
    assert_eq!(world.read("user").as_deref(), Some("u\n"));
    assert_eq!(
        world.read("Cargo.toml").as_deref(),
        Some("[dependencies]\nmine = \"1\"\nkube = \"5\"\n")
    );
}

#[test]
fn new_content_of_an_owned_file_is_reported_once() {
    let mut world = Inputs::of_project();
    let tree = |text| desired(&[("src/api.rs", Owner::User, text)]);
    world.apply(&tree("one\n"));
    world.owned.insert(path("src/api.rs"));
    assert_eq!(world.plan(&tree("one\n")).notes, []);
    let told: Vec<NoteKind> = world
        .apply(&tree("two\n"))
        .notes
        .iter()
        .map(|note| note.what)
        .collect();
    assert_eq!(told, [NoteKind::Outdated]);
    assert_eq!(world.read("src/api.rs").as_deref(), Some("one\n"));
    assert_eq!(world.apply(&tree("two\n")).notes, []);
}
