//! `sync`: applies `PROJECT`, edited by hand or merged by git, to the files.

use crate::{
    advice::{NextStep, Script},
    branches::Branches,
    change::Policy,
    cli::Global,
    engine::{Request, Sync, Workspace, reconcile},
    error::Result,
    plan::NamedFiles,
    project::Project,
    report::Report,
};

pub fn run(flags: &Global, report: &Report) -> Result<u8> {
    let next = vec![NextStep::new(
        "derive CRDs and RBAC again:",
        Script::of("make manifests"),
    )];
    let (mut merged, mut named) = (None, NamedFiles::default());
    let (workspace, project) = Workspace::open_with(&flags.directory, |bytes, git| {
        let Some(branches) = Branches::find(git, &flags.directory, &bytes)? else {
            return Ok(bytes);
        };
        let (text, remark) = branches.merge(flags.policy())?;
        let project = Project::read_merged(&text, &bytes)?;
        merged = Some(remark);
        // Only a policy brings back what a branch deleted.
        if matches!(flags.policy(), Policy::Keep | Policy::Take) {
            named.rewritten = branches.kept(git, &flags.directory, &project)?;
        }
        Ok(text.into_bytes())
    })?;
    let sync = Sync {
        merged: merged.is_some(),
    };
    let mut remarks: Vec<String> = merged.into_iter().flatten().collect();
    remarks.extend(workspace.not_followed());
    let request = Request {
        named,
        sync: Some(sync),
        remarks,
        next,
        ..Request::of("sync", project)
    };
    reconcile(&workspace, &request, flags, report)
}
