//! Hardened calls of git: they run no program that a repository names.

use std::{
    collections::BTreeMap,
    fmt, io,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use crate::advice::{Advice, Script};
use crate::error::Failure;
use crate::tree::{self, Found, RelPath};

/// The failure of a git command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no `git` in `PATH`.
    NotInstalled,
    /// git failed, with this message of one or several lines.
    Failed(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInstalled => f.write_str("there is no program `git`"),
            Self::Failed(words) => f.write_str(words.lines().next().unwrap_or("git failed")),
        }
    }
}

impl From<Error> for Failure {
    /// The refusal of every command that has to know whether a merge is unfinished. Lines of git's message that
    /// start with `git`, like `git config --global --add safe.directory …`, are advice; the others are reasons.
    fn from(error: Error) -> Self {
        let refused = Self::refused("git cannot tell whether a merge is unfinished");
        let Error::Failed(text) = &error else {
            return refused
                .note(error.to_string())
                .note("the project is in a git repository: install git first")
                .advise(Advice::Again);
        };
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let (advice, reasons): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("git "));
        let refused = reasons.into_iter().fold(refused, Self::note);
        if advice.is_empty() {
            return refused.advise(Script::of("git status"));
        }
        let script = |line| Script::anywhere("").args(shlex::split(line).unwrap_or_default());
        advice.into_iter().map(script).fold(refused, Self::advise)
    }
}

/// The answer of git.
pub type Result<T> = std::result::Result<T, Error>;

/// Whether `directory` is inside a repository already.
pub fn is_inside_repository(directory: &Path) -> bool {
    tree::full(directory)
        .ancestors()
        .any(|ancestor| ancestor.join(".git").exists())
}

/// Whether the index of a repository has `path`, so that it came with the repository or goes with it.
pub fn is_tracked(directory: &Path, path: &RelPath) -> bool {
    is_inside_repository(directory)
        && output(directory, &["ls-files", "-z", "--", path.as_str()])
            .is_ok_and(|tracked| !tracked.is_empty())
}

/// Makes a repository in `directory`.
pub fn init(directory: &Path) -> Result<()> {
    output(directory, &["init", "--quiet"]).map(drop)
}

/// The paths whose text on disk differs from the last commit; none outside of a repository. Line ends do not count.
///
/// `git status` would run the filters of the repository, so the texts are compared here. A path with a filter that changes
/// the text, as git-lfs does, is an error.
pub fn uncommitted(directory: &Path, paths: &[RelPath]) -> Result<Vec<RelPath>> {
    if !is_inside_repository(directory) {
        return Ok(Vec::new());
    }
    let mut other = Vec::new();
    let names: Vec<String> = paths.iter().map(|path| format!("HEAD:./{path}")).collect();
    for (path, committed) in paths.iter().zip(objects(directory, &names)?) {
        let is_committed = match (tree::find(directory, path), committed) {
            (Ok(Found::File(bytes)), Some(committed)) => {
                tree::unix_line_ends(&committed) == tree::unix_line_ends(&bytes)
            }
            (Ok(Found::Absent), None) => true,
            _ => false,
        };
        if !is_committed {
            other.push(path.clone());
        }
    }
    refuse_filtered(directory, &other)?;
    Ok(other)
}

/// Refuses paths that git stores in another form than on disk.
fn refuse_filtered(directory: &Path, paths: &[RelPath]) -> Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let mut arguments = vec!["check-attr", "-z", "filter", "working-tree-encoding", "--"];
    arguments.extend(paths.iter().map(RelPath::as_str));
    let answer = output(directory, &arguments)?;
    // `<path> NUL <attribute> NUL <value> NUL`
    let fields: Vec<_> = answer.split(|byte| *byte == 0).collect();
    for field in fields.chunks_exact(3) {
        let [path, attribute, value] = [0, 1, 2].map(|at| String::from_utf8_lossy(field[at]));
        if !matches!(&*value, "unspecified" | "unset") {
            return Err(Error::Failed(format!(
                "`{path}` has the git attribute {attribute}={value}, so it cannot be compared with what is committed"
            )));
        }
    }
    Ok(())
}

/// The three texts of an unmerged path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmerged {
    /// The text of the merge base; `None` where it has no such file.
    pub base: Option<String>,
    /// The text of the branch that was checked out; `None` where it deleted the file.
    pub ours: Option<String>,
    /// The text of the branch that was merged; `None` where it deleted the file.
    pub theirs: Option<String>,
}

/// The unmerged paths below a directory, and whether the last commit is a merge.
#[derive(Clone, Debug, Default)]
pub struct Status {
    directory: PathBuf,
    /// The sides of unmerged paths: path, stage in the index, object.
    unmerged: Vec<(RelPath, String, String)>,
    is_merge: bool,
}

impl Status {
    /// Reads the index and the last commit, side by side. Outside of a repository the status is empty.
    pub fn of(directory: &Path) -> Result<Self> {
        let none = Self {
            directory: directory.to_path_buf(),
            ..Self::default()
        };
        if !is_inside_repository(directory) {
            return Ok(none);
        }
        let parent = ["rev-parse", "--verify", "--quiet", "HEAD^2"];
        let (index, parent) = rayon::join(
            || output(directory, &["ls-files", "--unmerged", "-z"]),
            || ask(directory, &parent),
        );
        Ok(Self {
            unmerged: rows(&index?)
                .filter_map(|([_, object, stage], path)| {
                    Some((path.parse::<RelPath>().ok()?, stage, object))
                })
                .collect(),
            is_merge: parent?.is_some(),
            ..none
        })
    }

    /// The texts of those unmerged paths that are `wanted`.
    pub fn unmerged(
        &self,
        wanted: impl Fn(&RelPath) -> bool,
    ) -> Result<BTreeMap<RelPath, Unmerged>> {
        let sides = self.unmerged.iter().filter(|(path, ..)| wanted(path));
        let names: Vec<String> = sides.clone().map(|(.., object)| object.clone()).collect();
        let mut files: BTreeMap<RelPath, Unmerged> = BTreeMap::new();
        for ((path, stage, _), text) in sides.zip(texts(&self.directory, &names)?) {
            let file = files.entry(path.clone()).or_default();
            match stage.as_str() {
                "1" => file.base = text,
                "2" => file.ours = text,
                _ => file.theirs = text,
            }
        }
        Ok(files)
    }

    /// The texts of a file in the merge that the last commit is; `None` if the last commit is no merge, or holds another text
    /// than that of its first parent.
    pub fn committed(&self, path: &str) -> Result<Option<Unmerged>> {
        if !self.is_merge {
            return Ok(None);
        }
        let Some(base) = ask(&self.directory, &["merge-base", "HEAD^1", "HEAD^2"])? else {
            return Ok(None);
        };
        let base = String::from_utf8_lossy(&base);
        let commits = [base.trim(), "HEAD^1", "HEAD^2", "HEAD"];
        let names = commits.map(|commit| format!("{commit}:./{path}"));
        let [base, ours, theirs, committed] = &mut texts(&self.directory, &names)?[..] else {
            return Ok(None);
        };
        let is_ours = theirs.is_some() && ours == committed;
        Ok(is_ours.then(|| Unmerged {
            base: base.take(),
            ours: ours.take(),
            theirs: theirs.take(),
        }))
    }

    /// The text of a file in a commit, or with an empty `commit` in the index; `None` without a repository, the commit or the
    /// file, and for an unmerged path.
    pub fn text_at(&self, commit: &str, path: &str) -> Result<Option<String>> {
        if !is_inside_repository(&self.directory) {
            return Ok(None);
        }
        let texts = texts(&self.directory, &[format!("{commit}:./{path}")])?;
        Ok(texts.into_iter().next().flatten())
    }
}

/// A file of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Its path, relative to the directory.
    pub path: String,
    /// Whether it is a symbolic link.
    pub is_link: bool,
    /// Its name for `git cat-file`.
    name: String,
}

/// The mode of a symbolic link in a tree of git.
const LINK: &str = "120000";

/// Whether the repository of a directory has no commit on its branch yet.
pub fn is_unborn(directory: &Path) -> bool {
    let head = ["rev-parse", "--verify", "--quiet", "HEAD"];
    is_inside_repository(directory) && matches!(ask(directory, &head), Ok(None))
}

/// The files below `path` (relative to `directory`) as the revision has them.
pub fn blobs(directory: &Path, revision: &str, path: &str) -> Result<Vec<Blob>> {
    let commit = format!("{revision}^{{commit}}");
    let end = "--end-of-options";
    let list = output(
        directory,
        &["ls-tree", "-r", "-z", end, &commit, "--", path],
    );
    let list = list.map_err(|why| {
        let arguments = ["rev-parse", "--verify", "--quiet", end, &commit];
        match ask(directory, &arguments) {
            Ok(None) => Error::Failed("git knows no such revision".to_owned()),
            _ => why,
        }
    })?;
    let blobs = rows(&list).filter(|([_, kind, _], _)| kind == "blob");
    Ok(blobs
        .map(|([mode, _, object], path)| {
            let is_link = mode == LINK;
            let name = match is_link {
                true => format!("{commit}:./{path}"),
                false => object,
            };
            Blob {
                path,
                is_link,
                name,
            }
        })
        .collect())
}

/// The rows of a list of git: three words, a tab and a path, with NUL at the end.
fn rows(list: &[u8]) -> impl Iterator<Item = ([String; 3], String)> {
    list.split(|byte| *byte == 0).filter_map(|row| {
        let row = String::from_utf8_lossy(row);
        let (words, path) = row.split_once('\t')?;
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        Some((words.try_into().ok()?, path.to_owned()))
    })
}

/// The contents of files. Links to other files of the revision are followed; a content that git does not have is an error.
pub fn contents(directory: &Path, files: &[Blob]) -> Result<Vec<Vec<u8>>> {
    let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
    let contents = files.iter().zip(objects(directory, &names)?);
    contents
        .map(|(file, content)| {
            content.ok_or_else(|| Error::Failed(format!("git has no text of `{}`", file.path)))
        })
        .collect()
}

/// The texts of objects, with `\n` at the ends of lines; `None` where there is no text.
fn texts(directory: &Path, names: &[String]) -> Result<Vec<Option<String>>> {
    let text = |bytes: Vec<u8>| String::from_utf8(tree::unix_line_ends(&bytes).into_owned()).ok();
    let objects = objects(directory, names)?.into_iter();
    Ok(objects.map(|object| object.and_then(text)).collect())
}

/// The contents of objects, from one process; `None` where git has no file of that name.
fn objects(directory: &Path, names: &[String]) -> Result<Vec<Option<Vec<u8>>>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let cannot = |error: io::Error| cannot_run(directory, &error);
    let mut git = git(directory)
        .args(["cat-file", "--batch", "--follow-symlinks"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(cannot)?;
    let asked = git.stdin.take();
    let list: String = names.iter().map(|name| format!("{name}\n")).collect();
    let output = thread::scope(|scope| {
        // git answers while names are still being written. If it ends early, answers are missing.
        scope.spawn(move || asked.map(|mut asked| asked.write_all(list.as_bytes())));
        git.wait_with_output()
    });
    let answers = output.map_err(cannot)?.stdout;
    let mut rest = answers.as_slice();
    // `<object> <kind> <size>`, a line end, so many bytes, and a line end; or `<name> missing`.
    let mut next = || {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let (head, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        let mut head = std::str::from_utf8(head).ok()?.rsplit(' ');
        let size = head.next()?.parse().ok()?;
        let (content, after) = after.split_at_checked(size)?;
        rest = after.get(1..)?;
        (head.next() == Some("blob")).then(|| content.to_vec())
    };
    Ok(names.iter().map(|_| next()).collect())
}

/// The output of a git command.
fn output(directory: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    ask(directory, arguments)?
        .ok_or_else(|| Error::Failed(format!("`git {}` failed", arguments[0])))
}

/// The output of a git command; `None` if git fails without a message, as it does with `--quiet` for a name that it does not
/// know.
fn ask(directory: &Path, arguments: &[&str]) -> Result<Option<Vec<u8>>> {
    let answer = git(directory).args(arguments).output();
    let answer = answer.map_err(|error| cannot_run(directory, &error))?;
    let words = String::from_utf8_lossy(&answer.stderr).trim().to_owned();
    match answer.status.success() {
        true => Ok(Some(answer.stdout)),
        false if words.is_empty() && answer.status.code() == Some(1) => Ok(None),
        false => Err(Error::Failed(words)),
    }
}

fn cannot_run(directory: &Path, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound if directory.is_dir() => Error::NotInstalled,
        _ => Error::Failed(format!("cannot run git: {error}")),
    }
}

/// The process of every call. A repository is untrusted, and its configuration may name programs: a file system monitor, hooks, a
/// remote from which a partial clone fetches objects. None of them is run, a bare repository among the files is not used, and
/// optional locks are not taken. Filters and `diff` drivers cannot be switched off, so commands that run them are not used.
///
/// A hook or `git rebase --exec` that calls operator-forge sets variables for its own repository; they are removed, so that the
/// repository of `directory` counts.
fn git(directory: &Path) -> Command {
    let settings = [
        "core.fsmonitor=false",
        "core.hooksPath=/dev/null",
        "safe.bareRepository=explicit",
    ];
    let mut git = Command::new("git");
    git.args(settings.into_iter().flat_map(|setting| ["-c", setting]))
        .envs([
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
        ])
        .current_dir(directory);
    for variable in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    ] {
        git.env_remove(variable);
    }
    git
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn links_are_followed_within_a_revision() {
        let check = |target: &str, expected: std::result::Result<&str, &str>| {
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
                .map_err(|words| Error::Failed(words.to_owned()));
            assert_eq!(contents(&directory, &files), expected, "{target}");
        };
        let no_text = "git has no text of `crds/link.yaml`";
        check("../real.yaml", Ok("real\n"));
        check("../gone.yaml", Err(no_text));
        check("../crds", Err(no_text));
        check("../../../etc/hosts", Err(no_text));
    }
}
