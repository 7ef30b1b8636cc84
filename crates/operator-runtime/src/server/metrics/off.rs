//! The metrics endpoint without its feature: always disabled.

use std::sync::Arc;

use axum::Router;
use kube::Client;

use crate::{
    error::Error,
    metrics::Metrics,
    server::{certificate::Current, serve::Server},
};

#[derive(Debug, Default)]
pub(crate) struct Endpoint;

impl Endpoint {
    pub(crate) async fn bind(
        &self,
        _: &Metrics,
        _: bool,
        _: Client,
        _: Option<Arc<Current>>,
    ) -> Result<Option<(Server, Router)>, Error> {
        Ok(None)
    }
}
