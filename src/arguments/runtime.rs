//! `--runtime`: the source of the crate `operator-runtime`, and an outer Cargo workspace that has to know the project.

use std::path::Path;

use toml_edit::DocumentMut;

use crate::{
    advice::Advice,
    error::{Failure, Result},
    project::{Project, RUNTIME, Runtime},
    tree,
};

/// Parses `--runtime` for the project in `root`. A directory has to hold the crate; cargo checks the other sources.
pub fn parse(root: &Path, text: &str) -> Result<Runtime> {
    let runtime: Runtime = text.parse()?;
    let Runtime::Path(directory) = &runtime else {
        return Ok(runtime);
    };
    // `init` may have to create the project, so the way back out of it does not exist yet.
    let found = manifest(&tree::full(&root.join(directory)));
    let name = found
        .as_ref()
        .and_then(|it| it.get("package")?.get("name")?.as_str());
    let what = match name {
        Some(RUNTIME) => return Ok(runtime),
        Some(name) => format!("holds the crate `{name}`"),
        None => "holds no crate".to_owned(),
    };
    Err(
        Failure::usage(format!("`{directory}` of `--runtime` {what}"))
            .note(format!(
                "`path=` names a directory with the crate `{RUNTIME}`, relative to the project"
            ))
            .advise(Advice::set("--runtime", "vendored")),
    )
}

/// A remark about the Cargo workspace around `root`, if there is one that does not exclude it: the project becomes its member.
/// A crate in a directory below the workspace, such as `vendor/`, would become a member, too.
pub fn outer_workspace(root: &Path, project: &Project) -> Option<String> {
    let full = tree::full(root);
    let workspace = |outer: &Path| manifest(outer)?.get("workspace").cloned();
    let mut outer = full.ancestors().skip(1);
    let (outer, workspace) = outer.find_map(|outer| Some((outer, workspace(outer)?)))?;
    let member = full
        .strip_prefix(outer)
        .ok()?
        .to_string_lossy()
        .replace('\\', "/");
    let excluded = workspace.get("exclude").and_then(|it| it.as_array());
    let mut excluded = excluded.into_iter().flatten().filter_map(|it| it.as_str());
    if excluded.any(|path| Path::new(&member).starts_with(path)) {
        return None;
    }
    // Cargo ignores `exclude` below a member that is listed by its path, so the member is listed by a pattern.
    let (star, exclude) = match project.settings.runtime {
        Runtime::Vendored => ("*", format!(" and `exclude = [\"{member}/vendor\"]`")),
        _ => ("", String::new()),
    };
    Some(format!(
        "`{}` is a Cargo workspace, which this project joins: add `members = [\"{member}{star}\"]`{exclude} to its `[workspace]`; \
         cargo then uses its `Cargo.lock` and profiles, not those of the project",
        outer.join("Cargo.toml").display()
    ))
}

/// The `Cargo.toml` in a directory.
pub fn manifest(directory: &Path) -> Option<DocumentMut> {
    let text = tree::read(&directory.join("Cargo.toml")).ok()?;
    String::from_utf8(text).ok()?.parse().ok()
}
