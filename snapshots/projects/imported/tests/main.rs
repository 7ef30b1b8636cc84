// SPDX-License-Identifier: Apache-2.0

//! Integration tests against a real kube-apiserver, which `make envtest` downloads. The operator
//! runs with exactly the permissions that `make manifests` writes. Put CRDs of other projects into
//! `tests/crds`.

mod shared;

use self::shared::cluster;

mod controllers {
    mod edge_acme_dev {
        mod gateway;
    }
    mod storage {
        mod backup;
    }
}

mod webhooks {
    mod edge_acme_dev {
        mod v1 {
            mod gateway {
                mod validate;
            }
        }
    }
    mod storage {
        mod v1 {
            mod backup {
                mod default;
                mod validate;
            }
        }
    }
}
