//! Files of entries that `PROJECT` has lost: a merge, rebase or cherry-pick was committed with the text of one branch, while
//! git put the rows of both into the lock.
//!
//! Invariant: a file goes away only if a project that was there asked for it, the one that was read or the last applied one.

use std::collections::BTreeSet;

use super::{Request, Snapshot, Workspace};
use crate::{
    change::Policy,
    error::{Failure, Result},
    memory,
    name::{Group, Kind, Plural, ShortName, Version, rust::Module},
    plan::NamedFiles,
    project::{FILE, Project},
    shell,
    syntax::{self, Item},
    tree::{Found, RelPath},
};

/// Settles what is lost of the project of `edit`, the one that was surveyed, by the policy: `sync` leaves those files to the
/// user, or lets them go away like any other. Other commands leave them as they are, and remembered, and return the lines
/// that put the entries back. Returns a remark about it, too.
///
/// Errors: there are some, and the policy does not say.
pub fn settle(
    workspace: &Workspace,
    edit: &Request,
    snapshot: &mut Snapshot,
    policy: Policy,
) -> Result<(Option<String>, Vec<String>)> {
    let lost = files(workspace, &edit.project, snapshot, &edit.named)?;
    // Code says best what an entry is about.
    let is_code = |path: &&RelPath| path.as_str().starts_with("src/");
    let Some(first) = lost.iter().find(is_code).or(lost.first()) else {
        return Ok((None, Vec::new()));
    };
    let more = match lost.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match policy {
        Policy::Keep | Policy::Take if edit.command != "sync" => {
            let lines = lines(&edit.project, snapshot, &lost);
            let remark = format!("`{FILE}` has lost the entry of `{first}`{more} still");
            snapshot.set_aside(&lost);
            Ok((Some(remark), lines))
        }
        Policy::Take => Ok((None, Vec::new())),
        Policy::Keep => {
            snapshot.memory.rows.retain(|path, _| !lost.contains(path));
            let remark = format!(
                "`{first}`{more}: `{FILE}` has no entry for that, and the files stay as yours alone"
            );
            Ok((Some(remark), Vec::new()))
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
            let lines = lines(&edit.project, snapshot, &lost).into_iter();
            Err(lines.fold(failure, Failure::advise))
        }
    }
}

/// The files, in the order of their paths, where `project` was surveyed and a command names others.
pub fn files(
    workspace: &Workspace,
    project: &Project,
    snapshot: &Snapshot,
    named: &NamedFiles,
) -> Result<Vec<RelPath>> {
    let is_lost = |path: &&RelPath| {
        !snapshot.desired.contains_key(*path)
            && !named.rewritten.contains_key(*path)
            && matches!(snapshot.found.get(*path), Some(Found::File(_)))
    };
    let mut lost: Vec<RelPath> = snapshot
        .memory
        .rows
        .keys()
        .filter(is_lost)
        .cloned()
        .collect();
    if !lost.is_empty() {
        // `None` where nobody can tell, as before an update.
        match workspace.asked_before(project)? {
            Some(asked) => lost.retain(|path| !asked.contains(path)),
            None => lost.clear(),
        }
    }
    Ok(lost)
}

/// The lines that put the entries of lost files back: a command for each type that says what it is, one for its webhooks, and
/// an editor for what remains.
pub fn lines(project: &Project, snapshot: &Snapshot, lost: &[RelPath]) -> Vec<String> {
    let text = |path: &RelPath| match snapshot.found.get(path) {
        Some(Found::File(bytes)) => std::str::from_utf8(bytes).ok(),
        _ => None,
    };
    let is_type = |path: &&RelPath| path.as_str().starts_with("src/api/");
    let mut types = Vec::new();
    let mut named: BTreeSet<String> = BTreeSet::new();
    for path in lost.iter().filter(is_type) {
        let items = text(path).and_then(|text| syntax::items(text, "").ok());
        let Some(lost_type) = items.and_then(|items| Type::of(project, &items)) else {
            continue;
        };
        named.insert(path.to_string());
        types.push(lost_type);
    }
    let mut lines = Vec::new();
    for lost_type in &types {
        let controller = lost_type.controller(project);
        let found = lost.iter().find(|path| path.as_str() == controller);
        let versions = types
            .iter()
            .filter(|other| other.controller(project) == controller);
        let is_only = versions.count() == 1;
        // A controller watches one version, and says which.
        let is_watched = found
            .and_then(text)
            .is_some_and(|text| is_only || text.contains(&format!("::{}::", lost_type.version)));
        let flag = match is_watched && named.insert(controller) {
            true => "",
            false => " --controller=false",
        };
        lines.push(format!("{}{flag} --on-conflict keep", lost_type.line));
    }
    let there = project
        .apis()
        .into_iter()
        .filter(|api| api.key.domain == project.domain);
    let there = there.map(|api| (&api.key.group, api.key.version, &api.key.kind));
    let new = types.iter().map(|it| (&it.group, it.version, &it.kind));
    for (group, version, kind) in there.chain(new) {
        let directory = format!(
            "src/webhooks/{}/{version}/{}",
            Module::of_group(group, &project.domain).file(),
            Module::of_kind(kind).file()
        );
        let mut flags = String::new();
        for (file, flag) in [("default", "defaulting"), ("validate", "validation")] {
            let path = format!("{directory}/{file}.rs");
            if lost.iter().any(|lost| lost.as_str() == path) {
                flags += &format!(" --{flag}");
                named.insert(path);
            }
        }
        if !flags.is_empty() {
            let group = shell::word(group.as_str());
            lines.push(format!(
                "operator-forge create webhook --group {group} --version {version} --kind {kind}{flags} --on-conflict keep"
            ));
        }
    }
    let is_left =
        |path: &RelPath| path.as_str().starts_with("src/") && !named.contains(path.as_str());
    if lines.is_empty() || lost.iter().any(is_left) {
        lines.push(format!("${{EDITOR:-vi}} {FILE} && operator-forge sync"));
    }
    lines
}

/// A type that `PROJECT` has lost, as its own attribute describes it.
struct Type {
    group: Group,
    version: Version,
    kind: Kind,
    /// The command that puts it back, as far as the attribute says.
    line: String,
}

impl Type {
    fn of(project: &Project, items: &[Item]) -> Option<Self> {
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
        Some(Self {
            group,
            version,
            kind,
            line,
        })
    }

    /// Where its kind's default controller is.
    fn controller(&self, project: &Project) -> String {
        format!(
            "src/controllers/{}/{}.rs",
            Module::of_group(&self.group, &project.domain).file(),
            Module::of_kind(&self.kind).file()
        )
    }
}
