use super::*;

mod reach;

fn files(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    let files = files.iter();
    files
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
        .collect()
}

fn found(all: &[(&str, &str)], entry: &Entry) -> Kinds {
    of(&files(all), entry)
}

fn role() -> Entry {
    Entry::Role("app".to_owned())
}

/// The rules in lines: plural, group, subresource, `?` if it is guessed, and the verbs, `*` for all.
fn lines(kinds: &Kinds) -> Vec<String> {
    let rule = |it: &KindRule| {
        let verbs: Vec<String> = it.verbs.iter().map(ToString::to_string).collect();
        let verbs = match it.verbs.len() {
            7 => "*".to_owned(),
            _ => verbs.join(" "),
        };
        let subresource = it.subresource.as_ref();
        let subresource = subresource.map_or(String::new(), |it| format!("/{it}"));
        let group = match &*it.group {
            "" => String::new(),
            group => format!(".{group}"),
        };
        let guess = if it.is_known { "" } else { "?" };
        format!("{}{group}{subresource}{guess}: {verbs}", it.plural)
    };
    let rules = kinds.rules.iter().map(rule);
    rules.collect()
}

/// The rules of a role with these tasks and these other files of it.
fn check_with(tasks: &str, others: &[(&str, &str)], expected: &[&str]) -> Kinds {
    let others = others
        .iter()
        .map(|(path, text)| (format!("roles/app/{path}"), *text));
    let others: Vec<(String, &str)> = others.collect();
    let mut all = vec![("roles/app/tasks/main.yml", tasks)];
    all.extend(others.iter().map(|(path, text)| (&**path, *text)));
    let kinds = found(&all, &role());
    assert_eq!(lines(&kinds), expected, "{tasks}\n{:#?}", kinds.notes);
    kinds
}

fn check(tasks: &str, expected: &[&str]) {
    let kinds = check_with(tasks, &[], expected);
    assert_eq!(kinds.notes, [""; 0], "{tasks}");
}

fn check_note(tasks: &str, others: &[(&str, &str)], expected: &[&str], note: &str) {
    let kinds = check_with(tasks, others, expected);
    assert!(
        kinds.notes.iter().any(|it| it.contains(note)),
        "{:#?}",
        kinds.notes
    );
}

#[test]
fn definitions_inline() {
    for (tasks, expected) in [
        (
            "- kubernetes.core.k8s:\n    definition: {apiVersion: v1, kind: ConfigMap, metadata: {name: '{{ x }}'}}",
            &["configmaps: *"][..],
        ),
        (
            "- k8s:\n    resource_definition:\n      - {apiVersion: v1, kind: Secret}\n      - {apiVersion: apps/v1, kind: Deployment}",
            &["secrets: *", "deployments.apps: *"],
        ),
        (
            "- community.kubernetes.k8s:\n    inline: |\n      apiVersion: v1\n      kind: Pod\n      metadata:\n        name: {{ x }}\n      ---\n      apiVersion: v1\n      kind: List\n      items:\n      - {apiVersion: v1, kind: Service}\n",
            &["pods: *", "services: *"],
        ),
        (
            "- k8s: {state: absent, kind: Job, api_version: batch/v1, name: x}",
            &["jobs.batch: delete get list"],
        ),
        (
            "- k8s: {state: '{{ state }}', kind: Job, api_version: batch/v1, name: x}",
            &["jobs.batch: *"],
        ),
        (
            "- k8s: kind=svc name=\"{{ a b }}\" state=absent",
            &["services: delete get list"],
        ),
        (
            "- action: k8s kind=Pod state=absent\n- local_action: {module: k8s, kind: Service, state: absent}",
            &["pods: delete get list", "services: delete get list"],
        ),
        (
            "- k8s: {state: patched, kind: Node, definition: {metadata: {name: a}}}",
            &["nodes: get list patch"],
        ),
        (
            "- k8s: {state: patched, force: yes, kind: Node, name: a}",
            &["nodes: get list patch update"],
        ),
        // `v1` is the default, and finds every group.
        (
            "- k8s: {kind: deployment, name: a, state: absent}",
            &["deployments.apps: delete get list"],
        ),
        (
            "- block:\n    - k8s: {kind: Pod, state: absent}\n  rescue:\n    - k8s: {kind: Service, state: absent}\n  always:\n    - block:\n        - k8s: {kind: Secret, state: absent}",
            &[
                "pods: delete get list",
                "secrets: delete get list",
                "services: delete get list",
            ],
        ),
        (
            "- k8s:\n    definition:\n      apiVersion: v1\n      kind: \"{{ item }}\"\n  loop: [Secret, ConfigMap]",
            &["configmaps: *", "secrets: *"],
        ),
        (
            "- k8s:\n    definition: \"{{ item }}\"\n  with_items:\n    - {apiVersion: v1, kind: Secret}",
            &["secrets: *"],
        ),
        (
            "- k8s: {state: absent, name: a}\n  module_defaults:\n    group/kubernetes.core.k8s: {kind: Pod, api_version: v1}",
            &["pods: delete get list"],
        ),
        (
            "- set_fact: {k: Pod}\n- k8s: {kind: '{{ k }}', state: absent}",
            &["pods: delete get list"],
        ),
        (
            "- k8s:\n    kind: '{% if a %}Pod{% else %}Secret{% endif %}'\n    state: absent",
            &["pods: delete get list", "secrets: delete get list"],
        ),
        (
            "- debug: {msg: a}\n- other.collection.k8s: {kind: Pod}\n- template: {src: a, dest: b}",
            &[],
        ),
        (
            "- k8s_status: {api_version: a/v1, kind: B}\n- operator_sdk.util.requeue_after: {period: 1s}",
            &[],
        ),
    ] {
        check(tasks, expected);
    }
}

#[test]
fn other_modules() {
    for (tasks, expected) in [
        (
            "- kubernetes.core.k8s_info: {kind: Pod, wait: true}\n- k8s_facts: {api_version: apps/v1, kind: ReplicaSet}",
            &["pods: get list", "replicasets.apps: get list"][..],
        ),
        (
            "- k8s_scale: {api_version: apps/v1, kind: Deployment, name: a, replicas: 1}\n- k8s_scale: {api_version: batch/v1, kind: Job, name: b, replicas: 1}",
            &[
                "deployments.apps: get list",
                "deployments.apps/scale: get patch",
                "jobs.batch: get list patch",
            ],
        ),
        (
            "- k8s_exec: {pod: a, command: b}",
            &["pods: get", "pods/exec: create get"],
        ),
        (
            "- k8s_cp: {pod: a, local_path: b}",
            &["pods: get", "pods/exec: create get"],
        ),
        (
            "- k8s_log: {api_version: apps/v1, kind: StatefulSet, name: a}",
            &["pods: get list", "pods/log: get", "statefulsets.apps: get"],
        ),
        (
            "- k8s_json_patch: {kind: Service, name: a, patch: []}",
            &["services: get patch"],
        ),
        ("- k8s_service: {name: a, state: present}", &["services: *"]),
        (
            "- k8s_rollback: {api_version: apps/v1, kind: Deployment, name: a}",
            &[
                "deployments.apps: get list patch",
                "replicasets.apps: get list",
            ],
        ),
        (
            "- k8s_drain: {name: a}\n- k8s_taint: {name: a, taints: []}",
            &[
                "nodes: get patch",
                "pods: delete get list",
                "pods/eviction: create",
            ],
        ),
        (
            "- debug: {msg: \"{{ lookup('kubernetes.core.k8s', kind='Service', namespace=x) }}\"}\n- debug: {msg: \"{{ q(\\\"k8s\\\", api_version=\\\"apps/v1\\\", kind=\\\"Deployment\\\") | length }}\"}",
            &["services: get list", "deployments.apps: get list"],
        ),
        (
            "- debug: {msg: \"{{ query('k8s', cluster_info='version') }}\"}",
            &[],
        ),
    ] {
        check(tasks, expected);
    }
}

#[test]
fn templates_and_files() {
    let deployment = "{% if a %}\napiVersion: apps/v1\nkind: Deployment\nspec:\n  template: {{ x | to_json }}\n{{ y | to_nice_yaml | indent(2) }}\n{% endif %}\n";
    let scaled = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment}\n";
    let others = [
        ("templates/a.yml.j2", deployment),
        ("templates/b/c.yml.j2", scaled),
        (
            "files/d.yml",
            "apiVersion: v1\nkind: Namespace\n---\n---\napiVersion: v1\nkind: Pod\n",
        ),
        (
            "defaults/main.yml",
            "name: a\nobjects:\n  - {apiVersion: v1, kind: Secret}\n",
        ),
    ];
    let deployments = "deployments.apps: *";
    for (tasks, expected) in [
        ("- k8s: {template: a.yml.j2}", &[deployments][..]),
        (
            "- k8s: {template: {path: b/c.yml.j2}}",
            &["horizontalpodautoscalers.autoscaling: *"],
        ),
        (
            "- k8s: {template: [a.yml.j2, {path: b/c.yml.j2}]}",
            &[deployments, "horizontalpodautoscalers.autoscaling: *"],
        ),
        ("- k8s: {src: d.yml}", &["namespaces: *", "pods: *"]),
        (
            "- k8s: {src: '{{ role_path }}/files/d.yml', state: absent}",
            &["namespaces: delete get list", "pods: delete get list"],
        ),
        (
            "- k8s: {definition: \"{{ lookup('template', 'a.yml.j2') | from_yaml }}\"}",
            &[deployments],
        ),
        (
            "- k8s: {definition: \"{{ lookup('ansible.builtin.template', name ~ '.yml.j2') | from_yaml_all | list }}\"}",
            &[deployments],
        ),
        (
            "- k8s: {definition: \"{{ lookup('file', 'd.yml') | from_yaml_all }}\"}",
            &["namespaces: *", "pods: *"],
        ),
        ("- k8s: {definition: \"{{ objects }}\"}", &["secrets: *"]),
        (
            "- k8s: {template: '{{ item }}'}\n  loop: [a.yml.j2]",
            &[deployments],
        ),
        (
            "- k8s: {definition: \"{{ lookup('template', item.t) | from_yaml }}\"}\n  loop: [{t: a.yml.j2}]",
            &[deployments],
        ),
        (
            "- template: {src: a.yml.j2, dest: '/tmp/{{ x }}.yml'}\n- k8s: {src: '/tmp/{{ x }}.yml'}",
            &[deployments],
        ),
    ] {
        let kinds = check_with(tasks, &others, expected);
        assert_eq!(kinds.notes, [""; 0], "{tasks}");
    }
    let tasks = "- k8s: {template: '{{ unknown }}.yml.j2'}";
    let expected = [deployments, "horizontalpodautoscalers.autoscaling: *"];
    check_note(
        tasks,
        &others,
        &expected,
        "the name `….yml.j2` comes from variables",
    );
    check_note(
        "- k8s: {src: 'https://x/y.yml'}",
        &others,
        &[],
        "`https://x/y.yml` is not among the files",
    );
    // Branches that are no YAML together.
    let branches = "{% if a %}\n---\napiVersion: v1\nkind: Pod\nspec:\n  - a: 1\n{% if b %}\n    c: 2\n      - d\n{% endif %}\n{% endif %}\n";
    let branches = [("templates/a.yml.j2", branches)];
    let kinds = check_with("- k8s: {template: a.yml.j2}", &branches, &["pods: *"]);
    assert_eq!(kinds.notes, [""; 0]);
    let broken = [(
        "templates/a.yml.j2",
        "kind: Role\napiVersion: rbac.authorization.k8s.io/v1\n x: [\n",
    )];
    check_note(
        "- k8s: {template: a.yml.j2}",
        &broken,
        &["roles.rbac.authorization.k8s.io: *"],
        "roles/app/templates/a.yml.j2:3 is no YAML",
    );
    let whole = [("templates/a.yml.j2", "{{ x | to_yaml }}\n")];
    check_note(
        "- k8s: {template: a.yml.j2}",
        &whole,
        &[],
        "whole objects come from variables",
    );
}

#[test]
fn kinds_of_which_little_is_known() {
    let custom =
        "- name: make one\n  k8s: {definition: {apiVersion: x.example.com/v1, kind: Proxy}}";
    let guess = "roles/app/tasks/main.yml:1 (task `make one`): the plural of Proxy in the group `x.example.com` is guessed to be `proxies`";
    check_note(custom, &[], &["proxies.x.example.com?: *"], guess);
    let crd = "kind: CustomResourceDefinition\nspec: {group: x.example.com, scope: Cluster, names: {kind: Proxy, plural: proxyen}}\n";
    let kinds = check_with(
        custom,
        &[("files/crd.yml", crd)],
        &["proxyen.x.example.com: *"],
    );
    assert!(!kinds.rules[0].namespaced);
    assert_eq!(kinds.notes, [""; 0]);
    check_note(
        "- k8s: {kind: '{{ x }}'}",
        &[],
        &[],
        "`.needs::<Kind>(&[Verb::Get, Verb::List, Verb::Watch,",
    );
    check_note(
        "- k8s_info: {kind: Proxy}",
        &[],
        &[],
        "the group of the kind Proxy is not known",
    );
    check_note(
        "- k8s_info: {kind: Deployment, api_version: '{{ x }}'}",
        &[],
        &["deployments.apps: get list"],
        "taken to be apps/v1",
    );
    check(
        "- k8s_info: {kind: Deployment, api_version: 'apps/{{ x }}'}",
        &["deployments.apps: get list"],
    );
    check_note("- k8s: {name: a}", &[], &[], "it names no kind");
    check_note("- k8s: '{{ all }}'", &[], &[], "come whole from a variable");
    check_note(
        "- k8s: {definition: '{{ x }}'}",
        &[],
        &[],
        "whole objects come from variables",
    );
    check_note("- helm: {name: a}", &[], &[], "cannot be derived");
    check_note(
        "- shell: 'a && /bin/kubectl get pods'",
        &[],
        &[],
        "it runs `kubectl`",
    );
    check_note("- command: {argv: [oc, get]}", &[], &[], "it runs `oc`");
    check_note(
        "- debug: {msg: \"{{ lookup('k8s', kind=x) }}\"}",
        &[],
        &[],
        "roles/app/tasks/main.yml:1: the kind of an object",
    );
}
