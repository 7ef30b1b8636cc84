//! Names that Rust, crates, Cargo, Windows and the generated code reserve.

/// The strict and reserved keywords of edition 2024 that can be raw identifiers (Rust reference, "keywords").
pub const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Crates that generated code names, now or in a later template set. A module with such a name is ambiguous beside a `use` of the
/// crate (E0659), and a package with such a name cannot depend on it. Frozen with format 1 of `PROJECT`: another name would move
/// users' files.
#[rustfmt::skip]
pub const CRATES: &[&str] = &[
    "ansible_api", "anyhow", "axum", "axum_server", "builtin_kinds", "chart_api", "clap", "core", "futures", "helm_render", "jiff", "json_patch",
    "k8s_openapi", "kube", "manager", "operator_ansible", "operator_helm", "operator_runtime", "prometheus_client", "rustls", "schemars", "serde", "serde_json", "serde_saphyr",
    "std", "thiserror", "tokio", "tokio_util", "tower", "tower_http", "tracing", "tracing_subscriber",
];

/// Whether the name is a device of Windows, where no file can have it, whatever its extension (Microsoft, "Naming Files, Paths,
/// and Namespaces").
pub fn is_device(stem: &str) -> bool {
    // Most names have another length, and this checks each part of each path.
    if !(3..=4).contains(&stem.len()) {
        return false;
    }
    let stem = stem.to_ascii_lowercase();
    let numbered = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul")
        || numbered.is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']))
}

/// Package names that Cargo refuses or warns about (built-in crates, directories in `target`, devices of Windows), and the other
/// binaries of the generated project.
#[rustfmt::skip]
pub const PACKAGE_RESERVED: &[&str] = &[
    "alloc", "aux", "build", "con", "deps", "examples", "incremental", "manifests", "migrate-storage", "nul", "prn",
    "proc-macro", "test",
];

/// Kinds whose name cannot be a type in the generated code: imports of the templates, names that derives generate (serde's type
/// parameter `S`), and names of the prelude that the user's fields and impls need. Frozen with format 1 of `PROJECT`: another name
/// would rename a type in a User file.
#[rustfmt::skip]
pub const COLLIDING_KINDS: &[&str] = &[
    "Action", "Api", "Arc", "AsMut", "AsRef", "BTreeMap", "Box", "Client", "Clone", "Condition", "Context", "Controller", "Copy",
    "CustomResource", "CustomResourceDefinition", "CustomResourceExt", "Debug", "Default", "Deserialize",
    "DoubleEndedIterator", "Drop", "Eq", "Err", "Error", "ExactSizeIterator", "Extend", "Fake", "Fn", "FnMut",
    "FnOnce", "From", "FromIterator", "Future", "Hash", "Into", "IntoFuture", "IntoIterator", "Iterator",
    "JsonSchema", "KubeSchema", "LazyLock", "ListMerge", "ListParams", "None", "ObjectMeta", "Ok", "Option", "Ord",
    "PartialEq", "PartialOrd", "PostParams", "ReadyCondition", "ReconcileError", "Resource", "ResourceExt", "Result",
    "S", "Self", "Send", "Serialize", "Sized", "Some", "String", "Sync", "Time", "Timestamp", "ToOwned", "ToString",
    "TryFrom", "TryInto", "Unpin", "Vec", "WatchParams",
];

/// The names that files of webhooks import from the runtime.
#[rustfmt::skip]
pub const WEBHOOK_IMPORTS: &[&str] = &[
    "Change", "Denied", "FieldErrors", "Request", "Webhook",
];

/// The names that the types of a chart's kind import.
pub const CHART_IMPORTS: &[&str] = &["ReleaseStatus", "Schema", "SchemaGenerator", "Values"];

/// The names that the controller of a chart imports; some of them only where it takes objects over.
#[rustfmt::skip]
pub const CHART_CONTROLLER_IMPORTS: &[&str] = &[
    "Chart", "InstallsChart", "Secret", "Values", "Verb", "Watch",
];

/// The names that the types of a kind with a role or playbook import.
pub const ANSIBLE_IMPORTS: &[&str] = &["AnsibleStatus", "Variables"];

/// The names that the controller of a role or playbook imports; some of them only where it takes objects over.
#[rustfmt::skip]
pub const ANSIBLE_CONTROLLER_IMPORTS: &[&str] = &[
    "Automation", "Duration", "Finalizer", "Foreign", "RunsAnsible", "Watch",
];

/// The names that integration tests of controllers import.
pub const CONTROLLER_TEST_IMPORTS: &[&str] = &["DeleteParams", "Duration", "Patch", "PatchParams"];

/// Names that an object cannot have in the generated code: its other variables, functions and modules, and the names that clippy
/// disallows.
#[rustfmt::skip]
pub const LOCALS: &[&str] = &[
    "again", "api", "apply", "baz", "change", "check", "clean_up", "client", "cluster", "conditions", "context",
    "controller", "ctx", "default", "deleted", "denied", "ensure", "error", "errors", "event", "eventually",
    "expected", "fake", "finalizer", "foo", "from_value", "generation", "given", "json", "left", "list", "message",
    "namespace", "new", "now", "object", "old", "own", "params", "quux", "ready", "reconcile", "reported", "request",
    "result", "second", "spec", "status", "stored", "table", "time", "update", "validate", "version", "wait_for", "wanted",
    "wanted_status", "webhook", "writes",
];

/// Names that an object cannot have, in addition, in the controller of a chart and its test.
pub const CHART_LOCALS: &[&str] = &["annotations", "chart", "sample", "values"];

/// Names that an object cannot have, in addition, in the controller of a role or playbook and its test.
pub const ANSIBLE_LOCALS: &[&str] = &["automation", "sample"];

/// Names that an object cannot have, in addition, in a controller with an image.
#[rustfmt::skip]
pub const IMAGE_LOCALS: &[&str] = &[
    "after", "applied", "applier", "available", "before", "budget", "container", "count", "deployment", "deployments", "image",
    "is_ready", "label", "labels", "metadata", "name", "pod", "probe", "quantities", "reason", "reference", "rollout",
    "selector", "service", "size", "transition", "wanted_budget", "wanted_deployment", "wanted_service",
];
