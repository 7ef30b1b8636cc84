//! Tests of complete reviews.

use super::{types::*, *};

#[test]
fn objects_keep_their_order_and_their_metadata() {
    let metadata = json!({
        "name": "é\"\n", "namespace": "default", "uid": "1", "generation": i64::MAX,
        "resourceVersion": "5", "creationTimestamp": "2026-01-01T00:00:00Z", "new": { "field": 1.50 },
        "managedFields": [{ "manager": "m", "fieldsV1": { "f:spec": {} }, "time": "not even a time" }],
        "finalizers": ["x/y"], "labels": { "a": "b" }, "annotations": {},
    });
    let object = |version, field: &str, index: usize| {
        let mut object = widget(version, &json!({ field: format!("{index}") }));
        object["metadata"] = metadata.clone();
        object["status"] = json!({ "ready": true });
        object
    };
    let versions = [("v1alpha1", "name"), ("v1", "displayName")];
    let objects: Vec<_> = (0..10)
        .map(|i| object(versions[i % 2].0, versions[i % 2].1, i))
        .collect();
    let (answer, panics) = send(all(), &review("v1", &objects));
    let answer = answer.unwrap();
    assert_eq!(answer["kind"], "ConversionReview");
    assert_eq!(answer["apiVersion"], "apiextensions.k8s.io/v1");
    assert_eq!(answer["response"]["uid"], "705ab4f5");
    assert_eq!(answer["response"]["result"]["status"], "Success");
    let converted = answer["response"]["convertedObjects"].as_array().unwrap();
    let expected: Vec<_> = (0..10).map(|i| object("v1", "displayName", i)).collect();
    assert_eq!(*converted, expected);
    assert_eq!(panics, 0);
}

#[test]
fn spokes_convert_by_way_of_the_hub() {
    let old = widget("v1alpha1", &json!({ "name": "12", "parts": [] }));
    let new = widget("v2", &json!({ "number": 12 }));
    assert_eq!(one(all(), "v2", &old), Ok(new.clone()));
    assert_eq!(one(all(), "v1alpha1", &new), Ok(old));
}

#[test]
fn an_object_in_the_desired_version_is_not_touched() {
    let body = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{
        "uid":"u","desiredAPIVersion":"test.example.com/v1","objects":[
        { "kind":"Widget", "apiVersion":"test.example.com\/v1","spec":{"x":1.0, "x": null} }]}}"#;
    let answer = convert(&[all().into()], body.as_bytes(), &|| {}).unwrap();
    let object =
        r#"[{ "kind":"Widget", "apiVersion":"test.example.com\/v1","spec":{"x":1.0, "x": null} }]"#;
    assert!(String::from_utf8(answer).unwrap().contains(object));
}

#[test]
fn an_object_that_does_not_convert_is_named() {
    let prefix = "cannot convert Widget default/a from test.example.com/";
    let spec = json!({ "name": "x" });
    let mut other_kind = widget("v1", &spec);
    other_kind["kind"] = "Gadget".into();
    let mut other_group = widget("v1", &spec);
    other_group["apiVersion"] = "example.com/v1".into();
    let mut no_metadata = widget("v1alpha1", &spec);
    no_metadata.as_object_mut().unwrap().remove("metadata");
    let cases = [
        (
            "v1",
            widget("v1alpha1", &json!({ "name": "a", "parts": [{ "name": "b" }, { "name": 1 }] })),
            format!("{prefix}v1alpha1 to test.example.com/v1: \
                spec.parts[1].name: invalid type: integer `1`, expected a string"),
        ),
        (
            "v2",
            widget("v1", &json!({ "displayName": "x" })),
            format!("{prefix}v1 to test.example.com/v2: invalid digit found in string"),
        ),
        (
            "v1",
            widget("v1alpha1", &json!({ "name": "panic" })),
            format!("{prefix}v1alpha1 to test.example.com/v1: the conversion panicked: of this name"),
        ),
        (
            "v3",
            widget("v1", &spec),
            format!("{prefix}v1 to test.example.com/v3: this operator does not know Widget in v3"),
        ),
        (
            "v1",
            widget("v0", &spec),
            format!("{prefix}v0 to test.example.com/v1: this operator does not know Widget in v0"),
        ),
        (
            "v1",
            other_kind,
            "cannot convert Gadget default/a from test.example.com/v1 to test.example.com/v1: \
                this operator does not convert its kind".to_owned(),
        ),
        (
            "v1",
            other_group,
            "cannot convert Widget default/a from example.com/v1 to test.example.com/v1: \
                this operator does not convert its kind".to_owned(),
        ),
        (
            "v1",
            no_metadata,
            "cannot convert Widget object 0 from test.example.com/v1alpha1 to test.example.com/v1: \
                it has no metadata".to_owned(),
        ),
        ("v1", json!(5), "cannot convert object 0 from  to test.example.com/v1: \
            invalid type: integer `5`, expected an object at line 1 column 1".to_owned()),
    ];
    for (desired, object, message) in cases {
        assert_eq!(one(all(), desired, &object), Err(message));
        let fine = widget("v1", &json!({ "displayName": "1" }));
        let (answer, panics) = send(
            all(),
            &review(desired, &[fine.clone(), object.clone(), fine]),
        );
        let response = answer.unwrap()["response"].clone();
        assert_eq!(response["uid"], "705ab4f5");
        assert_eq!(response["result"]["status"], "Failure", "{object}");
        assert_eq!(response["convertedObjects"], json!([]));
        assert_eq!(panics, u32::from(object["spec"]["name"] == "panic"));
    }
}

#[test]
fn a_body_that_is_not_a_review_is_refused() {
    let good = review("v1", &[]);
    assert!(send(all(), &good).0.is_ok());
    let cases = [
        ("/apiVersion", json!("apiextensions.k8s.io/v1beta1")),
        ("/kind", json!("AdmissionReview")),
        ("/request", json!(null)),
        ("/request/uid", json!(5)),
        ("/request/desiredAPIVersion", json!(null)),
        ("/request/objects", json!({})),
        ("/request/objects", json!(null)),
    ];
    for (path, value) in cases {
        let mut review = good.clone();
        *review.pointer_mut(path).unwrap() = value;
        assert_eq!(
            send(all(), &review).0,
            Err(StatusCode::BAD_REQUEST),
            "{review}"
        );
    }
    for body in [
        &b""[..],
        b"{",
        b"null",
        b"[]",
        b"\xff",
        b"{\"kind\":\"\xff\"}",
    ] {
        assert_eq!(convert(&[], body, &|| {}), Err(StatusCode::BAD_REQUEST));
    }
}

/// The response to a body in parts, each of which is forwarded.
fn in_parts(body: &str, size: usize, most: usize) -> Result<Value, StatusCode> {
    let (mut review, mut answer) = (Review::new(most, 20_000), Vec::new());
    for part in body.as_bytes().chunks(size) {
        review.read(&[all().into()], part, &|| {})?;
        answer.append(&mut review.take());
    }
    answer.append(&mut review.end()?);
    Ok(serde_json::from_slice(&answer).unwrap())
}

#[test]
fn a_review_may_come_in_any_parts() {
    let object = |name: &str, spec: &str| {
        format!(
            r#"{{"apiVersion":"test.example.com/v1alpha1","kind":"Widget","metadata":{{"name":{name}}},"spec":{spec}}}"#
        )
    };
    let objects = [
        object(r#""a""#, r#"{"name":"}]\"\\","parts":[{"name":"["}]}"#),
        object(r#""\u00e9""#, r#"{"name":"é,","objects":[[],{}]}"#),
        object(r#""b""#, r#"{"name":"panic"}"#),
    ];
    for (count, status) in [(0, "Success"), (2, "Success"), (3, "Failure")] {
        let objects = objects[..count].join(" ,\n");
        let body = format!(
            r#"{{"response":{{"objects":[1]}},"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview",
            "request":{{"more":{{"objects":["x",{{}}]}},"desiredAPIVersion":"test.example.com/v1",
            "objects" : [ {objects} ], "uid":"u"}} }}"#
        );
        let whole = convert(&[all().into()], body.as_bytes(), &|| {}).unwrap();
        let whole: Value = serde_json::from_slice(&whole).unwrap();
        assert_eq!(whole["response"]["result"]["status"], status);
        let converted = whole["response"]["convertedObjects"].as_array().unwrap();
        assert_eq!(converted.len(), count % 3);
        for size in 1..body.len() {
            let mut answer = in_parts(&body, size, 300).unwrap();
            if status == "Failure" {
                // The objects before it may have been sent.
                answer["response"]["convertedObjects"] = json!([]);
            }
            assert_eq!(answer, whole, "{size}");
        }
        // No prefix is a complete review.
        for end in 0..body.len() {
            let answer = in_parts(&body[..body.floor_char_boundary(end)], 7, 300);
            assert_eq!(answer, Err(StatusCode::BAD_REQUEST), "{end}");
        }
    }
}

#[test]
fn an_object_that_is_too_large_is_not_kept() {
    let mut large = widget("v1alpha1", &json!({ "name": "a".repeat(200) }));
    let fine = widget("v1alpha1", &json!({ "name": "a" }));
    let body =
        |large: &Value| review("v1", &[fine.clone(), large.clone(), fine.clone()]).to_string();
    let answer = in_parts(&body(&large), 10, 300).unwrap();
    let expected = "object 1 exceeds 300 bytes, the limit that follows from `--webhook-memory`";
    assert_eq!(answer["response"]["result"]["message"], expected);
    assert_eq!(answer["response"]["uid"], "705ab4f5");
    large["spec"]["name"] = "a".repeat(150).into();
    let answer = in_parts(&body(&large), 10, 300).unwrap();
    assert_eq!(answer["response"]["result"]["status"], "Success");
    large["spec"]["x"] = vec![0; 60].into();
    let answer = in_parts(&body(&large), 10, 1000).unwrap();
    let message = answer["response"]["result"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("object 1 may take up ")
            && message.ends_with(" more than `--webhook-memory`"),
        "{message}"
    );
    let other = json!({ "a": "a".repeat(300) }).to_string();
    assert_eq!(
        in_parts(&other, 10, 300),
        Err(StatusCode::PAYLOAD_TOO_LARGE)
    );
}
