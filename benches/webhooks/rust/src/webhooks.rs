//! The webhooks, at the paths that the load asks.

mod convert;
mod default;
mod validate;

use operator_runtime::webhook::{Conversion, Webhook, Webhooks};

use crate::api::v1;

/// What every webhook uses.
pub struct Context;

pub fn all() -> Webhooks<Context> {
    let mut all = Webhooks::default();
    all.add(Webhook::defaulting(default::default).path("/default"));
    all.add(
        Webhook::defaulting(default::leave)
            .path("/leave")
            .name("leave"),
    );
    all.add(Webhook::validating(validate::validate).path("/validate"));
    let mut cache = Conversion::to::<v1::Cache>();
    cache.add(convert::spoke());
    all.convert(cache);
    all
}
