//! `edit api` and `rename`: change the properties of a kind that all its versions share, because they are one CRD.

use std::collections::BTreeSet;

use super::{Gvk, listed, not_defined, reinstall, status};
use crate::advice::{Advice, Flag};
use crate::error::{Failure, Result};
use crate::field::Field;
use crate::name::{Group, Kind, Plural, ShortName};
use crate::project::violation::Origin;
use crate::project::{Fields, Immutable, Key, Project, rules};

/// The flags of `edit api`; an absent flag changes nothing.
#[derive(Clone, Debug)]
pub struct EditApi {
    /// `--group`, `--version` and `--kind`: any version of the kind.
    pub gvk: Gvk,
    /// `--plural`.
    pub plural: Option<Plural>,
    /// `--namespaced`.
    pub namespaced: Option<bool>,
    /// `--short-name`: all of them.
    pub short_names: Option<Vec<ShortName>>,
    /// `--add-field` and `--add-status-field`: more fields of the version. One that it has already, word for word, is no change.
    pub fields: Fields,
    /// `--force`: allowed even where the CRD is installed.
    pub force: bool,
    /// `--finalizer`, which cannot change.
    pub finalizer: Option<bool>,
}

/// The flags of `rename`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rename {
    /// `--group`; may be empty.
    pub group: Group,
    /// `--kind`.
    pub kind: Kind,
    /// `--to`.
    pub to: Kind,
    /// `--plural`; the default is the English one.
    pub plural: Option<Plural>,
    /// `--force`: allowed even where the CRD is installed.
    pub force: bool,
}

impl EditApi {
    /// The refusal of a new field that stored objects lack. The advice makes it optional.
    fn required_field(&self, field: &Field, of_status: bool) -> Failure {
        let (flag, given) = match of_status {
            true => ("--add-status-field", &self.fields.status),
            false => ("--add-field", &self.fields.spec),
        };
        let optional = given.iter().map(|it| {
            let mut it = it.clone();
            it.markers.optional |= it == *field;
            Flag::with(flag, it)
        });
        Failure::refused(format!("the new field `{field}` is required"))
            .note("objects that are stored lack it: the API server would refuse every change of them")
            .note("make it optional or give it a default; `--force` adds it as it is, for an API that nobody uses yet")
            .advise(Advice::set_all(optional))
    }
}

impl Rename {
    /// The plural of the renamed kind.
    fn new_plural(&self) -> Plural {
        let plural = self.plural.clone();
        plural.unwrap_or_else(|| Plural::of(&self.to))
    }
}

impl Project {
    /// Changes the plural, scope or short names of a kind. The key is that of the version that the flags name.
    ///
    /// Errors: the project does not define the kind; no change is given; stored objects would be lost, unless forced.
    pub fn edit_api(&self, edit: &EditApi) -> Result<(Self, Key)> {
        let (key, entry) = self.find(&edit.gvk)?;
        let Some(api) = &entry.api else {
            return Err(not_defined(&key)
                .note("its plural, scope and short names are in the CRD of another project, or in Kubernetes")
                .advise(status()));
        };
        if let Some(wanted) = edit.finalizer {
            return Err(self.finalizer_stays(&key, wanted));
        }
        let names = (&edit.plural, edit.namespaced, &edit.short_names);
        if names == (&None, None, &None) && edit.fields.is_empty() {
            return Err(Failure::usage("there is nothing to edit")
                .note("`edit api` changes the names and the scope of a kind")
                .note("the flags are `--plural`, `--namespaced` and `--short-name`")
                .advise(Advice::Help));
        }
        let fields = edit.fields.without(&api.fields);
        if let Some((field, of_status)) = required(&fields, &api.fields).filter(|_| !edit.force) {
            return Err(edit.required_field(&field, of_status));
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
            let (kind, word) = (&key.kind, what.word());
            return Err(Failure::refused(format!(
                "the {word} of `{kind}` cannot change where the CRD is installed"
            ))
            .note(what.why())
            .note(reinstall(&crd))
            .advise(Advice::switch("--force")));
        }
        let mut project = self.clone();
        for (other, entry) in &mut project.resources {
            if let Some(api) = entry.api.as_mut().filter(|_| other.is_same_kind(&key)) {
                entry.plural = plural.unwrap_or(&entry.plural).clone();
                api.namespaced = scope.unwrap_or(api.namespaced);
                if let Some(short_names) = &edit.short_names {
                    api.short_names.clone_from(short_names);
                }
                if *other == key {
                    api.fields.spec.extend_from_slice(&fields.spec);
                    api.fields.status.extend_from_slice(&fields.status);
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

    /// One sentence for each kind whose plural or scope is not that of the project that was last applied: a change in `PROJECT`
    /// that `edit api` would have refused.
    pub fn not_followed(&self, applied: &Self) -> Vec<String> {
        let mut sentences = BTreeSet::new();
        for (key, now) in &self.resources {
            let Some(then) = applied.resources.get(key) else {
                continue;
            };
            let (Some(api), Some(api_then)) = (&now.api, &then.api) else {
                continue;
            };
            for (is_other, what) in [
                (now.plural != then.plural, Immutable::Plural),
                (api.namespaced != api_then.namespaced, Immutable::Scope),
            ] {
                let (word, kind, why) = (what.word(), &key.kind, what.why());
                let text = format!("the {word} of `{kind}` was changed in `PROJECT`, and {why}");
                sentences.extend(is_other.then_some(text));
            }
        }
        sentences.into_iter().collect()
    }

    /// Renames a kind in all its versions.
    ///
    /// Errors: the project does not define it; it has the new name already; the new names break a rule; stored objects would be
    /// lost, unless forced.
    pub fn rename(&self, rename: &Rename) -> Result<Self> {
        let Rename {
            group, kind, to, ..
        } = rename;
        if kind == to {
            return Err(Failure::usage(format!("`{kind}` has that name already"))
                .note("`--to` takes the new name")
                .advise(Advice::Help));
        }
        if self.apis_of(group, kind).next().is_none() {
            return Err(self.no_kind(group, kind));
        }
        let domain = self.domain_of(group, kind);
        let is = |key: &Key, kind: &Kind| key.full_kind() == (group, kind, domain);
        if self.resources.keys().any(|key| is(key, to)) {
            return Err(Failure::refused(format!("the group has a `{to}` already"))
                .note("a rename never merges two kinds")
                .note("`--to` takes a name that is not in use")
                .advise(Advice::Help));
        }
        let mut project = self.clone();
        for (mut key, mut entry) in std::mem::take(&mut project.resources) {
            if is(&key, kind) {
                key.kind = to.clone();
                entry.plural = rename.new_plural();
            }
            project.resources.insert(key, entry);
        }
        let key = project.resources.keys().find(|key| is(key, to));
        rules::check(&project, key).map_err(|violation| violation.by(Origin::Edit))?;
        match self.crd_that_stays(rename) {
            Some(crd) if !rename.force => Err(Failure::refused(format!(
                "`{kind}` cannot become `{to}` where the CRD is installed"
            ))
            .note(format!(
                "both are kinds of `{crd}`, and the API server refuses another kind in a CRD that exists"
            ))
            .note(reinstall(&crd))
            .advise(Advice::switch("--force"))),
            _ => Ok(project),
        }
    }

    /// The refusal of a kind that the project does not define, with the kinds that it does.
    fn no_kind(&self, group: &Group, kind: &Kind) -> Failure {
        let apis = self.apis().into_iter();
        let kinds: BTreeSet<_> = apis
            .map(|api| (api.key.group.clone(), api.key.kind.clone()))
            .collect();
        let may_be =
            |(own, other): &&(Group, Kind)| rules::may_be_meant((group, kind), (own, other));
        let mut known: Vec<_> = kinds.iter().filter(may_be).collect();
        let meant = match known[..] {
            [one] => Some(one.clone()),
            _ => None,
        };
        if known.is_empty() {
            known = kinds.iter().collect();
        }
        let known = known.iter().map(|(group, kind)| match group.as_str() {
            "" => format!("{}, Kind {kind}", self.domain),
            group => format!("{group}, Kind {kind}"),
        });
        Failure::refused(format!(
            "`{kind}` is not defined by this project in that group"
        ))
        .note(listed(&known.collect::<Vec<_>>()))
        .advise(meant.map_or_else(status, |(group, kind)| {
            Advice::Set(vec![
                Flag::with("--group", group),
                Flag::with("--kind", kind),
            ])
        }))
    }

    /// The name of the CRD, if it is the same after the rename.
    pub fn crd_that_stays(&self, rename: &Rename) -> Option<String> {
        let plural = rename.new_plural();
        let mut versions = self.apis_of(&rename.group, &rename.kind);
        let (key, _) = versions.find(|(_, entry)| entry.plural == plural)?;
        Some(format!("{plural}.{}", key.api_group(false)))
    }
}

/// The first new field that is required in stored objects, and whether it is given as a field of the status.
fn required(new: &Fields, there: &Fields) -> Option<(Field, bool)> {
    let is_there = |owner: &String| {
        let mut old = there.spec.iter().chain(&there.status);
        old.any(|field| field.owner.as_ref() == Some(owner))
    };
    let lists = [(&new.spec, false), (&new.status, true)];
    let mut all = lists
        .into_iter()
        .flat_map(|(fields, of_status)| fields.iter().map(move |field| (field, of_status)));
    let found = all.find(|(field, of_status)| {
        let is_of_objects = match &field.owner {
            Some(owner) => is_there(owner),
            None => !of_status,
        };
        is_of_objects && !field.markers.optional && field.markers.default.is_none()
    });
    found.map(|(field, of_status)| (field.clone(), of_status))
}
