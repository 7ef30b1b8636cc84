use operator_runtime::webhook::Spoke;

use crate::api::ship::v1::request as v1;
use crate::api::ship::v2::request as v2;

/// Declares the conversion of v1 to the hub, v2, and back.
pub fn spoke() -> Spoke<v2::Request> {
    Spoke::of::<v1::Request>()
}

// Every field is named: if you add one, this code does not compile until you convert it. An
// annotation keeps the fields of the hub that v1 lacks, except those in `.drops(&[…])`.

impl From<v1::Request> for v2::Request {
    fn from(spoke: v1::Request) -> Self {
        let v1::RequestSpec {} = spoke.spec;
        Self {
            metadata: spoke.metadata,
            spec: v2::RequestSpec {},
            status: spoke.status.map(Into::into),
        }
    }
}

impl From<v2::Request> for v1::Request {
    fn from(hub: v2::Request) -> Self {
        let v2::RequestSpec {} = hub.spec;
        Self {
            metadata: hub.metadata,
            spec: v1::RequestSpec {},
            status: hub.status.map(Into::into),
        }
    }
}

impl From<v1::RequestStatus> for v2::RequestStatus {
    fn from(spoke: v1::RequestStatus) -> Self {
        let v1::RequestStatus {
            observed_generation,
            conditions,
        } = spoke;
        Self {
            observed_generation,
            conditions,
        }
    }
}

impl From<v2::RequestStatus> for v1::RequestStatus {
    fn from(hub: v2::RequestStatus) -> Self {
        let v2::RequestStatus {
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
