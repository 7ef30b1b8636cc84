//! Derived files, which the project's `make manifests` writes.

/// The Derived files outside of [`CRDS`].
pub const FILES: [&str; 3] = [
    "config/crd/kustomization.yaml",
    "config/rbac/role.yaml",
    "config/webhook/manifests.yaml",
];
/// The directory with the CRDs.
pub const CRDS: &str = "config/crd/bases";
/// The first bytes of a Derived file. A file without them is the user's.
pub const HEADER: &[u8] = b"# generated";

/// Whether `path` is one that `make manifests` may write.
pub fn is_derived(path: &str) -> bool {
    let below = path.strip_prefix(CRDS);
    FILES.contains(&path) || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
