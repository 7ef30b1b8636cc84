// SPDX-License-Identifier: Apache-2.0

// Descriptions are text for kubectl and the docs of the API, not Markdown.
#![allow(
    clippy::doc_lazy_continuation,
    clippy::doc_overindented_list_items,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    rustdoc::invalid_rust_codeblocks
)]

use std::collections::BTreeMap;

use kube::CustomResource;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, Serialize)]
#[kube(
    group = "edge.acme.dev",
    version = "v1",
    kind = "GatewayClass",
    plural = "gatewayclasses",
    no_spec,
    schema = "disabled",
    doc = "GatewayClass is a resource of edge.acme.dev.",
    derive = "Default",
    derive = "PartialEq"
)]
pub struct GatewayClassFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<BTreeMap<String, Value>>,
}
