//! The AdmissionReview: what the API server sends, and what it gets.

use std::borrow::Cow;

use k8s_openapi::{ByteString, api::authentication::v1::UserInfo};
use kube::core::{GroupVersionKind, GroupVersionResource, Status};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

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
    #[serde(default)]
    options: Value,
}

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
                options: asked.options,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn review() -> Value {
        json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": "705ab4f5",
                "kind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
                "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
                "subResource": "scale",
                "requestKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
                "name": "a",
                "namespace": "b",
                "operation": "UPDATE",
                "userInfo": {"username": "admin", "groups": ["system:authenticated"], "extra": {}},
                "object": {"apiVersion": "autoscaling/v1", "kind": "Scale"},
                "oldObject": null,
                "options": {"apiVersion": "meta.k8s.io/v1", "kind": "UpdateOptions"},
                "dryRun": true
            }
        })
    }

    #[test]
    fn a_review_is_read() {
        let text = review().to_string();
        let Question {
            uid,
            request,
            object,
            old,
        } = Question::read(text.as_bytes()).unwrap();
        assert_eq!(uid, "705ab4f5");
        assert!(matches!(uid, Cow::Borrowed(_)));
        assert_eq!(request.operation, Operation::Update);
        assert_eq!(request.name, "a");
        assert_eq!(request.namespace.as_deref(), Some("b"));
        assert_eq!(request.sub_resource.as_deref(), Some("scale"));
        assert_eq!(request.user.username.as_deref(), Some("admin"));
        assert!(request.dry_run);
        assert_eq!(request.kind.kind, "Scale");
        assert_eq!(request.resource.resource, "deployments");
        assert_eq!(request.options["kind"], "UpdateOptions");
        assert!(object.unwrap().get().starts_with(r#"{"apiVersion""#));
        assert!(old.is_none());
    }

    #[test]
    fn what_the_api_server_may_leave_out_is_not_missed() {
        let mut review = review();
        let request = review["request"].as_object_mut().unwrap();
        for key in [
            "subResource",
            "name",
            "namespace",
            "oldObject",
            "options",
            "dryRun",
            "userInfo",
        ] {
            request.remove(key);
        }
        let text = review.to_string();
        let Question { request, .. } = Question::read(text.as_bytes()).unwrap();
        assert!(request.name.is_empty() && !request.dry_run && request.options.is_null());
        assert_eq!((request.namespace, request.sub_resource), (None, None));
    }

    #[test]
    fn what_is_no_review_is_refused() {
        let without = |key: &str| {
            let mut review = review();
            review["request"].as_object_mut().unwrap().remove(key);
            review.to_string()
        };
        let with = |pointer: &str, value: Value| {
            let mut review = review();
            *review.pointer_mut(pointer).unwrap() = value;
            review.to_string()
        };
        let whole = review().to_string();
        for (text, expected) in [
            (String::new(), "not an AdmissionReview: EOF"),
            ("[]".to_owned(), "not an AdmissionReview: invalid"),
            (
                "{}".to_owned(),
                "expected AdmissionReview in admission.k8s.io/v1, got `` in ``",
            ),
            (
                whole[..whole.len() / 2].to_owned(),
                "not an AdmissionReview: EOF",
            ),
            (
                format!("{whole}x"),
                "not an AdmissionReview: trailing characters",
            ),
            (
                with("/apiVersion", json!("admission.k8s.io/v1beta1")),
                "expected AdmissionReview in",
            ),
            (
                with("/kind", json!("ConversionReview")),
                "expected AdmissionReview in",
            ),
            (
                with("/request", Value::Null),
                "the AdmissionReview has no request",
            ),
            (
                with("/request/operation", json!("PATCH")),
                "not an AdmissionReview: unknown variant",
            ),
            (
                with("/request/dryRun", json!("yes")),
                "not an AdmissionReview: invalid type",
            ),
            (
                without("uid"),
                "not an AdmissionReview: missing field `uid`",
            ),
            (
                without("kind"),
                "not an AdmissionReview: missing field `kind`",
            ),
        ] {
            let error = Question::read(text.as_bytes()).unwrap_err();
            assert!(error.starts_with(expected), "{error}: {text}");
        }
        assert!(Question::read(b"\xff\xfe{}").is_err());
    }

    #[test]
    fn an_answer_holds_what_it_has_to() {
        let written = |warnings: &[&str], decision| -> Value {
            let warnings = warnings.iter().map(ToString::to_string).collect();
            serde_json::from_slice(&write("u", warnings, decision).unwrap()).unwrap()
        };
        let review = |response: Value| json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
        assert_eq!(
            written(&[], Ok(None)),
            review(json!({"uid": "u", "allowed": true}))
        );
        let patched = json!({
            "uid": "u",
            "allowed": true,
            "patchType": "JSONPatch",
            "patch": "W10=",
            "warnings": ["w"],
        });
        assert_eq!(written(&["w"], Ok(Some(b"[]".to_vec()))), review(patched));
        let status = Status::failure("no", "Forbidden").with_code(403);
        let denied = json!({
            "uid": "u",
            "allowed": false,
            "status": {"status": "Failure", "message": "no", "reason": "Forbidden", "code": 403},
        });
        assert_eq!(written(&[], Err(status)), review(denied));
    }
}
