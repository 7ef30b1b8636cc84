//! Everything that a plan depends on.

use std::collections::{BTreeMap, BTreeSet};

use super::{named::NamedFiles, three_way::Resolved};
use crate::{
    change::Policy,
    reconcile::Last,
    tree::{Content, Digest, Found, RelPath, Tree},
};

/// Facts about paths, borrowed, so that a plan can look at some of them as they will be.
pub type View<'a, T> = BTreeMap<&'a RelPath, &'a T>;

/// Everything a plan depends on.
#[derive(Clone)]
pub struct Inputs<'a> {
    /// Last applied: the rows of the lock.
    pub rows: View<'a, Last<Digest>>,
    /// The desired state.
    pub desired: &'a Tree,
    /// The observed state, at every path of [`paths`].
    pub found: View<'a, Found>,
    /// The text that was last applied, of edited Tool files that have to change.
    pub applied: &'a BTreeMap<RelPath, Content>,
    /// Desired files whose verdict is not that of the table.
    pub resolved: &'a BTreeMap<RelPath, Resolved>,
    /// The template set that rendered `desired`.
    pub templates: u32,
    /// The text of `PROJECT` after the command.
    pub project: &'a str,
    /// User files that the command names explicitly.
    pub named: &'a NamedFiles,
    /// The answer to every conflict.
    pub policy: Policy,
    /// The user's answers to single conflicts, which go before `policy`.
    pub decided: View<'a, Policy>,
    /// Paths that the command line names, to be written whatever they hold.
    pub forced: &'a BTreeSet<RelPath>,
    /// Paths that the user took over: they stay even if they are no longer desired.
    pub owned: &'a BTreeSet<RelPath>,
    /// Rows that stay in the lock and are not planned.
    pub aside: &'a BTreeMap<RelPath, Last<Digest>>,
}

impl<'a> Inputs<'a> {
    /// What is at a path.
    pub fn found(&self, path: &RelPath) -> &'a Found {
        self.found.get(path).copied().unwrap_or(&Found::Absent)
    }
}
