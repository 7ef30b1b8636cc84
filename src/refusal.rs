//! The words and the advice for errors of the domain. Modules below know no flags and no commands: their errors are data, and
//! `?` turns them into a [`Failure`](crate::error::Failure).

mod apply;
mod change;
mod definitions;
mod git;
mod memory;
mod name;
mod project;
mod tree;

pub use self::name::of_flag;
pub use self::project::of;
