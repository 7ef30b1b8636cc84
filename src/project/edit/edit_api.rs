//! `edit api`: the plural, the scope and the short names of a kind. They hold for all its versions, which are one CRD.

use std::collections::BTreeSet;

use crate::name::{Group, Kind, Plural, ShortName, Version};
use crate::project::error::{Origin, Refused, Result};
use crate::project::rules;
use crate::project::{Immutable, Key, Project};

/// The flags of `edit api`; what is absent stays.
#[derive(Clone, Debug)]
pub struct EditApi {
    /// `--group`; may be empty.
    pub group: Group,
    /// `--version`: any version of the kind.
    pub version: Version,
    /// `--kind`.
    pub kind: Kind,
    /// `--plural`.
    pub plural: Option<Plural>,
    /// `--namespaced`.
    pub namespaced: Option<bool>,
    /// `--short-name`: all of them.
    pub short_names: Option<Vec<ShortName>>,
    /// `--force`: allowed even where the CRD is installed.
    pub force: bool,
    /// `--finalizer`, which cannot change.
    pub finalizer: Option<bool>,
}

impl Project {
    /// Changes the plural, scope or short names of a kind, and returns the key that was named, too.
    ///
    /// Errors: the project does not define the kind; no change is given; stored objects would be lost, unless forced.
    pub fn edit_api(&self, edit: &EditApi) -> Result<(Self, Key)> {
        let (key, entry) = self.named(&edit.group, edit.version, &edit.kind)?;
        let Some(api) = &entry.api else {
            return Err(Refused::NotEditable(key).into());
        };
        if let Some(wanted) = edit.finalizer {
            return Err(self.finalizer_stays(&key, wanted).into());
        }
        if (&edit.plural, edit.namespaced, &edit.short_names) == (&None, None, &None) {
            return Err(Refused::NoApiEdit.into());
        }
        let plural = edit.plural.as_ref();
        let plural = plural.filter(|plural| **plural != entry.plural);
        let scope = edit.namespaced.filter(|scope| *scope != api.namespaced);
        let what = match (plural, scope) {
            (Some(_), _) => Some(Immutable::Plural),
            (None, Some(_)) => Some(Immutable::Scope),
            (None, None) => None,
        };
        if let Some(what) = what.filter(|_| !edit.force) {
            let crd = format!("{}.{}", entry.plural, key.api_group(false));
            return Err(Refused::Stored { key, what, crd }.into());
        }
        let mut project = self.clone();
        for (other, entry) in &mut project.resources {
            if let Some(api) = entry.api.as_mut().filter(|_| other.is_same_kind(&key)) {
                entry.plural = plural.unwrap_or(&entry.plural).clone();
                api.namespaced = scope.unwrap_or(api.namespaced);
                if let Some(short_names) = &edit.short_names {
                    api.short_names.clone_from(short_names);
                }
            }
        }
        let checked = rules::check(&project, Some(&key));
        checked.map_err(|violation| match what {
            None => violation.by(Origin::Edit),
            Some(_) => violation,
        })?;
        Ok((project, key))
    }

    /// One sentence for each kind whose plural or scope differs from the project that was last applied, which `edit api` would
    /// have refused.
    pub fn not_followed(&self, applied: &Self) -> Vec<String> {
        let mut sentences = BTreeSet::new();
        for (key, now) in &self.resources {
            let then = applied.resources.get(key);
            let both = then.and_then(|then| Some((then, then.api.as_ref()?, now.api.as_ref()?)));
            let Some((then, api_then, api_now)) = both else {
                continue;
            };
            let plural = (then.plural != now.plural).then_some(Immutable::Plural);
            let is_other_scope = api_then.namespaced != api_now.namespaced;
            let scope = is_other_scope.then_some(Immutable::Scope);
            sentences.extend(plural.into_iter().chain(scope).map(|what| {
                let (word, kind, why) = (what.word(), &key.kind, what.why());
                format!("the {word} of `{kind}` was changed in `PROJECT`, and {why}")
            }));
        }
        sentences.into_iter().collect()
    }
}
