//! `delete webhook`: one kind of webhook of several, one spoke of several.

use std::collections::BTreeSet;

use crate::name::{Group, Kind, Version};
use crate::project::error::{Refused, Result};
use crate::project::rules;
use crate::project::{Key, Project, Webhooks};

/// The flags of `delete webhook`.
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
    /// `--spoke`; the default is the only one.
    pub spokes: Vec<Version>,
}

impl Project {
    /// Removes some of the webhooks of an entry, and refuses what does not exist. The setting of certificates goes with the
    /// last webhook, as it came with the first.
    pub fn delete_webhook(&self, delete: &DeleteWebhook) -> Result<Self> {
        let (key, mut left) = self.named(&delete.group, delete.version, &delete.kind)?;
        let Some(there) = left.webhooks.take() else {
            let webhooks = self.webhooks().into_iter().map(|it| it.key);
            let of_kind = webhooks.filter(|it| (&it.group, &it.kind) == (&key.group, &key.kind));
            let versions = of_kind.map(|it| it.version).collect();
            return Err(Refused::NoWebhooks(key, versions).into());
        };
        delete.check(&there)?;
        let mut webhooks = there.clone();
        for (selected, slot, what) in [
            (delete.defaulting, &mut webhooks.defaulting, "defaulting"),
            (delete.validation, &mut webhooks.validation, "validation"),
        ] {
            if selected && slot.take().is_none() {
                let selected = [delete.defaulting, delete.validation, delete.conversion];
                let alone = selected.into_iter().filter(|it| *it).count() == 1;
                return Err(Refused::NoSuchWebhook {
                    key,
                    what,
                    there,
                    alone,
                }
                .into());
            }
        }
        for spoke in delete.spokes_in(&key, &there)? {
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
    /// Refuses flags that contradict each other.
    fn check(&self, webhooks: &Webhooks) -> Result<(), Refused> {
        match self.spokes.first() {
            Some(spoke) if !self.conversion => Err(Refused::MoreAboutNothing {
                flag: "--spoke",
                value: spoke.to_string(),
                of: "--conversion",
            }),
            _ if self.defaulting || self.validation || self.conversion => Ok(()),
            _ => Err(Refused::NoWebhookSelected(webhooks.clone())),
        }
    }

    /// The versions that are no longer converted.
    fn spokes_in(&self, key: &Key, webhooks: &Webhooks) -> Result<BTreeSet<Version>, Refused> {
        if !self.conversion {
            return Ok(BTreeSet::new());
        }
        let there = webhooks.spokes.clone();
        if there.is_empty() {
            return Err(Refused::NoHub(key.clone()));
        }
        if let Some(&version) = self.spokes.iter().find(|spoke| !there.contains(spoke)) {
            let key = key.clone();
            return Err(Refused::NotConverted {
                key,
                version,
                there,
            });
        }
        let hub = key.version;
        match (self.spokes.is_empty(), there.len()) {
            (false, _) => Ok(self.spokes.iter().copied().collect()),
            (true, 1) => Ok(there),
            (true, _) => Err(Refused::SpokeMissing { hub, there }),
        }
    }
}
