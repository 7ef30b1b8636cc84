//! `create api --from-crd`: the versions of a kind, with types that are generated from its CRD.

use std::collections::BTreeMap;
use std::sync::Arc;

use crd_types::Crd;

use super::{controller_exists, forced, status};
use crate::error::{Failure, Result};
use crate::name::{CrdName, Domain, Group, Kind, Plural, ShortName, Version};
use crate::project::{Definition, Key, Project, Resource, Source, rules};

/// A CRD, and how its kind becomes part of the project.
#[derive(Clone, Debug)]
pub struct Import {
    /// The name of the CRD.
    pub name: CrdName,
    /// `--group`: the API group, or its part before a dot. The default is the part before the project's domain, or the whole group.
    pub group: Option<Group>,
    /// The kind.
    pub kind: Kind,
    /// The plural.
    pub plural: Plural,
    /// The short names.
    pub short_names: Vec<ShortName>,
    /// The versions to add or to update, each with its definition; never empty.
    pub versions: BTreeMap<Version, Arc<Definition>>,
    /// `--external`: another project defines the kind. The default is that this project takes the CRD over.
    pub external: bool,
    /// `--controller`: add the default controller, which watches the storage version if that is one of the versions. By default,
    /// a kind that the project takes over gets it with its storage version.
    pub controller: Option<bool>,
    /// `--force`: types that were not generated from a CRD are replaced.
    pub force: bool,
}

/// The result of `create api --from-crd`.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The project with the kind.
    pub project: Project,
    /// The versions that are new.
    pub created: Vec<Key>,
    /// The versions whose definition has changed.
    pub updated: Vec<Key>,
    /// The newest version of the CRD, which may be there as it is.
    pub newest: Key,
}

impl Project {
    /// Adds the versions of a CRD, or updates their definitions. Nothing is created or updated where the project has them all as
    /// they are.
    ///
    /// Errors: it has the kind from elsewhere; a rule is broken.
    pub fn import(&self, import: &Import) -> Result<Imported> {
        let mut project = self.clone();
        let (mut created, mut updated) = (Vec::new(), Vec::new());
        let first = import.versions.first_key_value();
        let (first_version, first) = first.expect("a CRD has versions");
        let (group, domain) = self.group_of(&first.crd().group, import);
        let key = |version: &Version| Key {
            group: group.clone(),
            kind: import.kind.clone(),
            domain: domain.clone(),
            version: *version,
        };
        let is_of_others = |(other, entry): &(&Key, &Resource)| {
            let is_known = entry.has_types() || entry.external.is_some();
            is_known
                && entry.external.is_some() != import.external
                && other.is_same_kind(&key(first_version))
        };
        if let Some((other, _)) = self.resources().find(is_of_others) {
            return Err(Failure::refused(format!(
                "`{other}` has another owner in this project"
            ))
            .note("`--external` is for kinds of other projects; without it, this project takes the CRD over")
            .note("`delete api` removes the entry first")
            .advise(status()));
        }
        for (version, definition) in &import.versions {
            let key = key(version);
            let there = self.resources.get(&key);
            let source = there.and_then(|entry| entry.source.as_ref());
            let is_known = there.is_some_and(|it| it.has_types() || it.external.is_some());
            if source.is_none() && is_known && !import.force {
                return Err(Failure::refused(format!(
                    "`{key}` exists already, with types of your own"
                ))
                .note("`--force` replaces them by the types of the CRD, without your changes")
                .advise(forced()));
            }
            if source.and_then(|source| source.definition.as_ref()) == Some(definition) {
                continue;
            }
            match source {
                Some(_) => updated.push(key.clone()),
                None => created.push(key.clone()),
            }
            project.put_source(&key, import, definition);
        }
        self.share_names(&mut project, &key(first_version), import, first);
        project.control_imported(&created, import)?;
        rules::check(&project, created.first().or(updated.first()))?;
        let newest = import.versions.keys().next_back();
        Ok(Imported {
            project,
            created,
            updated,
            newest: key(newest.unwrap_or(first_version)),
        })
    }

    /// Sets the entry at `key` to the definition.
    fn put_source(&mut self, key: &Key, import: &Import, definition: &Arc<Definition>) {
        let entry = self.resources.entry(key.clone());
        let entry = entry.or_insert_with(|| Resource::new(import.plural.clone()));
        match import.external {
            true => entry.external = key.type_path().parse().ok(),
            false => _ = entry.api.get_or_insert_default(),
        }
        entry.source = Some(Source {
            name: import.name.clone(),
            definition: Some(definition.clone()),
        });
    }

    /// Adds the default controller to one of the versions that were created.
    ///
    /// Errors: it is asked for, and exists.
    fn control_imported(&mut self, created: &[Key], import: &Import) -> Result<()> {
        let is_stored = |key: &&Key| import.versions[&key.version].is_stored();
        let stored = created.iter().find(is_stored);
        let key = match import.controller {
            Some(true) => stored.or(created.last()),
            Some(false) => None,
            None => stored.filter(|_| !import.external),
        };
        let Some(key) = key else { return Ok(()) };
        let is_of_kind = |(other, entry): (&Key, &Resource)| {
            entry.has_default_controller() && other.is_same_kind(key)
        };
        let exists = self.resources().any(is_of_kind);
        match (exists, import.controller) {
            (true, Some(true)) => return Err(controller_exists(key)),
            (true, _) => {}
            (false, _) => {
                let entry = self.resources.get_mut(key).expect("it was just created");
                entry.controllers.entry(None).or_default();
            }
        }
        Ok(())
    }

    /// Gives all versions of a kind the names and the scope of the CRD `new`. If a CRD with the same names and scope was read
    /// before, a command may have changed them in the project since, and they stay.
    fn share_names(&self, project: &mut Self, key: &Key, import: &Import, new: &Definition) {
        let crd = |definition: &Definition| {
            let Crd {
                names, namespaced, ..
            } = definition.crd();
            (names.plural.clone(), names.short.clone(), *namespaced)
        };
        let of_kind = self
            .resources()
            .filter(|(other, _)| other.is_same_kind(key));
        let mut known = of_kind.filter_map(|(_, entry)| Some((entry, entry.definition()?)));
        let known = known
            .next()
            .filter(|(_, definition)| crd(definition) == crd(new));
        let (plural, api) = match known {
            Some((entry, _)) => (&entry.plural, entry.api.as_ref()),
            None => (&import.plural, None),
        };
        let (namespaced, short_names) = match api {
            Some(api) => (api.namespaced, &api.short_names),
            None => (new.crd().namespaced, &import.short_names),
        };
        for (other, entry) in &mut project.resources {
            if other.is_same_kind(key) {
                entry.plural.clone_from(plural);
                if let Some(own) = &mut entry.api {
                    own.namespaced = namespaced;
                    own.short_names.clone_from(short_names);
                }
            }
        }
    }

    /// The API group of a CRD, as group and domain. An entry of the kind decides, then `--group` for a kind that the project takes
    /// over, then the project's domain, then an entry of the group. Any other group is a foreign one, and stays whole: two groups
    /// may have the same first label, and are two modules.
    fn group_of(&self, api_group: &str, import: &Import) -> (Group, Domain) {
        let mut of_group = self
            .resources
            .keys()
            .filter(|key| key.api_group(false) == api_group);
        let known = of_group.clone().find(|key| key.kind == import.kind);
        if let Some(key) = known {
            return (key.group.clone(), key.domain.clone());
        }
        let own = api_group.strip_suffix(self.domain.as_str());
        let own = own.filter(|_| !self.domain.as_str().is_empty());
        let own = own.and_then(|group| match group {
            "" => Some(""),
            group => group.strip_suffix('.'),
        });
        let wanted = import.group.as_ref().filter(|_| !import.external);
        let wanted = wanted.and_then(|group| {
            let rest = api_group.strip_prefix(group.as_str())?;
            Some((group.as_str(), rest.trim_start_matches('.')))
        });
        let valid = "a valid API group consists of valid parts";
        let (group, domain) = match (wanted, own, of_group.next()) {
            (Some(wanted), ..) => wanted,
            (None, Some(group), _) => (group, self.domain.as_str()),
            (None, None, Some(key)) => (key.group.as_str(), key.domain.as_str()),
            (None, None, None) => (api_group, ""),
        };
        (group.parse().expect(valid), domain.parse().expect(valid))
    }
}
