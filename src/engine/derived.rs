//! What the project's own `make manifests` writes, which no template makes.

/// The files outside of [`CRDS`].
pub const FILES: [&str; 3] = [
    "config/crd/kustomization.yaml",
    "config/rbac/role.yaml",
    "config/webhook/manifests.yaml",
];
/// The directory with the definitions.
pub const CRDS: &str = "config/crd/bases";
/// How such a file begins; one without it is the user's.
pub const HEADER: &[u8] = b"# generated";

/// Whether `make manifests` would write a file at `path`, as far as its path tells.
pub fn is_derived(path: &str) -> bool {
    let below = path.strip_prefix(CRDS);
    FILES.contains(&path) || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
