//! Where a chart comes from: a directory, an archive, or what `helm pull` fetches.

use std::{
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use helm_render::{
    chart::{self, Chart, File},
    faults,
};
use tempfile::TempDir;

use crate::{
    advice::{Advice, Script},
    cli::ChartFlags,
    command::copy::Original,
    error::{Failure, Result},
    name::ChartPath,
    tree,
};

/// A chart that was read.
pub struct Source {
    /// The text of `--helm-chart`.
    pub shown: String,
    /// Its directory, if it is in one: without symbolic links and `..`.
    pub directory: Option<PathBuf>,
    /// Its files, but those that its `.helmignore` names.
    pub files: Vec<File>,
    /// The chart.
    pub chart: Chart,
}

impl Source {
    /// The chart at `source`: a path, which is relative to the project, or a name that helm knows.
    ///
    /// Errors: there is none, it is not valid, or it cannot be installed.
    pub fn of(root: &Path, source: &str, flags: &ChartFlags) -> Result<Self> {
        let path = root.join(source);
        let is_path = flags.helm_chart_repo.is_none() && !is_url(source) && path.exists();
        if is_path {
            if flags.helm_chart_version.is_some() {
                return Err(Failure::usage(format!(
                    "`--helm-chart-version` is given with `{source}`"
                ))
                .note("a directory or an archive has one version of the chart, in its `Chart.yaml`")
                .advise(Advice::drop("--helm-chart-version")));
            }
            return Self::read(source, &path);
        }
        if flags.helm_chart_repo.is_none() && !is_url(source) && !is_in_repository(source) {
            return Err(Failure::refused(format!("no chart `{source}`"))
                .note("`--helm-chart` names a directory or a `.tgz`, or what helm fetches: `oci://…`, a URL, or REPOSITORY/NAME")
                .note("a NAME alone needs `--helm-chart-repo`, the URL of its repository")
                .advise(match is_word(source) && !is_archive(source) {
                    true => Advice::set("--helm-chart-repo", "https://charts.example.com"),
                    false => Advice::Help,
                }));
        }
        let fetched = fetch(source, flags)?;
        let mut names = tree::names(fetched.path()).into_iter();
        let Some(archive) = names.find(|name| name.ends_with(".tgz")) else {
            return Err(pull_failed(source, "it fetched no archive"));
        };
        let found = Self::read(source, &fetched.path().join(archive))?;
        Ok(Self {
            directory: None,
            ..found
        })
    }

    /// The chart to copy to `path`.
    pub fn original<'a>(&'a self, path: &'a ChartPath) -> Original<'a> {
        let files = self.files.iter();
        Original {
            what: "chart",
            shown: &self.shown,
            from: self.directory.as_deref(),
            to: path.as_str(),
            anchor: format!("{path}/{CHART_FILE}"),
            files: files.map(|file| (&*file.name, &*file.data)).collect(),
        }
    }

    /// The chart in the directory or archive at `path`.
    ///
    /// Errors: as [`of`](Self::of).
    pub fn read(shown: &str, path: &Path) -> Result<Self> {
        let is_directory = path.is_dir();
        let files = chart::files(path).and_then(|files| {
            let chart = Chart::from_files(files.clone())?;
            Ok((files, chart))
        });
        let (files, chart) = files.map_err(|error| {
            let failure = Failure::refused(format!("cannot read the chart `{shown}`"));
            let lines = error.to_string();
            let failure = lines.lines().fold(failure, |it, line| it.note(line));
            failure.advise(mend(shown, path, error.file.as_deref()))
        })?;
        refuse_unreadable(shown, path, &chart)?;
        refuse_missing(shown, is_directory, &chart)?;
        chart.check_installable().map_err(|error| {
            Failure::refused(format!("the chart `{shown}` cannot be installed"))
                .note(error.to_string())
                .note("a chart of `type: application` may depend on it")
                .advise(Advice::Help)
        })?;
        Ok(Self {
            shown: shown.to_owned(),
            directory: is_directory.then(|| tree::full(path)),
            files,
            chart,
        })
    }
}

/// The file that makes a directory a chart.
const CHART_FILE: &str = "Chart.yaml";

/// How many files that cannot be read are named.
const NAMED: usize = 5;

/// Refuses a chart with files that no values mend.
fn refuse_unreadable(shown: &str, path: &Path, chart: &Chart) -> Result<()> {
    let faults = faults(chart);
    let Some(first) = faults.first() else {
        return Ok(());
    };
    let failure = Failure::refused(format!("cannot read the chart `{shown}`"));
    let named = faults.iter().take(NAMED);
    let failure = named.fold(failure, |it, fault| it.note(fault.to_string()));
    let failure = match faults.len().saturating_sub(NAMED) {
        0 => failure,
        more => failure.note(format!("and {more} more")),
    };
    Err(failure
        .note("no values mend that: the operator could not install the chart")
        .advise(mend(shown, path, Some(&first.path))))
}

/// Advice to edit a file of the chart at `path`, if it is one that can be edited.
fn mend(shown: &str, path: &Path, file: Option<&str>) -> Advice {
    let file = file.filter(|file| path.join(file).is_file());
    file.map_or(Advice::Help, |file| {
        Script::edit([format!("{shown}/{file}")]).into()
    })
}

/// Refuses a chart without the charts that it depends on.
fn refuse_missing(shown: &str, is_directory: bool, chart: &Chart) -> Result<()> {
    let missing = chart.missing_dependencies();
    if missing.is_empty() {
        return Ok(());
    }
    let missing: Vec<_> = missing.iter().map(|name| format!("`{name}`")).collect();
    let build = |directory: &str| Script::of("helm dependency build").path(directory);
    Err(Failure::refused(format!(
        "the chart `{shown}` lacks charts that it depends on"
    ))
    .note(format!(
        "`{CHART_FILE}` names {}, which `charts/` does not have",
        missing.join(", ")
    ))
    .advise(match is_directory {
        true => build(shown),
        false => Script::of("tar -xzf").path(shown).then(build(chart.name())),
    }))
}

fn is_url(source: &str) -> bool {
    ["oci://", "https://", "http://"]
        .iter()
        .any(|scheme| source.starts_with(scheme))
}

/// Whether it can be the name of a chart in a repository that helm knows.
fn is_in_repository(source: &str) -> bool {
    let words = source.split_once('/');
    let is_pair = words.is_some_and(|(repository, name)| is_word(repository) && is_word(name));
    is_pair && !is_archive(source)
}

/// Whether it can be a name of a chart or of a repository.
fn is_word(word: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(is_of_name)
}

fn is_archive(source: &str) -> bool {
    [".tgz", ".tar.gz"].iter().any(|end| source.ends_with(end))
}

/// Fetches a chart into a directory of its own. helm asks nothing, and is given words that are no flags.
fn fetch(source: &str, flags: &ChartFlags) -> Result<TempDir> {
    let broken = |error: io::Error| {
        Failure::refused(format!("no directory for the chart `{source}`: {error}"))
            .note("`TMPDIR` names the directory of temporary files")
            .advise(Advice::Again)
    };
    let scratch = TempDir::new().map_err(broken)?;
    let mut helm = Command::new("helm");
    helm.arg("pull");
    for (flag, value) in [
        ("--repo", &flags.helm_chart_repo),
        ("--version", &flags.helm_chart_version),
    ] {
        helm.args(value.as_ref().map(|value| format!("{flag}={value}")));
    }
    helm.arg("--destination").arg(scratch.path());
    let answer = helm
        .args(["--", source])
        .current_dir(scratch.path())
        .stdin(Stdio::null())
        .output();
    let answer = answer.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => not_installed(source),
        _ => pull_failed(source, &error.to_string()),
    })?;
    match answer.status.success() {
        true => Ok(scratch),
        false => Err(pull_failed(
            source,
            &String::from_utf8_lossy(&answer.stderr),
        )),
    }
}

fn not_installed(source: &str) -> Failure {
    Failure::refused(format!("no program `helm` to fetch the chart `{source}`"))
        .note("install it first: https://helm.sh/docs/intro/install")
        .note("a directory and a `.tgz` are read without it")
        .advise(Advice::Again)
}

fn pull_failed(source: &str, why: &str) -> Failure {
    let failure = Failure::refused(format!("`helm pull` does not fetch the chart `{source}`"));
    let lines = why.lines().map(str::trim).filter(|line| !line.is_empty());
    let failure = lines.fold(failure, |it, line| {
        it.note(line.strip_prefix("Error: ").unwrap_or(line))
    });
    match is_url(source) {
        true => failure.advise(Advice::Help),
        false => failure.advise(Script::anywhere("helm repo list")),
    }
}
