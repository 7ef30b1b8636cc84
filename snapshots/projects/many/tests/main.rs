// SPDX-License-Identifier: MIT

//! Integration tests: a real kube-apiserver, and this operator with the permissions that
//! `make manifests` writes, no more. `make envtest` fetches what they need; CRDs of other projects
//! are read from `tests/crds`.

// What they share, which is yours.
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
