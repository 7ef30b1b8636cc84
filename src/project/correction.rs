//! How a person corrects `PROJECT`.

use crate::advice::Script;

/// The file's name, at the root of every project.
pub const FILE: &str = "PROJECT";

/// The note with the corrected line of `PROJECT`.
pub fn change(field: &str) -> String {
    format!("change it there: {field}")
}

/// An edit of `PROJECT`, then `sync`.
pub fn edit() -> Script {
    Script::edit([FILE]).then(Script::forge("sync"))
}

/// Restores the last applied `PROJECT`, which needs no git.
pub fn restore() -> Script {
    Script::of("cp .operator-forge/PROJECT PROJECT")
}

/// Makes another project beside this one.
pub fn init_beside(directory: &str, domain: &str, name: &str) -> Script {
    Script::forge("init")
        .arg(format!("../{directory}"))
        .code("--domain")
        .arg(domain)
        .code("--project-name")
        .arg(name)
}
