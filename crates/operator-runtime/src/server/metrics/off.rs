//! The endpoint of the metrics without their feature: nothing is served.

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
