// SPDX-License-Identifier: Apache-2.0

//! The controllers of this operator.

use operator_ansible::{Ansible, AnsibleOptions};
use operator_runtime::{Controllers, Manager};

use crate::Context;

pub mod cache {
    pub mod flush;
    pub mod memcached;
}

pub mod core {
    pub mod secret;
}

pub mod r#type {
    pub mod automation;
    pub mod option;
    pub mod sample;
}

/// All controllers: `main` runs them, and `make manifests` derives the permissions from them.
#[rustfmt::skip]
pub fn all() -> Controllers<Context> {
    let mut all = Controllers::default();
    all.add(cache::flush::controller());
    all.add(cache::memcached::controller());
    all.add(core::secret::controller());
    all.add(r#type::automation::controller());
    all.add(r#type::option::controller());
    all.add(r#type::sample::controller());
    all
}

/// The roles and playbooks.
#[rustfmt::skip]
pub fn ansible(manager: &Manager, options: AnsibleOptions) -> std::io::Result<Ansible> {
    let mut ansible = Ansible::new(manager, options)?;
    ansible.add::<crate::api::cache::flush::Flush>(manager, cache::flush::NAME, cache::flush::AUTOMATION.clone());
    ansible.add::<crate::api::cache::memcached::Memcached>(manager, cache::memcached::NAME, cache::memcached::AUTOMATION.clone());
    ansible.add::<operator_ansible::Foreign<k8s_openapi::api::core::v1::Secret>>(manager, core::secret::NAME, core::secret::AUTOMATION.clone());
    ansible.add::<crate::api::r#type::automation::Automation>(manager, r#type::automation::NAME, r#type::automation::AUTOMATION.clone());
    ansible.add::<crate::api::r#type::option::OptionResource>(manager, r#type::option::NAME, r#type::option::AUTOMATION.clone());
    ansible.add::<crate::api::r#type::sample::Sample>(manager, r#type::sample::NAME, r#type::sample::AUTOMATION.clone());
    Ok(ansible)
}
