//! operator-forge: a reconciler of files.
//!
//! `PROJECT` is the desired state, the working tree the observed state, `.operator-forge/` what was last applied. The
//! modules stand in the order of their dependencies; `docs/architecture.md` says what each promises.

pub mod advice;
pub mod apply;
pub mod branches;
pub mod change;
pub mod cli;
pub mod command;
pub mod definitions;
pub mod engine;
pub mod error;
pub mod git;
pub mod memory;
pub mod merge;
pub mod name;
pub mod plan;
pub mod project;
pub mod prompt;
pub mod reconcile;
pub mod refusal;
pub mod report;
pub mod syntax;
pub mod template;
pub mod tree;
pub mod yaml;
