//! `sync`: changes nothing in the project, and makes the tree what a hand-edited or merged `PROJECT` says.

use std::cell::RefCell;

use super::{Edit, Workspace, reconcile, unmerged::branches};
use crate::{cli::Global, error::Result, report::Report};

pub fn run(flags: &Global, report: &Report) -> Result<u8> {
    let mut next = vec![(
        "derive CRDs and RBAC again:".to_owned(),
        Some("make manifests".to_owned()),
    )];
    let merged = RefCell::new(None);
    let (workspace, project) = Workspace::open_with(&flags.directory, |bytes| {
        let Some(branches) = branches(&flags.directory, &bytes)? else {
            return Ok(bytes);
        };
        let (text, remark) = branches.merge(flags.on_conflict.into())?;
        merged.replace(Some(remark));
        Ok(text)
    })?;
    let merged = merged.into_inner();
    if merged.is_some() {
        next.push((
            "tell git that the merge is settled:".to_owned(),
            Some("git add --all".to_owned()),
        ));
    }
    let edit = Edit {
        remarks: merged.into_iter().flatten().collect(),
        next,
        ..Edit::of("sync", project)
    };
    reconcile(&workspace, &edit, flags, report)
}
