//! `rename`: another name for a kind of the project, in all its versions.

use crate::error::Failure;
use crate::name::{Group, Kind, Plural};
use crate::project::{Key, Project, rules};

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
                .help("--to with another kind"));
        }
        let own = |key: &Key, kind: &Kind| {
            (&key.group, &key.kind, &key.domain) == (group, kind, &self.domain)
        };
        let mut apis = self.apis().into_iter().map(|api| api.key);
        if !apis.any(|key| own(key, kind)) {
            let failure = Failure::refused(format!(
                "`{kind}` is not defined by this project in that group"
            ));
            return Err(match self.apis().first() {
                Some(other) => failure
                    .note("`PROJECT` lists what it defines, for instance this")
                    .help(format!(
                        "--group {} --kind {}",
                        other.key.group, other.key.kind
                    )),
                None => failure.note("it defines no kinds yet").help(format!(
                    "operator-forge create api --group {group} --version v1alpha1 --kind {to}"
                )),
            });
        }
        if self.resources.keys().any(|key| own(key, to)) {
            return Err(
                Failure::refused(format!("there is a `{to}` in that group already"))
                    .note("two kinds do not become one")
                    .help("--to with a kind that is not in use"),
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
        rules::check(&project)?;
        if let Some(crd) = self.crd_that_stays(rename).filter(|_| !force) {
            return Err(Failure::refused(format!("`{kind}` cannot become `{to}` where the CRD is installed"))
                .note(format!("both are kinds of `{crd}`, and the API server refuses another kind in a CRD that exists"))
                .note("in each cluster that has it: save the objects, delete the CRD, which deletes them, then install and restore")
                .help(format!("operator-forge rename --group {group} --kind {kind} --to {to}{} --force", match plural {
                    Some(plural) => format!(" --plural {plural}"),
                    None => String::new(),
                })));
        }
        Ok(project)
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
