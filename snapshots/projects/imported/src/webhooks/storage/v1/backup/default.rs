// SPDX-License-Identifier: Apache-2.0

use operator_runtime::webhook::{Denied, Request, Webhook};

use crate::Context;
use crate::api::storage::v1::Backup;

/// Declares this webhook, which the API server calls before it stores a new or changed object.
/// `make manifests` derives its configuration from this function.
/// The API server also sends it the objects of other versions, converted to this one, unless every
/// version of the kind has this webhook.
pub fn webhook() -> Webhook<Backup, Context> {
    // Admits undecodable objects, so that the API server reports all of their schema errors.
    Webhook::defaulting(default).schema_first()
}

/// Sets defaults for omitted fields. It may be called twice, so it must be idempotent.
async fn default(
    _backup: &mut Backup,
    _request: &Request,
    _context: &Context,
) -> Result<(), Denied> {
    Ok(())
}
