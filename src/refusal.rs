//! The words and the advice for the errors of the domain: what a person reads, and can do about it.
//!
//! Invariant: the modules before this one know neither flags nor commands.

mod apply;
mod change;
mod definitions;
mod tree;
