//! Redirects one object to this machine for a while.

use std::{fmt, time::Duration};

use kube::{
    Api, Client,
    api::{
        ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams, Preconditions,
    },
};
use serde_json::Value;
use tokio::time::sleep;

use super::{
    super::Target,
    Here,
    saved::{Undo, made, redirect, release, undo},
};

/// The field manager of a redirected object.
const MANAGER: &str = "webhooks-from-here";

/// The field manager of a new configuration: kubectl's, so that a later deployment of the manifests takes
/// over the fields and removes the redirection.
const DEPLOYMENT: &str = "kubectl";

/// The interval between checks for a CRD that does not exist yet.
const PERIOD: Duration = Duration::from_secs(2);

/// The target and the wanted content of one redirection.
pub(super) struct Redirect {
    target: Target,
    wanted: Value,
    here: Here,
}

/// Formats like kubectl.
impl fmt::Display for Redirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.target.fmt(f)
    }
}

impl Redirect {
    pub(super) fn new(target: Target, wanted: Value, here: Here) -> Self {
        Self {
            target,
            wanted,
            here,
        }
    }

    /// Redirects the object. An annotation keeps its previous content.
    pub(super) async fn begin(&self, client: &Client) -> kube::Result<()> {
        let (resource, api) = self.api(client);
        let mut logged = false;
        loop {
            let Some(mut object) = api.get_opt(self.target.name()).await? else {
                if let Target::Definition(_) = self.target {
                    if !std::mem::replace(&mut logged, true) {
                        tracing::warn!("waiting for {self}: it is not installed");
                    }
                    sleep(PERIOD).await;
                    continue;
                }
                let object = made(self.target.name(), &resource, &self.wanted);
                let params = PatchParams::apply(DEPLOYMENT).force();
                api.patch(self.target.name(), &params, &Patch::Apply(&object))
                    .await?;
                break;
            };
            let before = redirect(&mut object, &self.wanted);
            let Some(mut object) = self.replace(&api, &object).await? else {
                continue;
            };
            // A failure only makes the deployment after a killed run harder.
            if release(&mut object, MANAGER, &before) {
                _ = self.replace(&api, &object).await;
            }
            break;
        }
        tracing::info!(url = self.here.url, "{self} points at this machine");
        Ok(())
    }

    /// Restores the object, if it is still redirected here.
    pub(super) async fn end(&self, client: &Client) -> kube::Result<()> {
        let (_, api) = self.api(client);
        loop {
            let Some(mut object) = api.get_opt(self.target.name()).await? else {
                return Ok(());
            };
            let saved = match undo(&mut object, &self.here.url, &self.here.ca) {
                Undo::Nothing => return Ok(()),
                Undo::Delete => {
                    let params = DeleteParams {
                        preconditions: Some(Preconditions {
                            resource_version: object.metadata.resource_version,
                            uid: object.metadata.uid,
                        }),
                        ..DeleteParams::default()
                    };
                    match api.delete(self.target.name(), &params).await {
                        Err(kube::Error::Api(status)) if status.is_conflict() => continue,
                        result => result?,
                    };
                    tracing::info!("deleted {self}");
                    return Ok(());
                }
                Undo::Replace(saved) => saved,
            };
            let Some(mut object) = self.replace(&api, &object).await? else {
                continue;
            };
            // The fields return to their previous managers.
            object.metadata.managed_fields = Some(saved);
            _ = self.replace(&api, &object).await;
            tracing::info!("restored {self}");
            return Ok(());
        }
    }

    /// `None` if the object has changed meanwhile.
    async fn replace(
        &self,
        api: &Api<DynamicObject>,
        object: &DynamicObject,
    ) -> kube::Result<Option<DynamicObject>> {
        let params = PostParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PostParams::default()
        };
        match api.replace(self.target.name(), &params, object).await {
            Err(kube::Error::Api(status)) if status.is_conflict() => Ok(None),
            result => result.map(Some),
        }
    }

    fn api(&self, client: &Client) -> (ApiResource, Api<DynamicObject>) {
        let resource = self.target.resource();
        let api = Api::all_with(client.clone(), &resource);
        (resource, api)
    }
}
