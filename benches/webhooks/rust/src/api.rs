//! The versions of a Cache: some Pods that cache.

pub mod v1;
pub mod v2;
