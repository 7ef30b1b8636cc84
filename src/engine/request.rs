//! Requests: what a command wants, before anything is compared with the disk.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    advice::NextStep,
    change::ChangeSet,
    error::Failure,
    plan::NamedFiles,
    project::Project,
    reconcile::Last,
    tree::{Digest, RelPath},
};

/// The project, and the files it names, as a command wants them.
pub struct Request {
    /// `create api`.
    pub command: &'static str,
    /// The project after the command.
    pub project: Project,
    /// User files that the command names explicitly.
    pub named: NamedFiles,
    /// Paths that are written whatever they hold.
    pub forced: BTreeSet<RelPath>,
    /// Remarks about flags and surroundings.
    pub remarks: Vec<String>,
    /// What to do next, if the command changes anything.
    pub next: Vec<NextStep>,
    /// What `sync` alone does.
    pub sync: Option<Sync>,
    /// A question about the diff, asked on a terminal, and the refusal if the answer is no.
    pub question: Option<(&'static str, Failure)>,
    /// Adds to the refusal of files in the way; gets the rows that `init` adopts.
    pub explain: Option<Explain>,
}

/// Adds to a refusal.
pub type Explain = fn(Failure, &ChangeSet, &BTreeMap<RelPath, Last<Digest>>) -> Failure;

/// What `sync` does beyond other commands: it compares the attributes of types with `PROJECT`, and settles lost files for good.
pub struct Sync {
    /// Whether `PROJECT` was merged from two branches, so that the merge is to be marked as resolved in git.
    pub merged: bool,
}

impl Request {
    /// Applies `project` to the files, and nothing else.
    pub fn of(command: &'static str, project: Project) -> Self {
        Self {
            command,
            project,
            named: NamedFiles::default(),
            forced: BTreeSet::new(),
            remarks: Vec::new(),
            next: Vec::new(),
            sync: None,
            question: None,
            explain: None,
        }
    }
}
