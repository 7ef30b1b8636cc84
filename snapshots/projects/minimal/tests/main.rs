// SPDX-License-Identifier: Apache-2.0

//! Integration tests against a real kube-apiserver, which `make envtest` fetches. The operator runs
//! with exactly the permissions that `make manifests` writes. CRDs of other projects go into
//! `tests/crds`.
