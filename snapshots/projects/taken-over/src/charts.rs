// SPDX-License-Identifier: Apache-2.0

//! The charts that this operator installs. They are compiled into it.

use std::sync::LazyLock;

use operator_helm::Chart;
use operator_helm::include_dir::{self, include_dir};

/// `charts/memcached`.
#[rustfmt::skip]
pub fn memcached() -> &'static Chart {
    static CHART: LazyLock<Chart> = LazyLock::new(|| Chart::embedded(&include_dir!("$CARGO_MANIFEST_DIR/charts/memcached")));
    &CHART
}

/// `charts/proxy`.
#[rustfmt::skip]
pub fn proxy() -> &'static Chart {
    static CHART: LazyLock<Chart> = LazyLock::new(|| Chart::embedded(&include_dir!("$CARGO_MANIFEST_DIR/charts/proxy")));
    &CHART
}
