// SPDX-License-Identifier: Apache-2.0

//! The custom resources that this operator defines.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::crd::MergeError;
use manager::Crds;

pub mod a_b_c {
    pub mod v10 {
        pub mod controller;
        pub mod error;

        pub use controller::ControllerResource;
        pub use error::ErrorResource;
    }
}

pub mod r#async {
    pub mod v2beta3 {
        pub mod client;
        pub mod context;

        pub use client::ClientResource;
        pub use context::ContextResource;
    }
}

pub mod crate_ {
    pub mod v1alpha1 {
        pub mod crate_;
        pub mod self_;

        pub use crate_::Crate;
        pub use self_::SelfResource;
    }
}

pub mod gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa {
    pub mod v1 {
        pub mod kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;

        pub use kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa::Kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;
    }
}

pub mod main {
    pub mod v1 {
        pub mod http_route;
        pub mod main;

        pub use http_route::HTTPRoute;
        pub use main::Main;
    }
}

pub mod self_ {
    pub mod v1 {
        pub mod api;
        pub mod condition;

        pub use api::ApiResource;
        pub use condition::ConditionResource;
    }
}

pub mod r#type {
    pub mod v1 {
        pub mod option;
        pub mod result;
        pub mod string;
        pub mod r#type;
        pub mod vec;

        pub use option::OptionResource;
        pub use result::ResultResource;
        pub use string::StringResource;
        pub use r#type::Type;
        pub use vec::VecResource;
    }
}

/// The definitions to install, one for each kind with all its versions.
pub fn crds() -> Result<Vec<CustomResourceDefinition>, MergeError> {
    let mut crds = Crds::default();
    crds.stored::<a_b_c::v10::ControllerResource>();
    crds.stored::<a_b_c::v10::ErrorResource>();
    crds.stored::<r#async::v2beta3::ClientResource>();
    crds.stored::<r#async::v2beta3::ContextResource>();
    crds.stored::<crate_::v1alpha1::Crate>();
    crds.stored::<crate_::v1alpha1::SelfResource>();
    crds.stored::<gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa::v1::Kaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa>();
    crds.stored::<main::v1::HTTPRoute>();
    crds.stored::<main::v1::Main>();
    crds.stored::<self_::v1::ApiResource>();
    crds.stored::<self_::v1::ConditionResource>();
    crds.stored::<r#type::v1::OptionResource>();
    crds.stored::<r#type::v1::ResultResource>();
    crds.stored::<r#type::v1::StringResource>();
    crds.stored::<r#type::v1::Type>();
    crds.stored::<r#type::v1::VecResource>();
    crds.merge()
}
