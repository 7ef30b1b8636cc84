// SPDX-License-Identifier: Apache-2.0

use operator_runtime::webhook::{Denied, Request, Webhook};

use crate::Context;
use crate::api::cache::v1alpha1::Memcached;

/// When the API server asks: before it stores a new or changed object. `make manifests` writes the
/// configuration from the same value. If every version of the kind has such a webhook, each is asked
/// about objects of its own version.
pub fn webhook() -> Webhook<Memcached, Context> {
    // What does not decode passes, so that the API server answers with all that the schema finds.
    Webhook::defaulting(default).schema_first()
}

/// Sets what the user left unset. The API server may ask twice, so a second call changes nothing.
async fn default(
    _object: &mut Memcached,
    _request: &Request,
    _context: &Context,
) -> Result<(), Denied> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use operator_runtime::fake::Fake;

    use super::*;

    #[tokio::test]
    async fn fills_in_what_is_open() {
        let context = Fake::default().context(Context::new).await;
        let object = Memcached::default;
        // What somebody writes, and what is stored.
        let table = [(object(), object())];
        for (mut object, stored) in table {
            // The second time changes nothing.
            for _ in 0..2 {
                default(&mut object, &Request::default(), &context)
                    .await
                    .unwrap();
                assert_eq!(object, stored);
            }
        }
    }
}
