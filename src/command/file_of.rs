//! The generated file that a path on the command line names.

use crate::{
    error::{Failure, Result},
    memory,
    project::FILE,
    tree::{RelPath, Tree},
};

/// What the project's own `make manifests` writes.
const DERIVED: [&str; 3] = [
    "config/crd/bases/",
    "config/rbac/role.yaml",
    "config/webhook/manifests.yaml",
];

/// The path as the tree has it. A leading `./` is what shells complete.
pub fn path_of(text: &str) -> Result<RelPath> {
    RelPath::parse(text.strip_prefix("./").unwrap_or(text))
}

/// Why nothing in `desired` is at `path`.
pub fn unknown(path: &RelPath, desired: &Tree) -> Failure {
    let text = path.as_str();
    let failure = Failure::refused(format!("`{path}` is not generated"));
    if text == FILE || text.starts_with(memory::DIRECTORY) {
        return failure
            .note("it is the record of the project, which every command writes")
            .help("operator-forge sync");
    }
    if DERIVED.iter().any(|derived| text.starts_with(derived)) {
        return failure
            .note("the project's own code writes it, and leaves a file without its header alone")
            .help("make manifests");
    }
    let directory = format!("{}/", text.trim_end_matches('/'));
    let mut inside = desired
        .keys()
        .filter(|path| path.as_str().starts_with(&directory));
    if let Some(first) = inside.next() {
        return failure
            .note("it is a directory, and each file in it has an owner")
            .help(first.to_string());
    }
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let of_that_name = |path: &&RelPath| name(path.as_str()) == name(text);
    let near = desired.keys().filter(of_that_name);
    match near.min_by_key(|path| path.parents().count()) {
        Some(near) => failure
            .note("paths are relative to the project's directory")
            .help(near.to_string()),
        None => failure
            .note("nothing in `PROJECT` asks for it, so it is yours alone")
            .help("operator-forge sync --dry-run"),
    }
}
