//! The words and the advice for errors of the domain. Modules below know no flags and no commands: their errors are data, and
//! `?` turns them into a [`Failure`].

mod project;

use std::{collections::BTreeSet, io, path::Path, str::FromStr};

use heck::ToKebabCase as _;

pub use self::project::of;
use crate::{
    advice::{Advice, Script},
    apply,
    change::{ChangeSet, ConflictKind, Note, NoteKind},
    definitions::{self, API_VERSION, DefinitionError, YamlError},
    error::{Failure, Result},
    git, kubebuilder,
    memory::{self, LOCK},
    name::Invalid,
    tree::{self, Obstacle, ObstacleKind, RelPath},
};

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        let name = match invalid.what {
            "name" => "controller-name",
            "path" => "defaulting-path",
            "type" => "external-api-path",
            "plugin" => "plugins",
            "command" => "image-container-command",
            "port" => "image-container-port",
            "user ID" => "run-as-user",
            "header" => "license-file",
            other => &other.to_kebab_case(),
        };
        of_flag(&format!("--{name}"), invalid)
    }
}

/// The value of a flag, for names that several flags take.
pub fn parse_flag<T: FromStr<Err = Invalid>>(flag: &str, text: &str) -> Result<T> {
    text.parse().map_err(|invalid| of_flag(flag, invalid))
}

/// The refusal of a flag's value.
fn of_flag(flag: &str, invalid: Invalid) -> Failure {
    let Invalid { found, fault, .. } = invalid;
    Failure::usage(format!("invalid value `{found}` for `{flag}`: {fault}"))
        .note(invalid.rule)
        .advise(match invalid.suggestion {
            Some(suggestion) => Advice::set(flag, suggestion),
            None => Advice::Help,
        })
}

/// The refusal of a CRD that no types can be generated from.
pub fn of_crd(name: &str, error: &crd_types::Error) -> Failure {
    Failure::refused(format!("cannot generate types from `{name}`: {error}"))
        .note("the API server would refuse this CRD, too; `--kind` selects others")
        .advise(Script::anywhere(
            "kubectl explain customresourcedefinition.spec.versions",
        ))
}

/// The refusal of a CRD with a name that a project cannot have.
pub fn of_crd_name(crd: &str, invalid: Invalid) -> Failure {
    let Invalid {
        what, found, fault, ..
    } = invalid;
    Failure::refused(format!("`{crd}` has the {what} `{found}`: {fault}"))
        .note(invalid.rule)
        .note("`--kind` and `--version` select others")
        .advise(Advice::Help)
}

/// The refusal of a directory that is no Go project.
pub fn of_go(directory: &str, error: &kubebuilder::Error) -> Failure {
    let refused =
        |why: String| Failure::refused(format!("`{directory}` has no Go project to port: {why}"));
    match error {
        kubebuilder::Error::Yaml { place, what } => refused(format!("`{place}`: {what}"))
            .note("kubebuilder would refuse this file, too")
            .advise(Script::anywhere("${EDITOR:-vi}").path(format!("{directory}/PROJECT"))),
        kubebuilder::Error::Version(version) => {
            let version = match version {
                Some(version) => format!("its `PROJECT` has version `{version}`"),
                None => "its `PROJECT` has no version".to_owned(),
            };
            refused(version)
                .note("version 3 is read; kubebuilder replaced version 2 in 2021, and its guide says how to migrate a project")
                .note("without its `PROJECT`, `create api --from-crd` makes the types of its CRDs")
                .advise(Advice::drop("--from-kubebuilder"))
        }
        kubebuilder::Error::Ours => refused("it is one of operator-forge".to_owned())
            .note("`--from-kubebuilder` ports a project in Go")
            .advise(Script::forge("-C").arg(directory).code("status")),
        kubebuilder::Error::Layout(layout) => {
            let layout = match layout.as_str() {
                "" => "its `PROJECT` has no `layout`".to_owned(),
                layout => format!("its `PROJECT` has layout `{layout}`"),
            };
            refused(layout)
                .note("projects of the layout `go.kubebuilder.io` are read")
                .note("for any other operator, `create api --from-crd` makes the types of its CRDs")
                .advise(Advice::drop("--from-kubebuilder"))
        }
    }
}

impl From<tree::Error> for Failure {
    fn from(error: tree::Error) -> Self {
        let failure = Self::refused(error.to_string());
        match error {
            tree::Error::InvalidPath { why, .. } => failure
                .note(why)
                .note("paths are relative to the project, with `/` between their parts")
                .advise(Script::forge("status --all")),
            tree::Error::Unreadable { root, .. } => {
                let root = root.to_string_lossy();
                failure.advise(Script::anywhere("chmod -R u+rX").arg(root))
            }
        }
    }
}

impl Obstacle {
    /// The commands that make room for a file: a link becomes a copy of its target, anything else is put aside.
    pub fn makes_room(&self) -> Script {
        if self.kind != ObstacleKind::Link {
            return Script::put_aside(&self.path);
        }
        let (link, copy) = (&self.path, format!("{}.former", self.path));
        Script::of("cp -RLi")
            .arg(link)
            .arg(&copy)
            .then(Script::of("rm").arg(link))
            .then(Script::of("mv -i").arg(copy).arg(link))
    }
}

impl ChangeSet {
    /// The commands that make room for files, each once. Nothing is written before there is room.
    #[must_use]
    pub fn makes_room(&self) -> Vec<Script> {
        let obstacles = self.conflicts.iter().filter_map(|it| match &it.why {
            ConflictKind::Obstacle(obstacle) => Some(obstacle),
            _ => None,
        });
        let obstacles: BTreeSet<&Obstacle> = obstacles.collect();
        obstacles.into_iter().map(Obstacle::makes_room).collect()
    }
}

impl Note {
    /// The advice that resolves the note, if there is any.
    #[must_use]
    pub fn help(&self) -> Vec<Advice> {
        let path = self.path.as_str();
        match self.what {
            NoteKind::Edited => vec![
                Script::forge("own").arg(path).into(),
                Script::put_aside(path).then(Script::forge("sync")).into(),
            ],
            NoteKind::Unmerged => vec![self.branch().into()],
            NoteKind::Missing => vec![Script::forge("restore").arg(path).into()],
            NoteKind::Markers => vec![Script::edit([path]).into()],
            NoteKind::Orphaned
            | NoteKind::Owned
            | NoteKind::Outdated
            | NoteKind::BaseLost
            | NoteKind::Kept
            | NoteKind::LeftOut => Vec::new(),
        }
    }

    /// The command that shows the other branch's change of an unmerged file.
    pub fn branch(&self) -> Script {
        let stages = [1, 3].map(|stage| format!(":{stage}:./{}", self.path));
        Script::of("git diff").args(stages)
    }
}

impl From<memory::Error> for Failure {
    fn from(error: memory::Error) -> Self {
        // Without a lock, the next command makes one from `PROJECT`.
        let anew = Script::put_aside(LOCK).then(Script::forge("sync"));
        match error {
            memory::Error::Obstacle(what) => {
                Self::refused(format!("cannot read `{LOCK}`: {what}")).advise(anew)
            }
            memory::Error::Line(line, why) => Self::refused(format!("cannot read `{LOCK}:{line}`"))
                .note(why)
                .advise(anew),
            memory::Error::Definition { path, why } => Self::refused(format!(
                "cannot read `{path}`: {why}"
            ))
            .note("types are generated from it, and it may have conflict markers after a git merge")
            .advise(Script::of("git checkout HEAD --").arg(path.as_str())),
            memory::Error::NoDefinition { path, key } => {
                Self::refused(format!("`{path}` is missing"))
                    .note(format!(
                        "the types of `{key}` are generated from it; it belongs into git"
                    ))
                    .advise(Script::of("git checkout HEAD --").arg(path.as_str()))
            }
            memory::Error::Format(line, format) => {
                Self::refused(format!("`{LOCK}:{line}` has format `{format}`"))
                    .note("this operator-forge reads format 1")
                    .newer_tool()
            }
        }
    }
}

impl From<git::Error> for Failure {
    /// The refusal of every command that has to know whether a merge is unfinished. Lines of git's message that
    /// start with `git`, like `git config --global --add safe.directory …`, are advice; the others are reasons.
    fn from(error: git::Error) -> Self {
        let refused = Self::refused("git cannot tell whether a merge is unfinished");
        let git::Error::Failed(text) = &error else {
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

impl From<definitions::Error> for Failure {
    fn from(error: definitions::Error) -> Self {
        let failure = Self::refused(error.to_string());
        match error {
            definitions::Error::Definition { why, .. } => match why {
                DefinitionError::ApiVersion(version) => failure
                    .note(format!("no Kubernetes since 1.22 serves `{version}`"))
                    .note(format!("a newer release has definitions of {API_VERSION}"))
                    .advise(Advice::Help),
                DefinitionError::Field(what) => failure.note(what).advise(Script::anywhere(
                    "kubectl explain customresourcedefinition.spec",
                )),
                DefinitionError::Twice => failure
                    .note("another definition has the same name")
                    .note("name the file or the directory of one release")
                    .advise(Advice::Help),
            },
            definitions::Error::Yaml { why, .. } => failure.note(of_yaml(why)).advise(Advice::Help),
        }
    }
}

fn of_yaml(why: YamlError) -> &'static str {
    match why {
        YamlError::Utf16 => "it may contain CRDs: convert it with `iconv -f UTF-16 -t UTF-8` first",
        YamlError::Template => {
            "render templates first: `helm template CHART` prints what is applied to a cluster, and `-` reads it"
        }
        YamlError::MergeKey => "a merge key `<<` names a mapping, or a list of mappings",
        YamlError::Syntax => "it may contain CRDs: correct it, or name only the files with CRDs",
    }
}

impl From<apply::Error> for Failure {
    fn from(error: apply::Error) -> Self {
        use apply::Error;
        let failure = Self::refused(error.to_string());
        match error {
            Error::Tree(error) => error.into(),
            Error::System {
                verb,
                path,
                shown,
                kind,
                ..
            } => of_system(failure, verb, &path, &shown, kind),
            Error::ReadOnly { shown, .. } => {
                failure.advise(Script::anywhere("chmod u+w").arg(shown))
            }
            Error::Case(..) => failure
                .note("where case does not count, as on macOS and Windows, they are one file")
                .note("rename the kind or the group of one of them")
                .advise(Script::forge("status")),
            Error::Changed(_) => failure.advise(Advice::Again),
            Error::NoDirectory(_, obstacle) => failure
                .note("operator-forge keeps its record there")
                .advise(obstacle.makes_room()),
            Error::Busy(holder) => {
                let holder = holder.map(|(process, command)| format!("process {process}: {command}"));
                let failure = holder.into_iter().fold(Self::busy(failure.what), Self::note);
                failure.note("wait until it has ended").advise(Advice::Again)
            }
            Error::Interrupted(_) => failure
                .note("some of its files are written, and others are not")
                .note("the next command that writes completes it")
                .advise(Script::forge("sync")),
            Error::Journal { path, why } => failure
                .note(why)
                .note("it has the texts that the last command replaced")
                .note("see in git what has changed before you put it aside")
                .advise(Script::put_aside(path)),
            Error::OtherCheckout(path) => failure
                .note("only a command of this checkout writes this file, and git does not track it")
                .note("it may overwrite files, so it is not used")
                .advise(Script::put_aside(path)),
            Error::Linked(path) => failure
                .note("it is a hard link, so the command would write to another file, which may be anywhere")
                .advise(Script::put_aside(path)),
            Error::NothingToUndo => failure
                .note("`undo` reverts the last command in this working tree; for what is committed, use git")
                .advise(Script::forge("status")),
            Error::CannotUndo { changed, .. } => changed
                .iter()
                .map(|path| format!("`{path}` was changed since"))
                .fold(failure, Self::note)
                .note("nothing was changed")
                .note("restore these files first, or edit `PROJECT` and apply it with `sync`")
                .advise(Script::forge("status")),
            Error::Reverted(error) => Self::from(*error).note("nothing was changed"),
            Error::Unfinished(error, left) => left
                .into_iter()
                .fold(Self::from(*error), Self::note)
                .note("the next command completes this one"),
        }
    }
}

fn of_system(
    failure: Failure,
    verb: &str,
    path: &RelPath,
    shown: &str,
    kind: io::ErrorKind,
) -> Failure {
    let directory = Path::new(shown).parent().unwrap_or(Path::new("."));
    let directory = directory.to_string_lossy();
    match kind {
        io::ErrorKind::PermissionDenied if path.parents().next().is_some() => {
            failure.advise(match verb {
                "read" => Script::anywhere("chmod u+r").arg(shown),
                _ => Script::anywhere("chmod u+w").arg(directory),
            })
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => failure
            .note("`-C` names a directory that you may write to")
            .advise(Script::anywhere("ls -ld").arg(directory)),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            failure.note("free some space first").advise(Advice::Again)
        }
        io::ErrorKind::IsADirectory => failure
            .note("it is a directory, in the place of a file")
            .advise(Script::put_aside(shown))
            .advise(Advice::Again),
        _ => failure
            .note("remove the obstacle first")
            .advise(Advice::Again),
    }
}
