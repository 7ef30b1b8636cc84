//! `edit api`: the plural, the scope and the short names of a kind, in all its versions: they are one CRD.

use std::collections::BTreeSet;

use crate::error::Failure;
use crate::name::{Group, Kind, Plural, ShortName, Version};
use crate::project::rules::{self, STATUS};
use crate::project::{Key, Project};

/// What `edit api` takes; what is absent stays.
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
    /// `--short-name`: all that there are to be.
    pub short_names: Option<Vec<ShortName>>,
    /// `--force`: stored objects do not hinder.
    pub force: bool,
    /// `--finalizer`, which cannot change.
    pub finalizer: Option<bool>,
}

impl Project {
    /// This project with another plural, scope or other short names of a kind, and the key that was named.
    ///
    /// Errors: the project does not define it; nothing is given; stored objects would not outlive it, unless forced.
    pub fn edit_api(&self, edit: &EditApi) -> Result<(Self, Key), Failure> {
        let (key, entry) = self.named(&edit.group, edit.version, &edit.kind)?;
        let Some(api) = &entry.api else {
            return Err(Failure::refused(format!("`{key}` is not defined by this project"))
                .note("its plural, scope and short names are in a CRD that is not made here, or in Kubernetes")
                .advise(STATUS));
        };
        if let Some(wanted) = edit.finalizer {
            return Err(self.finalizer_stays(&key, wanted));
        }
        if (&edit.plural, edit.namespaced, &edit.short_names) == (&None, None, &None) {
            return Err(Failure::usage("there is nothing to edit")
                .note(
                    "`edit api` changes how a kind is called by others, and where its objects live",
                )
                .note("it takes `--plural`, `--namespaced` and `--short-name`")
                .advise("operator-forge edit api --help"));
        }
        let plural = edit
            .plural
            .as_ref()
            .filter(|plural| **plural != entry.plural);
        let scope = edit
            .namespaced
            .filter(|namespaced| *namespaced != api.namespaced);
        if !edit.force
            && let Some(what) = match (plural, scope) {
                (Some(_), _) => Some("plural"),
                (None, Some(_)) => Some("scope"),
                (None, None) => None,
            }
        {
            return Err(self.stored(&key, what));
        }
        let mut project = self.clone();
        for (other, entry) in &mut project.resources {
            let same =
                (&other.group, &other.domain, &other.kind) == (&key.group, &key.domain, &key.kind);
            if let Some(api) = entry.api.as_mut().filter(|_| same) {
                entry.plural = plural.unwrap_or(&entry.plural).clone();
                api.namespaced = scope.unwrap_or(api.namespaced);
                if let Some(short_names) = &edit.short_names {
                    api.short_names.clone_from(short_names);
                }
            }
        }
        rules::check(&project, Some(&key)).map_err(|violation| {
            let is_all = plural.is_none() && scope.is_none();
            match is_all && violation.flag.starts_with("leave out") {
                true => violation.flag("operator-forge edit api --help"),
                false => violation,
            }
        })?;
        Ok((project, key))
    }

    /// One sentence for each kind whose plural or scope is another than in the project that was last applied: `edit api` would
    /// have refused it.
    pub fn not_followed(&self, applied: &Self) -> Vec<String> {
        let mut sentences = BTreeSet::new();
        for (key, now) in &self.resources {
            let then = applied.resources.get(key);
            let both = then.and_then(|then| Some((then, then.api.as_ref()?, now.api.as_ref()?)));
            let Some((then, api_then, api_now)) = both else {
                continue;
            };
            let mut tell = |what| {
                let why = why(what);
                sentences.insert(format!(
                    "the {what} of `{}` was changed in `PROJECT`, and {why}",
                    key.kind
                ));
            };
            if then.plural != now.plural {
                tell("plural");
            }
            if api_then.namespaced != api_now.namespaced {
                tell("scope");
            }
        }
        sentences.into_iter().collect()
    }

    fn stored(&self, key: &Key, what: &str) -> Failure {
        let crd = self
            .resources
            .get(key)
            .map(|entry| format!("{}.{}", entry.plural, key.api_group(false)));
        let crd = crd.unwrap_or_default();
        Failure::refused(format!("the {what} of `{}` cannot change where the CRD is installed", key.kind))
            .note(why(what))
            .note(format!("in each cluster that has it: save the objects, `kubectl delete crd {crd}`, then install and restore"))
            .note("`--force` is for who will do that, or has no such cluster")
            .advise("--force")
    }
}

/// Why no cluster follows another plural or scope.
fn why(what: &str) -> &'static str {
    match what {
        "plural" => {
            "a CRD is named by it: another one is another CRD, without the objects of the first"
        }
        _ => {
            "the API server refuses another scope: the CRD has to go first, and its objects go with it"
        }
    }
}
