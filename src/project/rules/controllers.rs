//! Rules of controllers: one default for each kind, one name and one file for each.

use std::collections::BTreeMap;

use super::{Check, in_order};
use crate::project::error::{Rule, Violation};
use crate::project::{ControllerView, Key, Project};

/// A kind has one default controller, whichever version it watches.
pub fn defaults(project: &Project, last: Option<&Key>) -> Check {
    let mut kinds = BTreeMap::new();
    let controlled = project
        .resources()
        .filter(|(_, resource)| resource.controller);
    for (key, _) in in_order(controlled, |(key, _)| key, last) {
        let kind = (&key.group, &key.domain, &key.kind);
        let first = *kinds.entry(kind).or_insert(key);
        if first != key {
            return Err(Rule::TwoDefaults.at(key).beside(first));
        }
    }
    Ok(())
}

/// Two controllers of a group need two files.
pub fn files(project: &Project, last: Option<&Key>) -> Check {
    let path = |it: &ControllerView<'_>| it.path();
    unique((project, last), path, |first, second| {
        let names = [first.name.clone(), second.name.clone()];
        let path = second.path();
        Rule::SameControllerFile { names, path }.at(second.key)
    })
}

/// Metrics, events and field managers tell controllers apart by their names.
pub fn names(project: &Project, last: Option<&Key>) -> Check {
    let name = |it: &ControllerView<'_>| it.name.clone();
    unique((project, last), name, |first, second| {
        let rule = Rule::SameControllerName(second.name.clone());
        rule.at(second.key).beside(first.key)
    })
}

fn unique(
    (project, last): (&Project, Option<&Key>),
    key: impl Fn(&ControllerView<'_>) -> String,
    violation: impl Fn(&ControllerView<'_>, &ControllerView<'_>) -> Violation,
) -> Check {
    let mut seen: BTreeMap<String, ControllerView<'_>> = BTreeMap::new();
    for controller in in_order(project.controllers(), |it| it.key, last) {
        let key = key(&controller);
        if let Some(first) = seen.get(&key) {
            return Err(violation(first, &controller));
        }
        seen.insert(key, controller);
    }
    Ok(())
}
