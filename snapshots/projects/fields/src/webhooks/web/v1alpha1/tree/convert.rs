// SPDX-License-Identifier: Apache-2.0

use operator_runtime::webhook::Spoke;

use crate::api::web::v1::tree as v1;
use crate::api::web::v1alpha1::tree as v1alpha1;

/// Declares the conversion of v1alpha1 to the hub, v1, and back.
pub fn spoke() -> Spoke<v1::Tree> {
    Spoke::of::<v1alpha1::Tree>()
}

// Every field is named: if you add one, this code does not compile until you convert it. An
// annotation keeps the fields of the hub that v1alpha1 lacks, except those in `.drops(&[…])`.

impl From<v1alpha1::Tree> for v1::Tree {
    fn from(spoke: v1alpha1::Tree) -> Self {
        let v1alpha1::TreeSpec { height, bark } = spoke.spec;
        Self {
            metadata: spoke.metadata,
            spec: v1::TreeSpec {
                height,
                bark: bark.map(Into::into),
                roof: v1::TreeSpec::default().roof,
                roots: None,
            },
            status: spoke.status.map(Into::into),
        }
    }
}

impl From<v1::Tree> for v1alpha1::Tree {
    fn from(hub: v1::Tree) -> Self {
        let v1::TreeSpec {
            height,
            roof: _,
            roots: _,
            bark,
        } = hub.spec;
        Self {
            metadata: hub.metadata,
            spec: v1alpha1::TreeSpec {
                height,
                bark: bark.map(Into::into),
            },
            status: hub.status.map(Into::into),
        }
    }
}

impl From<v1alpha1::TreeStatus> for v1::TreeStatus {
    fn from(spoke: v1alpha1::TreeStatus) -> Self {
        let v1alpha1::TreeStatus {
            observed_generation,
            conditions,
        } = spoke;
        Self {
            observed_generation,
            conditions,
        }
    }
}

impl From<v1::TreeStatus> for v1alpha1::TreeStatus {
    fn from(hub: v1::TreeStatus) -> Self {
        let v1::TreeStatus {
            observed_generation,
            conditions,
        } = hub;
        Self {
            observed_generation,
            conditions,
        }
    }
}

impl From<v1alpha1::Bark> for v1::Bark {
    fn from(value: v1alpha1::Bark) -> Self {
        let v1alpha1::Bark { color } = value;
        Self {
            color,
            thickness: v1::Bark::default().thickness,
        }
    }
}

impl From<v1::Bark> for v1alpha1::Bark {
    fn from(value: v1::Bark) -> Self {
        let v1::Bark {
            color,
            thickness: _,
        } = value;
        Self { color }
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
