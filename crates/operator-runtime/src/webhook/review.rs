//! The AdmissionReview: what the API server sends, and what it gets.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use k8s_openapi::{ByteString, api::authentication::v1::UserInfo};
use kube::core::{GroupVersionKind, GroupVersionResource, Status};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Operation, Request, request::Warnings};

const API_VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

/// What a webhook is asked. Objects are still text: only what is needed of them is decoded, once.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    /// To be repeated in the answer.
    pub(crate) uid: Cow<'a, str>,
    pub(crate) request: Request,
    /// As it is to be; none if it goes away.
    pub(crate) object: Option<&'a RawValue>,
    /// As it is; none if it does not exist.
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

/// Bytes of the options of an operation, of which a tree is made, whatever they are.
const OPTIONS: usize = 64 * 1024;

impl<'a> Question<'a> {
    /// Reads a review.
    ///
    /// # Errors
    /// If it is none, or of another version: in words for the log of the API server.
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

/// What the API server gets.
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

/// The answer to the review with this `uid`: allowed, with a JSON patch or without, or denied.
///
/// # Errors
/// None that is known; writing JSON can fail.
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
