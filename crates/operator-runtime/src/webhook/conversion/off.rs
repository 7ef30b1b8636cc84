//! Conversion without its feature: no type is converted.

use axum::http::StatusCode;

/// A conversion, of which there is none.
pub(crate) enum Conversion {}

impl Conversion {
    pub(crate) fn definition(&self) -> String {
        match *self {}
    }

    pub(crate) fn group_kind(&self) -> (&str, &str) {
        match *self {}
    }

    pub(crate) fn has(&self, _: &str) -> bool {
        match *self {}
    }

    pub(crate) fn versions(&self) -> Vec<String> {
        match *self {}
    }
}

pub(crate) fn convert(
    _: &[Conversion],
    _: &[u8],
    _: &(dyn Fn() + Sync),
) -> Result<Vec<u8>, StatusCode> {
    Err(StatusCode::NOT_FOUND)
}
