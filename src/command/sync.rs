//! `sync`: changes nothing in the project, and makes the tree what a hand-edited or merged `PROJECT` says.

use super::{Edit, Workspace, reconcile, unmerged::branches};
use crate::{cli::Global, error::Result, project::Project, report::Report};

pub fn run(flags: &Global, report: &Report) -> Result<u8> {
    let next = vec![(
        "derive CRDs and RBAC again:".to_owned(),
        Some("make manifests".to_owned()),
    )];
    let mut merged = None;
    let (workspace, project) = Workspace::open_with(&flags.directory, |bytes, conflicted| {
        let Some(branches) = branches(&flags.directory, &bytes, conflicted)? else {
            return Ok(bytes);
        };
        let (text, remark) = branches.merge(flags.policy())?;
        Project::read_merged(&text, &bytes)?;
        merged = Some(remark);
        Ok(text.into_bytes())
    })?;
    let settles = merged.is_some();
    let mut remarks: Vec<String> = merged.into_iter().flatten().collect();
    remarks.extend(workspace.not_followed()?);
    let edit = Edit {
        settles,
        remarks,
        next,
        ..Edit::of("sync", project)
    };
    reconcile(&workspace, &edit, flags, report)
}
