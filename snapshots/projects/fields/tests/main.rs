// SPDX-License-Identifier: Apache-2.0

//! Integration tests against a real kube-apiserver, which `make envtest` downloads. The operator
//! runs with exactly the permissions that `make manifests` writes. Put CRDs of other projects into
//! `tests/crds`.

mod shared;

use self::shared::cluster;

mod controllers {
    mod batch {
        mod cron_job;
    }
    mod store {
        mod busybox;
    }
    mod web {
        mod page;
        mod tree;
    }
}

mod webhooks {
    mod web {
        mod v1alpha1 {
            mod page {
                mod convert;
                mod default;
                mod validate;
            }
            mod tree {
                mod convert;
            }
        }
    }
}
