//! The conversion of kinds whose types are generated from CRDs. It is added where it follows from the types, and otherwise left to
//! a person: a project compiles after every command.

use std::collections::BTreeSet;

use super::next;
use crate::{
    advice::NextStep,
    error::Result,
    name::Version,
    project::{CreateWebhook, Key, KindView, Project, Target},
    template,
    tree::RelPath,
};

/// The fields that a sentence names.
const NAMED: usize = 3;

/// Adds the conversion of all `spokes` to the hub, if every field converts. Otherwise returns a step for each.
pub fn convert(
    project: &Project,
    hub: &Key,
    spokes: &BTreeSet<Version>,
) -> Result<(Project, Vec<NextStep>)> {
    let open = |spoke: &Version| {
        template::generated_conversion(project, hub, *spoke).map(|conversion| conversion.open)
    };
    let all: Vec<_> = spokes.iter().map(|spoke| (*spoke, open(spoke))).collect();
    let follows = |open: &Option<Vec<String>>| open.as_ref().is_some_and(Vec::is_empty);
    if !all.is_empty() && all.iter().all(|(_, open)| follows(open)) {
        let spokes = spokes.iter().copied().collect();
        let project = project.create_webhook(&CreateWebhook::conversion(hub, spokes))?;
        return Ok((project, Vec::new()));
    }
    let step = |(spoke, open): (Version, Option<Vec<String>>)| {
        let because = open.map(|open| because(&open)).unwrap_or_default();
        let what = format!(
            "convert {spoke} to {}, the storage version of {}, and back{because}:",
            hub.version, hub.kind
        );
        next::convert(what, hub, spoke)
    };
    Ok((project.clone(), all.into_iter().map(step).collect()))
}

/// A step for each conversion from or to a version that lacks code for fields after a command. `is_generated` says whether the
/// command wrote a file anew; an edited file has no code for any field that is new, or that both versions have now.
pub fn unfinished(
    before: &Project,
    after: &Project,
    key: &Key,
    is_generated: impl Fn(&RelPath) -> bool,
) -> Result<Vec<NextStep>> {
    let kinds = after.kinds();
    let is_kind = |it: &&KindView<'_>| it.apis[0].key.is_same_kind(key);
    let Some(kind) = kinds.iter().find(is_kind) else {
        return Ok(Vec::new());
    };
    let hub = Key {
        version: kind.storage,
        ..key.clone()
    };
    let mut steps = Vec::new();
    let spokes = kind.spokes.iter().copied();
    for spoke in spokes.filter(|spoke| [*spoke, hub.version].contains(&key.version)) {
        let (Some(path), Some(was), Some(now)) = (
            file(after, &hub, spoke)?,
            template::generated_conversion(before, &hub, spoke),
            template::generated_conversion(after, &hub, spoke),
        ) else {
            continue;
        };
        let fields: Vec<&String> = match is_generated(&path) {
            true => now.missing.iter().collect(),
            false => {
                let new = now.open.iter().filter(|it| !was.open.contains(it));
                let settled = was.open.iter().filter(|it| !now.open.contains(it));
                new.chain(settled).collect()
            }
        };
        if !fields.is_empty() {
            let fields = named(fields.iter().map(|it| it.as_str()));
            steps.push(NextStep::by_hand(format!("convert {fields} in {path}")));
        }
    }
    Ok(steps)
}

/// The file with the conversion of a version.
pub fn file(project: &Project, hub: &Key, spoke: Version) -> Result<Option<RelPath>> {
    let target = Target {
        key: hub.clone(),
        defaulting: false,
        validation: false,
        spokes: [spoke].into(),
    };
    let files = template::files_of_webhook(project, &target)?;
    Ok(files.into_iter().find(|it| it.as_str().starts_with("src/")))
}

/// The reason that a conversion is left to a person.
fn because(open: &[String]) -> String {
    if open.is_empty() {
        return String::new();
    }
    let differ = if open.len() == 1 { "differs" } else { "differ" };
    let fields = named(open.iter().map(String::as_str));
    format!(", because {fields} {differ}")
}

/// Fields in a sentence: the first, and the number of the others.
fn named<'a>(fields: impl ExactSizeIterator<Item = &'a str>) -> String {
    let rest = match fields.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let fields: Vec<_> = fields.take(NAMED).map(|it| format!("`{it}`")).collect();
    format!("{}{rest}", fields.join(", "))
}
