use operator_runtime::webhook::{Change, Denied, FieldErrors, Request, Webhook};

use crate::Context;
use crate::api::ship::v1::Request as RequestResource;

/// When the API server asks: before it stores a new or changed object. `make manifests` writes the
/// configuration from the same value. If every version of the kind has such a webhook, each is asked
/// about objects of its own version.
pub fn webhook() -> Webhook<RequestResource, Context> {
    Webhook::validating(validate)
}

/// Refuses what is wrong, all of it at once.
async fn validate(
    change: &Change<RequestResource>,
    _request: &Request,
    _context: &Context,
) -> Result<(), Denied> {
    let mut errors = FieldErrors::default();
    match change {
        Change::Create(new) => check(new, &mut errors),
        // What is being deleted has to lose its finalizers, so it passes, valid or not.
        Change::Update { new, .. } if new.metadata.deletion_timestamp.is_some() => {}
        // What may not change is compared here.
        Change::Update { old: _, new } => check(new, &mut errors),
        // Only with `.operations(&[…, Operation::Delete])`.
        Change::Delete(_) => {}
    }
    errors.into_result()
}

/// What has to be true of every object.
fn check(_object: &RequestResource, _errors: &mut FieldErrors) {
    // For example, without the underscores above: errors.invalid("spec.size", object.spec.size, "must be odd");
}

#[cfg(test)]
mod tests {
    use operator_runtime::fake::Fake;

    use super::*;

    #[tokio::test]
    async fn refuses_what_is_wrong() {
        let context = Fake::default().context(Context::new).await;
        let object = RequestResource::default;
        let update = Change::Update {
            old: object(),
            new: object(),
        };
        // A change and its error, such as `spec.size: Invalid value: 2: must be odd`; none if it is allowed.
        let table = [
            (Change::Create(object()), ""),
            (update, ""),
            (Change::Delete(object()), ""),
        ];
        for (change, said) in table {
            let result = validate(&change, &Request::default(), &context).await;
            let denied = result.err().map(|denied| denied.to_string());
            assert_eq!(denied.unwrap_or_default(), said, "{change:?}");
        }
    }
}
