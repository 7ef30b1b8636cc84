//! The AdmissionReview: request and response.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use axum::http::StatusCode;
use k8s_openapi::{ByteString, api::authentication::v1::UserInfo};
use kube::core::{GroupVersionKind, GroupVersionResource, Status};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Operation, Request, request::Warnings};

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

/// The reason why there is no response: the HTTP status, and a text for the API server's log.
pub(crate) type Refusal = (StatusCode, String);

/// An admission request. Objects stay raw JSON: only the needed parts are decoded, once.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    /// Copied to the response.
    pub(crate) uid: Cow<'a, str>,
    pub(crate) request: Request,
    /// The new object; `None` for a delete.
    pub(crate) object: Option<&'a RawValue>,
    /// The stored object; `None` for a create.
    pub(crate) old: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    #[serde(borrow, default)]
    api_version: Cow<'a, str>,
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    request: Option<Asked<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked<'a> {
    #[serde(borrow)]
    uid: Cow<'a, str>,
    kind: GroupVersionKind,
    resource: GroupVersionResource,
    sub_resource: Option<String>,
    #[serde(default)]
    name: String,
    namespace: Option<String>,
    operation: Operation,
    #[serde(default)]
    user_info: UserInfo,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(borrow)]
    old_object: Option<&'a RawValue>,
    dry_run: Option<bool>,
    #[serde(borrow)]
    options: Option<&'a RawValue>,
}

/// The limit of the options in bytes, because they are parsed to a tree.
const OPTIONS: usize = 64 * 1024;

impl<'a> Question<'a> {
    /// Parses a review.
    ///
    /// # Errors
    /// If the body is not a review, or has another version: a text for the API server's log.
    pub(crate) fn read(body: &'a [u8]) -> Result<Self, String> {
        let review: Review<'_> =
            serde_json::from_slice(body).map_err(|error| format!("not an {KIND}: {error}"))?;
        if review.api_version != API_VERSION || review.kind != KIND {
            let (version, kind) = (review.api_version, review.kind);
            return Err(format!(
                "expected {KIND} in {API_VERSION}, got `{kind}` in `{version}`"
            ));
        }
        let asked = review
            .request
            .ok_or_else(|| format!("the {KIND} has no request"))?;
        let some = |text: Option<String>| text.filter(|text| !text.is_empty());
        let options = asked.options.map_or("null", RawValue::get);
        if options.len() > OPTIONS {
            return Err(format!("the options have more than {OPTIONS} bytes"));
        }
        Ok(Self {
            uid: asked.uid,
            request: Request {
                operation: asked.operation,
                name: asked.name,
                namespace: some(asked.namespace),
                sub_resource: some(asked.sub_resource),
                user: asked.user_info,
                dry_run: asked.dry_run.unwrap_or_default(),
                kind: asked.kind,
                resource: asked.resource,
                options: serde_json::from_str(options).map_err(|error| error.to_string())?,
                warnings: Warnings::default(),
            },
            object: asked.object,
            old: asked.old_object,
        })
    }
}

/// The response to the API server.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answered<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: Response<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    uid: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<ByteString>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// The response to the review with this `uid`: allowed, with or without a JSON patch, or denied.
///
/// # Errors
/// An error of JSON serialization.
pub(crate) fn write(
    uid: &str,
    warnings: Vec<String>,
    decision: Result<Option<Vec<u8>>, Status>,
) -> serde_json::Result<Vec<u8>> {
    let (patch, status) = match decision {
        Ok(patch) => (patch, None),
        Err(status) => (None, Some(status)),
    };
    let response = Response {
        uid,
        allowed: status.is_none(),
        status,
        patch_type: patch.as_ref().map(|_| "JSONPatch"),
        patch: patch.map(ByteString),
        warnings,
    };
    serde_json::to_vec(&Answered {
        api_version: API_VERSION,
        kind: KIND,
        response,
    })
}
