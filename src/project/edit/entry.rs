//! The entry of a type that a command does not define: one of the project, of Kubernetes, or of another project.

use std::collections::{BTreeMap, BTreeSet};

use serde_yaml::Mapping;

use crate::error::Failure;
use crate::name::{Domain, Plural, RustPath, kubernetes};
use crate::project::{Key, Project, Resource, rules};

/// A type that neither the project nor Kubernetes defines.
#[derive(Clone, Debug)]
pub struct External {
    /// Where it is found.
    pub path: RustPath,
    /// What stands behind the first part of its API group; empty if the group is a full name.
    pub domain: Domain,
}

/// What a command says of a type beside its key.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// `--plural`. Of a kind that is known it has to be the one that is known.
    pub plural: Option<&'a Plural>,
    /// `--external-api-path` and `--external-api-domain`.
    pub external: Option<&'a External>,
}

impl Project {
    /// The entry at `key`, made if there is none.
    ///
    /// Errors: what is said of its type is not what is known of it.
    pub(super) fn entry_of(
        &mut self,
        key: &Key,
        said: Given<'_>,
    ) -> Result<&mut Resource, Failure> {
        let entry = self
            .resources
            .entry(key.clone())
            .or_insert_with(|| said.new_entry(key));
        said.check_known(key, entry)?;
        Ok(entry)
    }
}

impl Given<'_> {
    fn new_entry(self, key: &Key) -> Resource {
        let core = kubernetes::find(key.group.as_str(), key.version, &key.kind);
        if let (None, Some(core)) = (self.external, core) {
            return Resource::new(core.into(), true);
        }
        let plural = self.plural.cloned();
        Resource {
            external: self.external.map(|external| external.path.clone()),
            ..Resource::new(plural.unwrap_or_else(|| Plural::of(&key.kind)), false)
        }
    }

    fn check_known(self, key: &Key, entry: &Resource) -> Result<(), Failure> {
        if let Some(plural) = self.plural.filter(|plural| **plural != entry.plural) {
            return Err(Failure::refused(format!(
                "`{key}` has the plural `{}`, not `{plural}`",
                entry.plural
            ))
            .note("it is part of every rule about the type")
            .advise(format!("--plural {}", entry.plural)));
        }
        match (self.external, &entry.external) {
            (None, _) => Ok(()),
            (Some(external), Some(known)) if external.path == *known => Ok(()),
            (Some(external), Some(known)) => Err(Failure::refused(format!(
                "`{key}` is `{known}`, not `{}`",
                external.path
            ))
            .note("one group, version and kind is one type")
            .advise(format!("--external-api-path {known}"))),
            (Some(_), None) => Err(rules::not_external(key, entry.core).into()),
        }
    }
}

impl Resource {
    /// An entry that asks for nothing yet.
    pub(super) fn new(plural: Plural, core: bool) -> Self {
        Self {
            plural,
            api: None,
            controller: false,
            finalizer: false,
            core,
            external: None,
            webhooks: None,
            controllers: BTreeMap::new(),
            finalizers: BTreeSet::new(),
            options: Mapping::new(),
            options_entry: Mapping::new(),
            extra: Mapping::new(),
        }
    }
}
