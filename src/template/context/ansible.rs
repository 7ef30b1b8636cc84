//! The variables of the templates for kinds with an Ansible role or playbook.

use serde_json::{Value, json};

use super::Subject;
use crate::{name::AnsiblePath, template::catalogue::Scope};

/// A role or playbook.
pub fn content(path: &AnsiblePath) -> Value {
    json!({
        // `role` or `playbook`, which is also the method of `Automation` that makes it.
        "word": path.word(),
        // The argument of that method: the name of a role, or the path of a playbook.
        "name": path.name(),
        // Its path in the project, or the name of a role of a collection.
        "path": path.as_str(),
    })
}

/// The controllers that run Ansible.
pub fn automations(controllers: &[Subject]) -> Vec<&Value> {
    let running = controllers
        .iter()
        .filter(|it| it.scope == Scope::AnsibleController);
    running.map(|it| &it.value).collect()
}
