use operator_runtime::webhook::Spoke;

use crate::api::ship::v1::request as v1;
use crate::api::ship::v2::request as v2;

/// Converts v1 to the hub, v2, and back, whenever the API server asks.
pub fn spoke() -> Spoke<v2::Request> {
    Spoke::of::<v1::Request>()
}

// Every field is named, so a new field does not compile until it is converted. For fields that
// v1 cannot hold, `Spoke` has `.keep_in_annotation()`.

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

    /// Objects made from the schema survive the round trip through the hub.
    #[test]
    fn loses_nothing() {
        operator_runtime::fake::round_trip(&spoke());
    }
}
