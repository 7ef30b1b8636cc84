//! `check --crds`: what a change of the project's CRDs breaks for those who use a released version.

use std::{
    collections::BTreeSet,
    io::{self, Read},
    path::Path,
};

use super::super::{derived::CRDS as BASES, shell_word};
use crate::{
    cli::Global,
    compat::{self, Finding, Release, Severity},
    error::{Failure, Result},
    git,
    report::{Comparison, Report},
};

pub fn run(flags: &Global, released: &str, allow: &[String], report: &Report) -> Result<u8> {
    let allowed: Vec<Allowance> = allow
        .iter()
        .map(|text| Allowance::parse(text))
        .collect::<Result<_>>()?;
    let root = &flags.directory;
    let before = read_released(root, released)?;
    let after = read_project(root)?;
    let mut used = BTreeSet::new();
    let mut findings = Vec::new();
    for finding in compat::compare(&before, &after) {
        let covering = |at: &usize| allowed[*at].covers(&finding);
        let by: Vec<usize> = (0..allowed.len()).filter(covering).collect();
        findings.push((finding, !by.is_empty()));
        used.extend(by);
    }
    let mut remarks = Vec::new();
    if before.is_empty() {
        remarks.push(format!(
            "`{released}` has no CustomResourceDefinition in {BASES}"
        ));
    }
    let unused = allow
        .iter()
        .enumerate()
        .filter(|(at, _)| !used.contains(at));
    remarks
        .extend(unused.map(|(_, text)| format!("`--allow {text}` allows nothing that was found")));
    let failure = failure(released, &findings);
    report.comparison(
        &Comparison {
            released,
            definitions: before.len(),
            findings: &findings,
            remarks: &remarks,
        },
        failure.as_ref(),
    );
    Ok(u8::from(failure.is_some()))
}

/// Why the check fails, if it does: each rule that is broken, once.
fn failure(released: &str, findings: &[(Finding, bool)]) -> Option<Failure> {
    let breaks = |(finding, allowed): &&(Finding, bool)| {
        !allowed && finding.rule.severity == Severity::Breaking
    };
    let breaking: Vec<&Finding> = findings
        .iter()
        .filter(breaks)
        .map(|(finding, _)| finding)
        .collect();
    let first = breaking.first()?;
    let mut failure = Failure::refused(match breaking.len() {
        1 => "a change breaks stored objects or clients".to_owned(),
        n => format!("{n} changes break stored objects or clients"),
    });
    for rule in compat::ALL {
        if breaking.iter().any(|finding| finding.rule == *rule) {
            failure = failure.note(format!("`{}`: {}", rule.id, rule.why));
        }
    }
    Some(
        failure
            .note("leave the version as it was released, and change a new one, or allow a rule on purpose")
            .help("operator-forge create api --group GROUP --version VERSION --kind KIND")
            .help(format!(
                "operator-forge check --crds {} --allow '{}:{}'",
                shell_word(released),
                first.rule.id,
                first.place
            )),
    )
}

/// `--allow RULE` or `--allow RULE:WHERE`, where WHERE is a place as it is reported, or the start of one.
struct Allowance {
    rule: &'static compat::Rule,
    place: String,
}

impl Allowance {
    fn parse(text: &str) -> Result<Self> {
        let (id, place) = text.split_once(':').unwrap_or((text, ""));
        let rule = compat::find(id).ok_or_else(|| {
            let ids: Vec<&str> = compat::ALL.iter().map(|rule| rule.id).collect();
            Failure::usage(format!("unknown rule `{id}` in `--allow`"))
                .note(format!("the rules are {}", ids.join(", ")))
                .help("--allow field-removed")
        })?;
        Ok(Self {
            rule,
            place: place.trim().to_owned(),
        })
    }

    /// A place covers itself and what is below it: `.spec` covers `.spec.size`, but not `.specs`.
    fn covers(&self, finding: &Finding) -> bool {
        let place = finding.place.to_string();
        self.rule == finding.rule
            && place.strip_prefix(&self.place).is_some_and(|rest| {
                self.place.is_empty() || rest.is_empty() || rest.starts_with(['.', '[', ' '])
            })
    }
}

/// What `--crds` names: `-`, a file, a directory, or else a revision of git.
fn read_released(root: &Path, released: &str) -> Result<Release> {
    let mut release = Release::default();
    let path = root.join(released);
    if released == "-" {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| unreadable("standard input", &error.to_string()))?;
        release.read("standard input", &text)?;
    } else if path.is_dir() {
        read_directory(root, &path, &mut release)?;
    } else if path.exists() {
        let bytes =
            std::fs::read(&path).map_err(|error| unreadable(released, &error.to_string()))?;
        release.read(released, &String::from_utf8_lossy(&bytes))?;
    } else {
        let files = git::files_at(root, released, BASES).map_err(|why| {
            Failure::refused(format!("`{released}` is no file and no revision"))
                .note(why)
                .note("a checkout of CI often has neither tags nor history: `fetch-depth: 0` of actions/checkout gets them")
                .help("git fetch --tags")
        })?;
        for (path, bytes) in files {
            release.read(
                &format!("{released}:{path}"),
                &String::from_utf8_lossy(&bytes),
            )?;
        }
        return Ok(release);
    }
    if release.is_empty() {
        return Err(
            Failure::refused(format!("no CustomResourceDefinition in `{released}`"))
                .note("name a file, a directory or a git revision that has some")
                .help("operator-forge check --crds HEAD"),
        );
    }
    Ok(release)
}

fn read_project(root: &Path) -> Result<Release> {
    let mut release = Release::default();
    let bases = root.join(BASES);
    if !bases.is_dir() {
        return Err(Failure::refused(format!("no `{BASES}`"))
            .note("the project's own definitions are compared")
            .help("make manifests"));
    }
    read_directory(root, &bases, &mut release)?;
    Ok(release)
}

/// Every YAML and JSON file below `directory`, in the order of their paths.
fn read_directory(root: &Path, directory: &Path, release: &mut Release) -> Result<()> {
    for entry in walkdir::WalkDir::new(directory).sort_by_file_name() {
        let shown = |path: &Path| {
            path.strip_prefix(root)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        let entry = entry.map_err(|error| unreadable(&shown(directory), &error.to_string()))?;
        let path = entry.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if entry.file_type().is_file() && matches!(extension, Some("yaml" | "yml" | "json")) {
            let bytes = std::fs::read(path)
                .map_err(|error| unreadable(&shown(path), &error.to_string()))?;
            release.read(&shown(path), &String::from_utf8_lossy(&bytes))?;
        }
    }
    Ok(())
}

fn unreadable(what: &str, why: &str) -> Failure {
    Failure::refused(format!("cannot read `{what}`: {why}"))
        .note("it should hold the CustomResourceDefinitions of a release")
        .help("operator-forge check --crds HEAD")
}
