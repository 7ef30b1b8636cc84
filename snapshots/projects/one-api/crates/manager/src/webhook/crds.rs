//! CRDs whose versions a webhook converts.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, WebhookClientConfig, WebhookConversion,
};

use super::Conversion;

/// Tells the CRDs which of them are converted, and where.
///
/// # Errors
/// If a conversion has no CRD.
pub(crate) fn convert(
    crds: &mut [CustomResourceDefinition],
    conversions: &[Conversion],
    client: &WebhookClientConfig,
) -> Result<(), String> {
    for conversion in conversions {
        let (group, kind) = conversion.group_kind();
        let crd = crds
            .iter_mut()
            .find(|crd| crd.spec.group == group && crd.spec.names.kind == kind);
        let missing = || format!("there is a conversion of {kind} in {group}, and no CRD");
        crd.ok_or_else(missing)?.spec.conversion = Some(CustomResourceConversion {
            strategy: "Webhook".to_owned(),
            webhook: Some(WebhookConversion {
                client_config: Some(client.clone()),
                conversion_review_versions: vec!["v1".to_owned()],
            }),
        });
    }
    Ok(())
}
