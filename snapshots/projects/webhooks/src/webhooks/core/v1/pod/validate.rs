// SPDX-License-Identifier: Apache-2.0

use k8s_openapi::api::core::v1::Pod;
use operator_runtime::webhook::{Change, Denied, FieldErrors, OWN_NAMESPACE, Request, Webhook};

use crate::Context;

/// The label of the namespaces with this webhook: `kubectl label namespace NAME LABEL=enabled`.
const LABEL: &str = "project-webhooks.example.com/webhooks";

/// Declares this webhook, which the API server calls before it stores a new or changed object.
/// `make manifests` derives its configuration from this function.
/// Only in namespaces that opt in: a failure of this operator blocks no others. The namespaces of the
/// control plane and of this operator are always exempt, so both can always start.
pub fn webhook() -> Webhook<Pod, Context> {
    Webhook::validating(validate)
        .require_namespace_label(LABEL, "enabled")
        .exclude_namespaces(&["kube-system", OWN_NAMESPACE])
}

/// Denies an invalid object, and reports all of its errors at once.
async fn validate(
    change: &Change<Pod>,
    _request: &Request,
    _context: &Context,
) -> Result<(), Denied> {
    let mut errors = FieldErrors::default();
    match change {
        Change::Create(new) => check(new, &mut errors),
        // Even an invalid object can be deleted: admit updates that remove its finalizers.
        Change::Update { new, .. } if new.metadata.deletion_timestamp.is_some() => {}
        Change::Update { old, new } => {
            check(new, &mut errors);
            check_update(old, new, &mut errors);
        }
        // Reached only if `webhook()` has `.operations(&[…, Operation::Delete])`.
        Change::Delete(_) => {}
    }
    errors.into_result()
}

/// Checks the rules for all objects, new and updated. A rule that stored objects break would deny every
/// update of them, also of their finalizers: check a new rule in `check_update`, where its field changes.
fn check(_pod: &Pod, _errors: &mut FieldErrors) {
    // For example, once you use both parameters and drop their underscores:
    // errors.required("metadata.labels[team]", "to know whom to ask");
}

/// Checks the rules for changes, such as fields that may not change. A stored field that does not
/// decode counts as unchanged, so that users can repair it.
fn check_update(_old: &Pod, _new: &Pod, _errors: &mut FieldErrors) {
    // For example, once you use the parameters and drop their underscores:
    // if old.labels().get("team") != new.labels().get("team") {
    //     errors.forbidden("metadata.labels[team]", "may not change");
    // }
}

#[cfg(test)]
mod tests {
    use operator_runtime::fake::Fake;

    use super::*;

    #[tokio::test]
    async fn denies_only_invalid_changes() {
        let context = Fake::default().context(Context::new).await;
        let pod = Pod::default();
        let update = Change::Update {
            old: pod.clone(),
            new: pod.clone(),
        };
        // Each change, and the error it should produce.
        // Add an update of each field that may not change.
        let table = [
            (Change::Create(pod.clone()), ""),
            (update, ""),
            (Change::Delete(pod), ""),
        ];
        for (change, expected) in table {
            let result = validate(&change, &Request::default(), &context).await;
            let denied = result.err().map(|denied| denied.to_string());
            assert_eq!(denied.unwrap_or_default(), expected, "{change:?}");
        }
    }
}
