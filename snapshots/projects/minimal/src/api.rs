// SPDX-License-Identifier: Apache-2.0

//! The custom resources that this operator defines.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_runtime::{CrdError, Crds};

/// The CRDs to install, one per kind, each with all versions of the kind.
pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    Crds::default().merge()
}
