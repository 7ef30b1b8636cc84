//! `rename`: another name for a kind of the project, in all its versions.

use std::collections::BTreeSet;

use crate::name::{Group, Kind, Plural};
use crate::project::error::{Origin, Refused, Result};
use crate::project::{Key, Project, Rename, rules};

impl Project {
    /// Renames a kind of the project.
    ///
    /// Errors: the project does not define it; it has the new name already; the new names break a rule; stored objects would be
    /// lost, unless forced.
    pub fn rename(&self, rename: &Rename) -> Result<Self> {
        let Rename {
            group,
            kind,
            to,
            plural,
            force,
        } = rename;
        if kind == to {
            return Err(Refused::SameKind(kind.clone()).into());
        }
        let own = |key: &Key, kind: &Kind| {
            (&key.group, &key.kind, &key.domain) == (group, kind, &self.domain)
        };
        let mut apis = self.apis().into_iter().map(|api| api.key);
        if !apis.any(|key| own(key, kind)) {
            return Err(self.no_kind(group, kind).into());
        }
        if self.resources.keys().any(|key| own(key, to)) {
            return Err(Refused::KindExists(to.clone()).into());
        }
        let mut project = self.clone();
        for (mut key, mut entry) in std::mem::take(&mut project.resources) {
            if own(&key, kind) {
                key.kind = to.clone();
                entry.plural = plural.clone().unwrap_or_else(|| Plural::of(to));
            }
            project.resources.insert(key, entry);
        }
        let key = project.resources.keys().find(|key| own(key, to));
        rules::check(&project, key).map_err(|violation| violation.by(Origin::Edit))?;
        match self.crd_that_stays(rename) {
            Some(crd) if !force => Err(Refused::CrdStays(rename.clone(), crd).into()),
            _ => Ok(project),
        }
    }

    /// There is no such kind to rename.
    fn no_kind(&self, group: &Group, kind: &Kind) -> Refused {
        let own = self.apis().into_iter().map(|api| api.key);
        let own = own.filter(|key| key.domain == self.domain);
        let kinds: BTreeSet<_> = own
            .map(|key| (key.group.clone(), key.kind.clone()))
            .collect();
        let meant =
            |(own, other): &&(Group, Kind)| rules::may_be_meant((group, kind), (own, other));
        let meant: Vec<_> = kinds.iter().filter(meant).cloned().collect();
        Refused::NoKind {
            group: group.clone(),
            kind: kind.clone(),
            domain: self.domain.clone(),
            meant: match &meant[..] {
                [one] => Some(one.clone()),
                _ => None,
            },
            known: match meant.is_empty() {
                true => kinds.into_iter().collect(),
                false => meant,
            },
        }
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
