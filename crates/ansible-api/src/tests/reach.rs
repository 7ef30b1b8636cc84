//! What belongs to a role or playbook, what its roles grant, and files that nobody expects.

use super::*;

#[test]
fn files_that_cannot_be_read() {
    check_note(
        "- a: [\n",
        &[],
        &[],
        "roles/app/tasks/main.yml:1 is no YAML",
    );
    check_note("a: b\n", &[], &[], "is no list of tasks");
    check_note(
        "$ANSIBLE_VAULT;1.1;AES256\n3132\n",
        &[],
        &[],
        "is encrypted",
    );
    let kinds = found(&[], &role());
    assert!(
        kinds.notes[0].starts_with("the role `app` is not among the files"),
        "{:?}",
        kinds.notes
    );
    let kinds = found(&[], &Entry::Playbook("x.yml".to_owned()));
    assert!(
        kinds.notes[0].starts_with("The playbook `x.yml` is not"),
        "{:?}",
        kinds.notes
    );
}

#[test]
fn roles_that_others_name() {
    let all = [
        (
            "roles/app/tasks/main.yml",
            "- include_role: {name: one}\n- ansible.builtin.import_role: {name: '{{ r }}'}\n- include_role: {name: '{{ unknown }}'}\n- import_role: {name: three}",
        ),
        ("roles/app/vars/main.yml", "r: two"),
        (
            "roles/app/meta/main.yml",
            "dependencies: [{role: four}, five]",
        ),
        (
            "roles/app/handlers/main.yml",
            "- k8s: {kind: Secret, state: absent}",
        ),
        (
            "roles/one/tasks/main.yml",
            "- k8s_info: {kind: Pod}\n- include_role: {name: app}",
        ),
        ("roles/two/tasks/more.yml", "- k8s_info: {kind: Service}"),
        ("roles/four/tasks/main.yml", "- k8s_info: {kind: Node}"),
        ("roles/five/tasks/main.yml", "- k8s_info: {kind: Event}"),
        ("roles/six/tasks/main.yml", "- k8s_info: {kind: Namespace}"),
    ];
    let kinds = found(&all, &role());
    assert_eq!(
        lines(&kinds),
        [
            "events: get list",
            "nodes: get list",
            "pods: get list",
            "secrets: delete get list",
            "services: get list"
        ]
    );
    assert_eq!(kinds.notes.len(), 2, "{:?}", kinds.notes);
    assert!(
        kinds.notes[0]
            .contains("main.yml:3 (task `include_role`): the name of a role comes from a variable")
    );
    assert!(
        kinds.notes[1]
            .contains("main.yml:4 (task `import_role`): the role `three` is not among the files")
    );
}

#[test]
fn playbooks() {
    let all = [
        (
            "playbooks/site.yml",
            "- hosts: localhost\n  vars: {k: Secret}\n  vars_files: [vars.yml]\n  roles: [one, {role: two}]\n  module_defaults: {k8s: {state: absent}}\n  pre_tasks:\n    - k8s_info: {kind: Pod}\n  tasks:\n    - k8s: {kind: '{{ k }}'}\n    - include_tasks: tasks/more.yml\n    - k8s: {template: x.yml.j2}\n  post_tasks:\n    - k8s_info: {kind: '{{ other }}'}\n  handlers:\n    - k8s_info: {kind: Service}\n- import_playbook: other.yml\n",
        ),
        ("playbooks/vars.yml", "other: Node"),
        ("playbooks/tasks/more.yml", "- k8s_info: {kind: Event}"),
        (
            "playbooks/templates/x.yml.j2",
            "apiVersion: v1\nkind: Endpoints",
        ),
        (
            "playbooks/other.yml",
            "- hosts: all\n  tasks:\n    - k8s_info: {kind: Namespace}",
        ),
        (
            "playbooks/roles/one/tasks/main.yml",
            "- k8s_info: {kind: LimitRange}",
        ),
        (
            "roles/two/tasks/main.yml",
            "- k8s_info: {kind: ResourceQuota}",
        ),
    ];
    let kinds = found(&all, &Entry::Playbook("playbooks/site.yml".to_owned()));
    assert_eq!(
        lines(&kinds),
        [
            "endpoints: delete get list",
            "events: get list",
            "limitranges: get list",
            "namespaces: get list",
            "nodes: get list",
            "pods: get list",
            "resourcequotas: get list",
            "secrets: delete get list",
            "services: get list",
        ]
    );
    assert_eq!(kinds.notes, [""; 0]);
}

#[test]
fn what_roles_grant() {
    let template = "apiVersion: rbac.authorization.k8s.io/v1\nkind: {% if c %}ClusterRole{% else %}Role{% endif %}\nmetadata: {name: '{{ n }}-role'}\nrules:\n- {apiGroups: [''], resources: [pods, secrets], resourceNames: ['{{ n }}'], verbs: [get]}\n- {nonResourceURLs: [/x], verbs: [get]}\n- apiGroups: {{ groups }}\n  verbs: [get]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nroleRef: {kind: Role, name: '{{ n }}-role'}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nroleRef: {kind: ClusterRole, name: view}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nroleRef: {kind: ClusterRole, name: '{{ other }}'}\n";
    let tasks = "- k8s: {template: r.yml}";
    let kinds = found(
        &[
            ("roles/app/tasks/main.yml", tasks),
            ("roles/app/templates/r.yml", template),
        ],
        &role(),
    );
    let shown: Vec<_> = kinds
        .granted
        .iter()
        .map(|it| {
            (
                it.is_cluster_wide,
                it.resources.join(" "),
                it.non_resource_urls.join(" "),
                it.verbs.join(" "),
            )
        })
        .collect();
    let rule = |is_cluster_wide, resources: &str, urls: &str| {
        (
            is_cluster_wide,
            resources.to_owned(),
            urls.to_owned(),
            "get".to_owned(),
        )
    };
    assert_eq!(
        shown,
        [
            rule(false, "", "/x"),
            rule(true, "", "/x"),
            rule(false, "pods secrets", ""),
            rule(true, "pods secrets", "")
        ]
    );
    assert!(kinds.granted.iter().all(|it| it.resource_names.is_empty()));
    assert_eq!(kinds.bound, [("ClusterRole".to_owned(), "view".to_owned())]);
    let noted = |text: &str| kinds.notes.iter().any(|it| it.contains(text));
    assert!(
        noted("a ClusterRole takes rules from variables"),
        "{:?}",
        kinds.notes
    );
    assert!(
        noted("binds a role whose name comes from variables"),
        "{:?}",
        kinds.notes
    );
    // A role that is only removed grants nothing.
    let absent = found(
        &[
            (
                "roles/app/tasks/main.yml",
                "- k8s: {template: r.yml, state: absent}",
            ),
            ("roles/app/templates/r.yml", template),
        ],
        &role(),
    );
    assert_eq!((absent.granted.len(), absent.bound.len()), (0, 0));
}

/// Whatever the files are, there is a result.
#[test]
fn nothing_panics() {
    let pieces = [
        "- k8s:\n",
        "    definition:",
        " \"{{ item }}\"",
        "\n",
        "  loop: ",
        "[a, {b: c}]",
        "{{ ",
        " }}",
        "{% if x %}",
        "{% endif %}",
        "{% else %}",
        "lookup('template', ",
        "'a.yml.j2')",
        "lookup('k8s', kind=",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        "\"",
        "\\",
        "kind: ",
        "Pod",
        "apiVersion: ",
        "v1",
        "---\n",
        "&a ",
        "*a",
        "<<: ",
        "!vault |\n",
        "!unsafe ",
        "- block:\n",
        "    ",
        "  ",
        "template: ",
        "src: ",
        "vars: ",
        "x | default(",
        ".",
        "|",
        "~",
        "é",
        "\u{E000}1\u{E001}",
        "\u{E002}",
        "\t",
        "#",
        "- include_tasks: ",
        "main.yml",
        "../",
        "items: ",
        "kind: List\n",
        "rules: ",
        "roleRef: ",
        "ClusterRole",
        "rbac.authorization.k8s.io/v1",
        "- include_role: {name: app}\n",
        "with_dict: ",
        "set_fact: ",
    ];
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..4_000 {
        let mut text = || -> String {
            let count = random.usize(..25);
            (0..count)
                .map(|_| pieces[random.usize(..pieces.len())])
                .collect()
        };
        let (tasks, template, defaults) = (text(), text(), text());
        let all = [
            ("roles/app/tasks/main.yml", &*tasks),
            ("roles/app/templates/a.yml.j2", &*template),
            ("roles/app/defaults/main.yml", &*defaults),
            ("playbooks/x.yml", &*tasks),
        ];
        let first = found(&all, &role());
        assert_eq!(first, found(&all, &role()));
        found(&all, &Entry::Playbook("playbooks/x.yml".to_owned()));
    }
}

/// What is nested deep, or refers to itself, ends.
#[test]
fn hostile_files_end_soon() {
    let deep = format!(
        "- k8s: {{definition: \"{{{{ {}a{} }}}}\"}}",
        "(".repeat(50_000),
        ")".repeat(50_000)
    );
    let braces = format!("- k8s: {{definition: '{}'}}", "{{".repeat(100_000));
    let itself = "- k8s: {definition: '{{ a }}'}\n  vars: {a: '{{ b }}{{ b }}{{ b }}', b: '{{ a }}{{ a }}{{ a }}'}";
    let nested = format!("- block:\n  {}", "[".repeat(100_000));
    for tasks in [&*deep, &*braces, itself, &*nested] {
        found(&[("roles/app/tasks/main.yml", tasks)], &role());
    }
    let includes = [
        ("roles/app/tasks/main.yml", "- k8s: {template: a.j2}"),
        (
            "roles/app/templates/a.j2",
            "{% include 'a.j2' %}{% include 'a.j2' %}{% include 'a.j2' %}kind: Pod\n",
        ),
    ];
    assert_eq!(lines(&found(&includes, &role())), ["pods: *"]);
}
