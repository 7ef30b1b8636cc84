//! `rename`: another name for a kind of the project, in all its versions.

use std::collections::BTreeSet;

use super::missing;
use crate::error::Failure;
use crate::name::{Group, Kind, Plural};
use crate::project::{Key, Project, rules};
use crate::shell;

/// What `rename` takes.
#[derive(Clone, Debug)]
pub struct Rename {
    /// `--group`; may be empty.
    pub group: Group,
    /// `--kind`.
    pub kind: Kind,
    /// `--to`.
    pub to: Kind,
    /// `--plural`; without it the English one.
    pub plural: Option<Plural>,
    /// `--force`: stored objects do not hinder.
    pub force: bool,
}

impl Project {
    /// This project with another name for one of its kinds.
    ///
    /// Errors: it does not define the kind; it has the new one already; the new names break a rule; stored objects would not
    /// outlive it, unless forced.
    pub fn rename(&self, rename: &Rename) -> Result<Self, Failure> {
        let Rename {
            group,
            kind,
            to,
            plural,
            force,
        } = rename;
        if kind == to {
            return Err(Failure::usage(format!("`{kind}` is called so already"))
                .note("`--to` takes the name that it gets")
                .advise("operator-forge rename --help"));
        }
        let own = |key: &Key, kind: &Kind| {
            (&key.group, &key.kind, &key.domain) == (group, kind, &self.domain)
        };
        let mut apis = self.apis().into_iter().map(|api| api.key);
        if !apis.any(|key| own(key, kind)) {
            return Err(self.no_kind(group, kind));
        }
        if self.resources.keys().any(|key| own(key, to)) {
            return Err(
                Failure::refused(format!("there is a `{to}` in that group already"))
                    .note("two kinds do not become one")
                    .note("`--to` takes a name that is not in use")
                    .advise("operator-forge rename --help"),
            );
        }
        let mut project = self.clone();
        for (mut key, mut entry) in std::mem::take(&mut project.resources) {
            if own(&key, kind) {
                key.kind = to.clone();
                entry.plural = plural.clone().unwrap_or_else(|| Plural::of(to));
            }
            project.resources.insert(key, entry);
        }
        let key = project.resources.keys().find(|key| own(key, to)).cloned();
        rules::check(&project, key.as_ref()).map_err(|violation| {
            // Another kind is not the one that was to be renamed.
            match violation.flag.starts_with("--kind") {
                true => violation.flag("operator-forge rename --help"),
                false => violation,
            }
        })?;
        if let Some(crd) = self.crd_that_stays(rename).filter(|_| !force) {
            return Err(Failure::refused(format!("`{kind}` cannot become `{to}` where the CRD is installed"))
                .note(format!("both are kinds of `{crd}`, and the API server refuses another kind in a CRD that exists"))
                .note("in each cluster that has it: save the objects, delete the CRD, which deletes them, then install and restore")
                .advise(format!("operator-forge rename --group {group} --kind {kind} --to {to}{} --force", match plural {
                    Some(plural) => format!(" --plural {plural}"),
                    None => String::new(),
                })));
        }
        Ok(project)
    }

    /// There is no such kind to rename.
    fn no_kind(&self, group: &Group, kind: &Kind) -> Failure {
        let failure = Failure::refused(format!(
            "`{kind}` is not defined by this project in that group"
        ));
        let apis = self.apis();
        let own = apis.iter().filter(|api| api.key.domain == self.domain);
        let kinds: BTreeSet<_> = own.map(|api| (&api.key.group, &api.key.kind)).collect();
        let meant = |other: &&(&Group, &Kind)| rules::may_be_meant((group, kind), **other);
        let meant: Vec<_> = kinds.iter().filter(meant).collect();
        let found = if meant.is_empty() {
            kinds.iter().collect()
        } else {
            meant.clone()
        };
        let names = found.iter().map(|(group, kind)| match group.as_str() {
            "" => format!("{}, Kind {kind}", self.domain),
            group => format!("{group}, Kind {kind}"),
        });
        failure
            .note(missing::listed(names))
            .advise(match meant[..] {
                [(group, kind)] => format!("--group {} --kind {kind}", shell::word(group.as_str())),
                _ => rules::STATUS.to_owned(),
            })
    }

    /// The name of the CRD, if it is the same after the rename.
    pub fn crd_that_stays(&self, rename: &Rename) -> Option<String> {
        let wanted = rename.plural.clone();
        let wanted = wanted.unwrap_or_else(|| Plural::of(&rename.to));
        let same = |key: &Key| {
            (&key.group, &key.kind, &key.domain) == (&rename.group, &rename.kind, &self.domain)
        };
        let apis = self.apis().into_iter();
        let mut of_kind = apis.filter(|api| same(api.key) && api.resource.plural == wanted);
        let api = of_kind.next()?;
        Some(format!("{wanted}.{}", api.key.api_group(false)))
    }
}
