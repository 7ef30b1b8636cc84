//! The CRDs that are compared.

use std::{collections::BTreeSet, path::Path};

use crd_compat::Release;

use super::BASES;
use crate::{
    advice::Script,
    definitions::{Manifest, Manifests},
    engine::{Workspace, crd_files},
    error::{Failure, Result},
    git, project,
    tree::{self, Found, Obstacle, ObstacleKind, RelPath},
};

/// The CRDs of `--crds`, which names standard input (`-`), a file, a directory or a git revision; and those of the project.
pub fn both(root: &Path, released: &str) -> Result<(Release, Release)> {
    if !root.join(project::FILE).exists() && !root.join(BASES).is_dir() {
        Workspace::open(root)?;
    }
    let (before, after) = rayon::join(
        || before(root, released),
        || after(root).map(|files| Manifests::read(files, None)),
    );
    let before = Manifests::read(before?, after.as_ref().ok()).release()?;
    if before.is_empty() && (released == "-" || root.join(released).exists()) {
        return Err(
            Failure::refused(format!("no CustomResourceDefinition in `{released}`"))
                .note("name a file, a directory or a git revision that has some")
                .advise(Script::forge("check --crds HEAD")),
        );
    }
    Ok((before, after?.release()?))
}

fn before(root: &Path, released: &str) -> Result<Vec<Manifest>> {
    if released.trim().is_empty() {
        return Err(Failure::usage("`--crds` names nothing")
            .note(
                "a `$(…)` that fails is empty, such as `git describe` in a repository without tags",
            )
            .advise(Script::forge("check --crds HEAD")));
    }
    if let Some(files) = crd_files::read(root, released)? {
        return Ok(files);
    }
    let mut files = git::blobs(root, released, BASES).map_err(|why| {
        if git::is_unborn(root) {
            return no_commit(released);
        }
        Failure::refused(format!("`{released}` is neither a file nor a git revision"))
            .note(why.to_string())
            .note("a checkout in CI often has neither tags nor history: set `fetch-depth: 0` of actions/checkout")
            .advise(match git::is_inside_repository(root) {
                true => Script::of("git fetch --tags"),
                false => Script::forge("check --help"),
            })
    })?;
    files.retain(|file| crd_files::holds_definitions(Path::new(&file.path)));
    let texts = git::contents(root, &files)
        .map_err(|why| crd_files::unreadable(released, &why.to_string()))?;
    let (links, files): (Vec<_>, Vec<_>) = files
        .into_iter()
        .zip(texts)
        .partition(|(file, _)| file.is_link);
    let mut seen: BTreeSet<Vec<u8>> = files.iter().map(|(_, text)| text.clone()).collect();
    // A link to a file is not read again.
    let is_new = |(_, text): &(git::Blob, Vec<u8>)| seen.insert(text.clone());
    let links: Vec<_> = links.into_iter().filter(is_new).collect();
    let file = |(file, bytes): (git::Blob, _)| Manifest {
        source: format!("{released}:{}", file.path),
        bytes,
    };
    Ok(files.into_iter().chain(links).map(file).collect())
}

/// The refusal of a revision in a repository without one.
fn no_commit(released: &str) -> Failure {
    Failure::refused(format!(
        "`{released}` is no revision: the repository has no commit yet"
    ))
    .note("a change of the CRDs is what differs from a commit, or from the files in a directory")
    .advise(Script::of("git add --all .").then(Script::of("git commit -m release")))
}

fn after(root: &Path) -> Result<Vec<Manifest>> {
    match tree::find(root, &RelPath::constant(BASES))? {
        Found::Obstacle(Obstacle {
            kind: ObstacleKind::Directory,
            ..
        }) => crd_files::directory(root, &root.join(BASES)),
        // `make manifests` writes it again, so nobody needs what a link leads to.
        Found::Obstacle(obstacle) => Err(Failure::refused(obstacle.to_string())
            .advise(Script::put_aside(&obstacle.path).then(Script::of("make manifests")))),
        _ => Err(Failure::refused(format!("no `{BASES}`"))
            .note("the CRDs of the project are there")
            .advise(Script::of("make manifests"))),
    }
}
