//! Files of entries that `PROJECT` has lost: a merge, rebase or cherry-pick was committed with the text of one branch, while
//! git put the rows of both into the lock.
//!
//! Invariant: a file is deleted only if its entry was in `PROJECT` or in the last applied one.

use std::collections::BTreeSet;

use crate::{
    advice::Script,
    change::Policy,
    error::{Failure, Result},
    memory,
    name::{Group, Kind, Plural, ShortName, Version, rust::Module},
    plan::Inputs,
    project::{FILE, Project},
    syntax::{self, Item},
    tree::RelPath,
};

/// The files of entries that `PROJECT` has lost.
#[derive(Default)]
pub struct Lost {
    /// The files, in the order of their paths.
    pub files: Vec<RelPath>,
    /// The commands that put the entries back, and an editor for the rest.
    pub advice: Vec<Script>,
}

impl Lost {
    /// Finds files that are in the lock and that `project` does not ask for. `asked` gives the paths of earlier projects; `None`
    /// where they are unknown, as before an update.
    pub fn find(
        project: &Project,
        inputs: &Inputs,
        asked: impl FnOnce() -> Result<Option<BTreeSet<RelPath>>>,
    ) -> Result<Self> {
        let is_lost = |path: &&RelPath| {
            !inputs.desired.contains_key(*path)
                && !inputs.named.rewritten.contains_key(*path)
                && inputs.on_disk(path).is_some()
        };
        let rows = inputs.memory.rows.keys();
        let mut files: Vec<RelPath> = rows.filter(is_lost).cloned().collect();
        if files.is_empty() {
            return Ok(Self::default());
        }
        match asked()? {
            Some(asked) => files.retain(|path| !asked.contains(path)),
            None => files.clear(),
        }
        let advice = match files.is_empty() {
            true => Vec::new(),
            false => advice(project, inputs, &files),
        };
        Ok(Self { files, advice })
    }

    /// Settles the lost files by the policy: `sync` leaves them to the user (`keep`), or deletes them like any other file that is
    /// no longer desired (`take`). Other commands set their rows aside, so that they stay in the lock. Returns a remark.
    ///
    /// Errors: there are lost files, and the policy chooses nothing.
    pub fn settle(&self, is_sync: bool, inputs: &mut Inputs) -> Result<Option<String>> {
        // A source file tells most about its entry.
        let is_code = |path: &&RelPath| path.as_str().starts_with("src/");
        let Some(first) = self.files.iter().find(is_code).or(self.files.first()) else {
            return Ok(None);
        };
        let more = match self.files.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let lost = format!("`{FILE}` has lost the entry of `{first}`{more}");
        let rows = &mut inputs.memory.rows;
        match inputs.policy {
            Policy::Keep | Policy::Take if !is_sync => {
                let taken = self.files.iter().map(|path| rows.remove_entry(path));
                inputs.aside.extend(taken.flatten());
                Ok(Some(format!("{lost} still")))
            }
            Policy::Take => Ok(None),
            Policy::Keep => {
                rows.retain(|path, _| !self.files.contains(path));
                Ok(Some(format!(
                    "kept `{first}`{more}: without an entry in `{FILE}`, they are yours alone"
                )))
            }
            Policy::Abort | Policy::Markers => {
                let failure = Failure::refused(lost)
                    .note(format!(
                        "`{}` has those files, but neither `{FILE}` nor the last applied one does: a merge, rebase or \
                         cherry-pick was committed with the text of one branch",
                        memory::LOCK
                    ))
                    .note("`sync --on-conflict take` deletes those files that nobody edited");
                let advice = self.advice.iter().cloned();
                Err(advice.fold(failure, Failure::advise))
            }
        }
    }
}

/// A command for each type with readable attributes, one for its webhooks, and an editor for the rest.
fn advice(project: &Project, inputs: &Inputs, lost: &[RelPath]) -> Vec<Script> {
    let text = |path: &RelPath| str::from_utf8(inputs.on_disk(path)?).ok();
    let mut types = Vec::new();
    let mut covered: BTreeSet<String> = BTreeSet::new();
    for path in lost.iter().filter(|it| it.as_str().starts_with("src/api/")) {
        let items = text(path).and_then(|text| syntax::items(text, "").ok());
        if let Some(lost_type) = items.and_then(|items| Type::of(project, &items)) {
            covered.insert(path.to_string());
            types.push(lost_type);
        }
    }
    let mut advice = Vec::new();
    for lost_type in &types {
        let controller = lost_type.controller(project);
        let found = lost.iter().find(|path| path.as_str() == controller);
        let versions = types
            .iter()
            .filter(|other| other.controller(project) == controller);
        let is_only = versions.count() == 1;
        // A controller watches one version, and its text has that version's path.
        let is_watched = found
            .and_then(text)
            .is_some_and(|text| is_only || text.contains(&format!("::{}::", lost_type.version)));
        let flag = match is_watched && covered.insert(controller) {
            true => "",
            false => "--controller=false",
        };
        let create = lost_type.create.clone();
        advice.push(create.code(flag).code("--on-conflict keep"));
    }
    let apis = project.apis().into_iter();
    let apis = apis.filter(|api| api.key.domain == project.domain);
    let there = apis.map(|api| (&api.key.group, api.key.version, &api.key.kind));
    let lost_types = types.iter().map(|it| (&it.group, it.version, &it.kind));
    for (group, version, kind) in there.chain(lost_types) {
        let directory = format!(
            "src/webhooks/{}/{version}/{}",
            Module::of_group(group, &project.domain).file(),
            Module::of_kind(kind).file()
        );
        let webhooks = [("default", "--defaulting"), ("validate", "--validation")];
        let webhooks = webhooks.map(|(file, flag)| (format!("{directory}/{file}.rs"), flag));
        let mut create = create("create webhook", group, version, kind);
        let mut is_lost = false;
        for (path, flag) in webhooks {
            if lost.iter().any(|lost| lost.as_str() == path) {
                create = create.code(flag);
                is_lost = true;
                covered.insert(path);
            }
        }
        if is_lost {
            advice.push(create.code("--on-conflict keep"));
        }
    }
    let is_left =
        |path: &RelPath| path.as_str().starts_with("src/") && !covered.contains(path.as_str());
    if advice.is_empty() || lost.iter().any(is_left) {
        advice.push(Script::edit([FILE]).then(Script::forge("sync")));
    }
    advice
}

/// A `create` command for a type.
fn create(command: &'static str, group: &Group, version: Version, kind: &Kind) -> Script {
    Script::forge(command)
        .code("--group")
        .arg(group.as_str())
        .code("--version")
        .arg(version.to_string())
        .code("--kind")
        .arg(kind.as_str())
}

/// A type that `PROJECT` has lost, by its own attributes.
struct Type {
    group: Group,
    version: Version,
    kind: Kind,
    /// The command that puts it back, as far as the attributes have it.
    create: Script,
}

impl Type {
    fn of(project: &Project, items: &[Item]) -> Option<Self> {
        let all = |name: &'static str| items.iter().filter(move |item| item.name == name);
        let text = |name| all(name).find_map(Item::text);
        let group = match project.domain.as_str() {
            "" => text("group")?,
            domain => text("group")?.strip_suffix(domain)?.strip_suffix('.')?,
        };
        // The user's file may have any text there.
        let group = group.parse().ok()?;
        let version = text("version")?.parse().ok()?;
        let kind = text("kind")?.parse().ok()?;
        let mut create = create("create api", &group, version, &kind);
        let plural: Option<Plural> = text("plural").map(str::parse).transpose().ok()?;
        if let Some(plural) = plural.filter(|plural| *plural != Plural::of(&kind)) {
            create = create.code("--plural").arg(plural.as_str());
        }
        let short = all("shortname").filter_map(Item::text);
        let short: Result<Vec<ShortName>, _> = short.map(str::parse).collect();
        let short: Vec<String> = short.ok()?.iter().map(ToString::to_string).collect();
        if !short.is_empty() {
            create = create.code("--short-name").arg(short.join(","));
        }
        if !all("namespaced").any(|item| item.is_set() == Some(true)) {
            create = create.code("--namespaced=false");
        }
        Some(Self {
            group,
            version,
            kind,
            create,
        })
    }

    /// The path of its kind's default controller.
    fn controller(&self, project: &Project) -> String {
        format!(
            "src/controllers/{}/{}.rs",
            Module::of_group(&self.group, &project.domain).file(),
            Module::of_kind(&self.kind).file()
        )
    }
}
