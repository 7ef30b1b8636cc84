// SPDX-License-Identifier: Apache-2.0

use operator_runtime::webhook::Spoke;

use crate::api::cache::v1::memcached as v1;
use crate::api::cache::v1alpha1::memcached as v1alpha1;

/// Declares the conversion of v1alpha1 to the hub, v1, and back.
pub fn spoke() -> Spoke<v1::Memcached> {
    Spoke::of::<v1alpha1::Memcached>()
}

// Every field is named: if you add one, this code does not compile until you convert it. An
// annotation keeps the fields of the hub that v1alpha1 lacks, except those in `.drops(&[…])`.

impl From<v1alpha1::Memcached> for v1::Memcached {
    fn from(spoke: v1alpha1::Memcached) -> Self {
        let v1alpha1::MemcachedSpec {} = spoke.spec;
        Self {
            metadata: spoke.metadata,
            spec: v1::MemcachedSpec {},
            status: spoke.status.map(Into::into),
        }
    }
}

impl From<v1::Memcached> for v1alpha1::Memcached {
    fn from(hub: v1::Memcached) -> Self {
        let v1::MemcachedSpec {} = hub.spec;
        Self {
            metadata: hub.metadata,
            spec: v1alpha1::MemcachedSpec {},
            status: hub.status.map(Into::into),
        }
    }
}

impl From<v1alpha1::MemcachedStatus> for v1::MemcachedStatus {
    fn from(spoke: v1alpha1::MemcachedStatus) -> Self {
        let v1alpha1::MemcachedStatus {
            observed_generation,
            conditions,
        } = spoke;
        Self {
            observed_generation,
            conditions,
        }
    }
}

impl From<v1::MemcachedStatus> for v1alpha1::MemcachedStatus {
    fn from(hub: v1::MemcachedStatus) -> Self {
        let v1::MemcachedStatus {
            observed_generation,
            conditions,
        } = hub;
        Self {
            observed_generation,
            conditions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Objects generated from the schemas survive the conversion there and back. Where you write a
    /// conversion by hand, also compare a value of each version.
    #[test]
    fn loses_nothing() {
        operator_runtime::fake::round_trip(&spoke());
    }
}
