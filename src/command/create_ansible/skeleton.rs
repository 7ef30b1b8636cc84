//! A new role and a new playbook, with a task to begin with.

use super::source::Source;
use crate::{
    error::Result,
    name::{AnsiblePath, Kind},
};

/// A task as an example. It begins a line; `{NAMESPACE}` is that of its ConfigMap.
const TASK: &str = r#"- name: Keep a ConfigMap
  kubernetes.core.k8s:
    definition:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: "{{ ansible_operator_meta.name }}"
        namespace: {NAMESPACE}
      data:
        message: "{{ message | default('hello') }}"
"#;

fn task(namespaced: bool) -> String {
    let namespace = match namespaced {
        true => r#""{{ ansible_operator_meta.namespace }}""#,
        false => "default",
    };
    TASK.replace("{NAMESPACE}", namespace)
}

/// What the tasks have to know.
const INTRO: &str = "\
# Runs after each change of an object. Each field of its spec is a variable, in snake case, and `ansible_operator_meta` has the
# name and the namespace of the object. What the tasks create belongs to it.
";

/// The role of a kind.
pub fn role(kind: &Kind, namespaced: bool) -> Result<Source> {
    let main = format!("{INTRO}{}", task(namespaced));
    let path = AnsiblePath::of_role(&kind.singular());
    Source::new(path, vec![("tasks/main.yml", main)])
}

/// The playbook of a kind. It has a role or, without one, tasks.
pub fn playbook(kind: &Kind, role: Option<&Source>, namespaced: bool) -> Result<Source> {
    let play =
        format!("{INTRO}- name: Reconcile {kind}\n  hosts: localhost\n  gather_facts: false\n");
    let text = match role {
        Some(role) => format!("{play}  roles:\n    - {}\n", role.path.name()),
        None => {
            let tasks = task(namespaced);
            let tasks = tasks.lines().map(|line| format!("    {line}\n"));
            format!("{play}  tasks:\n{}", tasks.collect::<String>())
        }
    };
    let path = AnsiblePath::of_playbook(&format!("{}.yml", kind.singular()));
    Source::new(path, vec![("", text)])
}
