//! What `delete api` and `delete webhook` share: files that are kept on request, and what to do afterwards.

use std::collections::{BTreeMap, BTreeSet};

use super::type_of::{TypeOf, type_there};
use crate::{
    advice::{NextStep, Script},
    cli::{Global, TypeFlags},
    engine::{Request, Workspace, reconcile},
    error::Result,
    plan::NamedFiles,
    project::{Key, KindView, Project},
    prompt::Prompt,
    report::Report,
    template,
    tree::{self, Found, Owner},
};

/// What a command deletes, and how.
pub struct Deletion<'a> {
    /// `delete api`.
    pub command: &'static str,
    /// The type that it is about.
    pub of: &'a TypeFlags,
    /// The types to choose from.
    pub there: fn(&Project) -> BTreeSet<&Key>,
    /// Whether the user's files stay.
    pub keep_files: bool,
}

/// Deletes from the project what `from` takes away. With the project it may return a remark about what is left.
pub fn delete(
    flags: &Global,
    deletion: &Deletion<'_>,
    report: &Report,
    from: impl FnOnce(
        &Project,
        TypeOf,
        Prompt<'_>,
    ) -> Result<(Project, Option<String>, Option<NextStep>)>,
) -> Result<u8> {
    let (workspace, before) = Workspace::open(&flags.directory)?;
    let prompt = Prompt::new(report, !flags.no_input);
    let there = (deletion.there)(&before);
    let of = type_there(&before, deletion.of, prompt, &there)?;
    let (project, remark, step) = from(&before, of, prompt)?;
    let (named, mut remarks) = kept_files(&workspace, &before, &project, deletion.keep_files)?;
    remarks.extend(remark);
    let mut next = next(&before, &project);
    next.extend(step);
    let request = Request {
        named,
        remarks,
        next,
        ..Request::of(deletion.command, project)
    };
    reconcile(&workspace, &request, flags, report)
}

/// The user's files that the project no longer asks for, to be forgotten with `--keep-files`, and a remark about each.
fn kept_files(
    workspace: &Workspace,
    before: &Project,
    after: &Project,
    keep: bool,
) -> Result<(NamedFiles, Vec<String>)> {
    let mut named = NamedFiles::default();
    if !keep {
        return Ok((named, Vec::new()));
    }
    let (were, left) = (
        template::owners(&before.unlike(after))?,
        template::paths(after)?,
    );
    let mine = were.into_iter().filter(|(_, owner)| *owner == Owner::User);
    let mine = mine.map(|(path, _)| path);
    named.forgotten = mine.filter(|path| !left.contains(path)).collect();
    let mut remarks = Vec::new();
    for path in &named.forgotten {
        if matches!(tree::find(&workspace.root, path)?, Found::File(_)) {
            remarks.push(format!("`{path}` stays, and is yours alone now"));
        }
    }
    Ok((named, remarks))
}

/// What to do about the CRDs: those that go, and those that lose a version or store another one.
fn next(before: &Project, after: &Project) -> Vec<NextStep> {
    let mut next = vec![NextStep::new(
        "derive CRDs, RBAC and webhook configurations again; what nothing defines any more goes from config/:",
        Script::of("make manifests && make test"),
    )];
    let of_kind = |kind: &KindView<'_>| {
        let key = kind.apis[0].key;
        (key.group.clone(), key.kind.clone())
    };
    let left = after.kinds();
    let left: BTreeMap<_, _> = left.iter().map(|kind| (of_kind(kind), kind)).collect();
    for was in before.kinds() {
        let key = was.apis[0].key;
        let crd = format!("{}.{}", was.apis[0].resource.plural, key.api_group(false));
        match left.get(&of_kind(&was)) {
            None => next.push(NextStep::new(format!("clusters keep the CRD and every {}; deleting it deletes them all, so that is for you to decide:", key.kind), Script::anywhere("kubectl delete crd").arg(crd))),
            Some(now) if now.apis.len() < was.apis.len() || now.storage != was.storage => next.push(NextStep::new(format!(
                    "{} is stored in {}{}; no cluster lets go of a version in which objects may be stored:",
                    key.kind,
                    now.storage,
                    if now.storage == was.storage { "" } else { " from now on" },
                ), Script::of("make migrate-storage"))),
            Some(_) => {}
        }
    }
    next
}
