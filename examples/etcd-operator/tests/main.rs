//! Integration tests against a real kube-apiserver, which `make envtest` downloads. The operator
//! runs with exactly the permissions that `make manifests` writes. Put CRDs of other projects into
//! `tests/crds`.

mod shared;

use self::shared::cluster;

mod controllers {
    mod etcd {
        mod etcd_backup;
        mod etcd_cluster;
        mod etcd_restore;
    }
}
