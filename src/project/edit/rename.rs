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
}

impl Project {
    /// This project with another name for one of its kinds.
    ///
    /// Errors: it does not define the kind; it has the new one already; the new names break a rule.
    pub fn rename(&self, rename: &Rename) -> Result<Self, Failure> {
        let Rename {
            group,
            kind,
            to,
            plural,
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
                None => failure
                    .note("it defines no kinds yet")
                    .help("operator-forge create api"),
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
        Ok(project)
    }
}
