//! `create webhook`: defaulting, validation, conversion, each added to an entry that may have the others.

mod target;

pub use self::target::Target;
use crate::error::Failure;
use crate::name::{Domain, Group, Kind, Plural, RustPath, Version, WebhookPath, kubernetes};
use crate::project::rules::{self, webhooks as rule};
use crate::project::{Admission, Certificates, Key, Project, Resource};

/// What `create webhook` takes.
#[derive(Clone, Debug)]
pub struct CreateWebhook {
    /// `--group`; may be empty.
    pub group: Group,
    /// `--version`; for conversion that of the hub.
    pub version: Version,
    /// `--kind`.
    pub kind: Kind,
    /// `--plural`. Of a kind that is known it has to be the one that is known.
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
    /// `--spoke`; without any the one other version that is not converted yet.
    pub spokes: Vec<Version>,
    /// `--external-api-path` and `--external-api-domain`.
    pub external: Option<External>,
    /// `--certificates`.
    pub certificates: Option<Certificates>,
    /// `--force`: what is there already is made again.
    pub force: bool,
}

/// A type that neither the project nor Kubernetes defines.
#[derive(Clone, Debug)]
pub struct External {
    /// Where it is found.
    pub path: RustPath,
    /// What stands behind the first part of its API group; empty if the group is a full name.
    pub domain: Domain,
}

impl Project {
    /// This project with webhooks for one of its APIs, a type of Kubernetes or one of another project. Refuses what is
    /// there already, unless forced, and whatever breaks a rule; two creates that are each allowed in either order give
    /// the same project.
    pub fn create_webhook(&self, create: &CreateWebhook) -> Result<Self, Failure> {
        let Target { key, spokes } = create.target(self)?;
        let mut project = self.clone();
        project.set_certificates(create)?;
        let entry = project
            .resources
            .entry(key.clone())
            .or_insert_with(|| create.new_entry(&key));
        create.check_known(&key, entry)?;
        let webhooks = entry.webhooks.get_or_insert_default();
        for (asked, path, slot, what) in [
            (
                create.defaulting,
                &create.defaulting_path,
                &mut webhooks.defaulting,
                "defaulting",
            ),
            (
                create.validation,
                &create.validation_path,
                &mut webhooks.validation,
                "validation",
            ),
        ] {
            if asked && slot.is_some() && !create.force {
                return Err(
                    Failure::refused(format!("`{key}` has a {what} webhook already"))
                        .note("`--force` writes its files again and loses what was changed in them")
                        .help(format!("leave out --{what}, or add --force")),
                );
            }
            if asked {
                let admission = slot.get_or_insert_with(Admission::default);
                admission.path = path.clone().or(admission.path.take());
            }
        }
        webhooks.spokes.extend(spokes);
        rule::paths(&project, Some(&key))?;
        rules::check(&project)?;
        Ok(project)
    }

    /// The setting is the whole project's, so it is set once: after that, only by an edit of the file.
    fn set_certificates(&mut self, create: &CreateWebhook) -> Result<(), Failure> {
        match (self.settings.certificates, create.certificates) {
            (_, None) => Ok(()),
            (Some(now), Some(wanted)) if now != wanted => Err(Failure::refused(format!(
                "the certificates of this project are `{}`, not `{}`",
                now.word(),
                wanted.word()
            ))
            .note("all webhooks of a project have one server, and that has one certificate")
            .help(format!(
                "certificates: {} in PROJECT, then operator-forge sync",
                wanted.word()
            ))),
            (_, wanted) => {
                self.settings.certificates = wanted;
                Ok(())
            }
        }
    }
}

impl CreateWebhook {
    /// An entry for a type that the project does not define.
    fn new_entry(&self, key: &Key) -> Resource {
        let plural = self.plural.clone().unwrap_or_else(|| Plural::of(&key.kind));
        match (
            &self.external,
            kubernetes::find(key.group.as_str(), key.version, &key.kind),
        ) {
            (None, Some(core)) => Resource::new(core.into(), true),
            (external, _) => Resource {
                external: external.as_ref().map(|external| external.path.clone()),
                ..Resource::new(plural, false)
            },
        }
    }

    /// What the flags say of a type has to be what is known of it.
    fn check_known(&self, key: &Key, entry: &Resource) -> Result<(), Failure> {
        let path = |path: Option<&RustPath>| path.map(ToString::to_string);
        if let Some(plural) = self
            .plural
            .as_ref()
            .filter(|plural| **plural != entry.plural)
        {
            return Err(Failure::refused(format!(
                "`{key}` has the plural `{}`, not `{plural}`",
                entry.plural
            ))
            .note("it is part of every rule about the type")
            .help(format!("--plural {}, or leave it out", entry.plural)));
        }
        match (&self.external, path(entry.external.as_ref())) {
            (None, _) => Ok(()),
            (Some(external), Some(known)) if external.path.as_str() == known => Ok(()),
            (Some(external), Some(known)) => Err(Failure::refused(format!(
                "`{key}` is `{known}`, not `{}`",
                external.path
            ))
            .note("one group, version and kind is one type")
            .help(format!("--external-api-path {known}, or leave it out"))),
            (Some(_), None) => Err(rules::not_external(key, entry.core).into()),
        }
    }
}
