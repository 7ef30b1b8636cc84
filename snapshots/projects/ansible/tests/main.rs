// SPDX-License-Identifier: Apache-2.0

//! Integration tests against a real kube-apiserver, which `make envtest` downloads. The operator
//! runs with exactly the permissions that `make manifests` writes. Put CRDs of other projects into
//! `tests/crds`.

mod shared;

use self::shared::cluster;

mod controllers {
    mod cache {
        mod flush;
        mod memcached;
    }
    mod core {
        mod secret;
    }
    mod r#type {
        mod automation;
        mod option;
        mod sample;
    }
}
