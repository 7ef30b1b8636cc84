//! The webhook configurations and the conversion of CRDs, for the manifests.

use k8s_openapi::{
    api::admissionregistration::v1::{ServiceReference, WebhookClientConfig},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::{
        self as apiextensions, CustomResourceDefinition,
    },
};

use super::render;
use crate::webhook::{
    CONVERT, OWN_NAMESPACE, Webhooks,
    configuration::{mutating, validating},
    crds as converted,
    declaration::check,
};

/// The Service name in `config/`, to which kustomize adds the project's prefix.
const SERVICE: &str = "webhook-service";
const MUTATING: &str = "mutating-webhook-configuration";
const VALIDATING: &str = "validating-webhook-configuration";

/// Sets the conversion of the CRDs.
///
/// # Errors
/// If a conversion does not fit its CRD.
pub(super) fn convert<C>(
    crds: &mut [CustomResourceDefinition],
    webhooks: &Webhooks<C>,
) -> Result<(), String> {
    converted::convert(crds, webhooks.conversions(), &conversion())
}

/// The webhook configurations, if there are any.
///
/// # Errors
/// If a declaration is invalid, alone or with the others.
pub(super) fn text<C>(webhooks: &Webhooks<C>) -> Result<Option<String>, String> {
    let webhooks = webhooks.declarations();
    check(&webhooks)?;
    let webhooks = &*webhooks.iter().collect::<Vec<_>>();
    let mutating = mutating(MUTATING, webhooks, client).map(|object| render::text(&object));
    let validating = validating(VALIDATING, webhooks, client).map(|object| render::text(&object));
    let documents: Result<Vec<_>, _> = mutating.into_iter().chain(validating).collect();
    let documents = documents?;
    Ok((!documents.is_empty()).then(|| documents.join("---\n")))
}

/// The client configuration for a path. It has no caBundle: the issuer of the certificates adds it in the
/// cluster, and applying the manifests again must not remove it.
fn client(path: &str) -> WebhookClientConfig {
    WebhookClientConfig {
        service: Some(ServiceReference {
            name: SERVICE.to_owned(),
            namespace: OWN_NAMESPACE.to_owned(),
            path: Some(path.to_owned()),
            port: None,
        }),
        ..WebhookClientConfig::default()
    }
}

/// The client configuration of the conversion webhook.
fn conversion() -> apiextensions::WebhookClientConfig {
    apiextensions::WebhookClientConfig {
        service: Some(apiextensions::ServiceReference {
            name: SERVICE.to_owned(),
            namespace: OWN_NAMESPACE.to_owned(),
            path: Some(CONVERT.to_owned()),
            port: None,
        }),
        ..apiextensions::WebhookClientConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use k8s_openapi::{
        api::{
            apps::v1::Deployment,
            core::v1::{Pod, Secret},
        },
        apimachinery::pkg::apis::meta::v1::LabelSelector,
    };

    use super::*;
    use crate::{
        object::Verb,
        webhook::{
            Change, Denied, FailurePolicy, MatchPolicy, Operation, ReinvocationPolicy, Request,
            SideEffects, Webhook,
        },
    };

    async fn default(_: &mut Pod, _: &Request, _: &()) -> Result<(), Denied> {
        Ok(())
    }

    async fn validate<K: Sync>(_: &Change<K>, _: &Request, _: &()) -> Result<(), Denied> {
        Ok(())
    }

    fn selector(label: &str) -> LabelSelector {
        LabelSelector {
            match_labels: Some([(label.to_owned(), "on".to_owned())].into()),
            ..LabelSelector::default()
        }
    }

    const EXPECTED: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: mutating-webhook-configuration
webhooks:
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: webhook-service
      namespace: system
      path: /pods
  failurePolicy: Ignore
  matchConditions:
  - expression: request.userInfo.username != 'me'
    name: not-me
  matchPolicy: Exact
  name: sidecar.pod.v1.core.k8s.io
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - kube-system
      - system
    matchLabels:
      a: \"on\"
      c: \"on\"
  objectSelector:
    matchLabels:
      b: \"on\"
  reinvocationPolicy: IfNeeded
  rules:
  - apiGroups:
    - \"\"
    apiVersions:
    - v1
    operations:
    - CREATE
    resources:
    - pods
  sideEffects: NoneOnDryRun
  timeoutSeconds: 3
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating-webhook-configuration
webhooks:
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: webhook-service
      namespace: system
      path: /validate-apps-v1-deployment
  failurePolicy: Fail
  name: validate.deployment.v1.apps
  rules:
  - apiGroups:
    - apps
    apiVersions:
    - v1
    operations:
    - CREATE
    - UPDATE
    resources:
    - deployments/status
    - deployments/scale
  sideEffects: None
  timeoutSeconds: 10
";

    #[test]
    fn every_builder_call_shows() {
        let mut webhooks = Webhooks::default();
        let defaulting = Webhook::defaulting(default)
            .path("/pods")
            .name("sidecar")
            .operations(&[Operation::Create])
            .failure_policy(FailurePolicy::Ignore)
            .timeout(Duration::from_secs(3))
            .match_policy(MatchPolicy::Exact)
            .match_condition("not-me", "request.userInfo.username != 'me'")
            .namespace_selector(selector("gone"))
            .namespace_selector(selector("a"))
            .exclude_namespaces(&["kube-system", OWN_NAMESPACE])
            .require_namespace_label("c", "on")
            .object_selector(selector("b"))
            .side_effects(SideEffects::NoneOnDryRun)
            .reinvocation(ReinvocationPolicy::IfNeeded);
        webhooks.add(defaulting);
        let validating = Webhook::<Deployment, _>::validating(validate)
            .subresources(&["status", "scale"])
            .needs::<Secret>(&[Verb::Get]);
        webhooks.add(validating);
        assert_eq!(webhooks.rules().policy_rules().len(), 1);
        let text = text(&webhooks).unwrap().unwrap();
        assert_eq!(text, EXPECTED);
    }

    #[test]
    fn without_webhooks_there_is_nothing() {
        assert_eq!(text(&Webhooks::<()>::default()), Ok(None));
    }
}
