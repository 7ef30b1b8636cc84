//! `sync`: changes nothing in the project, and makes the tree what a hand-edited or merged `PROJECT` says.

use std::path::Path;

use super::{Edit, Workspace, reconcile};
use crate::{
    cli::Global,
    error::Result,
    git::{self, Unmerged},
    memory,
    merge::{
        markers::{self, Sides},
        project,
    },
    project::FILE,
    report::Report,
    tree::{self, Found, RelPath},
};

pub fn run(flags: &Global, report: &Report) -> Result<u8> {
    let root = &flags.directory;
    let mut next = vec![(
        "derive CRDs and RBAC again:".to_owned(),
        Some("make manifests".to_owned()),
    )];
    let unmerged = git::unmerged(root, |path| path.as_str() == FILE);
    if !unmerged.is_empty() {
        next.push((
            "tell git that the merge is settled:".to_owned(),
            Some("git add --all".to_owned()),
        ));
    }
    let (workspace, project) = Workspace::open_with(root, |bytes| {
        without_conflict(flags, bytes, unmerged.values().next())
    })?;
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
fn without_conflict(flags: &Global, bytes: Vec<u8>, git: Option<&Unmerged>) -> Result<Vec<u8>> {
    let text = String::from_utf8_lossy(&tree::unix_line_ends(&bytes)).into_owned();
    let ancestor = git.and_then(|git| git.ancestor.clone());
    let (base, sides) = match (markers::sides(&text), git) {
        (Some(sides), _) => (ancestor.or(sides.base.clone()), sides),
        // `.gitattributes` tells git to leave the text of one branch there, and the other one in its index.
        (
            None,
            Some(Unmerged {
                ours: Some(ours),
                theirs: Some(theirs),
                ..
            }),
        ) if *ours == text || !is_applied(&flags.directory, &bytes)? => {
            (ancestor, Sides::of(text, theirs.clone()))
        }
        _ => return Ok(bytes),
    };
    project::merge(base.as_deref(), &sides, flags.on_conflict.into()).map(String::into_bytes)
}

/// Whether an earlier `sync` left `PROJECT` so, and git was not told yet.
fn is_applied(root: &Path, project: &[u8]) -> Result<bool> {
    let applied = tree::find(root, &RelPath::parse(memory::APPLIED_PROJECT)?)?;
    Ok(matches!(applied, Found::File(bytes) if bytes == project))
}
