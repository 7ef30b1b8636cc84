// SPDX-License-Identifier: Apache-2.0

use k8s_openapi::api::core::v1::Pod;
use operator_runtime::webhook::{Denied, Request, Webhook};

use crate::Context;

/// When the API server asks: before it stores a new or changed object. `make manifests` writes the
/// configuration from the same value. What runs the cluster, and this operator, can always start.
pub fn webhook() -> Webhook<Pod, Context> {
    Webhook::defaulting(default).outside_of(&["kube-system", "project-webhooks-system"])
}

/// Sets what the user left unset. The API server may ask twice, so a second call changes nothing.
async fn default(_object: &mut Pod, _request: &Request, _context: &Context) -> Result<(), Denied> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use operator_runtime::fake::Fake;

    use super::*;

    #[tokio::test]
    async fn fills_in_what_is_open() {
        let context = Fake::default().context(Context::new).await;
        let object = Pod::default;
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
