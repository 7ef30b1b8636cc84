//! What a git merge, rebase or cherry-pick leaves in a project: a `PROJECT` of two branches, unmerged paths, conflict markers,
//! and lock rows that no entry asks for. Each is resolved here, or becomes a conflict or a note, before anything is planned.
//!
//! Invariants: a project without any of that costs one look at git; no text of a branch is lost without a policy.

mod files;
mod lost;
mod merge;
mod project;
mod unmerged;

pub use self::{
    files::{Texts, resolve},
    lost::Lost,
    merge::merge,
    project::Branches,
    unmerged::{open, orphans, texts},
};

#[cfg(test)]
mod tests;
