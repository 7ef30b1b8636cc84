//! Publishes the caBundle in webhook configurations, and in the CRDs of converted types.

#[cfg(test)]
mod tests;

use std::{borrow::Cow, fmt};

use k8s_openapi::{
    ByteString,
    api::admissionregistration::v1::{
        MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Client, Resource,
    api::{ApiResource, Patch, PatchParams},
    core::DynamicResourceScope,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// The field manager of the caBundle. It patches and never applies: a webhook that is partly owned by an
/// applier is not removed when its main applier drops it. The patched fields have no other manager, and
/// stay when the manifests are applied again.
pub(super) const MANAGER: &str = "webhook-certificates";

/// An object with a caBundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The MutatingWebhookConfiguration of this name.
    Mutating(String),
    /// The ValidatingWebhookConfiguration of this name.
    Validating(String),
    /// The CustomResourceDefinition of this name, whose versions are converted.
    Definition(String),
}

/// The Service through which the API server reaches the webhooks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Service {
    pub(crate) name: String,
    pub(crate) namespace: String,
}

impl Service {
    /// The hosts of the certificate. The API server verifies the first, and clients of the metrics the last,
    /// which does not depend on names in the cluster.
    pub(super) fn hosts(&self) -> Vec<String> {
        let host = format!("{}.{}.svc", self.name, self.namespace);
        let in_cluster = format!("{host}.cluster.local");
        vec![host, in_cluster, "metrics".to_owned()]
    }
}

impl Target {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Mutating(name) | Self::Validating(name) | Self::Definition(name) => name,
        }
    }

    pub(super) fn resource(&self) -> ApiResource {
        match self {
            Self::Mutating(_) => ApiResource::erase::<MutatingWebhookConfiguration>(&()),
            Self::Validating(_) => ApiResource::erase::<ValidatingWebhookConfiguration>(&()),
            Self::Definition(_) => ApiResource::erase::<CustomResourceDefinition>(&()),
        }
    }

    pub(super) fn api(&self, client: Client) -> Api<Seen> {
        Api::all_with(client, &self.resource())
    }

    /// Sends the patch of [`Seen::patch`], which carries the resource version.
    pub(super) async fn publish(&self, client: Client, patch: Value) -> kube::Result<()> {
        let params = PatchParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let patch = match self {
            // A strategic merge patch merges webhooks by name.
            Self::Mutating(_) | Self::Validating(_) => Patch::Strategic(patch),
            Self::Definition(_) => Patch::Merge(patch),
        };
        let api = self.api(client);
        api.patch(self.name(), &params, &patch).await.map(|_| ())
    }
}

/// Formats like kubectl.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.resource().kind, self.name())
    }
}

/// The relevant part of a target; the schemas of a CRD are never decoded.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Seen {
    metadata: ObjectMeta,
    #[serde(default)]
    webhooks: Vec<Webhook>,
    #[serde(default)]
    spec: Spec,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Webhook {
    name: String,
    client_config: ClientConfig,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Spec {
    conversion: Option<Conversion>,
}

#[derive(Clone, Debug, Deserialize)]
struct Conversion {
    webhook: Option<ConversionWebhook>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConversionWebhook {
    client_config: Option<ClientConfig>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientConfig {
    service: Option<Service>,
    ca_bundle: Option<ByteString>,
}

impl ClientConfig {
    fn calls(&self, service: &Service) -> bool {
        self.service.as_ref() == Some(service)
    }

    fn trusts(&self, bundle: &str) -> bool {
        let found = self.ca_bundle.as_ref();
        found.is_some_and(|found| found.0 == bundle.as_bytes())
    }
}

impl Seen {
    /// Whether the target calls the service.
    pub(super) fn calls(&self, service: &Service) -> bool {
        self.clients().any(|client| client.calls(service))
    }

    /// The patch that sets the caBundle wherever the service is called; `None` if it is set.
    pub(super) fn patch(&self, service: &Service, bundle: &str) -> Option<Value> {
        let lacks = |client: &ClientConfig| client.calls(service) && !client.trusts(bundle);
        if !self.clients().any(lacks) {
            return None;
        }
        let client = json!({ "caBundle": ByteString(bundle.as_bytes().to_vec()) });
        let webhooks = self.webhooks.iter();
        let webhooks: Vec<_> = webhooks
            .filter(|webhook| lacks(&webhook.client_config))
            .map(|webhook| json!({ "name": webhook.name, "clientConfig": client }))
            .collect();
        // With the resource version: if the object has changed meanwhile, the patch is refused and built
        // again.
        let mut patch =
            json!({ "metadata": { "resourceVersion": self.metadata.resource_version } });
        if webhooks.is_empty() {
            patch["spec"] = json!({ "conversion": { "webhook": { "clientConfig": client } } });
        } else {
            patch["webhooks"] = Value::from(webhooks);
        }
        Some(patch)
    }

    fn clients(&self) -> impl Iterator<Item = &ClientConfig> {
        let conversion = self.spec.conversion.as_ref();
        let webhook = conversion.and_then(|conversion| conversion.webhook.as_ref());
        let conversion = webhook.and_then(|webhook| webhook.client_config.as_ref());
        let webhooks = self.webhooks.iter().map(|webhook| &webhook.client_config);
        webhooks.chain(conversion)
    }
}

impl Resource for Seen {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        resource.kind.as_str().into()
    }

    fn group(resource: &ApiResource) -> Cow<'_, str> {
        resource.group.as_str().into()
    }

    fn version(resource: &ApiResource) -> Cow<'_, str> {
        resource.version.as_str().into()
    }

    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        resource.plural.as_str().into()
    }

    fn api_version(resource: &ApiResource) -> Cow<'_, str> {
        resource.api_version.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
