//! The conversion of kinds whose types are generated from CRDs. It is added where it follows from the types, and otherwise left to
//! a person: a project compiles after every command.

use std::collections::BTreeSet;

use super::next;
use crate::{
    advice::NextStep,
    error::Result,
    name::Version,
    project::{CreateWebhook, Key, Project, Target},
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
    let open = |spoke: &Version| template::open_fields(project, hub, *spoke);
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
    let named: Vec<_> = open
        .iter()
        .take(NAMED)
        .map(|it| format!("`{it}`"))
        .collect();
    let rest = match open.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let differ = if open.len() == 1 { "differs" } else { "differ" };
    format!(", because {}{rest} {differ}", named.join(", "))
}
