//! Converts declarations to webhook configurations.

use k8s_openapi::{
    api::admissionregistration::v1::{
        MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations, ValidatingWebhook,
        ValidatingWebhookConfiguration, WebhookClientConfig,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use super::declaration::{Declaration, Purpose};

/// The MutatingWebhookConfiguration of this name, if there are defaulting webhooks. `client` returns the
/// client configuration for a path.
pub(crate) fn mutating(
    name: &str,
    declarations: &[&Declaration],
    client: impl Fn(&str) -> WebhookClientConfig,
) -> Option<MutatingWebhookConfiguration> {
    let webhook = |declaration: &Declaration| MutatingWebhook {
        admission_review_versions: vec!["v1".to_owned()],
        client_config: client(&declaration.path),
        failure_policy: Some(format!("{:?}", declaration.failure_policy)),
        match_conditions: declaration.conditions(),
        match_policy: declaration.match_policy.map(|policy| format!("{policy:?}")),
        name: declaration.name(),
        namespace_selector: declaration.namespace_selector.clone(),
        object_selector: declaration.object_selector.clone(),
        reinvocation_policy: declaration.reinvocation.map(|policy| format!("{policy:?}")),
        rules: Some(vec![declaration.rule()]),
        side_effects: format!("{:?}", declaration.side_effects),
        timeout_seconds: declaration.seconds(),
    };
    let webhooks = of(Purpose::Defaulting, declarations, webhook)?;
    Some(MutatingWebhookConfiguration {
        metadata: named(name),
        webhooks: Some(webhooks),
    })
}

/// The ValidatingWebhookConfiguration of this name, if there are validating webhooks.
pub(crate) fn validating(
    name: &str,
    declarations: &[&Declaration],
    client: impl Fn(&str) -> WebhookClientConfig,
) -> Option<ValidatingWebhookConfiguration> {
    let webhook = |declaration: &Declaration| ValidatingWebhook {
        admission_review_versions: vec!["v1".to_owned()],
        client_config: client(&declaration.path),
        failure_policy: Some(format!("{:?}", declaration.failure_policy)),
        match_conditions: declaration.conditions(),
        match_policy: declaration.match_policy.map(|policy| format!("{policy:?}")),
        name: declaration.name(),
        namespace_selector: declaration.namespace_selector.clone(),
        object_selector: declaration.object_selector.clone(),
        rules: Some(vec![declaration.rule()]),
        side_effects: format!("{:?}", declaration.side_effects),
        timeout_seconds: declaration.seconds(),
    };
    let webhooks = of(Purpose::Validating, declarations, webhook)?;
    Some(ValidatingWebhookConfiguration {
        metadata: named(name),
        webhooks: Some(webhooks),
    })
}

/// The webhooks of one purpose, sorted by name, so that the order of declaration has no effect.
fn of<W>(
    purpose: Purpose,
    declarations: &[&Declaration],
    webhook: impl Fn(&Declaration) -> W,
) -> Option<Vec<W>> {
    let mut declarations = declarations.to_vec();
    declarations.retain(|declaration| declaration.purpose == purpose);
    declarations.sort_by_key(|declaration| declaration.name());
    let webhooks: Vec<_> = declarations.into_iter().map(webhook).collect();
    (!webhooks.is_empty()).then_some(webhooks)
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    }
}

impl Declaration {
    /// The rule of the webhook.
    fn rule(&self) -> RuleWithOperations {
        let plural = &self.resource.resource;
        let part = |part: &String| format!("{plural}/{part}");
        let resources = match self.subresources.is_empty() {
            true => vec![plural.clone()],
            false => self.subresources.iter().map(part).collect(),
        };
        let operations = self.operations.iter().map(ToString::to_string).collect();
        RuleWithOperations {
            api_groups: Some(vec![self.resource.group.clone()]),
            api_versions: Some(vec![self.resource.version.clone()]),
            operations: Some(operations),
            resources: Some(resources),
            scope: None,
        }
    }

    fn conditions(
        &self,
    ) -> Option<Vec<k8s_openapi::api::admissionregistration::v1::MatchCondition>> {
        (!self.match_conditions.is_empty()).then(|| self.match_conditions.clone())
    }

    fn seconds(&self) -> Option<i32> {
        i32::try_from(self.timeout.as_secs()).ok()
    }
}
