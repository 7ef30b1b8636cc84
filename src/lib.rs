//! operator-forge: a reconciler of files.
//!
//! `PROJECT` is the desired state, the working tree the observed state, `.operator-forge/` what was last applied. The modules
//! are listed in the order of their dependencies: each uses only those above it, and `docs/architecture.md` says what each
//! promises.

// Failures, and the values that everything else is made of.
pub mod advice;
pub mod error;
pub mod name;

pub mod field;
pub mod tree;

// The desired state, and the texts that it is merged with.
pub mod project;
pub mod syntax;

pub mod change;
pub mod merge;
pub mod reconcile;

// Last applied, and what git knows.
pub mod memory;

pub mod git;
pub mod template;

// From the three states to the disk.
pub mod plan;

pub mod branches;

pub mod apply;
pub mod definitions;

// The command line.
pub mod cli;
pub mod report;

pub mod prompt;

pub mod arguments;

pub mod engine;

pub mod command;
