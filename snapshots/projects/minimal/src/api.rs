// SPDX-License-Identifier: Apache-2.0

//! The custom resources that this operator defines.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::crd::MergeError;
use operator_runtime::Crds;

/// The CRDs to install, one per kind, each with all versions of the kind.
pub fn crds() -> Result<Vec<CustomResourceDefinition>, MergeError> {
    Crds::default().merge()
}
