//! `sync`: changes nothing in the project, and makes the tree what a hand-edited or merged `PROJECT` says.

use std::path::Path;

use super::{Edit, Workspace, reconcile};
use crate::{
    cli::Global,
    error::Result,
    git,
    merge::{markers, project},
    project::FILE,
    report::Report,
    tree,
};

pub fn run(flags: &Global, report: &Report) -> Result<u8> {
    let root = &flags.directory;
    let mut next = vec![(
        "derive CRDs and RBAC again:".to_owned(),
        Some("make manifests".to_owned()),
    )];
    if git::is_merging(root) {
        next.push((
            "tell git that the merge is settled:".to_owned(),
            Some("git add --all".to_owned()),
        ));
    }
    let (workspace, project) = Workspace::open_with(root, |bytes| without_markers(root, bytes))?;
    let edit = Edit {
        command: "sync",
        project,
        forced: Default::default(),
        remarks: Vec::new(),
        next,
    };
    reconcile(&workspace, &edit, flags, report)
}

/// `PROJECT` with what git could not merge of it merged by key.
fn without_markers(root: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    let text = String::from_utf8_lossy(&tree::unix_line_ends(&bytes)).into_owned();
    let Some(sides) = markers::sides(&text) else {
        return Ok(bytes);
    };
    let base = git::ancestor(root, FILE).or(sides.base.clone());
    project::merge(base.as_deref(), &sides).map(String::into_bytes)
}
