// SPDX-License-Identifier: Apache-2.0

//! Integration tests against a real kube-apiserver, which `make envtest` downloads. The operator
//! runs with exactly the permissions that `make manifests` writes. Put CRDs of other projects into
//! `tests/crds`.

mod shared;

use self::shared::cluster;

mod controllers {
    mod apps {
        mod deployment;
    }
    mod media {
        mod playlist;
        mod playlist_cleanup;
        mod video;
    }
}

mod webhooks {
    mod core {
        mod v1 {
            mod pod {
                mod default;
            }
        }
    }
    mod media {
        mod v1 {
            mod video {
                mod default;
                mod validate;
            }
        }
        mod v1beta1 {
            mod video {
                mod convert;
            }
        }
    }
}
