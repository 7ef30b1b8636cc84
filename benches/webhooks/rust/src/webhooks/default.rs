use operator_runtime::webhook::{Denied, Request};

use super::Context;
use crate::api::v1::Cache;

/// Sets the number of replicas.
pub async fn default(cache: &mut Cache, _: &Request, _: &Context) -> Result<(), Denied> {
    cache.spec.replicas.get_or_insert(3);
    Ok(())
}

/// Changes nothing.
pub async fn leave(_: &mut Cache, _: &Request, _: &Context) -> Result<(), Denied> {
    Ok(())
}
