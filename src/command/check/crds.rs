//! `check --crds`: what a change of the project's CRDs breaks for those who use a released version.

mod read;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crd_compat::{Finding, Severity};

use crate::{
    advice::{Advice, Flag, Script},
    cli::Global,
    engine::{Workspace, derived::CRDS as BASES},
    error::{Failure, Result},
    name::Version,
    project::Key,
    refusal,
    report::{Comparison, Report},
};

pub fn run(flags: &Global, released: &str, allow: &[String], report: &Report) -> Result<u8> {
    let allowed: Vec<Allowance> = allow
        .iter()
        .map(|text| Allowance::parse(text))
        .collect::<Result<_>>()?;
    let root = &flags.directory;
    report.at("Reading", "the definitions that were released".to_owned());
    let (before, after) = read::both(root, released)?;
    report.at("Comparing", format!("{} definitions", before.len()));
    let mut used = BTreeSet::new();
    let mut findings = Vec::new();
    for finding in crd_compat::compare(&before, &after) {
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
    let accepted = used.iter().map(|at| allow[*at].as_str()).collect();
    let failure = failure(root, released, accepted, &findings);
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

/// Why the check fails, if it does: each rule that is broken, once, and the ways out.
fn failure(
    root: &Path,
    released: &str,
    accepted: Vec<&str>,
    findings: &[(Finding, bool)],
) -> Option<Failure> {
    let breaks = |(finding, allowed): &&(Finding, bool)| {
        !allowed && finding.rule.severity == Severity::Breaking
    };
    let breaking: Vec<&Finding> = findings
        .iter()
        .filter(breaks)
        .map(|(finding, _)| finding)
        .collect();
    if breaking.is_empty() {
        return None;
    }
    let mut failure = Failure::refused(match breaking.len() {
        1 => "a change breaks stored objects or clients".to_owned(),
        n => format!("{n} changes break stored objects or clients"),
    });
    for rule in crd_compat::ALL {
        if breaking.iter().any(|finding| finding.rule == *rule) {
            failure = failure.note(format!("`{}`: {}", rule.id, rule.why));
        }
    }
    let lines = new_versions(root, &breaking);
    failure = failure.note(match lines.is_empty() {
        true => "mend it, or accept it on purpose",
        false => {
            "leave the version as it was released and change a new one, or accept it on purpose"
        }
    });
    failure.advice.extend(lines.into_iter().map(Advice::from));
    let allow = accepted
        .into_iter()
        .map(str::to_owned)
        .chain(acceptances(&breaking))
        .map(|text| Flag::new("--allow", Some(text)));
    let check = Script::forge("check --crds").arg(released);
    Some(failure.advise(check.flags(&allow.collect::<Vec<_>>())))
}

/// What accepts all that breaks: each rule once, for the one place or the one definition where it is broken.
fn acceptances(breaking: &[&Finding]) -> Vec<String> {
    let mut texts = Vec::new();
    for rule in crd_compat::ALL {
        let places = breaking.iter().filter(|finding| finding.rule == *rule);
        let places: BTreeSet<_> = places.map(|finding| &finding.place).collect();
        let (Some(first), Some(last)) = (places.first(), places.last()) else {
            continue;
        };
        texts.push(if first == last {
            format!("{}:{first}", rule.id)
        } else if first.definition == last.definition {
            format!("{}:{}", rule.id, first.definition)
        } else {
            rule.id.to_owned()
        });
    }
    texts
}

/// The rules that a new version beside the released one does not help with.
const OF_VERSIONS: [&str; 4] = [
    "version-removed",
    "stored-version-removed",
    "version-not-served",
    "version-unconverted",
];

/// The commands that start new versions of what should have stayed as it was released, if `PROJECT` defines it.
fn new_versions(root: &Path, breaking: &[&Finding]) -> Vec<Script> {
    let in_version = |finding: &&&Finding| {
        !finding.place.version.is_empty() && !OF_VERSIONS.contains(&finding.rule.id)
    };
    let places: BTreeSet<_> = breaking
        .iter()
        .filter(in_version)
        .map(|finding| (&finding.place.definition, &finding.place.version))
        .collect();
    let Ok((_, project)) = Workspace::open(root) else {
        return Vec::new();
    };
    let apis = project.apis();
    // One new version is enough for a kind: it starts from the last of those that changed.
    let mut last = BTreeMap::<_, &String>::new();
    for (definition, version) in places {
        let latest = last.entry(definition).or_insert(version);
        if latest.parse::<Version>().ok() < version.parse().ok() {
            *latest = version;
        }
    }
    let command = |(definition, version): (&String, &String)| {
        let keys: Vec<&Key> = apis
            .iter()
            .filter(|api| {
                format!("{}.{}", api.resource.plural, api.key.api_group(false)) == *definition
            })
            .map(|api| api.key)
            .collect();
        let key = keys
            .iter()
            .find(|key| key.version.to_string() == *version)?;
        let new = Key {
            version: next(version, |new| keys.iter().any(|key| key.version == *new))?,
            ..(*key).clone()
        };
        let create = Script::forge("create api").flags(&refusal::of(&new));
        Some(create.code("--from-version").arg(version))
    };
    last.into_iter().filter_map(command).collect()
}

/// The first version after `version` that is not there: `v2` after `v1`, `v1beta2` after `v1beta1`.
fn next(version: &str, is_there: impl Fn(&Version) -> bool) -> Option<Version> {
    let stem = version.trim_end_matches(|c: char| c.is_ascii_digit());
    let number: u32 = version[stem.len()..].parse().ok()?;
    (number..=u32::MAX)
        .skip(1)
        .map_while(|number| format!("{stem}{number}").parse().ok())
        .find(|version| !is_there(version))
}

/// `--allow RULE` or `--allow RULE:WHERE`, where WHERE is a place as it is reported, or the start of one.
struct Allowance {
    rule: &'static crd_compat::Rule,
    place: String,
}

impl Allowance {
    fn parse(text: &str) -> Result<Self> {
        let (id, place) = match text.split_once(':') {
            Some((id, place)) => (id, Some(place.trim())),
            None => (text, None),
        };
        if place.is_some_and(str::is_empty) {
            return Err(Failure::usage(format!("`--allow {text}` names no place"))
                .note("without `:` it accepts every break of the rule")
                .advise(Advice::set("--allow", id)));
        }
        let rule = crd_compat::find(id).ok_or_else(|| {
            let ids: Vec<&str> = crd_compat::ALL.iter().map(|rule| rule.id).collect();
            Failure::usage(format!("unknown rule `{id}` in `--allow`"))
                .note(format!("the rules are {}", ids.join(", ")))
                .advise(Advice::set("--allow", "field-removed"))
        })?;
        Ok(Self {
            rule,
            place: place.unwrap_or_default().to_owned(),
        })
    }

    /// A place covers itself and what is below it: `.spec` covers `.spec.size`, but not `.specs`, and `foos.example.com` all
    /// of that definition, but nothing of `foos.example.com.au`.
    fn covers(&self, finding: &Finding) -> bool {
        let place = &finding.place;
        let mut parts = self.place.splitn(3, ' ');
        let mut is = |part: &str| parts.next().is_none_or(|wanted| wanted == part);
        let is_there = self.place.is_empty() || (is(&place.definition) && is(&place.version));
        let path = parts.next().unwrap_or_default();
        let below = place.path.strip_prefix(path);
        self.rule == finding.rule
            && is_there
            && below.is_some_and(|rest| {
                path.is_empty() || rest.is_empty() || rest.starts_with(['.', '['])
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_version_is_of_the_same_stage_and_not_there() {
        for (version, expected) in [
            ("v1", Some("v3")),
            ("v1beta1", Some("v1beta2")),
            ("v4294967295", None),
            ("main", None),
        ] {
            let found = next(version, |new| new.to_string() == "v2");
            assert_eq!(found.map(|new| new.to_string()).as_deref(), expected);
        }
    }
}
