//! Certificates that the operator issues, keeps in a Secret, and renews.
//!
//! Every replica watches the Secret and serves its certificate; the first replica fills it. The leader
//! publishes the CAs and rotates. If the Secret is deleted, the replicas restore it: they keep its contents.

mod leader;
mod replica;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client,
    api::{ObjectMeta, Patch, PatchParams, PostParams},
};
use tokio::sync::watch::{self, Receiver};

use super::{
    contents::Contents,
    issue::{Issued, issue},
    publish::{MANAGER, Service, Target},
    rotate::Periods,
};
use crate::{
    client::Clients,
    error::chain,
    runnable::Runnable,
    server::{certificate::Current, probes::Readiness},
};

/// The delay before a retry.
const RETRY: Duration = Duration::from_secs(5);

/// The Secret and the objects with the caBundle.
#[derive(Clone, Debug)]
pub(crate) struct SelfManaged {
    /// The name of the Secret, in the namespace of the Service.
    pub(crate) secret: String,
    pub(crate) service: Service,
    /// The objects with the caBundle.
    pub(crate) targets: Vec<Target>,
    pub(crate) periods: Periods,
}

/// What a replica knows of the Secret.
#[derive(Clone, Debug, Default)]
struct View {
    /// The Secret as its watch shows it, if it exists; `None` until that is known.
    secret: Option<Option<Secret>>,
    /// The last contents with a valid certificate: what this replica serves.
    held: Contents,
}

/// The name of the readiness check.
const CHECK: &str = "webhook-certificate";

impl SelfManaged {
    /// The task of each replica, which sets `current`, and the task of the leader.
    pub(crate) fn tasks(
        self,
        clients: &Clients,
        current: Arc<Current>,
        readiness: Readiness,
    ) -> [Runnable; 2] {
        readiness.expect(CHECK);
        let (view, seen) = watch::channel(View::default());
        let (own, calls) = (Arc::new(self), clients.clone());
        let (leading, leader_calls) = (own.clone(), clients.clone());
        let replica = Runnable::new("the webhook certificate", false, |stop| async move {
            let serve = own.serve(&calls, &view, &current, &readiness);
            stop.run_until_cancelled(serve).await;
            Ok(())
        });
        let leader = Runnable::new("the webhook CAs", true, |stop| async move {
            let lead = leading.lead(&leader_calls, seen);
            stop.run_until_cancelled(lead).await;
            Ok(())
        });
        [replica, leader]
    }

    fn secrets(&self, client: &Client) -> Api<Secret> {
        Api::namespaced(client.clone(), &self.service.namespace)
    }

    /// Issues a new certificate.
    fn issue(&self) -> Result<Issued, String> {
        let issued = issue(
            &self.service.hosts(),
            SystemTime::now(),
            self.periods.lifetime,
        );
        issued.map_err(|error| format!("cannot issue a certificate: {error}"))
    }

    /// Replaces the contents of `secret`, unless the Secret has changed meanwhile; the watch then shows the
    /// new contents.
    async fn write(
        &self,
        client: &Client,
        secret: Secret,
        contents: &Contents,
    ) -> Result<(), String> {
        let params = PostParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PostParams::default()
        };
        let (api, secret) = (self.secrets(client), contents.put(secret));
        let written = api.replace(&self.secret, &params, &secret);
        self.written(written.await)
    }

    /// Creates the deleted Secret with these contents, by server-side apply: RBAC restricts that to its
    /// name, but not a POST. What somebody else puts into it meanwhile stays.
    async fn restore(&self, client: &Client, contents: &Contents) -> Result<(), String> {
        let secret = contents.put(Secret {
            metadata: ObjectMeta {
                name: Some(self.secret.clone()),
                ..ObjectMeta::default()
            },
            ..Secret::default()
        });
        let (api, params) = (self.secrets(client), PatchParams::apply(MANAGER));
        let patch = Patch::Apply(&secret);
        self.written(api.patch(&self.secret, &params, &patch).await)
    }

    /// The result of a write. After a conflict, the watch shows the other write.
    fn written(&self, result: kube::Result<Secret>) -> Result<(), String> {
        match result {
            Err(kube::Error::Api(status)) if status.is_conflict() => Ok(()),
            Err(error) => Err(format!(
                "cannot write Secret `{}`: {}",
                self.secret,
                chain(&error)
            )),
            Ok(_) => Ok(()),
        }
    }
}

/// Waits until the watched value changes, or for a time.
async fn changed<T>(receiver: &mut Receiver<T>, time: Duration) {
    tokio::select! {
        // The sender lives as long as the receiver.
        _ = receiver.changed() => {}
        () = tokio::time::sleep(time) => {}
    }
}
