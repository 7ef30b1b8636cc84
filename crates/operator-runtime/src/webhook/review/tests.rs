//! Reviews and responses on the wire.

use serde_json::{Value, json};

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
fn optional_fields_may_be_missing() {
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
fn a_body_that_is_not_a_review_is_refused() {
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
fn a_response_has_the_required_fields() {
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
