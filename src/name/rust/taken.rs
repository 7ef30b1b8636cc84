//! Names that are taken: by Rust, by crates, by Cargo, by Windows, by the generated code.

/// Keywords of edition 2024, strict and reserved, that can be raw identifiers (Rust reference, "keywords").
pub const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Crates that code of the generated project names, now or by a later template set: a module of the same name beside a
/// `use` of the crate is ambiguous (E0659), and a package of the same name cannot depend on it. Frozen with format 1 of
/// `PROJECT`: a name more would move users' files.
pub const CRATES: &[&str] = &[
    "anyhow",
    "axum",
    "axum_server",
    "clap",
    "core",
    "futures",
    "jiff",
    "json_patch",
    "k8s_openapi",
    "kube",
    "manager",
    "operator_runtime",
    "prometheus_client",
    "rustls",
    "schemars",
    "serde",
    "serde_json",
    "serde_saphyr",
    "std",
    "thiserror",
    "tokio",
    "tokio_util",
    "tower",
    "tower_http",
    "tracing",
    "tracing_subscriber",
];

/// Whether Windows gives this name to a device, so that no file there can have it, whatever its extension (Microsoft,
/// "Naming Files, Paths, and Namespaces").
pub fn is_device(stem: &str) -> bool {
    // Every path is asked, and few of their parts are that short.
    if !(3..=4).contains(&stem.len()) {
        return false;
    }
    let stem = stem.to_ascii_lowercase();
    let numbered = stem.strip_prefix("com").or(stem.strip_prefix("lpt"));
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul")
        || numbered.is_some_and(|number| matches!(number.as_bytes(), [b'0'..=b'9']))
}

/// Package names that Cargo refuses or warns of (built-in crates, directories below `target`, devices of Windows), and
/// the generated project's other binaries.
pub const PACKAGE_RESERVED: &[&str] = &[
    "alloc",
    "aux",
    "build",
    "con",
    "deps",
    "examples",
    "incremental",
    "manifests",
    "migrate-storage",
    "nul",
    "prn",
    "proc-macro",
    "test",
];

/// Kinds whose name cannot be a type of the generated code: what the templates import, what derives generate (serde's
/// type parameter `S`), and what a user's own fields and impls need from the prelude. Frozen with format 1 of `PROJECT`: a
/// name more would rename a type that a User file has.
pub const COLLIDING_KINDS: &[&str] = &[
    "Action",
    "Api",
    "Arc",
    "AsMut",
    "AsRef",
    "Box",
    "Client",
    "Clone",
    "Condition",
    "Context",
    "Controller",
    "Copy",
    "CustomResource",
    "CustomResourceDefinition",
    "CustomResourceExt",
    "Debug",
    "Default",
    "Deserialize",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "Error",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Hash",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "JsonSchema",
    "KubeSchema",
    "ListMerge",
    "ListParams",
    "None",
    "ObjectMeta",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "PostParams",
    "ReconcileError",
    "Resource",
    "ResourceExt",
    "Result",
    "S",
    "Self",
    "Send",
    "Serialize",
    "Sized",
    "Some",
    "String",
    "Sync",
    "Time",
    "Timestamp",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
    "WatchParams",
];

/// What files with webhooks import from the manager.
pub const WEBHOOK_IMPORTS: &[&str] = &[
    "Change",
    "Denied",
    "Fake",
    "FieldErrors",
    "Request",
    "Webhook",
];
