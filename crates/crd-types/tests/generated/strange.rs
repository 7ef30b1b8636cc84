// Descriptions are text for kubectl and the docs of the API, not Markdown.
#![allow(
    clippy::doc_lazy_continuation,
    clippy::doc_overindented_list_items,
    rustdoc::bare_urls,
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    rustdoc::invalid_rust_codeblocks
)]
// Two columns may have the same type.
#![allow(clippy::duplicated_attributes)]

use std::{borrow::Cow, collections::BTreeMap};

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "example.com",
    version = "v1beta1",
    kind = "String",
    root = "StringResource",
    plural = "strings",
    no_spec,
    schema = "manual",
    doc = "String is a resource of example.com.",
    derive = "Default",
    derive = "PartialEq",
    served = false,
    deprecated = r#"use "v1""#,
    annotation("operator-runtime/list-kind", "Strings")
)]
#[serde(rename_all = "camelCase")]
pub struct StringResourceSpec {
    #[serde(rename = "", skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// \# not a title
    #[serde(rename = "$ref", skip_serializing_if = "Option::is_none")]
    #[schemars(description = "# not a title")]
    pub r#ref: Option<String>,
    /// not a doc test
    #[serde(rename = "-", skip_serializing_if = "Option::is_none")]
    #[schemars(description = "    not a doc test")]
    pub field2: Option<String>,
    /// not code
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(description = "```\nnot code\n```")]
    pub _3scale: Option<String>,
    /// ends with a space
    #[serde(rename = "Upper", skip_serializing_if = "Option::is_none")]
    #[schemars(description = "ends with a space ")]
    pub upper: Option<String>,
    /// quotes " and \ and and tabs
    #[serde(rename = "a\"b\\c\n", skip_serializing_if = "Option::is_none")]
    #[schemars(description = "quotes \" and \\ and \u{202e} and \t tabs")]
    pub a_b_c: Option<String>,
    #[serde(rename = "a-b", skip_serializing_if = "Option::is_none")]
    pub a_b: Option<StringResourceAB>,
    #[serde(rename = "aB", skip_serializing_if = "Option::is_none")]
    pub a_b2: Option<StringResourceAB2>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("items" = {}))]
    pub any_items: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("additionalProperties" = {}))]
    pub any_values: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("description" = null))]
    pub anything: Option<Value>,
    /// ends */ with /// and //! and `ticks` and a tab
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(description = "ends */ with /// and //! and `ticks` and\ta tab\n~~~")]
    pub comment: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "StringResourceCrate")]
    pub crate_: Option<StringResourceCrate>,
    /// The first line is short.
    ///
    /// The second line is so long that it does not fit into one line of a hundred columns, whatever
    /// one does with it.
    ///
    /// The third.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = unwrapped)]
    pub paragraphs: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snake_case: Option<String>,
    #[serde(rename = "snake_case", skip_serializing_if = "Option::is_none")]
    pub snake_case2: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_: Option<StringResourceStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["yes", true, 1]))]
    pub unquoted: Option<String>,
    /// A description that is longer than one line can be, because the author of the type wrote one
    /// line of comment for every paragraph, as people did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = unwrapped)]
    pub vec: Option<Vec<StringResourceVec>>,
}

impl JsonSchema for StringResource {
    fn schema_name() -> Cow<'static, str> {
        "StringResource".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let properties = json_schema!({});
        let root = json_schema!({
            "title": null,
            "contains": "not for kube",
            "required": null,
            "anyOf": [{ "properties": { "parameters": { "required": ["mode"] } } }, { "required": ["status"] }],
            "type": "object",
        });
        let mut schema = StringResourceSpec::json_schema(generator);
        let mut all = properties.as_object().cloned().unwrap_or_default();
        if let Some(Value::Object(fields)) = schema.remove("properties") {
            all.extend(fields);
        }
        let object = schema.ensure_object();
        object.insert("properties".into(), all.into());
        object.extend(root.as_object().cloned().unwrap_or_default());
        schema
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct StringResourceAB {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct StringResourceAB2 {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
pub enum StringResourceCrate {
    #[serde(rename = "-")]
    Other,
    #[serde(rename = "+")]
    Other2,
    #[serde(rename = "")]
    Empty,
    #[serde(rename = "1")]
    _1,
    #[serde(rename = "self")]
    Itself,
    #[serde(rename = "Self")]
    Itself2,
    #[serde(rename = "a b")]
    AB,
    #[serde(rename = "a-b")]
    AB2,
    #[serde(rename = "é")]
    Other3,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StringResourceStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct StringResourceVec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option: Option<StringResourceVecOption>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
pub struct StringResourceVecOption {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// Joins the wrapped lines of a description; a paragraph is a line of the original.
fn unwrapped(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let lines = text.split("\n\n").map(|line| line.replace('\n', " "));
        *text = lines.collect::<Vec<_>>().join("\n");
    }
}
