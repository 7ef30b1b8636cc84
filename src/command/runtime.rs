//! `--runtime`: what is known of the crate's source before cargo looks for it, and what an outer workspace has to know.

use std::path::Path;

use toml_edit::DocumentMut;

use crate::{
    advice::Advice,
    error::{Failure, Result},
    project::{Project, RUNTIME, Runtime},
    tree,
};

/// Parses the value of `--runtime` for the project in `root`. A directory has to hold the crate; whether cargo can reach the
/// others, it says itself.
pub fn parse(root: &Path, text: &str) -> Result<Runtime> {
    let runtime = text.parse()?;
    if let Runtime::Path(directory) = &runtime {
        let found = manifest(&root.join(directory));
        let name = found
            .as_ref()
            .and_then(|it| it.get("package")?.get("name")?.as_str());
        if name != Some(RUNTIME) {
            let what = match name {
                Some(name) => format!("holds the crate `{name}`"),
                None => "holds no crate".to_owned(),
            };
            return Err(Failure::usage(format!("`{directory}` of `--runtime` {what}"))
                .note(format!("`path=` names a directory with the crate `{RUNTIME}`, as `Cargo.toml` of the project would"))
                .advise(Advice::set("--runtime", "vendored")));
        }
    }
    Ok(runtime)
}

/// What to add to the Cargo workspace around `root`, if there is one: the project becomes its member. A crate that it depends
/// on by a path below the workspace would become one, too.
pub fn outer_workspace(root: &Path, project: &Project) -> Option<String> {
    let full = tree::full(root);
    let is_workspace = |it: &&Path| manifest(it).is_some_and(|it| it.contains_key("workspace"));
    let outer = full.ancestors().skip(1).find(is_workspace)?;
    let member = full
        .strip_prefix(outer)
        .ok()?
        .to_string_lossy()
        .replace('\\', "/");
    // Cargo excludes nothing below a member that is named outright, so the member is named by a pattern.
    let (star, exclude) = match project.settings.runtime {
        Runtime::Vendored => ("*", format!(" and `exclude = [\"{member}/vendor\"]`")),
        _ => ("", String::new()),
    };
    Some(format!(
        "`{}` is a Cargo workspace, which this project joins: add `members = [\"{member}{star}\"]`{exclude} to its `[workspace]`; \
         its `Cargo.lock` and profiles count then, not the project's",
        outer.join("Cargo.toml").display()
    ))
}

fn manifest(directory: &Path) -> Option<DocumentMut> {
    let text = std::fs::read_to_string(directory.join("Cargo.toml")).ok()?;
    text.parse().ok()
}
