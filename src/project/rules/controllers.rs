//! Rules of controllers: one default for each kind, one name and one file for each.

use std::collections::BTreeMap;

use super::{Check, Violation};
use crate::project::{ControllerView, Project};

/// A kind has one default controller, whichever version it watches.
pub fn defaults(project: &Project) -> Check {
    let mut kinds = BTreeMap::new();
    for (key, _) in project
        .resources()
        .filter(|(_, resource)| resource.controller)
    {
        let first = *kinds
            .entry((&key.group, &key.domain, &key.kind))
            .or_insert(key);
        if first != key {
            return Err(Violation::new(
                Some(key),
                format!("`{}` has a controller already", key.kind),
            )
            .note(format!(
                "it watches version {}; `--controller-name {}-{}` adds another one",
                first.version,
                key.kind.singular(),
                key.version
            ))
            .flag("--controller=false")
            .field(format!(
                "controllers: [{{name: {}-{}}}]",
                key.kind.singular(),
                key.version
            )));
        }
    }
    Ok(())
}

/// Two controllers of a group must not meet in one file.
pub fn files(project: &Project) -> Check {
    unique(
        project,
        |c| (c.group_module.file().to_owned(), c.module.file().to_owned()),
        |first, second| {
            format!(
                "the controllers `{}` and `{}` would both be `src/controllers/{}/{}.rs`",
                first.name,
                second.name,
                second.group_module.file(),
                second.module.file()
            )
        },
    )
}

/// Metrics, events and field managers tell controllers apart by their names.
pub fn names(project: &Project) -> Check {
    unique(
        project,
        |c| c.name.clone(),
        |first, second| {
            format!(
                "`{}` and `{}` have controllers of one name, `{}`",
                first.key, second.key, second.name
            )
        },
    )
}

fn unique<K: Ord>(
    project: &Project,
    key: impl Fn(&ControllerView<'_>) -> K,
    error: impl Fn(&ControllerView<'_>, &ControllerView<'_>) -> String,
) -> Check {
    let mut seen: BTreeMap<K, ControllerView<'_>> = BTreeMap::new();
    for controller in project.controllers() {
        let key = key(&controller);
        if let Some(first) = seen.get(&key) {
            let name = format!(
                "{}-{}",
                controller.key.kind.singular(),
                controller.key.version
            );
            return Err(
                Violation::new(Some(controller.key), error(first, &controller))
                    .note("a controller is named `<group>-<kind>` unless it has a name of its own")
                    .flag(format!("--controller-name {name}"))
                    .field(format!("controllers: [{{name: {name}}}]")),
            );
        }
        seen.insert(key, controller);
    }
    Ok(())
}
