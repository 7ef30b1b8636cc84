//! `--helm-storage` for a kind that exists: the setting is in `PROJECT`.

use crate::{
    advice::Script,
    cli::TypeFlags,
    error::Failure,
    project::{FILE, Gvk, Key, Project},
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
pub fn set_storage(project: &Project, key: &Key) -> Failure {
    let failure = Failure::refused(format!("`{key}` exists already"));
    let stored = |it: &crate::project::Resource| it.helm_storage;
    match project.resource(key).is_some_and(stored) {
        true => failure
            .note("its revisions are kept as Helm keeps them")
            .advise(Script::forge("status")),
        false => failure
            .note(format!(
                "`helmStorage: true` below its `chart` in `{FILE}` keeps its revisions as Helm keeps them"
            ))
            .advise(Script::edit([FILE]).then(Script::forge("sync"))),
    }
}
