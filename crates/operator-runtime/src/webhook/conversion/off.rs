//! Conversion without its feature: no kind is converted.

use axum::http::StatusCode;

/// A conversion, which does not exist without the feature.
pub(crate) enum Conversion {}

impl Conversion {
    pub(crate) fn definition(&self) -> String {
        match *self {}
    }

    pub(crate) fn group_kind(&self) -> (&str, &str) {
        match *self {}
    }

    pub(crate) fn hub(&self) -> &str {
        match *self {}
    }

    pub(crate) fn has(&self, _: &str) -> bool {
        match *self {}
    }

    pub(crate) fn versions(&self) -> Vec<String> {
        match *self {}
    }
}

pub(crate) struct Review;

impl Review {
    pub(crate) fn new(_: usize, _: usize) -> Self {
        Self
    }

    pub(crate) fn read(
        &mut self,
        _: &[Conversion],
        _: &[u8],
        _: &dyn Fn(),
    ) -> Result<(), StatusCode> {
        Err(StatusCode::NOT_FOUND)
    }

    pub(crate) fn pending(&self) -> usize {
        0
    }

    pub(crate) fn written(&self) -> usize {
        0
    }

    pub(crate) fn take(&mut self) -> Vec<u8> {
        Vec::new()
    }

    pub(crate) fn end(self) -> Result<Vec<u8>, StatusCode> {
        Err(StatusCode::NOT_FOUND)
    }
}
