// SPDX-License-Identifier: MIT

//! Integration tests against a real kube-apiserver, which `make envtest` downloads. The operator
//! runs with exactly the permissions that `make manifests` writes. Put CRDs of other projects into
//! `tests/crds`.

mod shared;

use self::shared::cluster;

mod controllers {
    mod apps {
        mod deployment;
    }
    mod core {
        mod pod;
    }
    mod crew {
        mod admiral;
        mod captain;
        mod captain_backup;
        mod first_mate;
    }
    mod fiz {
        mod bar;
    }
    mod foo {
        mod bar;
    }
    mod foo_policy {
        mod health_check_policy;
    }
    mod sea_creatures {
        mod kraken;
    }
    mod ship {
        mod cruiser;
        mod frigate;
    }
    mod testproject_org {
        mod lakers;
    }
}
