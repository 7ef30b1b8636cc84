//! The flags of `create api`: what they contradict, and which entry they are about.

use super::{CreateApi, External};
use crate::error::Failure;
use crate::name::kubernetes;
use crate::project::{Key, Project};

impl CreateApi {
    /// Flags that contradict each other.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if !self.resource && !self.controller {
            return Err(Failure::usage(
                "there is nothing to create with `--resource=false` and `--controller=false`",
            )
            .advise(match self.is_defined_elsewhere() {
                true => "leave out --controller=false",
                false => "leave out --resource=false --controller=false",
            }));
        }
        if self.controller_name.is_some() && !self.controller {
            return Err(Failure::usage(
                "`--controller-name` names no controller with `--controller=false`",
            )
            .advise("--controller=true"));
        }
        if self.finalizer == Some(true) && !self.controller {
            return Err(
                Failure::usage("`--finalizer` is about a controller, and none is made")
                    .advise("--controller"),
            );
        }
        if let Some(External { path, .. }) = self.external.as_ref().filter(|_| self.resource) {
            return Err(Failure::usage(format!(
                "`--external-api-path {path}` is given with `--resource`"
            ))
            .note("the CRD of a type of another project is that project's; here it can have a controller")
            .advise("--resource=false"));
        }
        let own_plural = self.external.is_none() && self.plural.is_some();
        let given = [
            ("--plural", own_plural),
            ("--namespaced", self.namespaced.is_some()),
            ("--short-name", !self.short_names.is_empty()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) if !self.resource => Err(Failure::usage(format!(
                "`{flag}` says how an API is defined, but `--resource=false` defines none"
            ))
            .advise(format!("leave out {flag}"))),
            _ => Ok(()),
        }
    }

    fn is_defined_elsewhere(&self) -> bool {
        let core = kubernetes::find(self.group.as_str(), self.version, &self.kind);
        core.is_some() || self.external.is_some()
    }

    pub(super) fn own_key(&self, project: &Project) -> Key {
        Key {
            group: self.group.clone(),
            kind: self.kind.clone(),
            domain: project.domain.clone(),
            version: self.version,
        }
    }

    /// The entry that it is about: an API that it defines, or a type that is known.
    pub fn key_in(&self, project: &Project) -> Option<Key> {
        let own = self.own_key(project);
        match &self.external {
            _ if self.resource => Some(own),
            Some(External { domain, .. }) => Some(Key {
                domain: domain.clone(),
                ..own
            }),
            None => project.meaning_of(&own),
        }
    }
}
