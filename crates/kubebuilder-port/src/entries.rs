//! The entries of a Go project as its CRDs and its code have them. People edit `PROJECT` by hand, or forget it: a CRD is right about
//! itself.

use crate::{
    definitions::{Definitions, Found},
    files::Files,
    project::{Entry, GoProject},
};

/// The entries, with what was not as `PROJECT` says.
#[derive(Debug, Default)]
pub struct Settled {
    /// The entries: one for each version of a kind.
    pub entries: Vec<Entry>,
    /// A sentence for each correction.
    pub remarks: Vec<String>,
}

/// Corrects the entries of a `PROJECT`, and adds those of kinds that only the code registers.
pub fn settle(project: &GoProject, crds: &Definitions, files: &Files) -> Settled {
    let mut settled = Settled::default();
    for entry in &project.resources {
        let mut entry = entry.clone();
        if let Some((_, crd)) = of_entry(&entry, crds) {
            settled.correct(&mut entry, project, crd);
        }
        // A file of version 2 does not tell.
        if project.is_version_2 && !entry.controller {
            entry.controller = !files.controllers(&entry, None).is_empty();
        }
        settled.add(entry);
    }
    for (name, crd) in &crds.found {
        let is_known = |it: &Entry| it.kind == crd.kind && it.api_group() == crd.group;
        if settled.entries.iter().any(is_known) {
            continue;
        }
        let Some(file) = files.registering(&crd.kind) else {
            continue;
        };
        settled.remarks.push(format!(
            "`PROJECT` has no entry for `{name}`, which is added: `{file}` registers its type"
        ));
        settled.add(of_crd(project, crd, files));
    }
    settled
}

/// The CRD of an entry, with its name: of the same kind, and of those the one that shares most with it.
fn of_entry<'a>(entry: &Entry, crds: &'a Definitions) -> Option<(&'a str, &'a Found)> {
    if entry.core || entry.external {
        return None;
    }
    let group = entry.api_group();
    let of_kind = crds.found.iter().filter(|(_, it)| it.kind == entry.kind);
    // Without an API, the entry may be of a type of Kubernetes or of another project.
    let of_kind = of_kind.filter(|(_, it)| entry.api.is_some() || it.group == group);
    let score = |crd: &Found| {
        let is_group = crd.group == group;
        let is_near = is_group || shares_a_label(&crd.group, &group);
        let has_version = crd.versions.iter().any(|(name, _)| *name == entry.version);
        let has_plural = entry.plural.as_ref() == Some(&crd.plural);
        (is_group, is_near, has_version, has_plural)
    };
    let scored: Vec<_> = of_kind
        .map(|(name, crd)| (score(crd), name.as_str(), crd))
        .collect();
    let best = scored.iter().map(|(score, ..)| *score).max()?;
    let mut best = scored.into_iter().filter(|(score, ..)| *score == best);
    let (score, name, crd) = best.next()?;
    // Of two that are as near, none is known to be it. One that shares nothing is of another project.
    let is_sure = best.next().is_none() && (score.1 || score.2 && entry.group.is_empty());
    is_sure.then_some((name, crd))
}

/// Whether two API groups have a label in common, beside the last one, which half of the world has.
fn shares_a_label(one: &str, other: &str) -> bool {
    let labels = |group: &str| -> Vec<String> {
        let mut labels: Vec<_> = group.split('.').map(str::to_owned).collect();
        if labels.len() > 1 {
            labels.pop();
        }
        labels
    };
    let other = labels(other);
    labels(one).iter().any(|label| other.contains(label))
}

/// The entry of a CRD without one: at the stored version.
fn of_crd(project: &GoProject, crd: &Found, files: &Files) -> Entry {
    let mut entry = Entry {
        kind: crd.kind.clone(),
        api: Some(serde_yaml::Value::Null),
        version: stored(crd).unwrap_or_default().to_owned(),
        plural: Some(crd.plural.clone()),
        ..Entry::default()
    };
    regroup(&mut entry, project, &crd.group);
    entry.controller = !files.controllers(&entry, None).is_empty();
    entry
}

/// The stored version of a CRD, or else the last.
fn stored(crd: &Found) -> Option<&str> {
    let mut versions = crd.versions.iter().rev();
    let stored = versions.clone().find(|(_, is_stored)| *is_stored);
    stored.or(versions.next()).map(|(name, _)| name.as_str())
}

/// Gives an entry an API group, and keeps its `group` where that is a part of it.
fn regroup(entry: &mut Entry, project: &GoProject, api_group: &str) {
    let domain = project.domain.as_deref().unwrap_or_default();
    let before = |domain: &str| {
        let group = api_group.strip_suffix(domain)?.strip_suffix('.')?;
        (!domain.is_empty()).then(|| (group.to_owned(), domain.to_owned()))
    };
    let behind = |group: &str| {
        let domain = api_group.strip_prefix(group)?.strip_prefix('.')?;
        (!group.is_empty()).then(|| (group.to_owned(), domain.to_owned()))
    };
    let first = api_group.split('.').next().unwrap_or_default();
    let parts = before(domain)
        .or_else(|| behind(&entry.group))
        .or_else(|| behind(first));
    (entry.group, entry.domain) = parts.unwrap_or_else(|| (api_group.to_owned(), String::new()));
}

impl Settled {
    /// Makes an entry say what its CRD says.
    fn correct(&mut self, entry: &mut Entry, project: &GoProject, crd: &Found) {
        let title = entry.title();
        let mut wrong = Vec::new();
        if entry.api_group() != crd.group {
            wrong.push(format!("the group `{}`", entry.api_group()));
            regroup(entry, project, &crd.group);
        }
        let has = |version: &str| crd.versions.iter().any(|(name, _)| name == version);
        if !has(&entry.version)
            && let Some(version) = stored(crd)
        {
            wrong.push(format!("the version `{}`", entry.version));
            entry.version = version.to_owned();
        }
        if entry.plural.as_ref().is_some_and(|it| *it != crd.plural) {
            wrong.extend(entry.plural.as_ref().map(|it| format!("the plural `{it}`")));
        }
        entry.plural = Some(crd.plural.clone());
        if entry.api.is_none() {
            wrong.push("no API".to_owned());
            entry.api = Some(serde_yaml::Value::Null);
        }
        if !wrong.is_empty() {
            self.remarks.push(format!(
                "`PROJECT` says of `{title}` {}; the CRD in `{}` is right: {}/{}, {}",
                wrong.join(" and "),
                crd.file,
                crd.group,
                entry.version,
                crd.plural,
            ));
        }
    }

    /// Adds an entry, or joins it with that of the same version.
    fn add(&mut self, entry: Entry) {
        let is_same = |it: &&mut Entry| {
            (&it.kind, &it.version, it.api_group())
                == (&entry.kind, &entry.version, entry.api_group())
        };
        match self.entries.iter_mut().find(is_same) {
            Some(there) => there.join(entry),
            None => self.entries.push(entry),
        }
    }
}
