// SPDX-License-Identifier: Apache-2.0

//! Integration tests: a real kube-apiserver, and this operator with the permissions that
//! `make manifests` writes, no more. `make envtest` fetches what they need; CRDs of other projects
//! are read from `tests/crds`.

// What they share, which is yours.
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
