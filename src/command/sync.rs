//! `sync`: changes nothing in the project, and makes the tree what a hand-edited or merged `PROJECT` says.

use super::{Edit, Workspace, reconcile};
use crate::{cli::Global, error::Result, report::Report};

pub fn run(flags: &Global, report: &Report) -> Result<u8> {
    let (workspace, project) = Workspace::open(&flags.directory)?;
    let next = vec![(
        "derive CRDs and RBAC again:".to_owned(),
        Some("make manifests".to_owned()),
    )];
    let edit = Edit {
        command: "sync",
        project,
        forced: Default::default(),
        remarks: Vec::new(),
        next,
    };
    reconcile(&workspace, &edit, flags, report)
}
