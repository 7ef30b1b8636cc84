//! Derived files, which the project's own `make manifests` writes.

/// The derived files outside of [`CRDS`].
pub const FILES: [&str; 3] = [
    "config/crd/kustomization.yaml",
    "config/rbac/role.yaml",
    "config/webhook/manifests.yaml",
];
/// The directory with the CRDs.
pub const CRDS: &str = "config/crd/bases";
/// The first bytes of a derived file; a file without them is the user's.
pub const HEADER: &[u8] = b"# generated";

/// Whether `make manifests` would write a file at `path`, as far as its path tells.
pub fn is_derived(path: &str) -> bool {
    let below = path.strip_prefix(CRDS);
    FILES.contains(&path) || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
