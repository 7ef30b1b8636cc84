// SPDX-License-Identifier: Apache-2.0

//! The charts that this operator installs. They are compiled into it.

use operator_helm::{Chart, include_chart};

/// `charts/memcached`.
pub fn memcached() -> Chart {
    include_chart!("$CARGO_MANIFEST_DIR/charts/memcached")
}

/// `charts/proxy`.
pub fn proxy() -> Chart {
    include_chart!("$CARGO_MANIFEST_DIR/charts/proxy")
}
