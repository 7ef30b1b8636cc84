// SPDX-License-Identifier: Apache-2.0

//! Integration tests against a real kube-apiserver, which `make envtest` downloads. The operator
//! runs with exactly the permissions that `make manifests` writes. Put CRDs of other projects into
//! `tests/crds`.

mod shared;

use self::shared::cluster;

mod controllers {
    mod a_b_c {
        mod controller;
        mod error;
    }
    mod r#async {
        mod client;
        mod context;
    }
    mod crate_ {
        mod crate_;
        mod self_;
    }
    mod gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa {
        mod ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc;
        mod kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;
    }
    mod main {
        mod http_route;
        mod main;
    }
    mod self_ {
        mod api;
        mod condition;
    }
    mod r#type {
        mod option;
        mod result;
        mod string;
        mod r#type;
        mod vec;
    }
}
