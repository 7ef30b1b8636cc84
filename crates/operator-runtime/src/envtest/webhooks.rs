//! The webhooks of an operator under test: their address, and the moment from which the API server calls
//! them.

use std::{
    collections::BTreeMap, convert::Infallible, fmt::Debug, future::pending, net::TcpListener,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use k8s_openapi::{
    ByteString,
    api::{
        admissionregistration::v1::{
            MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig,
        },
        coordination::v1::Lease,
        core::v1::Namespace,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1 as apiextensions,
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams},
    core::ClusterResourceScope,
};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{NAMESPACE, install::apply};
use crate::{
    manager::Manager,
    webhook::{
        Operation, Webhooks,
        configuration::{mutating, validating},
        declaration::{Declaration, Purpose},
        server::{Endpoint, PROBED},
    },
};

/// The name of the readiness check.
pub(super) const CHECK: &str = "webhook configurations";

/// The time within which the API server must apply a configuration.
const EFFECTIVE: Duration = Duration::from_secs(20);

/// The label of the objects that only probe whether the API server calls webhooks.
const PROBE: &str = "envtest/probe";

/// The address of the webhook server under test, with its certificate.
#[derive(Debug)]
pub(super) struct Address {
    listener: TcpListener,
    certificate: String,
    key: String,
    url: String,
}

impl Address {
    /// A bound port of this machine that does not accept connections yet, and a certificate for it.
    pub(super) fn new() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("https://{}", listener.local_addr()?);
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
        Ok(Self {
            listener,
            certificate: made.cert.pem(),
            key: made.signing_key.serialize_pem(),
            url,
        })
    }

    /// The server's endpoint, and the API server's view of it.
    pub(super) fn split(self) -> (Endpoint, Site) {
        let site = Site {
            url: self.url,
            ca: ByteString(self.certificate.clone().into_bytes()),
        };
        let endpoint = Endpoint::Given {
            listener: self.listener,
            certificate: self.certificate,
            key: self.key,
        };
        (endpoint, site)
    }
}

/// The webhook server as the API server reaches it.
#[derive(Clone, Debug)]
pub(super) struct Site {
    url: String,
    ca: ByteString,
}

impl Site {
    fn client(&self, path: &str) -> WebhookClientConfig {
        WebhookClientConfig {
            ca_bundle: Some(self.ca.clone()),
            url: Some(format!("{}{path}", self.url)),
            ..WebhookClientConfig::default()
        }
    }

    /// The client configuration of the conversion webhook.
    pub(super) fn conversion(&self) -> apiextensions::WebhookClientConfig {
        let WebhookClientConfig { ca_bundle, url, .. } = self.client(crate::webhook::CONVERT);
        apiextensions::WebhookClientConfig {
            ca_bundle,
            url,
            service: None,
        }
    }
}

/// The webhook configurations of one operator.
pub(super) struct Configurations {
    names: [String; 2],
    /// The labels of the namespaces whose objects the webhooks select.
    labels: BTreeMap<String, String>,
    mutating: Option<MutatingWebhookConfiguration>,
    validating: Option<ValidatingWebhookConfiguration>,
}

impl Configurations {
    /// The configurations of the operator of this name.
    pub(super) fn new<C>(operator: &str, webhooks: &Webhooks<C>, site: &Site) -> Self {
        let declarations = webhooks.declarations();
        let declared = |purpose| declarations.iter().any(|found| found.purpose == purpose);
        let selectors = declarations.iter().flat_map(|it| &it.namespace_selector);
        let labels = selectors.flat_map(|selector| selector.match_labels.clone());
        let mut labels: BTreeMap<_, _> = labels.flatten().collect();
        // The API server sets this one.
        labels.remove("kubernetes.io/metadata.name");
        let with_probe = |purpose| {
            let probe = probe(operator, purpose, &labels);
            let declarations = declarations.iter().cloned();
            let probe = declared(purpose).then_some(probe);
            declarations.chain(probe).collect::<Vec<_>>()
        };
        let client = |path: &str| site.client(path);
        let names = ["mutating", "validating"].map(|kind| format!("{operator}-{kind}"));
        let defaulting = with_probe(Purpose::Defaulting);
        let defaulting: Vec<_> = defaulting.iter().collect();
        let denying = with_probe(Purpose::Validating);
        let denying: Vec<_> = denying.iter().collect();
        Self {
            mutating: mutating(&names[0], &defaulting, client),
            validating: validating(&names[1], &denying, client),
            names,
            labels,
        }
    }

    /// Runs the operator. Its webhook configurations exist from its start until its stop, and it is not
    /// ready before they are effective.
    pub(super) async fn during(self, client: Client, manager: Manager) -> Result<()> {
        let readiness = manager.readiness();
        let install = async {
            match self.install(client.clone()).await {
                Ok(()) => readiness.pass(CHECK),
                Err(error) => readiness.fail(CHECK, format!("{error:#}")),
            }
            pending::<Infallible>().await
        };
        let result = tokio::select! {
            // Polled first: an operator that fails to start never becomes ready.
            biased;
            result = manager.run_until_stopped() => result,
            never = install => match never {},
        };
        // The next operator in this cluster cannot answer for this one.
        self.remove(client).await?;
        Ok(result?)
    }

    async fn install(&self, client: Client) -> Result<()> {
        if !self.labels.is_empty() {
            let api = Api::<Namespace>::all(client.clone());
            let patch = Patch::Merge(json!({ "metadata": { "labels": self.labels } }));
            api.patch(NAMESPACE, &PatchParams::default(), &patch)
                .await?;
        }
        if let Some(configuration) = &self.mutating {
            apply(&Api::all(client.clone()), configuration).await?;
            effective(client.clone(), &self.names[0]).await?;
        }
        if let Some(configuration) = &self.validating {
            apply(&Api::all(client.clone()), configuration).await?;
            effective(client, &self.names[1]).await?;
        }
        Ok(())
    }

    async fn remove(&self, client: Client) -> Result<()> {
        let [mutating, validating] = &self.names;
        if self.mutating.is_some() {
            delete::<MutatingWebhookConfiguration>(client.clone(), mutating).await?;
        }
        if self.validating.is_some() {
            delete::<ValidatingWebhookConfiguration>(client, validating).await?;
        }
        Ok(())
    }
}

async fn delete<K>(client: Client, name: &str) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = ClusterResourceScope> + Clone + Debug + DeserializeOwned,
{
    match Api::<K>::all(client)
        .delete(name, &DeleteParams::default())
        .await
    {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        result => Ok(result.map(|_| ())?),
    }
}

/// A webhook at a path that answers with 404. Its requests fail with its name as soon as the configuration is
/// effective, which shows that all other webhooks of that configuration are effective, too: in a namespace with
/// these labels, if there are any.
fn probe(operator: &str, purpose: Purpose, labels: &BTreeMap<String, String>) -> Declaration {
    let kind = match purpose {
        Purpose::Defaulting => "mutating",
        Purpose::Validating => "validating",
    };
    let mut probe = Declaration::of::<Lease>(purpose);
    probe.label = "probe".to_owned();
    probe.path = PROBED.to_owned();
    probe.operations = vec![Operation::Create];
    let label = (PROBE.to_owned(), format!("{operator}-{kind}"));
    probe.object_selector = Some(LabelSelector {
        match_labels: Some([label].into()),
        ..LabelSelector::default()
    });
    probe.namespace_selector = Some(LabelSelector {
        match_labels: Some(labels.clone()),
        ..LabelSelector::default()
    });
    probe
}

/// Waits until a probe with this label fails as expected.
async fn effective(client: Client, label: &str) -> Result<()> {
    let object = Lease {
        metadata: ObjectMeta {
            generate_name: Some("probe-".to_owned()),
            labels: Some([(PROBE.to_owned(), label.to_owned())].into()),
            ..ObjectMeta::default()
        },
        ..Lease::default()
    };
    let api: Api<Lease> = Api::namespaced(client, NAMESPACE);
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let begin = Instant::now();
    loop {
        match api.create(&params, &object).await {
            Err(kube::Error::Api(status))
                if status
                    .message
                    .contains("could not find the requested resource") =>
            {
                return Ok(());
            }
            Err(error) if begin.elapsed() > EFFECTIVE => {
                return Err(error).context("the API server does not reach the webhooks");
            }
            Ok(_) if begin.elapsed() > EFFECTIVE => {
                bail!("the API server calls no webhook after {EFFECTIVE:?}");
            }
            _ => sleep(Duration::from_millis(20)).await,
        }
    }
}
