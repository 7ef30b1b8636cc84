//! Webhooks without their feature: an empty list, so that signatures stay the same.

use std::marker::PhantomData;

use crate::{controller::Hubs, object::Rules};

/// The webhooks of an operator: none, without the feature `webhooks`.
pub struct Webhooks<C>(PhantomData<fn(C)>);

impl<C> Default for Webhooks<C> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<C> Webhooks<C> {
    /// The permissions of all webhooks: none.
    pub fn rules(&self) -> Rules {
        Rules::default()
    }

    /// The hubs of conversions: none.
    pub(crate) fn hubs(&self) -> Hubs {
        Hubs::default()
    }
}

pub(crate) mod server {
    use std::sync::Arc;

    use axum::Router;

    use super::Webhooks;
    use crate::{
        cache::Source,
        client::Clients,
        controller::Hubs,
        error::Error,
        metrics::Metrics,
        object::ScopedResource,
        runnable::Runnable,
        server::{probes::Readiness, serve::Server},
    };

    /// Serves nothing.
    #[derive(Default)]
    pub(crate) struct Site;

    impl Site {
        pub(crate) fn hubs(&self) -> Hubs {
            Hubs::default()
        }

        pub(crate) fn add<C>(&mut self, _: Webhooks<C>, _: &Arc<C>) {}

        pub(crate) fn awaits(&self, _: &ScopedResource) -> bool {
            false
        }

        pub(crate) async fn bind(
            &mut self,
            _: &Clients,
            _: &Metrics,
            _: &Readiness,
            _: bool,
            _: Vec<Arc<Source>>,
        ) -> Result<Option<(Server, Router, Vec<Runnable>)>, Error> {
            Ok(None)
        }
    }
}
