//! No webhook configurations, without the feature `webhooks`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use crate::webhook::Webhooks;

pub(super) fn convert<C>(
    _: &mut [CustomResourceDefinition],
    _: &Webhooks<C>,
) -> Result<(), String> {
    Ok(())
}

pub(super) fn text<C>(_: &Webhooks<C>) -> Result<Option<String>, String> {
    Ok(None)
}
