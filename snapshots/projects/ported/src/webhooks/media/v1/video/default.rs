// SPDX-License-Identifier: Apache-2.0

use operator_runtime::webhook::{Denied, Request, Webhook};

use crate::Context;
use crate::api::media::v1::Video;

/// Declares this webhook, which the API server calls before it stores a new or changed object.
/// `make manifests` writes its configuration from here. If several versions of the kind have
/// such a webhook, each one handles the objects written in its version.
pub fn webhook() -> Webhook<Video, Context> {
    // Admits undecodable objects, so that the API server reports all of their schema errors.
    Webhook::defaulting(default).schema_first()
}

/// Sets defaults for omitted fields. It may be called twice, so it must be idempotent.
async fn default(_video: &mut Video, _request: &Request, _context: &Context) -> Result<(), Denied> {
    Ok(())
}
