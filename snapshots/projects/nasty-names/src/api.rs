// SPDX-License-Identifier: Apache-2.0

//! The custom resources that this operator defines.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use operator_runtime::{CrdError, Crds};

pub mod a_b_c {
    pub mod v10 {
        pub mod controller;
        pub use controller::ControllerResource;

        pub mod error;
        pub use error::ErrorResource;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v10::controller;
    pub use v10::error;
}

pub mod r#async {
    pub mod v2beta3 {
        pub mod client;
        pub use client::ClientResource;

        pub mod context;
        pub use context::ContextResource;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v2beta3::client;
    pub use v2beta3::context;
}

pub mod crate_ {
    pub mod v1alpha1 {
        pub mod crate_;
        pub use crate_::Crate;

        pub mod self_;
        pub use self_::SelfResource;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1alpha1::crate_;
    pub use v1alpha1::self_;
}

pub mod gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa {
    pub mod v1 {
        pub mod kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;
        pub use kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa::Kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;
}

pub mod main {
    pub mod v1 {
        pub mod http_route;
        pub use http_route::HTTPRoute;

        pub mod main;
        pub use main::Main;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::http_route;
    pub use v1::main;
}

pub mod self_ {
    pub mod v1 {
        pub mod api;
        pub use api::ApiResource;

        pub mod condition;
        pub use condition::ConditionResource;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::api;
    pub use v1::condition;
}

pub mod r#type {
    pub mod v1 {
        pub mod option;
        pub use option::OptionResource;

        pub mod result;
        pub use result::ResultResource;

        pub mod string;
        pub use string::StringResource;

        pub mod r#type;
        pub use r#type::Type;

        pub mod vec;
        pub use vec::VecResource;
    }

    // The storage version of each kind, which has every field: controllers use its types.
    pub use v1::option;
    pub use v1::result;
    pub use v1::string;
    pub use v1::r#type;
    pub use v1::vec;
}

/// The CRDs to install, one per kind, each with all versions of the kind.
#[rustfmt::skip]
pub fn crds() -> Result<Vec<CustomResourceDefinition>, CrdError> {
    let mut crds = Crds::default();
    crds.add_storage::<a_b_c::v10::ControllerResource>();
    crds.add_storage::<a_b_c::v10::ErrorResource>();
    crds.add_storage::<r#async::v2beta3::ClientResource>();
    crds.add_storage::<r#async::v2beta3::ContextResource>();
    crds.add_storage::<crate_::v1alpha1::Crate>();
    crds.add_storage::<crate_::v1alpha1::SelfResource>();
    crds.add_storage::<gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa::v1::Kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>();
    crds.add_storage::<main::v1::HTTPRoute>();
    crds.add_storage::<main::v1::Main>();
    crds.add_storage::<self_::v1::ApiResource>();
    crds.add_storage::<self_::v1::ConditionResource>();
    crds.add_storage::<r#type::v1::OptionResource>();
    crds.add_storage::<r#type::v1::ResultResource>();
    crds.add_storage::<r#type::v1::StringResource>();
    crds.add_storage::<r#type::v1::Type>();
    crds.add_storage::<r#type::v1::VecResource>();
    crds.merge()
}
