//! Files of entries that `PROJECT` has lost: a merge, rebase or cherry-pick was committed with the text of one branch, while
//! git put the rows of both into the lock.
//!
//! Invariant: a file goes away only if a project that was there asked for it, the one that was read or the last applied one.

use super::{Survey, Workspace};
use crate::{
    change::Policy,
    error::{Failure, Result},
    memory,
    name::{Group, Kind, Plural, ShortName, Version, rust::Module},
    plan::Named,
    project::{FILE, Project},
    syntax::{self, Item},
    tree::{Found, RelPath},
};

/// Settles what is lost of `project`, the one that was surveyed, by the policy: those files are left to the user, or go away
/// like any other. Returns a remark about it.
///
/// Errors: there are some, and the policy does not say.
pub fn settle(
    workspace: &Workspace,
    project: &Project,
    survey: &mut Survey,
    named: &Named,
    policy: Policy,
) -> Result<Option<String>> {
    let lost = files(workspace, project, survey, named)?;
    // Code says best what an entry is about.
    let is_code = |path: &&RelPath| path.as_str().starts_with("src/");
    let Some(first) = lost.iter().find(is_code).or(lost.first()) else {
        return Ok(None);
    };
    let more = match lost.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match policy {
        Policy::Take => Ok(None),
        Policy::Keep => {
            survey.memory.rows.retain(|path, _| !lost.contains(path));
            Ok(Some(format!(
                "`{first}`{more}: `{FILE}` has no entry for that, and the files stay as yours alone"
            )))
        }
        Policy::Abort | Policy::Markers => {
            let failure = Failure::refused(format!(
                "`{FILE}` has lost the entry of `{first}`{more}"
            ))
            .note(format!(
                "`{}` has those files, but neither `{FILE}` nor the last applied one does: a merge, rebase or cherry-pick was \
                 committed with the text of one branch",
                memory::LOCK
            ))
            .note("`sync --on-conflict take` deletes those files that nobody edited");
            let lines = lines(workspace, survey, &lost).into_iter();
            Err(lines.fold(failure, Failure::help))
        }
    }
}

/// The files, in the order of their paths, where `project` was surveyed and a command names others.
pub fn files(
    workspace: &Workspace,
    project: &Project,
    survey: &Survey,
    named: &Named,
) -> Result<Vec<RelPath>> {
    let is_lost = |path: &&RelPath| {
        !survey.desired.contains_key(*path)
            && !named.rewritten.contains_key(*path)
            && matches!(survey.found.get(*path), Some(Found::File(_)))
    };
    let mut lost: Vec<RelPath> = survey.memory.rows.keys().filter(is_lost).cloned().collect();
    if !lost.is_empty() {
        // `None` where nobody can tell, as before an update.
        match workspace.asked_before(project)? {
            Some(asked) => lost.retain(|path| !asked.contains(path)),
            None => lost.clear(),
        }
    }
    Ok(lost)
}

/// The lines that put the entries of lost files back: a command for each type that says what it is, or else an editor.
pub fn lines(workspace: &Workspace, survey: &Survey, lost: &[RelPath]) -> Vec<String> {
    let create = |path: &RelPath| {
        let is_type = path.as_str().starts_with("src/api/") && path.extension() == "rs";
        let Some(Found::File(bytes)) = survey.found.get(path).filter(|_| is_type) else {
            return None;
        };
        let items = syntax::items(std::str::from_utf8(bytes).ok()?, "").ok()?;
        create(workspace.project.as_ref()?, &items, lost)
    };
    let mut lines: Vec<String> = lost.iter().filter_map(create).collect();
    if lines.is_empty() {
        lines.push(format!("${{EDITOR:-vi}} {FILE} && operator-forge sync"));
    }
    lines
}

fn create(project: &Project, items: &[Item], lost: &[RelPath]) -> Option<String> {
    let all = |name: &'static str| items.iter().filter(move |item| item.name == name);
    let text = |name| all(name).find_map(Item::text);
    let group = match project.domain.as_str() {
        "" => text("group")?,
        domain => text("group")?.strip_suffix(domain)?.strip_suffix('.')?,
    };
    // A file of the user's may say anything.
    let group = Group::parse(group).ok()?;
    let version = Version::parse(text("version")?).ok()?;
    let kind = Kind::parse(text("kind")?).ok()?;
    let mut line =
        format!("operator-forge create api --group {group} --version {version} --kind {kind}");
    let plural = text("plural").map(Plural::parse).transpose().ok()?;
    if let Some(plural) = plural.filter(|plural| *plural != Plural::of(&kind)) {
        line.push_str(&format!(" --plural {plural}"));
    }
    let short = all("shortname")
        .filter_map(Item::text)
        .map(ShortName::parse);
    let short = short.collect::<Result<Vec<_>, _>>().ok()?;
    if !short.is_empty() {
        let short: Vec<String> = short.iter().map(ToString::to_string).collect();
        line.push_str(&format!(" --short-name {}", short.join(",")));
    }
    if !all("namespaced").any(|item| item.is_set() == Some(true)) {
        line.push_str(" --namespaced=false");
    }
    let controller = format!(
        "src/controllers/{}/{}.rs",
        Module::of_group(&group, &project.domain).file(),
        Module::of_kind(&kind).file()
    );
    if !lost.iter().any(|path| path.as_str() == controller) {
        line.push_str(" --controller=false");
    }
    line.push_str(" --on-conflict keep");
    Some(line)
}
