//! Completes a git merge, rebase or cherry-pick before anything is planned: merges a `PROJECT` of two branches, reads the texts that git
//! has of unmerged paths, and finds lock rows without an entry. What becomes of a file is decided by the plan.
//!
//! Invariant: a project without traces of a merge costs one look at git.

mod lost;
mod merge;
mod project;
mod unmerged;

pub use self::{
    lost::Lost,
    merge::merge,
    project::Branches,
    unmerged::{git_merge, open, orphans},
};
