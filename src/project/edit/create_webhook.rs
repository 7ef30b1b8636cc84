//! `create webhook`: adds defaulting, validation or conversion to an entry, which may have the others.

use std::collections::BTreeSet;
use std::fmt::Display;

use super::{AGAIN, External, Gvk, forced, list};
use crate::advice::{Advice, Flag, Script};
use crate::error::{Failure, Result};
use crate::name::{Plural, Version, WebhookPath, flag_of};
use crate::project::rules;
use crate::project::violation::{Purpose, Remedy};
use crate::project::webhooks::spoke_flags;
use crate::project::{Admission, Certificates, Key, Project};

/// The flags of `create webhook`.
#[derive(Clone, Debug)]
pub struct CreateWebhook {
    /// `--group`, `--version` and `--kind`; for conversion, those of the hub.
    pub gvk: Gvk,
    /// `--plural`. Only a new external type takes it.
    pub plural: Option<Plural>,
    /// `--defaulting`.
    pub defaulting: bool,
    /// `--defaulting-path`.
    pub defaulting_path: Option<WebhookPath>,
    /// `--validation`.
    pub validation: bool,
    /// `--validation-path`.
    pub validation_path: Option<WebhookPath>,
    /// `--conversion`.
    pub conversion: bool,
    /// `--spoke`; the default is the only other version that is not converted yet.
    pub spokes: Vec<Version>,
    /// `--external-api-path` and `--external-api-domain`.
    pub external: Option<External>,
    /// `--certificates`.
    pub certificates: Option<Certificates>,
    /// `--force`: allowed even where it exists.
    pub force: bool,
}

/// The webhooks that are created, and the entry and the versions that get them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The entry that gets the webhooks; for conversion, the hub.
    pub key: Key,
    /// Whether it gets a defaulting webhook.
    pub defaulting: bool,
    /// Whether it gets a validating webhook.
    pub validation: bool,
    /// The versions to convert to it; empty without `--conversion`.
    pub spokes: BTreeSet<Version>,
}

impl Project {
    /// Adds webhooks for an API of the project, a core type or an external type. Two creates that are each allowed in either
    /// order give the same project.
    ///
    /// Errors: the flags contradict each other; a webhook exists, unless forced; a rule is broken.
    pub fn create_webhook(&self, create: &CreateWebhook) -> Result<Self> {
        let Target { key, spokes, .. } = create.target(self)?;
        let mut project = self.clone();
        // The setting holds for the whole project, so only `edit` changes it after the first webhook.
        match (self.settings.certificates, create.certificates) {
            (Some(now), Some(wanted)) if now != wanted => {
                let (now, wanted) = (now.word(), wanted.word());
                return Err(Failure::refused(format!(
                    "the certificates of this project are `{now}`, not `{wanted}`"
                ))
                .note("all webhooks of a project share one server and its certificate")
                .advise(Script::forge("edit --certificates").arg(wanted)));
            }
            (now, wanted) => project.settings.certificates = wanted.or(now),
        }
        let entry = project.entry_of(&key, create.plural.as_ref(), create.external.as_ref())?;
        let webhooks = entry.webhooks.get_or_insert_default();
        let add = |asked, admission: &mut Option<Admission>, path: &Option<WebhookPath>, what| {
            if asked && admission.is_some() && !create.force {
                return Err(
                    Failure::refused(format!("`{key}` has a {what} webhook already"))
                        .note(AGAIN)
                        .advise(forced()),
                );
            }
            if asked {
                let known = admission.take().and_then(|it| it.path);
                let path = path.clone().or(known);
                *admission = Some(Admission { path });
            }
            Ok(())
        };
        let (defaulting, validation) = (&mut webhooks.defaulting, &mut webhooks.validation);
        let (mutate, validate) = (&create.defaulting_path, &create.validation_path);
        add(create.defaulting, defaulting, mutate, "defaulting")?;
        add(create.validation, validation, validate, "validation")?;
        webhooks.spokes.extend(spokes);
        rules::check(&project, Some(&key))?;
        Ok(project)
    }
}

/// Refuses a field with a value where the field that it belongs to is absent.
pub fn check_belongs(
    field: &str,
    value: Option<impl Display>,
    (of, is_given): (&str, bool),
) -> Result<()> {
    let Some(value) = value.filter(|_| !is_given) else {
        return Ok(());
    };
    let example = (of == "deployImage").then(|| "memcached:1.6.39".to_owned());
    let (name, of) = (flag_of(field), flag_of(of));
    Err(
        Failure::usage(format!("`{name} {value}` is given without `{of}`"))
            .note(format!("`{name}` belongs to `{of}`"))
            .advise(Advice::Set(vec![
                Flag::new(of, example),
                Flag::with(name, value.to_string()),
            ])),
    )
}

/// The refusal of a conversion that is there already.
fn converted(key: &Key, again: &str) -> Failure {
    Failure::refused(format!("`{}` converts {again} already", key.kind))
        .note("`--force` writes the files of its conversion again, without your changes")
        .note("`--spoke` takes another version")
        .advise(forced())
}

/// The refusal of a command that has to name one of these versions.
pub fn spoke_missing<'a>(there: impl IntoIterator<Item = &'a Version> + Clone) -> Failure {
    Failure::usage("`--spoke` is missing")
        .note(format!(
            "there are several versions: {}",
            list(there.clone())
        ))
        .advise(Advice::Set(spoke_flags(there)))
}

impl CreateWebhook {
    /// The conversion of `spokes` to the hub, and no other webhook.
    pub fn conversion(hub: &Key, spokes: Vec<Version>) -> Self {
        Self {
            gvk: hub.gvk(),
            plural: None,
            defaulting: false,
            defaulting_path: None,
            validation: false,
            validation_path: None,
            conversion: true,
            spokes,
            external: None,
            certificates: None,
            force: false,
        }
    }

    /// The entry that gets the webhooks, and the versions that get conversions.
    ///
    /// Errors: the flags contradict each other; nobody defines the kind; a version is converted already.
    pub fn target(&self, project: &Project) -> Result<Target> {
        let (defaulting, validation) = (&self.defaulting_path, &self.validation_path);
        let of_defaulting = ("defaulting", self.defaulting);
        let of_validation = ("validation", self.validation);
        let of_conversion = ("conversion", self.conversion);
        check_belongs("defaultingPath", defaulting.as_ref(), of_defaulting)?;
        check_belongs("validationPath", validation.as_ref(), of_validation)?;
        check_belongs("spoke", self.spokes.first(), of_conversion)?;
        if !self.defaulting && !self.validation && !self.conversion {
            return Err(Failure::usage("no webhook is selected")
                .note("defaulting sets fields, validation refuses objects, conversion serves several versions of a kind")
                .note("the flags are `--defaulting`, `--validation` and `--conversion`")
                .advise(Advice::Set(vec![
                    Flag::new("--defaulting", None),
                    Flag::new("--validation", None),
                ])));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = self.spokes.iter().find(|spoke| !seen.insert(**spoke)) {
            return Err(Failure::usage(format!("`--spoke {twice}` is given twice"))
                .note("each version is converted in one way")
                .advise(Advice::Set(spoke_flags([twice]))));
        }
        let own = project.own_key(&self.gvk);
        let known = project.known_key(&own, self.external.as_ref(), Purpose::Webhook);
        let mut versions = project.apis_of(&self.gvk.group, &self.gvk.kind);
        let is_new_version = self.conversion && versions.next().is_some();
        let key = known.map_err(|violation| match is_new_version {
            // Another version may be one of the spokes, so it is no correction.
            true => violation.by_command(Remedy::Define {
                key: own,
                controller: false,
            }),
            false => violation,
        })?;
        let spokes = match self.conversion {
            true => self.spokes_in(project, &key)?,
            false => BTreeSet::new(),
        };
        Ok(Target {
            key,
            defaulting: self.defaulting,
            validation: self.validation,
            spokes,
        })
    }

    /// The versions to convert to the hub `key`.
    fn spokes_in(&self, project: &Project, key: &Key) -> Result<BTreeSet<Version>> {
        if !project.versions_of(key).contains(&key.version) {
            let alone = !self.defaulting && !self.validation;
            return Err(rules::not_converted(key, alone).into());
        }
        let hub = project.hub_of(key);
        if let Some(hub) = hub.filter(|hub| *hub != key.version) {
            let broken = rules::two_hubs(key, hub);
            let hub = key.in_version(hub);
            return Err(match project.spokes_of(&hub).contains(&key.version) {
                true => rules::already_a_spoke(broken, &hub).into(),
                false => broken.into(),
            });
        }
        let done = project.spokes_of(key);
        let again = self.spokes.iter().find(|spoke| done.contains(spoke));
        if let Some(again) = again.filter(|_| !self.force) {
            return Err(converted(key, &again.to_string()));
        }
        if !self.spokes.is_empty() {
            return Ok(self.spokes.iter().copied().collect());
        }
        let open: Vec<_> = project.unconverted(key).into_iter().collect();
        match open[..] {
            [only] => Ok([only].into()),
            [] if done.is_empty() => Err(rules::one_version(key).into()),
            [] if self.force => Ok(done),
            [] => Err(converted(key, "every other version")),
            [..] => Err(spoke_missing(&open)),
        }
    }
}
