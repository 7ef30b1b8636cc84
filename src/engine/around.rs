//! The project around the working directory, which commands search for like cargo and git.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use super::derived::CRDS;
use crate::{
    advice::Advice,
    cli::{self, Cli, Command, Create},
    error::{Failure, Result},
    memory,
    project::{self, FILE},
    tree,
};

/// Enters the nearest parent directory with a `PROJECT`, like `-C`. Paths of the command line, also in `words`, become relative
/// to it. Returns the directory if it is not the working directory.
pub fn enter(cli: &mut Cli, words: &mut Vec<String>) -> Option<PathBuf> {
    let start = cli.global.directory.clone();
    let stands = |path: &str| start.join(path).symlink_metadata().is_ok();
    let needs_none = match &cli.command {
        Command::Init(_) | Command::Version | Command::Completion { .. } => true,
        // CRDs can be compared without a project.
        Command::Check(flags) => flags.crds.is_some() && stands(CRDS),
        _ => false,
    };
    if needs_none || !start.is_dir() || stands(FILE) || stands(memory::DIRECTORY) {
        return None;
    }
    let full = tree::full(&start);
    let project = project::above(&full)?;
    let below = full.strip_prefix(project).ok()?;
    let root = up(&start, below.components().count());
    let mut renamed = BTreeMap::new();
    let mut rebase = |text: &mut String| {
        if let Some(path) = inside(&below.join(&*text)) {
            renamed.insert(text.clone(), path.clone());
            *text = path;
        }
    };
    match &mut cli.command {
        Command::Own(files) | Command::Disown(files) | Command::Restore(files) => {
            files.paths.iter_mut().for_each(rebase);
        }
        Command::Diff(flags) => flags.paths.iter_mut().for_each(rebase),
        Command::Check(flags) => {
            let released = flags.crds.as_mut();
            released.filter(|it| start.join(&**it).exists()).map(rebase);
        }
        Command::Create(Create::Api(flags)) => {
            let source = flags.from_crd.as_mut();
            let chart = &mut flags.chart;
            let is_path = chart.helm_chart_repo.is_none();
            let ansible = &mut flags.ansible;
            let sources = [
                source.or(chart.helm_chart.as_mut().filter(|_| is_path)),
                ansible.ansible_role.as_mut(),
                ansible.ansible_playbook.as_mut(),
            ];
            let sources = sources.into_iter().flatten();
            let sources = sources.filter(|it| start.join(&**it).exists());
            sources.for_each(rebase);
        }
        Command::Edit(flags) => {
            if let Some(file) = &mut flags.license_file {
                let mut text = file.to_string_lossy().into_owned();
                rebase(&mut text);
                *file = text.into();
            }
        }
        _ => {}
    }
    cli.global.directory.clone_from(&root);
    *words = cli::in_directory(words, &root.to_string_lossy(), &renamed);
    Some(root)
}

/// Refuses a new project in a directory of another one.
pub fn refuse_nested(root: &Path) -> Result<()> {
    let full = tree::full(root);
    let ours = |it: &&Path| it.join(memory::LOCK).is_file();
    match project::above(&full).filter(ours) {
        None => Ok(()),
        Some(outer) => Err(Failure::refused(format!(
            "`{}` is in the project `{}`",
            full.display(),
            outer.display()
        ))
        .note("`create api` adds any number of groups and kinds to one project")
        .advise(Advice::switch("--nested"))),
    }
}

/// `start` without its last `levels` directories; `.` for the current one.
fn up(start: &Path, levels: usize) -> PathBuf {
    let mut path = start.strip_prefix(".").unwrap_or(start).to_path_buf();
    for _ in 0..levels {
        match path.components().next_back() {
            // The parent of a link is not the parent of its target.
            Some(Component::Normal(_)) if !path.is_symlink() => _ = path.pop(),
            _ => path.push(".."),
        }
    }
    match path.as_os_str().is_empty() {
        true => ".".into(),
        false => path,
    }
}

/// `path` without `.` and `..`; `None` if it leads out of the project, or is absolute.
fn inside(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => _ = parts.pop()?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_still_names_the_same_file() {
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(
                inside(&Path::new("src/api").join(path)).as_deref(),
                expected
            );
        };
        check("cache.rs", Some("src/api/cache.rs"));
        check("./../lib.rs", Some("src/lib.rs"));
        check("../../Makefile", Some("Makefile"));
        check("../../../Makefile", None);
        check("/etc/passwd", None);
    }

    #[test]
    fn a_directory_above() {
        let check = |start: &str, levels, expected: &str| {
            assert_eq!(up(Path::new(start), levels), PathBuf::from(expected));
        };
        check(".", 2, "../..");
        check("a/b", 1, "a");
        check("./a", 1, ".");
        check("..", 1, "../..");
        check("a", 2, "..");
    }
}
