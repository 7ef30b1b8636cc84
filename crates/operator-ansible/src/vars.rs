//! The variables of a run.

use serde_json::{Map, Value, json};

use crate::{automation::Automation, names};

/// The variables of a run. Ansible evaluates templates in those of the author, and in no others.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Vars {
    /// What the object says. No template in it is evaluated.
    pub(crate) object: Map<String, Value>,
    /// What the author of the operator says. Templates in it are evaluated.
    pub(crate) author: Map<String, Value>,
}

impl Vars {
    /// The variables for an object, as operator-sdk makes them: the fields of its spec, `ansible_operator_meta`, the whole object, its
    /// spec as it is; then those of the automation, and those of its finalizer, which win.
    pub(crate) fn of(
        automation: &Automation,
        (group, kind): (&str, &str),
        object: &Value,
        is_finalizer: bool,
    ) -> Self {
        let empty = Map::new();
        let spec = object["spec"].as_object().unwrap_or(&empty);
        let mut all = match automation.snake_case {
            true => names::map_to_snake(spec),
            false => spec.clone(),
        };
        if !automation.evaluates_objects {
            all.retain(|name, _| !is_of_ansible(name));
        }
        let metadata = &object["metadata"];
        let text = |field: &str| metadata[field].as_str().unwrap_or_default();
        let meta = json!({ "name": text("name"), "namespace": text("namespace") });
        all.insert("ansible_operator_meta".to_owned(), meta);
        let name = names::of_object(group, kind);
        all.insert(format!("{name}_spec"), spec.clone().into());
        let mut whole = object.clone();
        if !object["spec"].is_object() {
            whole["spec"] = json!({});
        }
        all.insert(name, whole);
        let mut author = automation.vars.clone();
        if is_finalizer && let Some(finalizer) = &automation.finalizer {
            author.extend(finalizer.vars.clone());
        }
        all.retain(|key, _| !author.contains_key(key));
        if automation.evaluates_objects {
            author.extend(all);
            all = Map::new();
        }
        Self {
            object: all,
            author,
        }
    }
}

/// Whether a variable of this name tells Ansible how to run, such as `ansible_python_interpreter`, which names a program. For operator-sdk,
/// an object may set them.
fn is_of_ansible(name: &str) -> bool {
    const PLACES: [&str; 5] = [
        "hostvars",
        "inventory_dir",
        "inventory_file",
        "playbook_dir",
        "role_path",
    ];
    name.starts_with("ansible_") || PLACES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automation::Finalizer;

    fn object() -> Value {
        json!({
            "apiVersion": "cache.example.com/v1",
            "kind": "Memcached",
            "metadata": { "name": "sample", "namespace": "ns" },
            "spec": { "replicaCount": 3, "size": "{{ lookup('pipe', 'id') }}" },
        })
    }

    const KIND: (&str, &str) = ("cache.example.com", "Memcached");

    #[test]
    fn variables_are_those_of_operator_sdk() {
        let vars = Vars::of(&Automation::role("a"), KIND, &object(), false);
        let expected = json!({
            "replica_count": 3,
            "size": "{{ lookup('pipe', 'id') }}",
            "ansible_operator_meta": { "name": "sample", "namespace": "ns" },
            "_cache_example_com_memcached": object(),
            "_cache_example_com_memcached_spec": object()["spec"],
        });
        assert_eq!(Value::from(vars.object), expected);
        assert_eq!(vars.author, Map::new());
    }

    #[test]
    fn snake_case_can_be_off() {
        let automation = Automation::role("a").snake_case_parameters(false);
        let vars = Vars::of(&automation, KIND, &object(), false);
        assert_eq!(vars.object["replicaCount"], 3);
        assert!(!vars.object.contains_key("replica_count"));
    }

    #[test]
    fn those_of_the_automation_win_over_the_spec_and_those_of_the_finalizer_over_them() {
        let finalizer =
            Finalizer::new("example.com/f").vars(json!({ "size": 1, "state": "absent" }));
        let vars = json!({ "size": 2, "state": "present" });
        let automation = Automation::role("a")
            .vars(vars.clone())
            .finalizer(finalizer);
        for (is_finalizer, expected) in [
            (false, vars),
            (true, json!({ "size": 1, "state": "absent" })),
        ] {
            let vars = Vars::of(&automation, KIND, &object(), is_finalizer);
            assert_eq!(Value::from(vars.author), expected);
            assert!(!vars.object.contains_key("size"));
            assert_eq!(vars.object["replica_count"], 3);
        }
    }

    #[test]
    fn an_object_without_spec_has_an_empty_one() {
        let secret = json!({ "kind": "Secret", "metadata": { "name": "a" }, "data": {} });
        let vars = Vars::of(&Automation::role("a"), ("", "Secret"), &secret, false);
        assert_eq!(vars.object["__secret"]["spec"], json!({}));
        assert_eq!(vars.object["__secret_spec"], json!({}));
        let meta = json!({ "name": "a", "namespace": "" });
        assert_eq!(vars.object["ansible_operator_meta"], meta);
    }

    #[test]
    fn an_object_does_not_tell_ansible_how_to_run() {
        let spec = json!({ "ansiblePythonInterpreter": "/bin/evil", "ansible_connection": "ssh", "rolePath": "/etc", "port": 1 });
        let object = json!({ "metadata": { "name": "a" }, "spec": spec });
        let own = json!({ "ansible_connection": "local" });
        let automation = Automation::role("a").vars(own.clone());
        let vars = Vars::of(&automation, KIND, &object, false);
        let mut names: Vec<_> = vars.object.keys().map(String::as_str).collect();
        names.sort_unstable();
        let whole = "_cache_example_com_memcached";
        let of_spec = "_cache_example_com_memcached_spec";
        assert_eq!(names, [whole, of_spec, "ansible_operator_meta", "port"]);
        assert_eq!(vars.object[of_spec], spec);
        assert_eq!(Value::from(vars.author), own);
    }

    #[test]
    fn objects_are_evaluated_only_if_the_author_says_so() {
        let automation = Automation::role("a").evaluate_objects(true);
        let vars = Vars::of(&automation, KIND, &object(), false);
        assert!(vars.object.is_empty());
        assert_eq!(vars.author["replica_count"], 3);
    }
}
