//! Rules of controllers: one default for each kind, one name and one file for each.

use std::collections::BTreeMap;

use super::{Check, Violation, in_order};
use crate::project::{ControllerView, Key, Project};

/// A kind has one default controller, whichever version it watches.
pub fn defaults(project: &Project, last: Option<&Key>) -> Check {
    let mut kinds = BTreeMap::new();
    let controlled = project
        .resources()
        .filter(|(_, resource)| resource.controller);
    for (key, _) in in_order(controlled, |(key, _)| key, last) {
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
pub fn files(project: &Project, last: Option<&Key>) -> Check {
    unique(
        (project, last),
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
pub fn names(project: &Project, last: Option<&Key>) -> Check {
    unique(
        (project, last),
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
    (project, last): (&Project, Option<&Key>),
    key: impl Fn(&ControllerView<'_>) -> K,
    error: impl Fn(&ControllerView<'_>, &ControllerView<'_>) -> String,
) -> Check {
    let mut seen: BTreeMap<K, ControllerView<'_>> = BTreeMap::new();
    for controller in in_order(project.controllers(), |it| it.key, last) {
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
