//! Integration tests: a real kube-apiserver, and this operator with the permissions that
//! `make manifests` writes, no more. `make envtest` fetches what they need; CRDs of other projects
//! are read from `tests/crds`.

// What they share, which is yours.
mod shared;

use self::shared::cluster;

mod controllers {
    mod batch {
        mod job;
    }
    mod cache {
        mod memcached;
    }
}
