// SPDX-License-Identifier: Apache-2.0

use operator_runtime::webhook::{Denied, Request, Webhook};

use crate::Context;
use crate::api::cache::v1alpha1::App;

/// Declares this webhook, which the API server calls before it stores a new or changed object.
/// `make manifests` derives its configuration from this function.
/// The API server also sends it the objects of other versions, converted to this one, unless every
/// version of the kind has this webhook.
pub fn webhook() -> Webhook<App, Context> {
    // Admits undecodable objects, so that the API server reports all of their schema errors.
    Webhook::defaulting(default).schema_first()
}

/// Sets defaults for omitted fields. It may be called twice, so it must be idempotent.
async fn default(_app: &mut App, _request: &Request, _context: &Context) -> Result<(), Denied> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use operator_runtime::fake::Fake;

    use super::*;

    #[tokio::test]
    async fn sets_defaults_once() {
        let context = Fake::default().context(Context::new).await;
        let app = App::default();
        // Each object as a user writes it, and as it should be stored.
        let table = [(app.clone(), app)];
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
