// SPDX-License-Identifier: Apache-2.0

use k8s_openapi::api::core::v1::Pod;
use operator_runtime::webhook::{Denied, OWN_NAMESPACE, Request, Webhook};

use crate::Context;

/// The label of the namespaces with this webhook: `kubectl label namespace NAME LABEL=enabled`.
const LABEL: &str = "media-operator.example.com/webhooks";

/// Declares this webhook, which the API server calls before it stores a new or changed object.
/// `make manifests` derives its configuration from this function.
/// Only in namespaces that opt in: a failure of this operator blocks no others. The namespaces of the
/// control plane and of this operator are always exempt, so both can always start.
pub fn webhook() -> Webhook<Pod, Context> {
    Webhook::defaulting(default)
        .require_namespace_label(LABEL, "enabled")
        .exclude_namespaces(&["kube-system", OWN_NAMESPACE])
}

/// Sets defaults for omitted fields. It may be called twice, so it must be idempotent.
async fn default(_pod: &mut Pod, _request: &Request, _context: &Context) -> Result<(), Denied> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use operator_runtime::fake::Fake;

    use super::*;

    #[tokio::test]
    async fn sets_defaults_once() {
        let context = Fake::default().context(Context::new).await;
        let pod = Pod::default();
        // Each object as a user writes it, and as it should be stored.
        let table = [(pod.clone(), pod)];
        for (mut given, stored) in table {
            // The second call changes nothing.
            for _ in 0..2 {
                default(&mut given, &Request::default(), &context)
                    .await
                    .unwrap();
                assert_eq!(given, stored);
            }
        }
    }
}
