//! Sentences that several commands have: next steps, and why a type cannot be edited.

use crate::{
    advice::{NextStep, Script},
    name::Version,
    project::{ApiView, External, Key, Project},
    syntax,
};

/// Generates the Derived files, and tests.
pub fn manifests() -> NextStep {
    NextStep::new(
        "generate the manifests, then run the tests:",
        Script::of("make manifests && make test"),
    )
}

/// Deletes the CRD of an API that the project no longer has under this name. If its objects have a finalizer, only the operator of the
/// project `before` removes it.
pub fn delete_crd(before: &Project, api: &ApiView<'_>) -> NextStep {
    let Key { group, kind, .. } = api.key;
    let has_finalizer = before.controllers().iter().any(|it| {
        let has_one = it.finalizer || it.resource.recipe().is_some();
        has_one && (&it.key.group, &it.key.kind) == (group, kind)
    });
    NextStep::new(
        match has_finalizer {
            false => format!(
                "clusters keep the old CRD and every {kind}; deleting the CRD deletes them all:"
            ),
            true => format!(
                "clusters keep the old CRD and every {kind}; delete the CRD, and all of them with it, while the former operator runs, which \
                 removes its finalizer:"
            ),
        },
        Script::anywhere("kubectl delete crd").arg(format!(
            "{}.{}",
            api.resource.plural,
            api.key.api_group(false)
        )),
    )
}

/// Adds the conversion of a version to the hub of its kind.
pub fn convert(what: String, hub: &Key, spoke: Version) -> NextStep {
    let create = Script::forge("create webhook").flags(&hub.flags());
    let convert = create.code("--conversion --spoke").arg(spoke.to_string());
    NextStep::new(what, convert)
}

/// The reason that the attribute of a type cannot be edited.
pub fn why_not_edited(error: syntax::Error) -> String {
    match error {
        syntax::Error::NoAttribute => {
            "it has no `#[kube(…)]` with that kind, and with its values as plain strings".to_owned()
        }
        syntax::Error::NoStruct(name) => format!("it has no `pub struct {name} {{ … }}`"),
        syntax::Error::FieldExists(name, field) => format!("`{name}` has a field `{field}`"),
        syntax::Error::Unparsable { line, why, .. } => format!("line {line}: {why}"),
    }
}

/// The steps for a type of another project: its crate, and its CRD for the integration tests.
pub fn use_external(project: &Project, key: &Key, external: Option<&External>) -> Vec<NextStep> {
    let mut steps = Vec::new();
    let Some(External { path, .. }) = external else {
        return steps;
    };
    if let Some(package) = path.package() {
        steps.push(NextStep::new(
            format!(
                "depend on the crate of {}, unless you do already:",
                key.kind
            ),
            Script::of("cargo add").arg(package),
        ));
    }
    let Some(plural) = project.plural(key) else {
        return steps;
    };
    let crd = format!("{plural}.{}", key.api_group(false));
    steps.push(NextStep::new(
        "copy its CRD from a cluster, for the integration tests:",
        Script::of("mkdir -p tests/crds && kubectl get crd")
            .arg(&crd)
            .code("-o yaml >")
            .arg(format!("tests/crds/{crd}.yaml")),
    ));
    steps
}
