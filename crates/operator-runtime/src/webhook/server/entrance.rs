//! What an admission review needs before its webhook judges it.

use std::{sync::Arc, time::Duration};

use axum::{extract::Request, http::StatusCode, response::Response};

use super::{PARTING, Whole, body, drain, refuse};
use crate::{
    server::{serve::BODY, visit::Certified},
    webhook::memory::{Cost, Memory},
};

/// The limits of an admission review: the decoded object and its changes take several times its text. The
/// API server waits 10 s for the response, unless the webhook sets another timeout.
pub(super) const ADMISSION: Cost = Cost {
    most: BODY,
    patience: Duration::from_secs(5),
};

/// The answer to a client without a certificate, where one is needed.
const STRANGER: &str = "`--webhook-client-ca` is set: only clients with a certificate of this CA may ask. Give \
                        kube-apiserver one by `--admission-control-config-file`";

/// Where requests come in.
#[derive(Default)]
pub(super) struct Entrance {
    pub(super) memory: Arc<Memory>,
    /// Whether a client needs a certificate.
    pub(super) certified: bool,
}

impl Entrance {
    /// The body of an admission review, if its client may ask and the request is valid.
    pub(super) async fn body(&self, request: Request) -> Result<Whole, Response> {
        if self.certified && request.extensions().get::<Certified>().is_none() {
            drain(request.into_body().into_data_stream(), PARTING).await;
            // The API server shows the text of this status to its user.
            return Err(refuse((StatusCode::FORBIDDEN, STRANGER.to_owned())));
        }
        body(request, ADMISSION, &self.memory).await
    }
}
