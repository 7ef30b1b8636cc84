//! One test per way of branching.

use helm_render::chart::{Chart, File};

use super::*;

const METADATA: &str = "{apiVersion: v2, name: site, version: 1.0.0}";

fn chart(files: &[(&str, &str)]) -> Chart {
    let has_metadata = files.iter().any(|it| it.0 == "Chart.yaml");
    let metadata = (!has_metadata).then_some(("Chart.yaml", METADATA));
    let files = files.iter().copied().chain(metadata);
    let files = files.map(|(name, text)| File::new(name, text.as_bytes()));
    Chart::from_files(files.collect()).unwrap()
}

/// The kinds of a template with values, and the notes.
fn found(template: &str, values: &str) -> (Vec<String>, Vec<String>) {
    let chart = chart(&[("templates/all.yaml", template), ("values.yaml", values)]);
    let kinds = of(&chart, &[]);
    (names(&kinds), kinds.notes)
}

fn names(kinds: &Kinds) -> Vec<String> {
    kinds.rendered.iter().map(|it| it.kind.clone()).collect()
}

/// A template with a condition around a Service is rendered, and not only read.
#[track_caller]
fn reaches(condition: &str, values: &str) {
    let template = format!("{{{{ if {condition} }}}}\n{SERVICE}\n{{{{ end }}}}");
    let (kinds, notes) = found(&template, values);
    assert_eq!(kinds, ["Service"]);
    assert!(notes.is_empty(), "{notes:?}");
}

const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: a}";

#[test]
fn booleans_and_empty_values() {
    reaches(".Values.on", "on: false");
    reaches("not .Values.on", "on: true");
    reaches(".Values.name", "name: ''");
    reaches(".Values.names", "names: []");
    reaches("$.Values.a.b.c", "");
    reaches(
        "and .Values.a (not .Values.b) .Values.c",
        "{a: false, b: true, c: null}",
    );
    reaches("or .Values.a .Values.b", "{a: false, b: false}");
    reaches("and (or .Values.a .Values.b) (not .Values.a)", "a: false");
    reaches("hasKey .Values.a \"b\"", "a: {}");
    reaches("(.Values.a | default dict).b", "");
    reaches("index .Values \"a-b\" \"c\"", "");
    reaches("dig \"b\" false .Values.a", "a: {b: false}");
}

#[test]
fn comparisons() {
    reaches("eq .Values.type \"LoadBalancer\"", "type: ClusterIP");
    reaches(
        "and (ne .Values.type \"a\") (ne .Values.type \"b\")",
        "type: a",
    );
    reaches("gt (int .Values.replicas) 1", "replicas: 1");
    reaches("gt (len .Values.hosts) 0", "hosts: []");
    reaches("has \"pods\" .Values.kinds", "kinds: [jobs]");
    reaches("contains \"x\" .Values.text", "text: a");
    reaches("eq (toString .Values.on) \"false\"", "on: true");
    reaches("and .Values.name (eq .Values.name \"a\" \"b\")", "name: ''");
}

#[test]
fn clusters_and_releases() {
    reaches(".Capabilities.APIVersions.Has \"a.example.com/v1\"", "");
    reaches(
        "not (.Capabilities.APIVersions.Has \"a.example.com/v1\")",
        "",
    );
    reaches(
        "and .Values.on (.Capabilities.APIVersions.Has \"a/v1\")",
        "on: false",
    );
    reaches(
        "semverCompare \"<1.21-0\" .Capabilities.KubeVersion.Version",
        "",
    );
    reaches("lt (int .Capabilities.KubeVersion.Minor) 25", "");
    reaches(".Release.IsUpgrade", "");
    reaches("eq .Release.Namespace \"kube-system\"", "");
    reaches("(lookup \"v1\" \"Secret\" \"a\" \"b\").metadata", "");
}

#[test]
fn variables_and_named_templates() {
    let (kinds, notes) = found(
        &format!(
            r#"{{{{ define "on" }}}}{{{{ if and .Values.a (eq .Values.b "x") }}}}true{{{{ end }}}}{{{{ end }}}}
{{{{ define "service" }}}}{{{{ if .all.on }}}}
{SERVICE}
{{{{ end }}}}{{{{ end }}}}
{{{{ $c := .Values.c }}}}{{{{ $is := false }}}}{{{{ if $c.d }}}}{{{{ $is = true }}}}{{{{ end }}}}
{{{{ if and $is (eq (include "on" .) "true") }}}}
{{{{ include "service" (dict "all" .Values.e) }}}}
{{{{ end }}}}"#
        ),
        "{a: false, b: '', c: {}, e: {on: false}}",
    );
    assert_eq!(kinds, ["Service"]);
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn loops_and_with() {
    let (kinds, notes) = found(
        r#"{{ range .Values.ingresses }}
{{ if .enabled }}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: {{ .name }}}
spec: {rules: [{{ range .hosts }}{host: {{ .host | quote }}},{{ end }}]}
{{ end }}
{{ end }}
{{ range $name, $job := .Values.jobs }}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: {{ printf "%s-x" $name }}}
{{ end }}
{{ with .Values.claim }}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: a
  annotations: {{ toYaml .annotations | nindent 4 }}
{{ end }}"#,
        "{ingresses: [], jobs: {}}",
    );
    assert_eq!(kinds, ["PersistentVolumeClaim", "CronJob", "Ingress"]);
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn values_of_other_types_are_tried() {
    reaches(
        "and (kindIs \"slice\" .Values.a) (first .Values.a).name",
        "a: null",
    );
    reaches("and .Values.m (get .Values.m \"k\")", "");
}

#[test]
fn failures_are_avoided() {
    let fails = format!(
        "{{{{ if .Values.on }}}}{{{{ if not .Values.max }}}}{{{{ fail \"no max\" }}}}{{{{ end }}}}\n{SERVICE}\n{{{{ end }}}}"
    );
    let (kinds, notes) = found(&fails, "on: false");
    assert_eq!(kinds, ["Service"]);
    assert!(notes.is_empty(), "{notes:?}");

    let chart = chart(&[
        ("templates/a.yaml", "{{ fail \"never\" }}"),
        ("templates/b.yaml", SERVICE),
        (
            "templates/c.yaml",
            "name: {{ required \"a name\" .Values.name }}",
        ),
    ]);
    let kinds = of(&chart, &[]);
    assert_eq!(names(&kinds), ["Service"]);
    let [note] = kinds.notes.as_slice() else {
        panic!("{:?}", kinds.notes);
    };
    assert!(
        note.starts_with("templates/a.yaml fails with all values"),
        "{note}"
    );
    assert!(note.ends_with("never"), "{note}");
}

#[test]
fn a_chart_that_cannot_be_rendered() {
    let chart = chart(&[
        (
            "templates/a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: {{ template \"a\" . }}}",
        ),
        (
            "templates/_a.tpl",
            "{{ define \"a\" }}{{ fail \"never\" }}{{ end }}",
        ),
    ]);
    let kinds = of(&chart, &[]);
    assert_eq!(names(&kinds), ["Pod"]);
    let note = kinds
        .notes
        .iter()
        .find(|it| it.contains("cannot be rendered"));
    assert!(
        note.is_some_and(|it| it.ends_with("never")),
        "{:?}",
        kinds.notes
    );
}

#[test]
fn what_is_never_rendered_is_taken_from_the_text() {
    let (kinds, notes) = found(
        r#"{{ if eq (sha256sum .Values.key) "a" }}
apiVersion: {{ include "x" . }}
kind: Deployment
---
apiVersion: example.com/v1
kind: Proxy
---
kind: Unheard
{{ end }}{{ define "x" }}apps/v1{{ end }}"#,
        "",
    );
    assert_eq!(kinds, ["Deployment", "Proxy"]);
    assert_eq!(notes.len(), 4, "{notes:?}");
    assert!(
        notes
            .iter()
            .any(|it| it.contains("Unheard") && it.contains("group is not known"))
    );
    assert!(notes.iter().any(|it| it.contains("guessed to be proxies")));
}

#[test]
fn dependencies_are_switched_on() {
    let chart = chart(&[
        (
            "Chart.yaml",
            "{apiVersion: v2, name: site, version: 1.0.0, dependencies: [{name: db, alias: store, version: 1.0.0, condition: store.enabled}, \
             {name: cache, version: 1.0.0, tags: [fast]}, {name: gone, version: 1.0.0}]}",
        ),
        (
            "values.yaml",
            "{store: {enabled: false}, tags: {fast: false}, global: {ha: false}}",
        ),
        (
            "charts/db/Chart.yaml",
            "{apiVersion: v2, name: db, version: 1.0.0}",
        ),
        ("charts/db/values.yaml", "backup: false"),
        (
            "charts/db/templates/a.yaml",
            "apiVersion: apps/v1\nkind: StatefulSet\n{{ if and .Values.backup .Values.global.ha }}\n---\napiVersion: batch/v1\nkind: CronJob\n{{ end }}",
        ),
        (
            "charts/cache/Chart.yaml",
            "{apiVersion: v2, name: cache, version: 1.0.0}",
        ),
        (
            "charts/cache/templates/a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: {{ .Release.Name }}}",
        ),
    ]);
    let kinds = of(&chart, &[]);
    assert_eq!(names(&kinds), ["Pod", "StatefulSet", "CronJob"]);
    assert_eq!(
        kinds.rendered[1].templates,
        ["charts/store/templates/a.yaml"]
    );
    let [note] = kinds.notes.as_slice() else {
        panic!("{:?}", kinds.notes);
    };
    assert!(note.contains("gone"), "{note}");
}

#[test]
fn samples_and_files_of_ci() {
    let template =
        "{{ if eq (b64enc .Values.a) \"c2VjcmV0\" }}\napiVersion: v1\nkind: Secret\n{{ end }}";
    let sample = serde_json::json!({"a": "secret"})
        .as_object()
        .cloned()
        .unwrap_or_default();
    let plain = chart(&[("templates/a.yaml", template), ("values.yaml", "a: ''")]);
    assert!(of(&plain, &[sample]).notes.is_empty());
    let with_ci = chart(&[
        ("templates/a.yaml", template),
        ("values.yaml", "a: ''"),
        ("ci/some-values.yaml", "a: secret"),
    ]);
    assert!(of(&with_ci, &[]).notes.is_empty());
}

#[test]
fn kinds_from_values() {
    let (kinds, notes) = found(
        "apiVersion: apps/v1\nkind: {{ .Values.kind | default \"Deployment\" }}\nmetadata: {name: a}",
        "",
    );
    assert_eq!(kinds, ["DaemonSet", "Deployment", "StatefulSet"]);
    assert!(notes[0].contains("is the value kind"), "{notes:?}");
}

#[test]
fn lists_hooks_crds_and_lookups() {
    let chart = chart(&[
        (
            "crds/a.yaml",
            "{kind: CustomResourceDefinition, spec: {group: example.com, scope: Cluster, names: {kind: Fox, plural: foxen}}}",
        ),
        (
            "templates/a.yaml",
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: example.com/v1, kind: Fox}\n- {apiVersion: v1, kind: Pod}\n",
        ),
        (
            "templates/b.yaml",
            "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, annotations: {helm.sh/hook: pre-install}}\n",
        ),
        (
            "templates/NOTES.txt",
            "{{ if .Values.x }}{{ lookup \"v1\" \"Node\" \"\" \"\" }}{{ end }}{{ fail \"always\" }}",
        ),
        (
            "templates/_c.tpl",
            "{{ define \"c\" }}{{ $kind := \"Secret\" }}{{ lookup \"v1\" $kind \"a\" \"b\" }}{{ end }}",
        ),
        ("templates/d.yaml", "# {{ include \"c\" . }}"),
    ]);
    let kinds = of(&chart, &[]);
    assert!(kinds.notes.is_empty(), "{:?}", kinds.notes);
    assert!(kinds.has_crds);
    let [pod, job, fox] = kinds.rendered.as_slice() else {
        panic!("{:?}", names(&kinds));
    };
    assert_eq!((pod.kind.as_str(), pod.is_only_hook), ("Pod", false));
    assert_eq!((job.kind.as_str(), job.is_only_hook), ("Job", true));
    assert_eq!(
        (fox.plural.as_str(), fox.namespaced, fox.is_known),
        ("foxen", false, true)
    );
    let looked_up: Vec<_> = kinds
        .looked_up
        .iter()
        .map(|it| (it.kind.as_str(), it.namespaced))
        .collect();
    assert_eq!(looked_up, [("Node", false), ("Secret", true)]);
}

#[test]
fn roles_and_bindings() {
    let chart = chart(&[
        (
            "values.yaml",
            "{secrets: false, names: [], extra: [], role: '', usual: usual-reader}",
        ),
        (
            "templates/rbac.yaml",
            r#"apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: {{ .Release.Name }}-reader}
rules:
- {apiGroups: [""], resources: [pods, nodes], verbs: [list, get]}
{{ if .Values.secrets }}
- {apiGroups: [""], resources: [secrets], verbs: [get], resourceNames: [fixed]}
{{ end }}
{{ with .Values.names }}
- {apiGroups: [""], resources: [configmaps], verbs: [get], resourceNames: {{ toJson . }}}
{{ end }}
{{ with .Values.extra }}{{ toYaml . }}{{ end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: all}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: a}
roleRef: {kind: ClusterRole, name: {{ .Release.Name }}-reader}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b}
roleRef: {kind: Role, name: extension-reader}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: d}
roleRef: {kind: Role, name: {{ .Values.usual }}}
{{ if .Values.role }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: c}
roleRef: {kind: Role, name: {{ .Values.role }}}
{{ end }}"#,
        ),
    ]);
    let kinds = of(&chart, &[]);
    let rules: Vec<String> = kinds.granted.iter().map(|it| it.rule.to_string()).collect();
    assert_eq!(
        rules,
        [
            r#"{"apiGroups":[""],"resourceNames":["fixed"],"resources":["secrets"],"verbs":["get"]}"#,
            r#"{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}"#,
            r#"{"apiGroups":[""],"resources":["nodes","pods"],"verbs":["get","list"]}"#,
        ]
    );
    assert!(kinds.granted.iter().all(|it| it.is_cluster_wide));
    assert_eq!(kinds.granted[0].role, "ClusterRole in templates/rbac.yaml");
    let bound: Vec<_> = kinds
        .bound
        .iter()
        .map(|(kind, name)| format!("{kind} {name}"))
        .collect();
    assert_eq!(bound, ["Role extension-reader", "Role usual-reader"]);
    let aggregated = "The ClusterRole in templates/rbac.yaml has an aggregationRule: ";
    let mut notes = kinds.notes.iter();
    assert!(
        notes.any(|it| it.starts_with(aggregated)),
        "{:?}",
        kinds.notes
    );
}

#[test]
fn the_result_is_the_same_each_time() {
    let template = "{{ range .Values.a }}{{ if .b }}\n---\napiVersion: v1\nkind: Pod\n{{ else if .c }}\n---\nkind: Unheard\n{{ end }}{{ end }}";
    let chart = chart(&[("templates/a.yaml", template)]);
    let first = of(&chart, &[]);
    for _ in 0..3 {
        assert_eq!(of(&chart, &[]), first);
    }
}

#[test]
fn hostile_charts_end() {
    let bombs = [
        "{{ range until 100000 }}{{ range until 100000 }}x{{ end }}{{ end }}".to_owned(),
        "{{ define \"a\" }}{{ include \"a\" . }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}".to_owned(),
        format!("{{{{ $a := .Values.a }}}}{}{{{{ if $a }}}}x{{{{ end }}}}", "{{ $a = and $a $a }}".repeat(60)),
        format!("{{{{ $a := . }}}}{}{{{{ if $a }}}}x{{{{ end }}}}", "{{ $a = dict \"a\" $a \"b\" $a }}".repeat(60)),
        format!("{{{{ if .Values{} }}}}x{{{{ end }}}}", ".a".repeat(20_000)),
        format!("{}x{}", "{{ if .Values.a }}".repeat(90), "{{ end }}".repeat(90)),
        format!("{{{{ if .Values.x }}}}{}{{{{ end }}}}", "{{ else if .Values.a }}\nkind: A\n".repeat(500)),
        "apiVersion: v1\n".repeat(2_000) + &"kind: A\n".repeat(2_000) + "{{ .Values.a }}",
        "{{ if".to_owned(),
        "kind: List\nitems: [{kind: List, items: [{kind: List, items: []}]}]".to_owned(),
    ];
    for bomb in &bombs {
        let chart = chart(&[("templates/a.yaml", bomb), ("templates/b.yaml", SERVICE)]);
        let kinds = of(&chart, &[]);
        assert!(
            kinds.rendered.iter().any(|it| it.kind == "Service"),
            "{bomb:.80}"
        );
    }
}

/// Whether a template takes whole objects from values.
fn takes_objects(template: &str) -> bool {
    let (_, notes) = found(template, "{objects: [], on: false, kind: A}");
    let begin = "Values give whole objects to templates/all.yaml: `.needs::<Kind>(&[Verb::Get, ";
    notes.iter().any(|note| note.starts_with(begin))
}

#[test]
fn whole_objects_come_from_values() {
    const RENDER: &str = "{{ define \"render\" }}{{ $text := typeIs \"string\" .value | ternary .value (.value | toYaml) }}
        {{ if contains \"{{\" (toJson .value) }}{{ tpl $text .context }}{{ else }}{{ $text }}{{ end }}{{ end }}";
    for template in [
        "{{ tpl (toYaml .Values.objects) . }}",
        "{{ .Values.objects }}",
        "{{ toYaml (.Values.objects | default .Values.others) }}",
        "{{- range .Values.objects }}\n---\n{{ toYaml . | nindent 0 }}\n{{- end }}",
        "{{- range $name, $object := .Values.objects }}\n---\n# {{ $name }}\n{{ tpl ($object | toYaml) $ }}\n{{- end }}",
        "{{ if .Values.on }}\n{{ tpl .Values.text $ }}{{ end }}",
        &format!(
            "{RENDER}{SERVICE}\n{{{{ range .Values.objects }}}}\n---\n{{{{ include \"render\" (dict \"value\" . \"context\" $) }}}}{{{{ end }}}}"
        ),
    ] {
        assert!(takes_objects(template), "{template}");
    }
}

#[test]
fn parts_of_objects_are_no_objects() {
    let parts = "{{ define \"labels\" }}{{ toYaml .Values.labels }}{{ end }}apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  labels: {{- include \"labels\" . | nindent 4 }}\n{{ toYaml .Values.more }}\n";
    for template in [
        parts,
        "# {{ .Values.objects }}\n",
        "{{ tpl (.Files.Get \"a.yaml\") . }}",
        "{{ range $path, $_ := .Files.Glob \"a/*\" }}\n---\n{{ tpl ($.Files.Get $path) $ }}{{ end }}",
        "{{ $objects := toYaml .Values.objects }}{{ required \"name it\" .Values.kind }}: 1",
        "{{ toYaml (dict \"kind\" \"Service\" \"apiVersion\" \"v1\") }}",
    ] {
        assert!(!takes_objects(template), "{template}");
    }
    let notes = chart(&[("templates/NOTES.txt", "{{ .Values.objects }}")]);
    assert!(of(&notes, &[]).notes.is_empty());
}
