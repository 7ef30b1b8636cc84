//! Charts, with their own values and with random ones.

use crate::{cases, compare::Table, oracle, ours};

/// What is compared is not the same by luck: a rendering that lost a line is found.
#[test]
fn a_lost_line_is_found() {
    let charts = cases::of_projects();
    let table = Table::of(&charts[..1], &|request| {
        let mut answer = oracle::ask(request);
        if let Some(templates) = answer["templates"].as_object_mut() {
            templates.remove(&templates.keys().next().unwrap().clone());
        }
        answer
    });
    assert!(!table.differences.is_empty());
}

#[test]
fn charts_of_helm() {
    Table::of(&cases::of_helm(), &ours::render).assert_same();
}

#[test]
fn charts_of_projects() {
    Table::of(&cases::of_projects(), &ours::render).assert_same();
}

#[test]
fn created_chart() {
    let directory = tempfile::tempdir().unwrap();
    Table::of(&cases::created(directory.path()), &ours::render).assert_same();
}

#[test]
#[ignore = "downloads charts; `make charts-fetched` runs it"]
fn fetched_charts() {
    Table::of(&cases::fetched(), &ours::render).assert_same();
}
