//! Integration tests: a real kube-apiserver, and this operator with the permissions that
//! `make manifests` writes, no more. `make envtest` fetches what they need; CRDs of other projects
//! are read from `tests/crds`.

// What they share, which is yours.
mod shared;

use self::shared::cluster;

mod controllers {
    mod ship {
        mod request;
    }
}

mod webhooks {
    mod ship {
        mod v1 {
            mod request {
                mod convert;
                mod validate;
            }
        }
    }
}
