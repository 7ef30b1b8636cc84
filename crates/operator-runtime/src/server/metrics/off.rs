//! The metrics endpoint without its feature: always disabled.

use axum::Router;
use kube::Client;

use crate::{error::Error, metrics::Metrics, server::serve::Server};

#[derive(Debug, Default)]
pub(crate) struct Endpoint;

impl Endpoint {
    pub(crate) async fn bind(
        &self,
        _: &Metrics,
        _: bool,
        _: Client,
    ) -> Result<Option<(Server, Router)>, Error> {
        Ok(None)
    }
}
