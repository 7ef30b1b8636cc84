//! Versions of charts and ranges of them.

use crate::sprig::{Constraints, Version};

/// Whether a text is a version, as Masterminds' semver reads it: `v1`, `1.2` and `1.2.3-rc.1+build` are.
pub(super) fn is_version(text: &str) -> bool {
    Version::parse(text).is_ok()
}

/// Whether a version is in a range. Neither that cannot be read is, and no version is in an empty range.
pub(super) fn is_in_range(range: &str, version: &str) -> bool {
    let (Ok(version), Ok(range)) = (Version::parse(version), Constraints::parse(range)) else {
        return false;
    };
    range.allow(&version)
}
