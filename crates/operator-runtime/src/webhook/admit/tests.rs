//! Tests of the response to each review.

use std::future::pending;

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use super::*;
use crate::webhook::{Change, FieldErrors, Operation, Webhook};

/// Makes the change in the object's data, under `do`.
async fn default(object: &mut ConfigMap, request: &Request, _: &()) -> Result<(), Denied> {
    let data = object.data.get_or_insert_default();
    match data.get("do").map(String::as_str) {
        Some("warn") => request.warn("careful"),
        Some("deny") => return Err(Denied::forbidden("not you")),
        Some("panic") => panic!("at the disco"),
        Some("wait") => return pending().await,
        Some("call") => return Err(kube::Error::LinesCodecMaxLineLengthExceeded.into()),
        Some("nothing") => return Ok(()),
        _ => {}
    }
    data.insert("defaulted".to_owned(), "yes".to_owned());
    Ok(())
}

/// Denies data with the value `bad`, and warns with the operation.
async fn validate(change: &Change<ConfigMap>, request: &Request, _: &()) -> Result<(), Denied> {
    let (text, object) = match change {
        Change::Create(new) => ("create", new),
        Change::Update { new, .. } => ("update", new),
        Change::Delete(old) => ("delete", old),
    };
    request.warn(text);
    let mut errors = FieldErrors::default();
    let data = object
        .data
        .iter()
        .flatten()
        .filter(|(_, value)| *value == "bad");
    data.for_each(|(key, value)| errors.invalid(format!("data.{key}"), value, "is bad"));
    errors.into_result()
}

fn review(operation: &str, old: Value, new: Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u",
            "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
            "resource": {"group": "", "version": "v1", "resource": "configmaps"},
            "name": "a",
            "namespace": "b",
            "operation": operation,
            "userInfo": {"username": "admin"},
            "object": new,
            "oldObject": old,
        }
    })
}

fn config_map(data: Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "managedFields": [{"manager": "m", "fieldsV1": {"f:a": {}}}]},
        "data": data,
        "unknown": [1],
    })
}

/// The response to a review, or the status of its refusal.
async fn ask(webhook: &Webhook<ConfigMap, ()>, review: &Value) -> Result<Value, u16> {
    let body = review.to_string();
    let answer = webhook.admit(body.as_bytes(), &()).await;
    let mut answer: Value =
        serde_json::from_slice(&answer.map_err(|(status, _)| status.as_u16())?).unwrap();
    assert_eq!(answer["response"]["uid"], "u");
    Ok(answer["response"].take())
}

fn message(response: &Value) -> &str {
    response["status"]["message"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_default_is_a_patch() {
    let webhook = Webhook::defaulting(default);
    let data = |data| review("CREATE", Value::Null, config_map(data));
    let response = ask(&webhook, &data(json!({"a": "b"}))).await.unwrap();
    assert_eq!(response["patchType"], "JSONPatch");
    // In base64: [{"op":"add","path":"/data/defaulted","value":"yes"}]
    let expected = "W3sib3AiOiJhZGQiLCJwYXRoIjoiL2RhdGEvZGVmYXVsdGVkIiwidmFsdWUiOiJ5ZXMifV0=";
    assert_eq!(response["patch"], expected);

    let response = ask(&webhook, &data(json!({"do": "nothing"}))).await;
    assert_eq!(response, Ok(json!({"uid": "u", "allowed": true})));
    let response = ask(&webhook, &data(json!({"do": "deny"}))).await.unwrap();
    assert_eq!(response["allowed"], false);
    assert_eq!(response["patch"], Value::Null);
    assert_eq!(message(&response), "not you");
    let response = ask(&webhook, &data(json!({"do": "warn"}))).await.unwrap();
    assert_eq!(response["warnings"], json!(["careful"]));
    assert_eq!(response["allowed"], true);
}

#[tokio::test]
async fn a_validation_gets_the_change_and_reports_every_field() {
    let webhook = Webhook::validating(validate).operations(&[
        Operation::Create,
        Operation::Update,
        Operation::Delete,
        Operation::Connect,
    ]);
    let (good, bad) = (json!({"a": "good"}), json!({"a": "bad", "b": "bad"}));
    let (good, bad) = (config_map(good), config_map(bad));
    for (operation, old, new, warning) in [
        ("CREATE", Value::Null, &good, "create"),
        ("UPDATE", bad.clone(), &good, "update"),
        ("DELETE", good.clone(), &Value::Null, "delete"),
        ("CONNECT", Value::Null, &good, "create"),
    ] {
        let response = ask(&webhook, &review(operation, old, new.clone())).await;
        let expected = json!({"uid": "u", "allowed": true, "warnings": [warning]});
        assert_eq!(response, Ok(expected), "{operation}");
    }
    for (operation, old, new) in [
        ("CREATE", Value::Null, bad.clone()),
        ("UPDATE", good.clone(), bad.clone()),
        ("DELETE", bad.clone(), Value::Null),
    ] {
        let response = ask(&webhook, &review(operation, old, new)).await.unwrap();
        assert_eq!(response["allowed"], false, "{operation}");
        let expected = "ConfigMap \"a\" is invalid: [data.a: Invalid value: \"bad\": is bad, \
                        data.b: Invalid value: \"bad\": is bad]";
        assert_eq!(message(&response), expected);
        assert_eq!(
            response["status"]["details"]["causes"][1]["field"],
            "data.b"
        );
        assert_eq!(response["warnings"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn an_object_that_does_not_decode_is_denied_with_the_reason() {
    let validating = Webhook::validating(validate).operations(&[
        Operation::Create,
        Operation::Update,
        Operation::Delete,
    ]);
    let defaulting = Webhook::defaulting(default);
    let (good, bad) = (config_map(json!({"a": "b"})), config_map(json!({"a": 1})));
    let why = "data.a: Invalid value: invalid type: integer `1`, expected a string";
    let whole = format!("ConfigMap \"a\" is invalid: {why}");
    let stored = "the stored object does not decode as ConfigMap of this version: \
                  data.a: invalid type: integer `1`, expected a string";
    for (webhook, operation, old, new, expected) in [
        (&defaulting, "CREATE", &Value::Null, &bad, &*whole),
        (&defaulting, "UPDATE", &good, &bad, &whole),
        (&defaulting, "UPDATE", &bad, &good, ""),
        (&validating, "CREATE", &Value::Null, &bad, &whole),
        (&validating, "UPDATE", &good, &bad, &whole),
        (&validating, "DELETE", &bad, &Value::Null, stored),
        (
            &validating,
            "CREATE",
            &Value::Null,
            &Value::Null,
            "the review contains no object",
        ),
        (
            &validating,
            "UPDATE",
            &Value::Null,
            &good,
            "the review contains no object",
        ),
        (
            &validating,
            "DELETE",
            &Value::Null,
            &good,
            "the review contains no object",
        ),
    ] {
        let review = review(operation, old.clone(), new.clone());
        let response = ask(webhook, &review).await.unwrap();
        assert_eq!(message(&response), expected, "{operation}");
        assert_eq!(response["allowed"], expected.is_empty());
    }
}

/// Denies a change of `data.mode`.
async fn keep_mode(change: &Change<ConfigMap>, _: &Request, _: &()) -> Result<(), Denied> {
    let mut errors = FieldErrors::default();
    if let Change::Update { old, new } = change {
        let mode = |object: &ConfigMap| object.data.as_ref()?.get("mode").cloned();
        if mode(old) != mode(new) {
            errors.forbidden("data.mode", "may not change");
        }
    }
    errors.into_result()
}

#[tokio::test]
async fn an_undecodable_stored_object_is_repaired_and_its_other_fields_are_compared() {
    let webhook = Webhook::validating(keep_mode);
    let bad = config_map(json!({"mode": "a", "size": 1}));
    let warning = "data.size: the stored value does not decode, and counts as unchanged";
    for (new, expected) in [
        (json!({"mode": "a", "size": "1"}), ""),
        (json!({"mode": "a"}), ""),
        (
            json!({"mode": "b", "size": "1"}),
            "data.mode: Forbidden: may not change",
        ),
        (json!({}), "data.mode: Forbidden: may not change"),
    ] {
        let review = review("UPDATE", bad.clone(), config_map(new.clone()));
        let response = ask(&webhook, &review).await.unwrap();
        assert_eq!(response["allowed"], expected.is_empty(), "{new}");
        assert!(message(&response).ends_with(expected), "{response}");
        assert_eq!(response["warnings"], json!([warning]), "{new}");
    }
    let many = |value: fn(u16) -> Value| {
        let entry = |index: u16| (index.to_string(), value(index));
        config_map((0..20_000).map(entry).collect())
    };
    let review = review("UPDATE", many(|index| json!(index)), many(|_| json!("a")));
    let response = ask(&webhook, &review).await.unwrap();
    assert!(
        message(&response).contains("change only this field first"),
        "{response}"
    );
}

#[tokio::test]
async fn schema_first_leaves_an_undecodable_object_to_the_schema() {
    let good = config_map(json!({"do": "nothing"}));
    let bad = config_map(json!({"a": 1}));
    let webhook = Webhook::defaulting(default).schema_first();
    for (operation, old) in [("CREATE", &Value::Null), ("UPDATE", &good)] {
        let review = review(operation, old.clone(), bad.clone());
        let response = ask(&webhook, &review).await.unwrap();
        assert_eq!(response["allowed"], true, "{response}");
        assert_eq!(response["patch"], Value::Null);
        let warning = "defaulting skipped, because the object does not decode: \
                       data.a: invalid type: integer `1`, expected a string";
        assert_eq!(response["warnings"], json!([warning]));
    }
    // A validating webhook runs after schema validation.
    let webhook = Webhook::validating(validate).schema_first();
    let review = review("CREATE", Value::Null, bad);
    let response = ask(&webhook, &review).await.unwrap();
    assert_eq!(response["allowed"], false, "{response}");
}

#[tokio::test]
async fn an_undeclared_request_is_allowed_with_a_warning() {
    let bad = config_map(json!({"a": "bad"}));
    let webhook = Webhook::validating(validate);
    let with = |pointer: &str, value: Value| {
        let mut review = review("CREATE", Value::Null, bad.clone());
        match review.pointer_mut(pointer) {
            Some(found) => *found = value,
            None => review["request"]["subResource"] = value,
        }
        review
    };
    let undeclared = [
        (with("/request/operation", json!("DELETE")), "DELETE"),
        (with("/request/kind/kind", json!("Pod")), "Pod in /v1"),
        (
            with("/request/kind/version", json!("v2")),
            "ConfigMap in /v2",
        ),
        (
            with("/request/subResource", json!("status")),
            "subresource `status`",
        ),
    ];
    let path = "/validate--v1-configmap";
    let allowed = |what: &str| {
        let warning = format!(
            "allowed without its webhook: `{path}` does not handle {what} in this version of the operator"
        );
        Ok(json!({"uid": "u", "allowed": true, "warnings": [warning]}))
    };
    // The failure policy in the cluster may be a newer one, so it makes no difference here.
    for policy in [FailurePolicy::Fail, FailurePolicy::Ignore] {
        let webhook = Webhook::validating(validate).failure_policy(policy);
        for (review, what) in &undeclared {
            assert_eq!(ask(&webhook, review).await, allowed(what));
        }
    }
    let declared = with("/request/operation", json!("CREATE"));
    assert_eq!(ask(&webhook, &declared).await.unwrap()["allowed"], false);
    let webhook = webhook.subresources(&["status"]);
    let review = with("/request/subResource", json!("status"));
    assert_eq!(ask(&webhook, &review).await.unwrap()["allowed"], false);
    let whole = ask(&webhook, &declared).await;
    assert_eq!(whole, allowed("the resource itself"));
    let refused = ask(&webhook, &json!({"apiVersion": "admission.k8s.io/v1beta1"})).await;
    assert_eq!(refused, Err(400));
}

#[tokio::test]
async fn a_failed_function_gets_a_response() {
    let review = |what| review("CREATE", Value::Null, config_map(json!({ "do": what })));
    for (what, code, expected) in [
        ("panic", 500, "the webhook panicked: at the disco"),
        ("wait", 500, "the webhook did not decide within 500ms"),
        ("call", 500, "Error finding newline character"),
    ] {
        let webhook = Webhook::defaulting(default).timeout(Duration::from_secs(1));
        let response = ask(&webhook, &review(what)).await.unwrap();
        assert_eq!(response["allowed"], false);
        assert_eq!(response["status"]["code"], code);
        assert!(message(&response).contains(expected), "{response}");
        // The API server ignores the failure, and counts it.
        let webhook = webhook.failure_policy(FailurePolicy::Ignore);
        assert_eq!(ask(&webhook, &review(what)).await, Err(500));
    }
    let webhook = Webhook::defaulting(default).failure_policy(FailurePolicy::Ignore);
    let response = ask(&webhook, &review("deny")).await.unwrap();
    assert_eq!(response["allowed"], false);

    let panics = Counter::default();
    let body = review("panic").to_string();
    let definition = &webhook.definition;
    assert!(
        definition
            .admit(body.as_bytes(), &(), &panics)
            .await
            .is_err()
    );
    assert_eq!(panics.get(), 1);
}
