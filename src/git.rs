//! The little that the tool needs of git.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use crate::tree::{self, RelPath};

/// Whether `directory` is inside a repository already.
pub fn is_inside_repository(directory: &Path) -> bool {
    tree::full(directory)
        .ancestors()
        .any(|ancestor| ancestor.join(".git").exists())
}

/// Makes a repository in `directory`; says why if it cannot.
pub fn init(directory: &Path) -> Result<(), String> {
    output(directory, &["init", "--quiet"]).map(drop)
}

/// The files below `directory` with changes that are not committed, as git names them; none where there is no
/// repository or no git. Says why if git cannot tell.
pub fn uncommitted(directory: &Path) -> Result<Vec<String>, String> {
    if !is_inside_repository(directory) {
        return Ok(Vec::new());
    }
    let arguments = ["status", "--porcelain", "--untracked-files=all", "--", "."];
    let Some(list) = run(directory, &arguments)? else {
        return Ok(Vec::new());
    };
    let list = String::from_utf8_lossy(&list);
    let paths = list.lines().filter_map(|line| line.get(3..));
    Ok(paths.map(str::to_owned).collect())
}

/// The texts of a file that a merge, rebase or cherry-pick could not put together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmerged {
    /// Before the two branches; `None` where it was not there.
    pub ancestor: Option<String>,
    /// On the branch that was there; `None` where it was deleted.
    pub ours: Option<String>,
    /// On the branch that came; `None` where it was deleted.
    pub theirs: Option<String>,
}

/// Which files below a directory git could not merge, as its index says.
#[derive(Clone, Debug, Default)]
pub struct Conflicted {
    directory: PathBuf,
    list: String,
}

impl Conflicted {
    /// Asks git; nothing is there where there is no git, no repository, or nothing to merge.
    pub fn below(directory: &Path) -> Self {
        let list = match is_inside_repository(directory) {
            true => output(directory, &["ls-files", "--unmerged", "-z"]).unwrap_or_default(),
            false => Vec::new(),
        };
        Self {
            directory: directory.to_path_buf(),
            list: String::from_utf8_lossy(&list).into_owned(),
        }
    }

    /// The texts of those that are `wanted`.
    pub fn texts(&self, wanted: impl Fn(&RelPath) -> bool) -> BTreeMap<RelPath, Unmerged> {
        let mut files: BTreeMap<RelPath, Unmerged> = BTreeMap::new();
        for line in self.list.split('\0') {
            // `mode object stage<TAB>path`
            let Some((facts, path)) = line.split_once('\t') else {
                continue;
            };
            let Some(path) = RelPath::parse(path).ok().filter(&wanted) else {
                continue;
            };
            let mut facts = facts.split(' ').skip(1);
            let text = facts
                .next()
                .and_then(|object| text(&self.directory, object));
            let file = files.entry(path).or_default();
            match facts.next() {
                Some("1") => file.ancestor = text,
                Some("2") => file.ours = text,
                _ => file.theirs = text,
            }
        }
        files
    }
}

fn text(directory: &Path, object: &str) -> Option<String> {
    let bytes = output(directory, &["cat-file", "blob", object]).ok()?;
    String::from_utf8(tree::unix_line_ends(&bytes).into_owned()).ok()
}

/// The text of a file below `directory` in a commit, or with no commit in the index; `None` where it is not there, or git
/// could not merge it.
pub fn text_at(directory: &Path, commit: &str, path: &str) -> Option<String> {
    let bytes = output(directory, &["show", &format!("{commit}:./{path}")]).ok()?;
    String::from_utf8(tree::unix_line_ends(&bytes).into_owned()).ok()
}

/// The texts of a file in the merge that the last commit is; `None` where it is none, or was settled in another way than by
/// keeping the file of one branch.
pub fn merged(directory: &Path, path: &str) -> Option<Unmerged> {
    if !is_inside_repository(directory) {
        return None;
    }
    let text = |commit: &str| text_at(directory, commit, path);
    let theirs = text("HEAD^2")?;
    let base = output(directory, &["merge-base", "HEAD^1", "HEAD^2"]).ok()?;
    let unmerged = Unmerged {
        ancestor: text(String::from_utf8(base).ok()?.trim()),
        ours: text("HEAD^1"),
        theirs: Some(theirs),
    };
    (text("HEAD") == unmerged.ours).then_some(unmerged)
}

/// A file of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Where it is, relative to the directory that was asked about.
    pub path: String,
    /// Whether it is a symbolic link.
    pub is_link: bool,
    /// What `git cat-file` knows it by.
    name: String,
}

/// The mode of a symbolic link in a tree of git.
const LINK: &str = "120000";

/// The files below `path` (relative to `directory`) as the revision has them; says why if it cannot.
pub fn blobs(directory: &Path, revision: &str, path: &str) -> Result<Vec<Blob>, String> {
    let commit = format!("{revision}^{{commit}}");
    let end = "--end-of-options";
    let list = output(
        directory,
        &["ls-tree", "-r", "-z", end, &commit, "--", path],
    );
    let list = list.map_err(|why| {
        match output(
            directory,
            &["rev-parse", "--verify", "--quiet", end, &commit],
        ) {
            Err(reason) if reason.is_empty() => "git knows no such revision".to_owned(),
            _ => why,
        }
    })?;
    let blob = |row: &[u8]| {
        // `<mode> blob <object>\t<path>`
        let row = String::from_utf8_lossy(row);
        let (about, path) = row.split_once('\t')?;
        let name = match about.split(' ').collect::<Vec<_>>()[..] {
            [LINK, "blob", _] => format!("{commit}:./{path}"),
            [_, "blob", object] => object.to_owned(),
            _ => return None,
        };
        Some(Blob {
            path: path.to_owned(),
            is_link: about.starts_with(LINK),
            name,
        })
    };
    Ok(list.split(|byte| *byte == 0).filter_map(blob).collect())
}

/// What is in each of the files: one process for all of them. Links to other files of the revision are followed; says which
/// text git does not have.
pub fn contents(directory: &Path, files: &[Blob]) -> Result<Vec<Vec<u8>>, String> {
    let cannot = |error: io::Error| format!("cannot run git: {error}");
    let arguments = [
        "--no-optional-locks",
        "cat-file",
        "--batch",
        "--follow-symlinks",
    ];
    let mut git = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(cannot)?;
    let asked = git.stdin.take();
    let names: String = files
        .iter()
        .map(|file| format!("{}\n", file.name))
        .collect();
    let output = thread::scope(|scope| {
        // git answers while it is asked. If it ends early, too few answers tell so.
        scope.spawn(move || asked.map(|mut asked| asked.write_all(names.as_bytes())));
        git.wait_with_output()
    });
    let answers = output.map_err(cannot)?.stdout;
    let (mut rest, mut texts) = (answers.as_slice(), Vec::new());
    for file in files {
        // `<object> blob <size>`, a line end, so many bytes, and a line end.
        let blob = || {
            let (head, after) =
                rest.split_at_checked(rest.iter().position(|byte| *byte == b'\n')?)?;
            let mut head = std::str::from_utf8(head).ok()?.rsplit(' ');
            let size = head.next()?;
            head.next().filter(|kind| *kind == "blob")?;
            let (text, after) = after.get(1..)?.split_at_checked(size.parse().ok()?)?;
            Some((text.to_vec(), after.get(1..)?))
        };
        let (text, after) = blob().ok_or_else(|| format!("git has no text of `{}`", file.path))?;
        texts.push(text);
        rest = after;
    }
    Ok(texts)
}

/// What a git command prints; what it says if it fails.
fn output(directory: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    run(directory, arguments)?.ok_or_else(|| "there is no program `git`".to_owned())
}

/// The same; `None` where there is no git. It takes no lock that it can do without.
fn run(directory: &Path, arguments: &[&str]) -> Result<Option<Vec<u8>>, String> {
    match Command::new("git")
        .arg("--no-optional-locks")
        .args(arguments)
        .current_dir(directory)
        .output()
    {
        Ok(output) if output.status.success() => Ok(Some(output.stdout)),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound && directory.is_dir() => Ok(None),
        Err(error) => Err(format!("cannot run git: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn links_of_a_revision_are_followed_as_far_as_it_goes() {
        let check = |target: &str, expected: Result<&str, &str>| {
            let repository = tempfile::tempdir().unwrap();
            let directory = repository.path().join("project");
            std::fs::create_dir_all(directory.join("crds")).unwrap();
            std::fs::write(directory.join("real.yaml"), "real\n").unwrap();
            std::os::unix::fs::symlink(target, directory.join("crds/link.yaml")).unwrap();
            init(repository.path()).unwrap();
            output(&directory, &["add", "."]).unwrap();
            let who = ["-c", "user.name=n", "-c", "user.email=n@example.com"];
            let commit = ["commit", "--quiet", "--message", "all"];
            output(&directory, &[who, commit].concat()).unwrap();
            let files = blobs(&directory, "HEAD", "crds").unwrap();
            let expected = expected
                .map(|text| vec![text.as_bytes().to_vec()])
                .map_err(str::to_owned);
            assert_eq!(contents(&directory, &files), expected, "{target}");
        };
        let no_text = "git has no text of `crds/link.yaml`";
        check("../real.yaml", Ok("real\n"));
        check("../gone.yaml", Err(no_text));
        check("../crds", Err(no_text));
        check("../../../etc/hosts", Err(no_text));
    }
}
