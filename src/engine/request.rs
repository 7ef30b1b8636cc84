//! Requests: what a command asks for, before anything is compared with the disk.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    advice::NextStep,
    change::ChangeSet,
    error::Failure,
    plan::NamedFiles,
    project::Project,
    reconcile::LastApplied,
    tree::{Digest, RelPath},
};

/// The project that a command asks for, and the files that it names.
pub struct Request {
    /// `create api`.
    pub command: &'static str,
    /// The project after the command.
    pub project: Project,
    /// User files that the command names explicitly.
    pub named: NamedFiles,
    /// Paths that are written whatever they hold.
    pub forced: BTreeSet<RelPath>,
    /// Existing files that become part of the project as they are: rows for the lock.
    pub adopted: BTreeMap<RelPath, LastApplied<Digest>>,
    /// Remarks for the report.
    pub remarks: Vec<String>,
    /// The next steps, if the command changes anything.
    pub next: Vec<NextStep>,
    /// What is left to a person, if anything is: exit code 3. A quiet run prints it, where another one prints remarks and next steps.
    pub left: Vec<String>,
    /// Whether it is `sync`, which also compares the attributes of types with `PROJECT`, and resolves lost files for good.
    pub is_sync: bool,
    /// A question about the diff, asked on a terminal before anything is written.
    pub question: Option<&'static str>,
    /// Adds notes and advice to the refusal of conflicts.
    pub explain: Option<fn(Failure, &Self, &ChangeSet) -> Failure>,
}

impl Request {
    /// Applies `project` to the files, and nothing else.
    pub fn of(command: &'static str, project: Project) -> Self {
        Self {
            command,
            project,
            named: NamedFiles::default(),
            forced: BTreeSet::new(),
            adopted: BTreeMap::new(),
            remarks: Vec::new(),
            next: Vec::new(),
            left: Vec::new(),
            is_sync: false,
            question: None,
            explain: None,
        }
    }
}
