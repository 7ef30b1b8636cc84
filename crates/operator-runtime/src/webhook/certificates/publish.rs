//! Where the API server looks for the CAs by which it verifies webhooks: webhook configurations, and the
//! CRDs of types that are converted.

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

/// The field manager of what is published. It never applies, because a webhook that an applier has a
/// part of is not removed by the one who applies all of it; what it patches is nobody else's, and
/// stays when the manifests are applied again.
pub(super) const MANAGER: &str = "webhook-certificates";

/// An object that names the CAs of webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A MutatingWebhookConfiguration of this name.
    Mutating(String),
    /// A ValidatingWebhookConfiguration of this name.
    Validating(String),
    /// A CustomResourceDefinition of this name, whose versions are converted.
    Definition(String),
}

/// The Service by which the API server reaches the webhooks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Service {
    pub(crate) name: String,
    pub(crate) namespace: String,
}

impl Service {
    /// The hosts that a certificate has to be for. The API server verifies the first.
    pub(super) fn hosts(&self) -> Vec<String> {
        let host = format!("{}.{}.svc", self.name, self.namespace);
        vec![host.clone(), format!("{host}.cluster.local")]
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

    /// Makes the bundle what `seen` has, whose resource version it is that may be changed.
    pub(super) async fn publish(&self, client: Client, patch: Value) -> kube::Result<()> {
        let params = PatchParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let patch = match self {
            // Webhooks are merged by their names.
            Self::Mutating(_) | Self::Validating(_) => Patch::Strategic(patch),
            Self::Definition(_) => Patch::Merge(patch),
        };
        let api = self.api(client);
        api.patch(self.name(), &params, &patch).await.map(|_| ())
    }
}

/// As kubectl names it.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.resource().kind, self.name())
    }
}

/// Of such an object what matters here; the schemas of a CRD never become a value.
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
    /// Whether anything in it calls the service.
    pub(super) fn calls(&self, service: &Service) -> bool {
        self.clients().any(|client| client.calls(service))
    }

    /// What to change so that whatever calls the service trusts the bundle; `None` if it does.
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
        // If it has changed meanwhile, the patch is refused, and made anew for what it is then.
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
