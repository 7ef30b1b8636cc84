//! Errors of the domain as failures: the words, and the advice.

mod git;
mod memory;
