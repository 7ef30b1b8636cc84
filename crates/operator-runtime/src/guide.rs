#![doc = include_str!("guide/manager.md")]

/// What a controller watches, when it reconciles, and what happens when it fails.
pub mod controllers {
    #![doc = include_str!("guide/controllers.md")]
}

/// Cached reads, indexes, and how little memory they need.
pub mod stores {
    #![doc = include_str!("guide/stores.md")]
}

/// The types of an API, and which of their attributes the CRD shows.
pub mod types {
    #![doc = include_str!("guide/types.md")]
}

/// Owned objects by server-side apply, the status and its conditions, events.
pub mod applying {
    #![doc = include_str!("guide/applying.md")]
}

/// kube's own `Controller` in a manager: the way in for an operator that exists.
pub mod kube_controllers {
    #![doc = include_str!("guide/kube-controllers.md")]
}

/// Cleaning up before an object goes.
pub mod finalizers {
    #![doc = include_str!("guide/finalizers.md")]
}

/// Several replicas, of which one works.
pub mod leader_election {
    #![doc = include_str!("guide/leader-election.md")]
}

/// Defaulting and validation, and the certificate that they need.
pub mod webhooks {
    #![doc = include_str!("guide/webhooks.md")]
}

/// Several versions of a type.
pub mod conversion {
    #![doc = include_str!("guide/conversion.md")]
}

/// What dashboards, alerts and the kubelet ask for.
pub mod metrics {
    #![doc = include_str!("guide/metrics.md")]
}

/// Unit tests without a cluster, integration tests with a real API server.
#[cfg(all(feature = "testing", feature = "envtest"))]
pub mod testing {
    #![doc = include_str!("guide/testing.md")]
}

/// Permissions that follow from the types.
pub mod rbac {
    #![doc = include_str!("guide/rbac.md")]
}
