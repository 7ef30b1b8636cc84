// SPDX-License-Identifier: Apache-2.0

//! Integration tests against a real kube-apiserver, which `make envtest` downloads. The operator
//! runs with exactly the permissions that `make manifests` writes. Put CRDs of other projects into
//! `tests/crds`.

mod shared;

use self::shared::cluster;

mod controllers {
    mod cache {
        mod memcached;
    }
}

mod webhooks {
    mod cache {
        mod v1alpha1 {
            mod memcached {
                mod convert;
                mod default;
                mod validate;
            }
        }
        mod v2 {
            mod memcached {
                mod convert;
                mod validate;
            }
        }
    }
    mod core {
        mod v1 {
            mod pod {
                mod default;
                mod validate;
            }
        }
    }
}
