#![doc = include_str!("guide/manager.md")]

/// Watches, the work queue, retries, and the ready condition of a controller.
pub mod controllers {
    #![doc = include_str!("guide/controllers.md")]
}

/// Cached reads, indexes, and memory use.
pub mod stores {
    #![doc = include_str!("guide/stores.md")]
}

/// API types, and the attributes that shape the CRD.
pub mod types {
    #![doc = include_str!("guide/types.md")]
}

/// Owned objects by server-side apply, the status and its conditions, events.
pub mod applying {
    #![doc = include_str!("guide/applying.md")]
}

/// kube's own `Controller` in a manager: the migration path for an existing operator.
pub mod kube_controllers {
    #![doc = include_str!("guide/kube-controllers.md")]
}

/// controller-runtime's calls beside those of this crate: for a port from Go.
pub mod controller_runtime {
    #![doc = include_str!("guide/controller-runtime.md")]
}

/// Cleanup before an object is deleted.
pub mod finalizers {
    #![doc = include_str!("guide/finalizers.md")]
}

/// Several replicas, one of them active.
pub mod leader_election {
    #![doc = include_str!("guide/leader-election.md")]
}

/// Several active replicas, each with a share of the objects.
pub mod shards {
    #![doc = include_str!("guide/shards.md")]
}

/// Defaulting and validating webhooks, and their certificate.
pub mod webhooks {
    #![doc = include_str!("guide/webhooks.md")]
}

/// Several versions of a kind.
pub mod conversion {
    #![doc = include_str!("guide/conversion.md")]
}

/// Metrics, probes, logs and traces.
pub mod metrics {
    #![doc = include_str!("guide/metrics.md")]
}

/// Unit tests without a cluster, integration tests against a real API server.
#[cfg(all(feature = "testing", feature = "envtest"))]
pub mod testing {
    #![doc = include_str!("guide/testing.md")]
}

/// kube, k8s-openapi and this crate: which versions fit, and the cryptography.
pub mod versions {
    #![doc = include_str!("guide/versions.md")]
}

/// Permissions derived from the declared types.
pub mod rbac {
    #![doc = include_str!("guide/rbac.md")]
}
