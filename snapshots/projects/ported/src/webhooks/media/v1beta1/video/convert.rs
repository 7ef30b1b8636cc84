// SPDX-License-Identifier: Apache-2.0

use operator_runtime::webhook::Spoke;

use crate::api::media::v1::video as v1;
use crate::api::media::v1beta1::video as v1beta1;

/// Declares the conversion of v1beta1 to the hub, v1, and back.
pub fn spoke() -> Spoke<v1::Video> {
    Spoke::of::<v1beta1::Video>()
}

// Every field is named: if you add one, this code does not compile until you convert it. An
// annotation keeps the fields of the hub that v1beta1 lacks, except those in `.drops(&[…])`.

impl From<v1beta1::Video> for v1::Video {
    fn from(spoke: v1beta1::Video) -> Self {
        let v1beta1::VideoSpec {
            codec,
            renditions,
            source,
        } = spoke.spec;
        Self {
            metadata: spoke.metadata,
            spec: v1::VideoSpec {
                codec: codec.map(Into::into),
                renditions: renditions.map(|it| it.into_iter().map(Into::into).collect()),
                source,
            },
            status: spoke.status.map(Into::into),
        }
    }
}

impl From<v1::Video> for v1beta1::Video {
    fn from(hub: v1::Video) -> Self {
        let v1::VideoSpec {
            codec,
            renditions,
            source,
        } = hub.spec;
        Self {
            metadata: hub.metadata,
            spec: v1beta1::VideoSpec {
                codec: codec.map(Into::into),
                renditions: renditions.map(|it| it.into_iter().map(Into::into).collect()),
                source,
            },
            status: hub.status.map(Into::into),
        }
    }
}

impl From<v1beta1::VideoStatus> for v1::VideoStatus {
    fn from(spoke: v1beta1::VideoStatus) -> Self {
        let v1beta1::VideoStatus {
            conditions,
            duration,
        } = spoke;
        Self {
            conditions,
            duration,
        }
    }
}

impl From<v1::VideoStatus> for v1beta1::VideoStatus {
    fn from(hub: v1::VideoStatus) -> Self {
        let v1::VideoStatus {
            conditions,
            duration,
        } = hub;
        Self {
            conditions,
            duration,
        }
    }
}

impl From<v1beta1::VideoSpecCodec> for v1::VideoSpecCodec {
    fn from(value: v1beta1::VideoSpecCodec) -> Self {
        match value {
            v1beta1::VideoSpecCodec::Av1 => Self::Av1,
            v1beta1::VideoSpecCodec::H264 => Self::H264,
        }
    }
}

impl From<v1::VideoSpecCodec> for v1beta1::VideoSpecCodec {
    fn from(value: v1::VideoSpecCodec) -> Self {
        match value {
            v1::VideoSpecCodec::Av1 => Self::Av1,
            v1::VideoSpecCodec::H264 => Self::H264,
        }
    }
}

impl From<v1beta1::VideoSpecRendition> for v1::VideoSpecRendition {
    fn from(value: v1beta1::VideoSpecRendition) -> Self {
        let v1beta1::VideoSpecRendition { height, name } = value;
        Self { height, name }
    }
}

impl From<v1::VideoSpecRendition> for v1beta1::VideoSpecRendition {
    fn from(value: v1::VideoSpecRendition) -> Self {
        let v1::VideoSpecRendition { height, name } = value;
        Self { height, name }
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
