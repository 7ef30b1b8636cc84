//! `delete webhook`: one kind of webhook of several, one spoke of several.

use std::collections::BTreeSet;

use crate::error::Failure;
use crate::name::{Group, Kind, Version};
use crate::project::rules::{self, STATUS};
use crate::project::{Key, Project, Webhooks};

/// What `delete webhook` takes.
#[derive(Clone, Debug)]
pub struct DeleteWebhook {
    /// `--group`; may be empty.
    pub group: Group,
    /// `--version`; for conversion that of the hub.
    pub version: Version,
    /// `--kind`.
    pub kind: Kind,
    /// `--defaulting`.
    pub defaulting: bool,
    /// `--validation`.
    pub validation: bool,
    /// `--conversion`.
    pub conversion: bool,
    /// `--spoke`; without any the only one there is.
    pub spokes: Vec<Version>,
}

impl Project {
    /// This project without some of the webhooks of an entry. Refuses what is not there. The setting of where
    /// certificates come from goes with the last webhook, as it came with the first.
    pub fn delete_webhook(&self, delete: &DeleteWebhook) -> Result<Self, Failure> {
        let (key, mut left) = self.named(&delete.group, delete.version, &delete.kind)?;
        let Some(mut webhooks) = left.webhooks.take() else {
            return Err(no_webhooks(self, &key));
        };
        delete.check(&webhooks)?;
        let there = webhooks.flags();
        for (selected, slot, what) in [
            (delete.defaulting, &mut webhooks.defaulting, "defaulting"),
            (delete.validation, &mut webhooks.validation, "validation"),
        ] {
            if selected && slot.take().is_none() {
                let others = [delete.defaulting, delete.validation, delete.conversion];
                let is_only = others.into_iter().filter(|other| *other).count() == 1;
                return Err(Failure::refused(format!("`{key}` has no {what} webhook"))
                    .note(format!("it has{there}"))
                    .advise(match is_only {
                        true => STATUS.to_owned(),
                        false => format!("leave out --{what}"),
                    }));
            }
        }
        for spoke in delete.spokes_in(&key, &webhooks)? {
            webhooks.spokes.remove(&spoke);
        }
        left.webhooks = (!webhooks.is_empty()).then_some(webhooks);
        let mut project = self.clone();
        project.put(key, left);
        project.forget_certificates();
        rules::check(&project, None)?;
        Ok(project)
    }
}

impl DeleteWebhook {
    fn check(&self, webhooks: &Webhooks) -> Result<(), Failure> {
        if let (Some(spoke), false) = (self.spokes.first(), self.conversion) {
            return Err(Failure::usage(format!(
                "`--spoke {spoke}` is given without `--conversion`"
            ))
            .note("it says more about a webhook that is not selected")
            .advise(format!("--conversion --spoke {spoke}")));
        }
        if self.defaulting || self.validation || self.conversion {
            return Ok(());
        }
        Err(Failure::usage("no kind of webhook was selected")
            .note("each is deleted by the flag that created it")
            .advise(webhooks.flags().trim_start().to_owned()))
    }

    /// The versions that are no longer to be converted.
    fn spokes_in(&self, key: &Key, webhooks: &Webhooks) -> Result<BTreeSet<Version>, Failure> {
        if !self.conversion {
            return Ok(BTreeSet::new());
        }
        let there = &webhooks.spokes;
        if there.is_empty() {
            return Err(Failure::refused(format!("`{key}` is not a hub"))
                .note("conversion is deleted from the version to which others are converted")
                .advise(STATUS));
        }
        let flags = || {
            let flags = there.iter().map(|spoke| format!("--spoke {spoke}"));
            flags.collect::<Vec<_>>().join(" ")
        };
        let versions = || {
            let versions = there.iter().map(Version::to_string);
            versions.collect::<Vec<_>>().join(", ")
        };
        if let Some(unknown) = self.spokes.iter().find(|spoke| !there.contains(spoke)) {
            return Err(Failure::refused(format!(
                "{unknown} of `{}` is not converted to {}",
                key.kind, key.version
            ))
            .note(format!("these versions are: {}", versions()))
            .advise(STATUS));
        }
        match (self.spokes.is_empty(), there.len()) {
            (false, _) => Ok(self.spokes.iter().copied().collect()),
            (true, 1) => Ok(there.clone()),
            (true, _) => Err(Failure::usage("`--spoke` is missing")
                .note(format!("several versions are converted to {}", key.version))
                .advise(flags())),
        }
    }
}

/// Names the versions of the kind that have webhooks instead.
fn no_webhooks(project: &Project, key: &Key) -> Failure {
    let failure = Failure::refused(format!("`{key}` has no webhooks"));
    let webhooks = project.webhooks();
    let same = |other: &Key| (&other.group, &other.kind) == (&key.group, &key.kind);
    let versions = webhooks.iter().filter(|other| same(other.key));
    let versions: Vec<_> = versions
        .map(|other| other.key.version.to_string())
        .collect();
    let failure = match versions.is_empty() {
        true => failure.note("nothing is defaulted, validated or converted there"),
        false => failure.note(format!("of its versions, {} has", versions.join(", "))),
    };
    failure.advise(STATUS)
}
