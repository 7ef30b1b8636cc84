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

use kube::CustomResource;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, Serialize)]
#[kube(
    group = "edge.acme.dev",
    version = "v1",
    kind = "Gateway",
    plural = "gateways",
    namespaced,
    schema = "disabled",
    doc = "Gateway is a resource of edge.acme.dev.",
    derive = "Default",
    derive = "PartialEq",
    status = "GatewayStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct GatewaySpec {
    /// The class that the gateway belongs to.
    pub class_name: String,
    pub listeners: Vec<GatewaySpecListener>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct GatewaySpecListener {
    pub port: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<GatewaySpecListenerProtocol>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum GatewaySpecListenerProtocol {
    Http,
    Https,
    Tcp,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct GatewayStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<Vec<String>>,
}
