//! CRDs with a conversion webhook.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, WebhookClientConfig, WebhookConversion,
};

use super::Conversion;

/// Sets the conversion webhook of the CRDs that have one.
///
/// # Errors
/// If a conversion has no CRD, or lacks one of its versions.
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
        let missing = || format!("{kind} in {group} has a conversion, but no CRD");
        let crd = crd.ok_or_else(missing)?;
        let mut versions = crd.spec.versions.iter().map(|version| &version.name);
        if let Some(version) = versions.find(|version| !conversion.has(version)) {
            return Err(format!(
                "the conversion of {kind} in {group} lacks {version}: add its spoke"
            ));
        }
        crd.spec.conversion = Some(CustomResourceConversion {
            strategy: "Webhook".to_owned(),
            webhook: Some(WebhookConversion {
                client_config: Some(client.clone()),
                conversion_review_versions: vec!["v1".to_owned()],
            }),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kube::CustomResourceExt;

    use super::*;
    use crate::webhook::conversion::tests::types::{all, v1, v1alpha1, v2};

    fn converted(names: &[&str]) -> Result<Vec<CustomResourceDefinition>, String> {
        let versions = [
            v1::Widget::crd(),
            v1alpha1::Widget::crd(),
            v2::Widget::crd(),
        ];
        let mut crd = versions[0].clone();
        let versions = versions.into_iter().flat_map(|crd| crd.spec.versions);
        crd.spec.versions = versions.collect();
        let mut more = crd.spec.versions[0].clone();
        more.name = "v3".to_owned();
        crd.spec.versions.push(more);
        crd.spec
            .versions
            .retain(|version| names.contains(&&*version.name));
        let mut crds = vec![crd];
        convert(&mut crds, &[all().into()], &WebhookClientConfig::default()).map(|()| crds)
    }

    #[test]
    fn every_version_has_to_be_converted() {
        let crds = converted(&["v1", "v1alpha1"]).unwrap();
        assert_eq!(
            crds[0].spec.conversion.as_ref().unwrap().strategy,
            "Webhook"
        );
        let lacks = "the conversion of Widget in test.example.com lacks v3: add its spoke";
        assert_eq!(converted(&["v1", "v3"]).err().as_deref(), Some(lacks));

        let none = convert(&mut [], &[all().into()], &WebhookClientConfig::default());
        let missing = "Widget in test.example.com has a conversion, but no CRD";
        assert_eq!(none, Err(missing.to_owned()));
    }
}
