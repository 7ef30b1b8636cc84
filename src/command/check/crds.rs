//! `check --crds`: which changes of the project's CRDs since a release are incompatible.

mod read;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crd_compat::{Finding, Place, Severity};

use crate::{
    advice::{Advice, Flag, Script},
    cli::Global,
    engine::{Workspace, derived::CRDS as BASES},
    error::{Failure, Result},
    name::Version,
    project::Key,
    report::{Comparison, Report},
};

pub fn run(flags: &Global, released: &str, allow: &[String], report: &Report) -> Result<u8> {
    let allowances = allow.iter().map(|text| Allowance::parse(text));
    let allowances: Vec<Allowance> = allowances.collect::<Result<_>>()?;
    let root = &flags.directory;
    report.at("Reading", "the released CRDs".to_owned());
    let (before, after) = read::both(root, released)?;
    report.at("Comparing", format!("{} CRDs", before.len()));
    let findings = crd_compat::compare(&before, &after).into_iter();
    let covers = |finding: &Finding| allowances.iter().any(|it| it.covers(finding));
    let findings: Vec<(Finding, bool)> = findings
        .map(|finding| {
            let is_allowed = covers(&finding);
            (finding, is_allowed)
        })
        .collect();
    let is_used = |(_, it): &(_, &Allowance)| findings.iter().any(|(found, _)| it.covers(found));
    let (used, unused): (Vec<_>, Vec<_>) = allow.iter().zip(&allowances).partition(is_used);
    let mut remarks = Vec::new();
    if before.is_empty() {
        let none = format!("`{released}` has no CustomResourceDefinition in {BASES}");
        remarks.push(none);
    }
    let unused = unused.iter();
    remarks.extend(unused.map(|(text, _)| format!("`--allow {text}` matches no finding")));
    let accepted = used.into_iter().map(|(text, _)| text.clone()).collect();
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

/// The failure of the check, if it fails: each broken rule once, and the advice. `accepted` are the values of `--allow` so far.
fn failure(
    root: &Path,
    released: &str,
    mut accepted: Vec<String>,
    findings: &[(Finding, bool)],
) -> Option<Failure> {
    let breaking = findings
        .iter()
        .filter(|(finding, is_allowed)| !is_allowed && finding.rule.severity == Severity::Breaking);
    let breaking: Vec<&Finding> = breaking.map(|(finding, _)| finding).collect();
    let mut failure = Failure::refused(match breaking.len() {
        0 => return None,
        1 => "a change breaks stored objects or clients".to_owned(),
        n => format!("{n} changes break stored objects or clients"),
    });
    for rule in crd_compat::ALL {
        let places = breaking.iter().filter(|finding| finding.rule == *rule);
        let places: BTreeSet<&Place> = places.map(|finding| &finding.place).collect();
        let (Some(first), Some(last)) = (places.first(), places.last()) else {
            continue;
        };
        failure = failure.note(format!("`{}`: {}", rule.id, rule.why));
        // A rule is accepted for its only place or definition, else everywhere.
        accepted.push(if first == last {
            format!("{}:{first}", rule.id)
        } else if first.definition == last.definition {
            format!("{}:{}", rule.id, first.definition)
        } else {
            rule.id.to_owned()
        });
    }
    let Cures { creates, schemas } = cures(root, &breaking);
    if !schemas.is_empty() {
        failure = failure.note(
            "the values of a chart have no versions: `values.schema.json` of the chart says which it takes, for `make manifests` and for Helm",
        );
    }
    failure = failure.note(match creates.is_empty() {
        true => "revert the change, or allow it",
        false => "leave the released version as it was and change a new one, or allow the change",
    });
    failure.advice = creates.into_iter().map(Advice::from).collect();
    if !schemas.is_empty() {
        failure = failure.advise(Script::edit(schemas).then(Script::of("make manifests")));
    }
    let flags = accepted.into_iter();
    let flags: Vec<Flag> = flags.map(|it| Flag::new("--allow", Some(it))).collect();
    let check = Script::forge("check --crds").arg(released);
    Some(failure.advise(check.flags(&flags)))
}

/// The rules about versions, which a new version cannot satisfy.
const OF_VERSIONS: [&str; 4] = [
    "version-removed",
    "stored-version-removed",
    "version-not-served",
    "version-unconverted",
];

/// What to do about breaking changes, if `PROJECT` has the kinds.
#[derive(Default)]
struct Cures {
    /// The commands that create a new version for each changed one.
    creates: Vec<Script>,
    /// The schemas of the charts whose values changed.
    schemas: BTreeSet<String>,
}

fn cures(root: &Path, breaking: &[&Finding]) -> Cures {
    let Ok(Workspace { project, .. }) = Workspace::open(root) else {
        return Cures::default();
    };
    // One new version is enough for a kind. It starts from the last version that changed.
    let mut last = BTreeMap::<&String, Version>::new();
    for finding in breaking {
        let Place {
            definition,
            version,
            ..
        } = &finding.place;
        if let Ok(version) = version.parse::<Version>()
            && !OF_VERSIONS.contains(&finding.rule.id)
        {
            let latest = last.entry(definition).or_insert(version);
            *latest = version.max(*latest);
        }
    }
    let apis = project.apis();
    let of = |definition: &String| {
        let crd = apis.iter().filter(|api| {
            format!("{}.{}", api.resource.plural, api.key.api_group(false)) == *definition
        });
        crd.collect::<Vec<_>>()
    };
    let of_values = breaking.iter().map(|finding| &finding.place);
    let of_values = of_values.filter(|place| place.path.starts_with(".spec"));
    let charts = of_values.flat_map(|place| of(&place.definition));
    let charts = charts.filter_map(|api| api.resource.chart.as_ref());
    let schemas = charts
        .map(|chart| format!("{chart}/values.schema.json"))
        .collect();
    let command = |(definition, version): (&String, Version)| {
        let crd = of(definition);
        if crd.iter().any(|api| api.resource.chart.is_some()) {
            return None;
        }
        let keys: Vec<&Key> = crd.iter().map(|api| api.key).collect();
        let key = keys.iter().find(|key| key.version == version)?;
        let version = version.to_string();
        let new = Key {
            version: next(&version, |new| keys.iter().any(|key| key.version == *new))?,
            ..(*key).clone()
        };
        let create = Script::forge("create api").flags(&new.flags());
        Some(create.code("--from-version").arg(version))
    };
    let last: Vec<_> = last
        .iter()
        .map(|(&definition, &version)| (definition, version))
        .collect();
    Cures {
        schemas,
        creates: last.into_iter().filter_map(command).collect(),
    }
}

/// The next version after `version` that does not exist: `v2` after `v1`, `v1beta2` after `v1beta1`.
fn next(version: &str, exists: impl Fn(&Version) -> bool) -> Option<Version> {
    let stem = version.trim_end_matches(|c: char| c.is_ascii_digit());
    let number: u32 = version[stem.len()..].parse().ok()?;
    (number..=u32::MAX)
        .skip(1)
        .map_while(|number| format!("{stem}{number}").parse().ok())
        .find(|version| !exists(version))
}

/// `--allow RULE` or `--allow RULE:PLACE`, with a place as it is reported, or the start of one.
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

    /// Whether the place of a finding is the allowed one or below it: `.spec` covers `.spec.size`, but not `.specs`;
    /// `foos.example.com` covers all its versions, but not `foos.example.com.au`.
    fn covers(&self, finding: &Finding) -> bool {
        let place = finding.place.to_string();
        let has_path = self.place.contains(" .") || self.place.contains(" [");
        let is_below = |rest: &str| {
            self.place.is_empty()
                || rest.is_empty()
                || rest.starts_with(' ')
                || has_path && rest.starts_with(['.', '['])
        };
        self.rule == finding.rule && place.strip_prefix(&self.place).is_some_and(is_below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_version_has_the_same_stage_and_does_not_exist() {
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
