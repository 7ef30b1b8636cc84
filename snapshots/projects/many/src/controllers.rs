// SPDX-License-Identifier: MIT

//! The controllers of this operator.

use operator_runtime::Controllers;

use crate::Context;

pub mod apps {
    pub mod deployment;
}

pub mod core {
    pub mod pod;
}

pub mod crew {
    pub mod admiral;
    pub mod captain;
    pub mod captain_backup;
    pub mod first_mate;
}

pub mod fiz {
    pub mod bar;
}

pub mod foo {
    pub mod bar;
}

pub mod foo_policy {
    pub mod health_check_policy;
}

pub mod sea_creatures {
    pub mod kraken;
}

pub mod ship {
    pub mod cruiser;
    pub mod frigate;
}

pub mod testproject_org {
    pub mod lakers;
}

/// All controllers: `main` runs them, and `make manifests` derives the permissions from them.
#[rustfmt::skip]
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(apps::deployment::controller());
    all.add(core::pod::controller());
    all.add(crew::admiral::controller());
    all.add(crew::captain::controller());
    all.add(crew::captain_backup::controller());
    all.add(crew::first_mate::controller());
    all.add(fiz::bar::controller());
    all.add(foo::bar::controller());
    all.add(foo_policy::health_check_policy::controller());
    all.add(sea_creatures::kraken::controller());
    all.add(ship::cruiser::controller());
    all.add(ship::frigate::controller());
    all.add(testproject_org::lakers::controller());
    all.hub::<crate::api::crew::first_mate::FirstMate>();
    all
}
