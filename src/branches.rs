//! Resolves the traces of a git merge, rebase or cherry-pick before anything is planned: a `PROJECT` of two branches, unmerged
//! paths, conflict markers, and lock rows without an entry. What cannot be resolved becomes a conflict or a note.
//!
//! Invariants: a project without traces costs one look at git; no text of a branch is lost without a policy.

mod lost;
mod merge;
mod project;
mod unmerged;

pub use self::{
    lost::Lost,
    merge::merge,
    project::Branches,
    unmerged::{open, orphans, unmerged},
};
