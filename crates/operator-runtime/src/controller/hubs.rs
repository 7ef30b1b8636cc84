//! The hub of each kind: the version that holds every field.

use std::collections::BTreeMap;

use kube::api::ApiResource;

use crate::error::Error;

/// The hubs, by group and kind. Any other version of such a kind is a spoke.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hubs(BTreeMap<(String, String), String>);

impl Hubs {
    /// Sets the hub of a kind.
    pub(crate) fn set(&mut self, (group, kind): (&str, &str), version: &str) {
        let kind = (group.to_owned(), kind.to_owned());
        self.0.insert(kind, version.to_owned());
    }

    /// Sets all of `others`.
    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Refuses a controller that uses a spoke.
    ///
    /// # Errors
    /// If one of `types` is a version other than the hub of its kind.
    pub(crate) fn check<'a>(
        &self,
        controller: &'static str,
        types: impl IntoIterator<Item = &'a ApiResource>,
    ) -> Result<(), Error> {
        for used in types {
            let kind = (used.group.clone(), used.kind.clone());
            if let Some(hub) = self.0.get(&kind).filter(|hub| **hub != used.version) {
                return Err(Error::Spoke {
                    controller,
                    kind: used.kind.clone(),
                    version: used.api_version.clone(),
                    hub: hub.clone(),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::{autoscaling::v2, core::v1::ConfigMap};
    use kube::core::GroupVersionKind;

    use super::*;
    use crate::{
        controller::{Controller, Controllers, Watch},
        object::{ScopedResource, Verb},
    };

    fn spoke() -> ScopedResource {
        let kind = GroupVersionKind::gvk("autoscaling", "v1", "HorizontalPodAutoscaler");
        ScopedResource::namespaced(ApiResource::from_gvk(&kind))
    }

    async fn reconcile(_: Arc<ConfigMap>, _: Arc<()>) -> kube::Result<()> {
        Ok(())
    }

    fn controller() -> Controller<ConfigMap, ()> {
        Controller::external("config", reconcile)
    }

    /// The error of an operator with one controller, for which v2 is the hub.
    fn error<K>(controller: Controller<K, ()>) -> Option<String> {
        let mut all = Controllers::from(controller);
        all.hub::<v2::HorizontalPodAutoscaler>();
        let checked = all.check(Hubs::default());
        checked.err().map(|error| error.to_string())
    }

    #[test]
    fn a_controller_that_uses_a_spoke_is_refused() {
        use k8s_openapi::api::autoscaling::v1;

        let refused = "controller `config` uses HorizontalPodAutoscaler in autoscaling/v1, but the hub is v2: its \
            writes would erase fields that only v2 has. Use the type of v2, or add `.uses_spokes()`";
        type Scaler = v1::HorizontalPodAutoscaler;
        let using = [
            controller().owns::<Scaler>(),
            controller().owns_dynamic(spoke(), Watch::new()),
            controller().watches::<Scaler>(|_| Vec::new()),
            controller().watches_metadata(spoke(), Watch::new(), |_, _| Vec::new()),
            controller().needs::<Scaler>(&[Verb::Get, Verb::Patch]),
            controller().needs_named::<Scaler>("name", &[Verb::Update]),
            controller().needs_subresource::<Scaler>("status", &[Verb::Patch]),
        ];
        for controller in using {
            assert_eq!(error(controller).as_deref(), Some(refused));
        }
        async fn dynamic(_: Arc<kube::api::DynamicObject>, _: Arc<()>) -> kube::Result<()> {
            Ok(())
        }
        let primary = Controller::dynamic("config", spoke(), dynamic);
        assert_eq!(error(primary).as_deref(), Some(refused));

        let allowed = [
            controller(),
            controller().owns::<v2::HorizontalPodAutoscaler>(),
            controller().needs::<Scaler>(&[Verb::Get, Verb::Create, Verb::Delete]),
            controller().owns::<Scaler>().uses_spokes(),
        ];
        for controller in allowed {
            assert_eq!(error(controller), None);
        }
    }
}
