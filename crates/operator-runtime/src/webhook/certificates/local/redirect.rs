//! One object that sends the API server here for a while.

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

/// Who has changed what, while it is so.
const MANAGER: &str = "webhooks-from-here";

/// Whoever makes a configuration in the place of a deployment that is to come does it as the
/// deployment would, so that applying the manifests takes away what was here before.
const DEPLOYMENT: &str = "kubectl";

/// Until a CRD that is not there is looked for again.
const PERIOD: Duration = Duration::from_secs(2);

/// What one object is to be, and where the API server is sent by it.
pub(super) struct Redirect {
    target: Target,
    wanted: Value,
    here: Here,
}

/// As kubectl names it.
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

    /// Sends the API server here. What the object was before is kept in an annotation of it.
    pub(super) async fn begin(&self, client: &Client) -> kube::Result<()> {
        let (resource, api) = self.api(client);
        let mut told = false;
        loop {
            let Some(mut object) = api.get_opt(self.target.name()).await? else {
                if let Target::Definition(_) = self.target {
                    if !std::mem::replace(&mut told, true) {
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
            // If it fails, only a deployment after a run that was killed is harder.
            if release(&mut object, MANAGER, &before) {
                _ = self.replace(&api, &object).await;
            }
            break;
        }
        tracing::info!(url = self.here.url, "{self} sends the API server here");
        Ok(())
    }

    /// Makes the object what it was, if it still sends the API server here.
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
            // Its fields belong to those whose they were.
            object.metadata.managed_fields = Some(saved);
            _ = self.replace(&api, &object).await;
            tracing::info!("put {self} back");
            return Ok(());
        }
    }

    /// `None` if somebody else has changed it meanwhile.
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
