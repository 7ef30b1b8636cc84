//! `--helm-storage` for a kind that exists: the setting stands in its controller.

use crate::{
    advice::Script,
    cli::TypeFlags,
    error::Failure,
    project::{Gvk, Key, Project},
};

/// The kind with a chart that the flags name, if the project has it.
pub fn there(project: &Project, of: &TypeFlags) -> Option<Key> {
    let parsed = Gvk {
        group: of.group.as_deref()?.parse().ok()?,
        version: of.version.as_deref()?.parse().ok()?,
        kind: of.kind.as_deref()?.parse().ok()?,
    };
    let key = project.own_key(&parsed);
    let has_chart = project.resource(&key).is_some_and(|it| it.chart.is_some());
    has_chart.then_some(key)
}

/// The refusal of `--helm-storage` for a kind of the project.
pub fn set_storage(key: &Key) -> Failure {
    Failure::refused(format!("`{key}` exists already"))
        .note("its controller in `src/controllers/` has the setting: `.with_helm_storage()` on its `CHART` keeps revisions as Helm keeps them")
        .advise(Script::forge("status"))
}
