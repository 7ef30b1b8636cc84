//! The schema of a chart's values, as that of a CRD.
#[allow(missing_docs)]
pub struct Schema { pub schema: serde_json::Value }
#[allow(missing_docs)]
pub fn of(_: &helm_render::chart::Chart) -> Schema { Schema { schema: serde_json::json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}) } }
