// SPDX-License-Identifier: Apache-2.0

use kube::CustomResource;
use operator_ansible::{AnsibleStatus, Variables};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// It takes any field. With fields of your own in its place, the API server checks them.
/// The variables of the playbook `playbooks/site.yml`: the field `serviceType` is `service_type`.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "type.example.com",
    version = "v1",
    kind = "Sample",
    plural = "samples",
    category = "caches-all",
    namespaced,
    doc = "Sample is what an Ansible playbook runs for.",
    derive = "Default",
    derive = "PartialEq",
    status = "AnsibleStatus",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(transparent)]
pub struct SampleSpec(pub Variables);
