//! `sync`: applies `PROJECT`, edited by hand or merged by git, to the files.

use crate::{
    engine::{Request, Workspace, next},
    plan::NamedFiles,
};

pub fn run(workspace: &Workspace) -> Request {
    let mut named = NamedFiles::default();
    let mut remarks = Vec::new();
    if let Some(merge) = &workspace.merge {
        named.rewritten.clone_from(&merge.kept);
        remarks.extend(merge.remark.clone());
    }
    remarks.extend(workspace.not_followed());
    Request {
        named,
        is_sync: true,
        remarks,
        next: vec![next::manifests()],
        ..Request::of("sync", workspace.project.clone())
    }
}
