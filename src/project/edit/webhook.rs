//! `create webhook`: defaulting, validation, conversion, each added to an entry that may have the others.

mod target;

pub use self::target::Target;
use super::entry::{External, Given};
use crate::error::Failure;
use crate::name::{Group, Kind, Plural, Version, WebhookPath};
use crate::project::rules;
use crate::project::{Admission, Certificates, Project};

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

impl Project {
    /// This project with webhooks for one of its APIs, a type of Kubernetes or one of another project. Refuses what is
    /// there already, unless forced, and whatever breaks a rule; two creates that are each allowed in either order give
    /// the same project.
    pub fn create_webhook(&self, create: &CreateWebhook) -> Result<Self, Failure> {
        let Target { key, spokes } = create.target(self)?;
        let mut project = self.clone();
        project.set_certificates(create)?;
        let said = Given {
            plural: create.plural.as_ref(),
            external: create.external.as_ref(),
        };
        let entry = project.entry_of(&key, said)?;
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
                        .advise("--force --dry-run --diff"),
                );
            }
            if asked {
                let admission = slot.get_or_insert_with(Admission::default);
                admission.path = path.clone().or(admission.path.take());
            }
        }
        webhooks.spokes.extend(spokes);
        rules::check(&project, Some(&key))?;
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
            .advise(format!(
                "operator-forge edit --certificates {}",
                wanted.word()
            ))),
            (_, wanted) => {
                self.settings.certificates = wanted;
                Ok(())
            }
        }
    }
}
