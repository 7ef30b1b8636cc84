//! What `delete api` and `delete webhook` share: files that are kept on request, and what to do afterwards.

use std::collections::BTreeSet;

use super::Workspace;
use crate::{
    error::Result,
    plan::Named,
    project::{KindView, Project},
    template,
    tree::{self, Found, Owner, RelPath},
};

/// The user's files that the project no longer asks for, to be forgotten with `--keep-files`, and a remark about each.
pub fn kept_files(
    workspace: &Workspace,
    before: &Project,
    after: &Project,
    keep: bool,
) -> Result<(Named, Vec<String>)> {
    let mut named = Named::default();
    if !keep {
        return Ok((named, Vec::new()));
    }
    let left = template::tree(after)?;
    let mine = template::tree(before)?.into_iter();
    let mine = mine.filter(|(path, file)| file.owner == Owner::User && !left.contains_key(path));
    named.forgotten = mine.map(|(path, _)| path).collect::<BTreeSet<RelPath>>();
    let mut remarks = Vec::new();
    for path in &named.forgotten {
        if matches!(tree::find(&workspace.root, path)?, Found::File(_)) {
            remarks.push(format!("`{path}` stays, and is yours alone now"));
        }
    }
    Ok((named, remarks))
}

/// What to do about the CRDs: those that go, and those that lose a version or store another one.
pub fn next(before: &Project, after: &Project) -> Vec<(String, Option<String>)> {
    let mut next = vec![(
        "derive CRDs, RBAC and webhook configurations again; what nothing defines any more goes from config/:".to_owned(),
        Some("make manifests && make test".to_owned()),
    )];
    let left = after.kinds();
    for was in before.kinds() {
        let key = was.apis[0].key;
        let crd = format!("{}.{}", was.apis[0].resource.plural, key.api_group(false));
        let same = |now: &&KindView<'_>| {
            let now = now.apis[0].key;
            (&now.group, &now.kind) == (&key.group, &key.kind)
        };
        match left.iter().find(same) {
            None => next.push((
                format!("clusters keep the CRD and every {}; deleting it deletes them all, so that is for you to decide:", key.kind),
                Some(format!("kubectl delete crd {crd}")),
            )),
            Some(now) if now.apis.len() < was.apis.len() || now.storage != was.storage => next.push((
                format!(
                    "{} is stored in {} from now on; a version leaves a cluster's CRD only when no object is stored in it:",
                    key.kind, now.storage
                ),
                Some("make migrate-storage".to_owned()),
            )),
            Some(_) => {}
        }
    }
    next
}
