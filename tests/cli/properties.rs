//! The laws of the engine on random histories: commands, valid and not, with a user's own changes between them, updates,
//! crashes, branches and merges. The whole engine runs in this process, a few histories in processes of their own.
//!
//! `PROPTEST_CASES` is the number of histories, `PROPTEST_RNG_SEED` makes them the same each time. One that breaks a law is
//! made as short as possible and printed line by line.

mod branches;
mod crash;
use crate::fault;
use crate::fixture;
mod hands;
mod history;
mod laws;
mod names;
mod run;
use crate::session;
mod story;
mod tool;
mod words;
mod world;

use run::{given, run};
use tool::Tool;

#[test]
fn histories_keep_the_laws() {
    run("histories", given(500), history::any_history, |history| {
        history::live(Tool::Here, history);
    });
}

#[test]
fn histories_of_branches_become_one() {
    run(
        "pairs of branches",
        given(500) / 8,
        branches::branches,
        branches::live,
    );
}

#[test]
fn histories_of_processes_keep_the_laws() {
    run(
        "histories of processes",
        given(500) / 80,
        history::any_history,
        |history| {
            history::live(Tool::Process, history);
        },
    );
}
