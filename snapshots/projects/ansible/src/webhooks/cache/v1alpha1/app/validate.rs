// SPDX-License-Identifier: Apache-2.0

use operator_runtime::webhook::{Change, Denied, FieldErrors, Request, Webhook};

use crate::Context;
use crate::api::cache::v1alpha1::App;

/// Declares this webhook, which the API server calls before it stores a new or changed object.
/// `make manifests` derives its configuration from this function.
/// The API server also sends it the objects of other versions, converted to this one, unless every
/// version of the kind has this webhook.
pub fn webhook() -> Webhook<App, Context> {
    Webhook::validating(validate)
}

/// Denies an invalid object, and reports all of its errors at once.
async fn validate(
    change: &Change<App>,
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
fn check(_app: &App, _errors: &mut FieldErrors) {
    // For example, once you use both parameters and drop their underscores:
    // if app.spec.0.get("size").is_none() {
    //     errors.required("spec.size", "the role needs it");
    // }
}

/// Checks the rules for changes, such as fields that may not change. A stored field that does not
/// decode counts as unchanged, so that users can repair it.
fn check_update(_old: &App, _new: &App, _errors: &mut FieldErrors) {
    // For example, once you use the parameters and drop their underscores:
    // if old.spec.0.get("storageClass") != new.spec.0.get("storageClass") {
    //     errors.forbidden("spec.storageClass", "may not change");
    // }
}

#[cfg(test)]
mod tests {
    use operator_runtime::fake::Fake;

    use super::*;

    #[tokio::test]
    async fn denies_only_invalid_changes() {
        let context = Fake::default().context(Context::new).await;
        let app = App::default();
        let update = Change::Update {
            old: app.clone(),
            new: app.clone(),
        };
        // Each change, and the error it should produce: `spec.size: Required value: …`.
        // Add an update of each field that may not change: `spec.storageClass: Forbidden: may not change`.
        let table = [
            (Change::Create(app.clone()), ""),
            (update, ""),
            (Change::Delete(app), ""),
        ];
        for (change, expected) in table {
            let result = validate(&change, &Request::default(), &context).await;
            let denied = result.err().map(|denied| denied.to_string());
            assert_eq!(denied.unwrap_or_default(), expected, "{change:?}");
        }
    }
}
